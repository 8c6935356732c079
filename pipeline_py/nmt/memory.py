"""What an encoder leaves for the decoder to attend to."""

from dataclasses import dataclass, field, replace

from torch import Tensor


@dataclass(frozen=True)
class Memory:
    """The annotations of B sentences of up to J positions.

    Attributes:
        states: annotations (B, J, H).
        mask: (B, J) bool, true where a sentence has a position.
        lengths: (B,) number of positions of each sentence.
        summary: (B, H), what the decoder starts from.
        syntax: kind → tensor, as in `Batch`.
        keys: for each of the decoder's scores, what it computes from the annotations once (B, J, A).
    """

    states: Tensor
    mask: Tensor
    lengths: Tensor
    summary: Tensor
    syntax: dict[str, Tensor] = field(default_factory=dict)
    keys: tuple[Tensor, ...] = ()

    def select(self, index: Tensor) -> "Memory":
        """Gather rows: `index` (N,) int64 names the sentence of each new row; a sentence may be named many times."""
        return replace(
            self,
            states=self.states.index_select(0, index),
            mask=self.mask.index_select(0, index),
            lengths=self.lengths.index_select(0, index),
            summary=self.summary.index_select(0, index),
            syntax={kind: tensor.index_select(0, index) for kind, tensor in self.syntax.items()},
            keys=tuple(keys.index_select(0, index) for keys in self.keys),
        )
