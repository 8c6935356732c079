"""Generation of distinct sentence pairs within limits of share, length and phenomenon."""

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

# Natural lengths: mean 14 English tokens, 4 % longer than 30, 1 % longer than 40.
LENGTH_GAMMA_SHAPE, LENGTH_GAMMA_SCALE = 3.2, 4.4
# The number of attempts to draw a main clause that is shorter than its target.
MAX_CORE_DRAWS = 20
MIN_LENGTH_WITH_ARGUMENTS = 5

# Generation fails after this many rejected sentences in a row,
MAX_FRUITLESS_DRAWS = 10_000
# or after this many lexical cores outside the share, which are much cheaper to draw.
MAX_OUTSIDE_DRAWS = 100_000

EXHAUSTION_REMEDY = "ask for fewer sentences, a wider share or range of lengths, another focus, or a lower `min_count`"

RARE_WORD_REASON = "with a rare word"
"""Reason to drop a sentence with a word that is not in the vocabulary."""


@dataclass(slots=True)
class DerivedSentence:
    """A derivation with its English tree, its phenomena and its attachment ambiguity, if it has one."""

    main_clause: Clause
    tree: Constituent
    phenomena: set[Phenomenon]
    ambiguity: AttachmentAmbiguity | None


class EnglishSentence(Protocol):
    """An object that `DistinctSampler` compares by its English sentence."""

    @property
    def english(self) -> str:
        """The English sentence."""


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
    """Build the sentence pair of a derivation."""
    leaves = list(derived.tree.iterate_leaves())
    text = " ".join([leaf.form for leaf in leaves])
    return SentencePair(
        derived.tree, leaves, text, " ".join(german.realize_sentence(derived.main_clause)), derived.phenomena
    )


def compute_core_position(core: str) -> float:
    """Hash a lexical core to its position in the space of all cores, in [0, 1)."""
    return int.from_bytes(blake2b(core.encode(), digest_size=7).digest(), "big") / 2**56


class DistinctSampler(Generic[EnglishItem]):
    """A sampler without repetition; it stores an 8-byte digest of each English sentence."""

    def __init__(self, requested_count: int, counts: SentenceCounts) -> None:
        self.requested_count = requested_count
        self.counts = counts
        self.known_digests: set[bytes] = set()

    def draw_distinct(self, draw_item: Callable[[], EnglishItem | str | None]) -> EnglishItem:
        """Draw until there is a new item, and count the dropped ones by reason.

        Args:
            draw_item: Returns an item, the reason to drop it, or None if its lexical core is outside the share.

        Raises:
            InputError: too many draws have produced no new item.
        """
        fruitless_count = outside_count = 0
        while fruitless_count < MAX_FRUITLESS_DRAWS and outside_count < MAX_OUTSIDE_DRAWS:
            item = draw_item()
            if item is None:
                outside_count += 1
                continue
            if not isinstance(item, str):
                digest = blake2b(item.english.encode(), digest_size=8).digest()
                if digest not in self.known_digests:
                    self.known_digests.add(digest)
                    self.counts.add_kept()
                    return item
                item = "duplicate"
            self.counts.add_dropped(item)
            fruitless_count += 1
        raise InputError(
            f"only {len(self.known_digests)} of {self.requested_count} such sentences were found; {EXHAUSTION_REMEDY}"
        )


class PairGenerator:
    """A generator of random sentence pairs within `limits`."""

    def __init__(self, seed: int | str, limits: SentenceLimits) -> None:
        self.random = Random(seed)
        self.sampler = ClauseSampler(self.random, LexiconChoices(limits.lexicon_size, limits.has_digits))
        self.limits = limits

    def generate_distinct_pairs(self, sentence_count: int, counts: SentenceCounts) -> Iterator[SentencePair]:
        """Yield `sentence_count` pairs with distinct English sentences.

        Args:
            sentence_count: The number of pairs.
            counts: Receives the kept and dropped sentences, and the phenomena of the kept ones.

        Raises:
            InputError: the grammar has too few sentences.
        """
        sampler = DistinctSampler[SentencePair](sentence_count, counts)
        for _ in range(sentence_count):
            pair = sampler.draw_distinct(partial(self.draw_pair, self._draw_ambiguous_attachment()))
            for phenomenon in sorted(pair.phenomena):
                counts.add_noted(phenomenon)
            yield pair

    def draw_pair(self, attachment: AttachmentKind | None = None) -> SentencePair | str | None:
        """Draw a pair; otherwise return as `derive_sentence`."""
        sentence = self.derive_sentence(attachment)
        if not isinstance(sentence, DerivedSentence):
            return sentence
        pair = build_pair(sentence)
        vocabulary = self.limits.vocabulary
        return pair if vocabulary is None or vocabulary.has_words(pair.english, pair.german) else RARE_WORD_REASON

    def derive_sentence(self, attachment: AttachmentKind | None = None) -> DerivedSentence | str | None:
        """Derive a random sentence, with an attachment ambiguity if `attachment` is given.

        Return the reason if the sentence must be dropped, or None if its lexical core is outside the share.
        """
        target = self._draw_target_length()
        main = self._draw_main_clause(target, attachment)
        if main is None:
            return None
        expansion = SentenceExpansion(self.sampler, main, target)
        required = self.limits.required_phenomenon
        ambiguity = None
        if attachment is not None:
            ambiguity = add_beyond_target(expansion, partial(add_ambiguity, expansion, attachment))
            if ambiguity is None:
                return "without an open attachment"
        elif required is not Phenomenon.any and not add_beyond_target(
            expansion, partial(add_phenomenon, required, expansion)
        ):
            return "without the phenomenon"
        grow_sentence(expansion)
        if ambiguity is not None and not (count_ambiguous_attachments(main) == 1 and is_ambiguous(main, ambiguity)):
            return "without an open attachment"
        if ambiguity is None and self.limits.ambiguous_share and count_ambiguous_attachments(main):
            return "with an open attachment"
        phenomena = find_phenomena(main)
        if ambiguity is not None:
            phenomena.add(Phenomenon.ambiguous)
            # The words are the same in both readings and independent of this draw.
            ambiguity.set_attachment(is_high=self.sampler.draw_bool(0.5))
        tree = english.build_sentence(main)
        if not self.limits.min_length <= len(tree) <= self.limits.max_length:
            return "outside the limits of length"
        if required is not Phenomenon.any and required not in phenomena:
            return "without the phenomenon"
        return DerivedSentence(main, tree, phenomena, ambiguity)

    def _draw_target_length(self) -> int:
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
        """Decide whether the next sentence is ambiguous, and draw the kind of attachment."""
        if self.limits.required_phenomenon is Phenomenon.ambiguous or (
            self.limits.ambiguous_share and self.sampler.draw_bool(self.limits.ambiguous_share)
        ):
            return self.sampler.draw_item([*AttachmentKind])
        return None

    def _draw_main_clause(self, target_length: int, attachment: AttachmentKind | None) -> Clause | None:
        """Draw a minimal main clause, if possible shorter than the target; return None if it is outside the share."""
        senses = self.sampler.choices.intransitive_senses if target_length < MIN_LENGTH_WITH_ARGUMENTS else None
        if self.limits.required_phenomenon is Phenomenon.particle_verb:
            senses = self.sampler.choices.particle_senses
        if attachment is AttachmentKind.phrase_attachment:
            senses = self.sampler.choices.ambiguous_with_senses
        last_clause: Clause | None = None
        for _ in range(MAX_CORE_DRAWS):
            is_past = self.sampler.draw_bool(0.5) and self.limits.required_phenomenon is not Phenomenon.agreement
            clause = self.sampler.draw_clause(is_past, 0, senses=senses, accept_core=self._is_core_in_share)
            if clause is not None and len(english.build_clause(clause)) < target_length:
                return clause
            last_clause = clause or last_clause
        return last_clause
