"""Limits of the sentences that the grammar generates."""

from dataclasses import dataclass
from enum import StrEnum

from embedded_grammar.lexicon.lexicon_size import LexiconSize
from embedded_grammar.syntactic_phenomena import Phenomenon
from embedded_grammar.vocabulary import BilingualVocabulary
from pipeline_py.run.errors import InputError

MIN_SENTENCE_LENGTH, MAX_SENTENCE_LENGTH = 3, 45


class LengthDistribution(StrEnum):
    """The distribution of sentence lengths."""

    natural = "natural"
    uniform = "uniform"


@dataclass(slots=True)
class SentenceLimits:
    """Limits of generated sentences; lengths are numbers of English tokens.

    Attributes:
        ambiguous_share: Share of sentences with an attachment ambiguity; if it is positive, all others have none.
        vocabulary: Words that may occur; None: all words.

    Raises:
        InputError: a value is out of range.
    """

    share_from: float
    share_to: float
    min_length: int
    max_length: int
    length_distribution: LengthDistribution
    required_phenomenon: Phenomenon
    lexicon_size: LexiconSize
    has_digits: bool
    ambiguous_share: float = 0.0
    vocabulary: BilingualVocabulary | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.share_from < self.share_to <= 1:
            raise InputError(
                f"share_from {self.share_from} and share_to {self.share_to} are no valid range; "
                "choose 0 <= share_from < share_to <= 1"
            )
        if not 0 <= self.ambiguous_share <= 1:
            raise InputError(f"ambiguous {self.ambiguous_share} is out of range; choose a number from 0 to 1")
        if not MIN_SENTENCE_LENGTH <= self.min_length <= self.max_length <= MAX_SENTENCE_LENGTH:
            raise InputError(
                f"min_length {self.min_length} and max_length {self.max_length} are no valid range; "
                f"choose {MIN_SENTENCE_LENGTH} <= min_length <= max_length <= {MAX_SENTENCE_LENGTH}"
            )
