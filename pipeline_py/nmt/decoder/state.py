"""What the recurrence of a decoder hands from step to step, and to what follows it."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pipeline_py.nmt.attention import Carried, Observation
from pipeline_py.nmt.device import on_cpu


@dataclass(frozen=True)
class State:
    """Where the decoder stands in B sentences.

    Attributes:
        different: what the recurrence carries on, side by side as the decoder lays it out (D, ·), once for all
            sentences (of a search: hypotheses) that have it in common.
        carried: for each context what its weighting carries from step to step.
        first: whether no word has been predicted yet.
        place: which of the different ones a sentence has (B,); None: each its own.
    """

    different: Tensor
    carried: tuple[Carried, ...]
    first: bool = False
    place: Tensor | None = None

    @property
    def hidden(self) -> Tensor:
        """What the recurrence carries on (B, ·)."""
        return at_places(self.different, self.place)

    def select(self, index: Tensor) -> "State":
        """Gather rows, as `Memory.select` does."""
        different, place = distinct(index if self.place is None else self.place.index_select(0, index))
        return State(
            self.different.index_select(0, different),
            tuple(tuple(part.index_select(0, index) for part in carried) for carried in self.carried),
            self.first,
            place,
        )

    def leading(self, rows: int) -> "State":
        """Keep the first sentences only."""
        carried = tuple(tuple(part[:rows] for part in parts) for parts in self.carried)
        return replace(self, different=self.hidden[:rows], place=None, carried=carried)


@dataclass(frozen=True)
class Attended:
    """What one step sees of the memory.

    Attributes:
        vectors: for each context its vector of each encoder (B, M).
        weights: α of the first context (B, N).
        carried: for each context what its weighting is given at the next step.
        observed: what each context's weighting counted, if it was asked.
    """

    vectors: list[list[Tensor]]
    weights: Tensor
    carried: tuple[Carried, ...]
    observed: list[Observation]


@dataclass(frozen=True)
class Step:
    """What one step of the recurrence leaves.

    Attributes:
        vectors: what the readout reads, beside the word before where it reads that (B, ·) each.
        attended: what was seen of the memory.
        phrase_weight: β (B,), where words and phrases are weighted.
        projected: whether the contexts among the vectors are sums of `Memory.projections`.
    """

    vectors: tuple[Tensor, ...]
    attended: Attended
    phrase_weight: Tensor | None = None
    projected: bool = False


@dataclass(frozen=True)
class Attention:
    """What was attended to in whole sentences; zero behind a sentence's end.

    Attributes:
        weights: α of the first context (I, B, N), before any β.
        phrase_weights: β of each step (I, B), or None where all have the weight 1.
    """

    weights: Tensor
    phrase_weights: Tensor | None


def distinct(numbers: Tensor) -> tuple[Tensor, Tensor | None]:
    """Say which numbers (B,) there are (D,), and which of them each one is (B,); None: each is one of its own.

    A GPU would have to be asked how many there are, and computes with the same ones as fast as with others.
    """
    if len(numbers) == 1 or not on_cpu(numbers.device):
        return numbers, None
    found, place = torch.unique(numbers, return_inverse=True)
    return found, place


def at_places(values: Tensor, place: Tensor | None) -> Tensor:
    """Hand out what `distinct` ones have: (D, …) → (B, …)."""
    return values if place is None else values.index_select(0, place)


def real_words(length: int, lengths: Tensor) -> Tensor:
    """Tell words from padding: (B,) → (I, B) bool."""
    return torch.arange(length, device=lengths.device).unsqueeze(1) < lengths
