"""Sentence pairs: draws derivations from a share of the space, of a length, with a phenomenon, and linearises them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from random import Random
from typing import Generic, Protocol, TypeVar

from embedded_grammar.ambiguity import AttachmentAmbiguity, add_ambiguity, is_ambiguous
from embedded_grammar.attachment import count_ambiguous_attachments
from embedded_grammar.clause_sampling import ClauseSampler
from embedded_grammar.derivation import Clause
from embedded_grammar.english import build_trees as english
from embedded_grammar.expansion import SentenceExpansion
from embedded_grammar.german import realize_sentences as german
from embedded_grammar.growth import add_beyond_target, add_phenomenon, grow_sentence
from embedded_grammar.lexicon_choices import LexiconChoices
from embedded_grammar.phenomenon_detection import find_phenomena
from embedded_grammar.sentence_limits import LengthDistribution, SentenceLimits
from embedded_grammar.syntactic_phenomena import AttachmentKind, Phenomenon
from embedded_grammar.syntax_tree import Constituent, Leaf
from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.run.errors import InputError

# Lengths drawn as natural: mean 14 English tokens, 4 % longer than 30, 1 % longer than 40.
LENGTH_GAMMA_SHAPE, LENGTH_GAMMA_SCALE = 3.2, 4.4
# How often a core is drawn again because it is too long for its target already.
MAX_CORE_DRAWS = 20
# A shorter sentence than this has no room for arguments.
MIN_LENGTH_WITH_ARGUMENTS = 5

# Give up when this many drawings in a row brought nothing new.
MAX_FRUITLESS_DRAWS = 1_000
# The same for lexical cores outside the share, which are much cheaper to draw.
MAX_OUTSIDE_DRAWS = 100_000

EXHAUSTION_REMEDY = "ask for fewer sentences, a wider share or range of lengths, or another focus"


@dataclass(slots=True)
class DerivedSentence:
    """A derivation with its English tree, and what it leaves open, in the reading that it has now."""

    main_clause: Clause
    tree: Constituent
    phenomena: set[Phenomenon]
    ambiguity: AttachmentAmbiguity | None


class EnglishSentence(Protocol):
    """What is distinct by its English side."""

    @property
    def english(self) -> str:
        """The sentence."""


@dataclass(slots=True)
class SentencePair:
    """An English sentence with its trees and its German translation."""

    tree: Constituent
    leaves: list[Leaf]
    english: str
    german: str
    phenomena: set[Phenomenon]


EnglishItem = TypeVar("EnglishItem", bound=EnglishSentence)


def build_pair(derived: DerivedSentence) -> SentencePair:
    """Both sides of a derivation."""
    leaves = list(derived.tree.iterate_leaves())
    text = " ".join([leaf.form for leaf in leaves])
    return SentencePair(
        derived.tree, leaves, text, " ".join(german.realize_sentence(derived.main_clause)), derived.phenomena
    )


def compute_core_position(core: str) -> float:
    """Where a lexical core lies in the space of all of them, in [0, 1); the same on every machine."""
    return int.from_bytes(blake2b(core.encode(), digest_size=7).digest(), "big") / 2**56


class DistinctSampler(Generic[EnglishItem]):
    """Takes pairs whose English sides differ; memory holds 8 bytes' digest of each."""

    def __init__(self, requested_count: int, counts: SentenceCounts) -> None:
        self.requested_count = requested_count
        self.counts = counts
        self.known_digests: set[bytes] = set()

    def draw_distinct(self, draw_item: Callable[[], EnglishItem | str | None]) -> EnglishItem:
        """Draw until there is a pair that is new; what is drawn, and why it is dropped, is counted.

        Raises:
            InputError: there seem to be no more.
        """
        fruitless = outside = 0
        while fruitless < MAX_FRUITLESS_DRAWS and outside < MAX_OUTSIDE_DRAWS:
            pair = draw_item()
            if pair is None:
                outside += 1
                continue
            if not isinstance(pair, str):
                digest = blake2b(pair.english.encode(), digest_size=8).digest()
                if digest not in self.known_digests:
                    self.known_digests.add(digest)
                    self.counts.add_kept()
                    return pair
                pair = "duplicate"
            self.counts.add_dropped(pair)
            fruitless += 1
        raise InputError(
            f"only {len(self.known_digests)} of {self.requested_count} such sentences were found; {EXHAUSTION_REMEDY}"
        )


class PairGenerator:
    """Draws pairs that keep to `limits`."""

    def __init__(self, seed: int | str, limits: SentenceLimits) -> None:
        self.random = Random(seed)
        self.sampler = ClauseSampler(self.random, LexiconChoices(limits.lexicon_size, limits.has_digits))
        self.limits = limits

    def generate_distinct_pairs(self, sentence_count: int, counts: SentenceCounts) -> Iterator[SentencePair]:
        """Yield that many pairs whose English sides differ.

        Args:
            sentence_count: how many.
            counts: gets what is drawn and dropped, and the phenomena of what is kept.

        Raises:
            InputError: there are not that many.
        """
        distinct = DistinctSampler[SentencePair](sentence_count, counts)
        for _ in range(sentence_count):
            pair = distinct.draw_distinct(partial(self.draw_pair, self._draw_ambiguous_attachment()))
            for phenomenon in sorted(pair.phenomena):
                counts.add_noted(phenomenon)
            yield pair

    def draw_pair(self, attachment: AttachmentKind | None = None) -> SentencePair | str | None:
        """A pair; the reason why a drawing is none; None if the lexical core lies outside the share."""
        derived = self.derive_sentence(attachment)
        return build_pair(derived) if isinstance(derived, DerivedSentence) else derived

    def derive_sentence(self, attachment: AttachmentKind | None = None) -> DerivedSentence | str | None:
        """A derivation, of a sentence that leaves something open where that is asked for; or the same as `draw_pair`."""
        target = self._draw_target_length()
        main = self._draw_main_clause(target, attachment)
        if main is None:
            return None
        expansion = SentenceExpansion(self.sampler, main, target)
        focus = self.limits.required_phenomenon
        ambiguity = None
        if attachment is not None:
            ambiguity = add_beyond_target(expansion, partial(add_ambiguity, expansion, attachment))
            if ambiguity is None:
                return "without an open attachment"
        elif focus is not Phenomenon.any and not add_beyond_target(
            expansion, partial(add_phenomenon, focus, expansion)
        ):
            return "without the phenomenon"
        grow_sentence(expansion)
        if ambiguity is not None and not (count_ambiguous_attachments(main) == 1 and is_ambiguous(main, ambiguity)):
            return "without an open attachment"
        if ambiguity is None and self.limits.ambiguous_share and count_ambiguous_attachments(main):
            return "with an open attachment"
        found = find_phenomena(main)
        if ambiguity is not None:
            found.add(Phenomenon.ambiguous)
            # Nothing drawn before hangs on this, and the words are the same.
            ambiguity.set_attachment(is_high=self.sampler.draw_bool(0.5))
        tree = english.build_sentence(main)
        if not self.limits.min_length <= len(tree) <= self.limits.max_length:
            return "outside the limits of length"
        if focus is not Phenomenon.any and focus not in found:
            return "without the phenomenon"
        return DerivedSentence(main, tree, found, ambiguity)

    def _draw_target_length(self) -> int:
        """A length to grow to."""
        limits = self.limits
        if limits.length_distribution is LengthDistribution.uniform:
            return self.random.randint(limits.min_length, limits.max_length)
        while True:
            target = round(self.random.gammavariate(LENGTH_GAMMA_SHAPE, LENGTH_GAMMA_SCALE))
            if target <= limits.max_length:
                return max(target, limits.min_length)

    def _is_core_in_share(self, core: str) -> bool:
        return self.limits.share_from <= compute_core_position(core) < self.limits.share_to

    def _draw_ambiguous_attachment(self) -> AttachmentKind | None:
        """What the next sentence shall leave open."""
        if self.limits.required_phenomenon is Phenomenon.ambiguous or (
            self.limits.ambiguous_share and self.sampler.draw_bool(self.limits.ambiguous_share)
        ):
            return self.sampler.draw_item([*AttachmentKind])
        return None

    def _draw_main_clause(self, target_length: int, attachment: AttachmentKind | None) -> Clause | None:
        """The main clause at its smallest; shorter ones are tried for a short target."""
        senses = self.sampler.choices.intransitive_senses if target_length < MIN_LENGTH_WITH_ARGUMENTS else None
        if self.limits.required_phenomenon is Phenomenon.particle_verb:
            senses = self.sampler.choices.particle_senses
        if attachment is AttachmentKind.phrase_attachment:
            senses = self.sampler.choices.ambiguous_with_senses
        clause: Clause | None = None
        for _ in range(MAX_CORE_DRAWS):
            past = self.sampler.draw_bool(0.5) and self.limits.required_phenomenon is not Phenomenon.agreement
            drawn = self.sampler.draw_clause(past, 0, senses=senses, accept_core=self._is_core_in_share)
            clause = drawn or clause
            if drawn is not None and len(english.build_clause(drawn)) < target_length:
                return drawn
        return clause
