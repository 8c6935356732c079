"""What the recurrence of a decoder hands from step to step, and to what follows it."""

from dataclasses import dataclass, replace

from torch import Tensor

from pipeline_py.nmt.attention import Carried, Observation


@dataclass(frozen=True)
class State:
    """Where the decoder stands in B sentences.

    Attributes:
        hidden: what the recurrence carries on, side by side as the decoder lays it out (B, ·).
        carried: for each context what its weighting carries from step to step.
        first: whether no word has been predicted yet.
    """

    hidden: Tensor
    carried: tuple[Carried, ...]
    first: bool = False

    def select(self, index: Tensor) -> "State":
        """Gather rows, as `Memory.select` does."""
        return State(
            self.hidden.index_select(0, index),
            tuple(tuple(part.index_select(0, index) for part in carried) for carried in self.carried),
            self.first,
        )

    def leading(self, rows: int) -> "State":
        """Keep the first sentences only."""
        carried = tuple(tuple(part[:rows] for part in parts) for parts in self.carried)
        return replace(self, hidden=self.hidden[:rows], carried=carried)


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
