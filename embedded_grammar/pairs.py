"""Sentence pairs: draws derivations from a share of the space, of a length, with a phenomenon, and linearises them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from random import Random
from typing import Generic, Protocol, TypeVar

from embedded_grammar.ambiguity import Ambiguity, is_open, leave_open
from embedded_grammar.attachment import left_open
from embedded_grammar.choices import Choices
from embedded_grammar.derivation import Clause
from embedded_grammar.english import realization as english
from embedded_grammar.expansion import Expansion
from embedded_grammar.focus import Attachment, Focus
from embedded_grammar.german import realization as german
from embedded_grammar.growth import add_phenomenon, beyond_target, expand
from embedded_grammar.limits import Lengths, Limits
from embedded_grammar.phenomena import phenomena
from embedded_grammar.sampling import Sampler
from embedded_grammar.tree import Leaf, Phrase
from pipeline_py.files.artifacts import Counts
from pipeline_py.run.errors import InputError

# Lengths drawn as natural: mean 14 English tokens, 4 % longer than 30, 1 % longer than 40.
GAMMA_SHAPE, GAMMA_SCALE = 3.2, 4.4
# How often a core is drawn again because it is too long for its target already.
SHORTER_CORES = 20
# A shorter sentence than this has no room for arguments.
ROOM_FOR_ARGUMENTS = 5

# Give up when this many drawings in a row brought nothing new.
PATIENCE = 1_000
# The same for lexical cores outside the share, which are much cheaper to draw.
CORE_PATIENCE = 100_000

REMEDY = "ask for fewer sentences, a wider share or range of lengths, or another focus"


@dataclass(slots=True)
class Derived:
    """A derivation with its English tree, and what it leaves open, in the reading that it has now."""

    main: Clause
    tree: Phrase
    phenomena: set[Focus]
    ambiguity: Ambiguity | None


class HasEnglish(Protocol):
    """What is distinct by its English side."""

    @property
    def english(self) -> str:
        """The sentence."""


@dataclass(slots=True)
class Pair:
    """An English sentence with its trees and its German translation."""

    tree: Phrase
    leaves: list[Leaf]
    english: str
    german: str
    phenomena: set[Focus]


Drawn = TypeVar("Drawn", bound=HasEnglish)


def pair_of(derived: Derived) -> Pair:
    """Both sides of a derivation."""
    leaves = list(derived.tree.leaves())
    text = " ".join([leaf.form for leaf in leaves])
    return Pair(derived.tree, leaves, text, " ".join(german.sentence(derived.main)), derived.phenomena)


def position(core: str) -> float:
    """Where a lexical core lies in the space of all of them, in [0, 1); the same on every machine."""
    return int.from_bytes(blake2b(core.encode(), digest_size=7).digest(), "big") / 2**56


class Distinct(Generic[Drawn]):
    """Takes pairs whose English sides differ; memory holds 8 bytes' digest of each."""

    def __init__(self, sentences: int, counts: Counts) -> None:
        self.sentences = sentences
        self.counts = counts
        self.seen: set[bytes] = set()

    def new(self, draw: Callable[[], Drawn | str | None]) -> Drawn:
        """Draw until there is a pair that is new; what is drawn, and why it is dropped, is counted.

        Raises:
            InputError: there seem to be no more.
        """
        fruitless = outside = 0
        while fruitless < PATIENCE and outside < CORE_PATIENCE:
            pair = draw()
            if pair is None:
                outside += 1
                continue
            if not isinstance(pair, str):
                digest = blake2b(pair.english.encode(), digest_size=8).digest()
                if digest not in self.seen:
                    self.seen.add(digest)
                    self.counts.keep()
                    return pair
                pair = "duplicate"
            self.counts.drop(pair)
            fruitless += 1
        raise InputError(f"only {len(self.seen)} of {self.sentences} such sentences were found; {REMEDY}")


class Pairs:
    """Draws pairs that keep to `limits`."""

    def __init__(self, seed: int | str, limits: Limits) -> None:
        self.random = Random(seed)
        self.sampler = Sampler(self.random, Choices(limits.lexicon, limits.digits))
        self.limits = limits

    def distinct(self, sentences: int, counts: Counts) -> Iterator[Pair]:
        """Yield that many pairs whose English sides differ.

        Args:
            sentences: how many.
            counts: gets what is drawn and dropped, and the phenomena of what is kept.

        Raises:
            InputError: there are not that many.
        """
        distinct = Distinct[Pair](sentences, counts)
        for _ in range(sentences):
            pair = distinct.new(partial(self.draw, self._leave_open()))
            for phenomenon in sorted(pair.phenomena):
                counts.note(phenomenon)
            yield pair

    def draw(self, to_open: Attachment | None = None) -> Pair | str | None:
        """A pair; the reason why a drawing is none; None if the lexical core lies outside the share."""
        derived = self.derive(to_open)
        return pair_of(derived) if isinstance(derived, Derived) else derived

    def derive(self, to_open: Attachment | None = None) -> Derived | str | None:
        """A derivation, of a sentence that leaves something open where that is asked for; or the same as `draw`."""
        target = self._target()
        main = self._core(target, to_open)
        if main is None:
            return None
        expansion = Expansion(self.sampler, main, target)
        focus = self.limits.focus
        ambiguity = None
        if to_open is not None:
            ambiguity = beyond_target(expansion, partial(leave_open, expansion, to_open))
            if ambiguity is None:
                return "without an open attachment"
        elif focus is not Focus.any and not beyond_target(expansion, partial(add_phenomenon, focus, expansion)):
            return "without the phenomenon"
        expand(expansion)
        if ambiguity is not None and not (left_open(main) == 1 and is_open(main, ambiguity)):
            return "without an open attachment"
        if ambiguity is None and self.limits.ambiguous and left_open(main):
            return "with an open attachment"
        found = phenomena(main)
        if ambiguity is not None:
            found.add(Focus.ambiguous)
            # Nothing drawn before hangs on this, and the words are the same.
            ambiguity.attach(high=self.sampler.chance(0.5))
        tree = english.sentence(main)
        if not self.limits.shortest <= len(tree) <= self.limits.longest:
            return "outside the limits of length"
        if focus is not Focus.any and focus not in found:
            return "without the phenomenon"
        return Derived(main, tree, found, ambiguity)

    def _target(self) -> int:
        """A length to grow to."""
        limits = self.limits
        if limits.lengths is Lengths.uniform:
            return self.random.randint(limits.shortest, limits.longest)
        while True:
            target = round(self.random.gammavariate(GAMMA_SHAPE, GAMMA_SCALE))
            if target <= limits.longest:
                return max(target, limits.shortest)

    def _accepts(self, core: str) -> bool:
        return self.limits.share_from <= position(core) < self.limits.share_to

    def _leave_open(self) -> Attachment | None:
        """What the next sentence shall leave open."""
        if self.limits.focus is Focus.ambiguous or (
            self.limits.ambiguous and self.sampler.chance(self.limits.ambiguous)
        ):
            return self.sampler.one_of([*Attachment])
        return None

    def _core(self, target: int, to_open: Attachment | None) -> Clause | None:
        """The main clause at its smallest; shorter ones are tried for a short target."""
        senses = self.sampler.choices.intransitive if target < ROOM_FOR_ARGUMENTS else None
        if self.limits.focus is Focus.particle_verb:
            senses = self.sampler.choices.with_particle
        if to_open is Attachment.phrase_attachment:
            senses = self.sampler.choices.opening
        clause: Clause | None = None
        for _ in range(SHORTER_CORES):
            past = self.sampler.chance(0.5) and self.limits.focus is not Focus.agreement
            drawn = self.sampler.clause(past, 0, senses=senses, accept=self._accepts)
            clause = drawn or clause
            if drawn is not None and len(english.clause_phrase(drawn)) < target:
                return drawn
        return clause
