"""What the recurrence of the conditional GRU hands from step to step, and to what follows it."""

from dataclasses import dataclass

from torch import Tensor

from pipeline_py.nmt.attention import Carried, Observation


@dataclass(frozen=True)
class State:
    """Where the decoder stands in B sentences.

    Attributes:
        hidden: s_i of each encoder's pair of GRUs side by side (B, S·H).
        carried: for each context what its weighting carries from step to step.
    """

    hidden: Tensor
    carried: tuple[Carried, ...]

    def select(self, index: Tensor) -> "State":
        """Gather rows, as `Memory.select` does."""
        return State(
            self.hidden.index_select(0, index),
            tuple(tuple(part.index_select(0, index) for part in carried) for carried in self.carried),
        )


@dataclass(frozen=True)
class Masks:
    """Dropout masks of one pair's recurrence, the same at every step (B, ·); None where nothing is dropped."""

    first: Tensor | None = None
    query: Tensor | None = None
    second: Tensor | None = None
    context: Tensor | None = None


@dataclass(frozen=True)
class Step:
    """What one step of the recurrence leaves.

    Attributes:
        hidden: s_i of each pair side by side (B, S·H).
        contexts: the context vectors side by side (B, ·), the first context's of each encoder, then the second's, ….
        attention: weights of the first context (B, J).
        observed: what each context's weighting counted, if it was asked.
    """

    hidden: Tensor
    contexts: Tensor
    attention: Tensor
    observed: list[Observation]
