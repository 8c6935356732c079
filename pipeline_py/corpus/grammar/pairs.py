"""Sentence pairs: draws derivations from a share of the space, of a length, with a phenomenon, and linearises them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import TypeVar

from pipeline_py.artifact import Ledger
from pipeline_py.corpus.grammar import clause_expansion, phrase_expansion
from pipeline_py.corpus.grammar.ambiguity import Ambiguity, is_open, leave_open
from pipeline_py.corpus.grammar.attachment import left_open
from pipeline_py.corpus.grammar.choices import Choices
from pipeline_py.corpus.grammar.derivation import Clause
from pipeline_py.corpus.grammar.english import realization as english
from pipeline_py.corpus.grammar.expansion import Expansion, Site
from pipeline_py.corpus.grammar.focus import Attachment, Focus
from pipeline_py.corpus.grammar.german import realization as german
from pipeline_py.corpus.grammar.lexicon.size import Lexicon
from pipeline_py.corpus.grammar.phenomena import phenomena
from pipeline_py.corpus.grammar.sampling import Sampler
from pipeline_py.corpus.grammar.tree import Leaf, Phrase
from pipeline_py.corpus.grammar.weighted_choice import WeightedChoice
from pipeline_py.stage import InputError

Added = TypeVar("Added")

# Lengths drawn as natural: mean 14 English tokens, 4 % longer than 30, 1 % longer than 40.
GAMMA_SHAPE, GAMMA_SCALE = 3.2, 4.4
# How often a core is drawn again because it is too long for its target already.
SHORTER_CORES = 20
# How often something is added at most, and how often to a noun phrase.
ATTEMPTS = 60
ON_PHRASES_SHARE = 0.6
# Tokens that a phenomenon asked for may take beyond the target.
ALLOWANCE = 14

# A shorter sentence than this has no room for arguments.
ROOM_FOR_ARGUMENTS = 5

# Give up when this many drawings in a row brought nothing new.
PATIENCE = 1_000
# The same for lexical cores outside the share, which are much cheaper to draw.
CORE_PATIENCE = 100_000

REMEDY = "ask for fewer sentences, a wider share or range of lengths, or another focus"

_of_phrases: WeightedChoice[Callable[[Expansion, Site], bool]] = WeightedChoice(
    (
        phrase_expansion.adjective,
        phrase_expansion.attribute,
        phrase_expansion.relative,
        phrase_expansion.possessor,
        phrase_expansion.conjunct,
    ),
    (34, 26, 22, 8, 10),
)
_of_clauses: WeightedChoice[Callable[[Expansion, Clause, int], bool]] = WeightedChoice(
    (
        clause_expansion.time,
        clause_expansion.daytime,
        clause_expansion.clock,
        clause_expansion.date,
        clause_expansion.sentence_adverb,
        clause_expansion.manner,
        clause_expansion.place,
        clause_expansion.instrument,
        clause_expansion.event,
        clause_expansion.subordinate,
        clause_expansion.coordinate,
    ),
    (16, 6, 2.5, 2.5, 4, 12, 14, 16, 6, 26, 14),
)


@dataclass(slots=True)
class Derived:
    """A derivation with its English tree, and what it leaves open, in the reading that it has now."""

    main: Clause
    tree: Phrase
    phenomena: set[Focus]
    ambiguity: Ambiguity | None


@dataclass(slots=True)
class Pair:
    """An English sentence with its trees and its German translation."""

    tree: Phrase
    leaves: list[Leaf]
    english: str
    german: str
    phenomena: set[Focus]


def position(core: str) -> float:
    """Where a lexical core lies in the space of all of them, in [0, 1); the same on every machine."""
    return int.from_bytes(blake2b(core.encode(), digest_size=7).digest(), "big") / 2**56


@dataclass(slots=True)
class Limits:
    """Which sentences are wanted: share of the space, lengths in English tokens and their spread, phenomenon.

    Attributes:
        ambiguous: the share of sentences that leave an attachment open; all others then leave none.
    """

    share_from: float
    share_to: float
    shortest: int
    longest: int
    uniform: bool
    focus: Focus
    lexicon: Lexicon
    digits: bool
    ambiguous: float = 0.0


class Pairs:
    """Draws pairs that keep to `limits`."""

    def __init__(self, seed: int, limits: Limits) -> None:
        self.random = Random(seed)
        self.sampler = Sampler(self.random, Choices(limits.lexicon, limits.digits))
        self.limits = limits

    def distinct(self, sentences: int, ledger: Ledger) -> Iterator[Pair]:
        """Yield that many pairs whose English sides differ; memory holds 8 bytes' digest of each.

        Args:
            sentences: how many.
            ledger: gets what is drawn and dropped, and the phenomena of what is kept.

        Raises:
            InputError: there are not that many.
        """
        seen: set[bytes] = set()
        fruitless = outside = 0
        open_next = self._leave_open()
        while len(seen) < sentences:
            pair = self.draw(open_next)
            if isinstance(pair, Pair):
                digest = blake2b(pair.english.encode(), digest_size=8).digest()
                if digest not in seen:
                    seen.add(digest)
                    ledger.keep()
                    for phenomenon in sorted(pair.phenomena):
                        ledger.note(phenomenon)
                    fruitless = outside = 0
                    open_next = self._leave_open()
                    yield pair
                    continue
                ledger.drop("duplicate")
                fruitless += 1
            elif pair is None:
                outside += 1
            else:
                ledger.drop(pair)
                fruitless += 1
            if fruitless >= PATIENCE or outside >= CORE_PATIENCE:
                raise InputError(f"only {len(seen)} of {sentences} such sentences were found; {REMEDY}")

    def draw(self, to_open: Attachment | None = None) -> Pair | str | None:
        """A pair; the reason why a drawing is none; None if the lexical core lies outside the share."""
        derived = self.derive(to_open)
        if not isinstance(derived, Derived):
            return derived
        leaves = list(derived.tree.leaves())
        text = " ".join([leaf.form for leaf in leaves])
        return Pair(derived.tree, leaves, text, " ".join(german.sentence(derived.main)), derived.phenomena)

    def derive(self, to_open: Attachment | None = None) -> Derived | str | None:
        """A derivation, of a sentence that leaves something open where that is asked for; or the same as `draw`."""
        target = self._target()
        main = self._core(target, to_open)
        if main is None:
            return None
        expansion = Expansion(self.sampler, main, target)
        ambiguity = None
        if to_open is not None:
            ambiguity = self._beyond_target(expansion, lambda: leave_open(expansion, to_open))
            if ambiguity is None:
                return "without an open attachment"
        elif not self._add_phenomenon(expansion):
            return "without the phenomenon"
        self._expand(expansion)
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
        if self.limits.focus is not Focus.any and self.limits.focus not in found:
            return "without the phenomenon"
        return Derived(main, tree, found, ambiguity)

    def _expand(self, expansion: Expansion) -> None:
        """Add modifiers, adverbials and clauses of every kind until the target is reached or nothing more fits.

        What is added never makes the gold attachment a matter of luck: an adverbial is not put behind a noun that could
        have it as its own attribute, nothing is added to an object in front of an adverbial that could belong to the
        addition, and clauses that could be read as part of an embedded clause belong to the main clause always.
        """
        for _ in range(ATTEMPTS):
            if expansion.remaining <= 0:
                break
            if expansion.sites and self.sampler.chance(ON_PHRASES_SHARE):
                _of_phrases.draw(self.random)(expansion, self.sampler.one_of(expansion.sites))
            else:
                clause, depth = self.sampler.one_of(expansion.clauses)
                _of_clauses.draw(self.random)(expansion, clause, depth)
        clause_expansion.extrapose(expansion)

    def _target(self) -> int:
        """A length to grow to."""
        limits = self.limits
        if limits.uniform:
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

    def _add_phenomenon(self, expansion: Expansion) -> bool:
        """Bring the phenomenon asked for into the clause before anything else; False if that did not work."""
        focus, main = self.limits.focus, expansion.main
        return focus is Focus.any or self._beyond_target(expansion, lambda: self._add(focus, expansion, main))

    def _beyond_target(self, expansion: Expansion, add: Callable[[], Added]) -> Added:
        """What `add` adds may take some tokens more than there are left."""
        spare = expansion.remaining
        expansion.remaining = max(spare, ALLOWANCE)
        before = expansion.remaining
        added = add()
        expansion.remaining = spare - (before - expansion.remaining)
        return added

    def _add(self, focus: Focus, expansion: Expansion, main: Clause) -> bool:
        sites = [site for site in expansion.sites if site.clause is main]
        subjects = [site for site in sites if site.phrase is main.subject]
        objects = [site for site in sites if site.argument]
        if focus is Focus.particle_verb:
            obj = next((filler for slot, filler in main.arguments if slot.english == "obj"), None)
            main.far_particle = any(site.phrase is obj for site in objects)
            return main.far_particle
        if focus is Focus.relative_clause:
            return any(
                phrase_expansion.relative(expansion, site) for site in sorted(sites, key=lambda _: self.random.random())
            )
        if focus is Focus.attachment:
            adverbial = clause_expansion.instrument(expansion, main, 0) or clause_expansion.place(expansion, main, 0)
            return adverbial or any(phrase_expansion.attribute(expansion, site) for site in objects) or bool(objects)
        if focus is Focus.agreement:
            return any(
                phrase_expansion.attribute(expansion, site) or phrase_expansion.relative(expansion, site)
                for site in subjects
            )
        assert focus is Focus.verb_final
        return Focus.verb_final in phenomena(main) or any(
            clause_expansion.subordinate(expansion, main, 0) for _ in range(3)
        )
