"""Which sentences are wanted of the grammar."""

from dataclasses import dataclass
from enum import StrEnum

from embedded_grammar.lexicon.lexicon_size import LexiconSize
from embedded_grammar.syntactic_phenomena import Phenomenon
from pipeline_py.run.errors import InputError

MIN_SENTENCE_LENGTH, MAX_SENTENCE_LENGTH = 3, 45


class LengthDistribution(StrEnum):
    """How the lengths of sentences are spread."""

    natural = "natural"
    uniform = "uniform"


@dataclass(slots=True)
class SentenceLimits:
    """Share of the space, lengths in English tokens and their spread, phenomenon, words.

    Attributes:
        ambiguous_share: the share of sentences that leave an attachment open; all others then leave none.

    Raises:
        InputError: there are no such sentences.
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

    def __post_init__(self) -> None:
        if not 0 <= self.share_from < self.share_to <= 1:
            raise InputError(
                f"share_from {self.share_from} and share_to {self.share_to} are not a share; "
                "they need 0 <= share_from < share_to <= 1"
            )
        if not 0 <= self.ambiguous_share <= 1:
            raise InputError(f"ambiguous {self.ambiguous_share} is not a share; give a number from 0 to 1")
        if not MIN_SENTENCE_LENGTH <= self.min_length <= self.max_length <= MAX_SENTENCE_LENGTH:
            raise InputError(
                f"min_length {self.min_length} and max_length {self.max_length} are not a range of lengths; "
                f"they need {MIN_SENTENCE_LENGTH} <= min_length <= max_length <= {MAX_SENTENCE_LENGTH}"
            )
