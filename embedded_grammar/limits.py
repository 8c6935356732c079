"""Which sentences are wanted of the grammar."""

from dataclasses import dataclass
from enum import StrEnum

from embedded_grammar.focus import Focus
from embedded_grammar.lexicon.size import Lexicon
from pipeline_py.run.errors import InputError

SHORTEST, LONGEST = 3, 45


class Lengths(StrEnum):
    """How the lengths of sentences are spread."""

    natural = "natural"
    uniform = "uniform"


@dataclass(slots=True)
class Limits:
    """Share of the space, lengths in English tokens and their spread, phenomenon, words.

    Attributes:
        ambiguous: the share of sentences that leave an attachment open; all others then leave none.

    Raises:
        InputError: there are no such sentences.
    """

    share_from: float
    share_to: float
    shortest: int
    longest: int
    lengths: Lengths
    focus: Focus
    lexicon: Lexicon
    digits: bool
    ambiguous: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.share_from < self.share_to <= 1:
            raise InputError(
                f"share_from {self.share_from} and share_to {self.share_to} are not a share; "
                "they need 0 <= share_from < share_to <= 1"
            )
        if not 0 <= self.ambiguous <= 1:
            raise InputError(f"ambiguous {self.ambiguous} is not a share; give a number from 0 to 1")
        if not SHORTEST <= self.shortest <= self.longest <= LONGEST:
            raise InputError(
                f"min_length {self.shortest} and max_length {self.longest} are not a range of lengths; "
                f"they need {SHORTEST} <= min_length <= max_length <= {LONGEST}"
            )
