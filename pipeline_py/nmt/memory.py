"""What the encoders leave for the decoder to attend to."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor


@dataclass(frozen=True)
class Memory:
    """The annotations of B sentences of up to J positions, and of up to N − J phrases where an encoder has such.

    Attributes:
        states: of each encoder its annotations (B, N, M): words and EOS in columns 0 … J − 1, phrases behind them.
        mask: (B, N) bool, true where a sentence has a word or phrase.
        words: J.
        lengths: (B,) number of positions of each sentence, EOS included, phrases not.
        summary: of each encoder what the decoder starts from (B, ·).
        syntax: kind → tensor (B, …), as in `Batch.tables`.
        keys: for each of the decoder's scores, what it computes from the annotations once (B, N, A).
    """

    states: tuple[Tensor, ...]
    mask: Tensor
    words: int
    lengths: Tensor
    summary: tuple[Tensor, ...]
    syntax: dict[str, Tensor] = field(default_factory=dict)
    keys: tuple[Tensor, ...] = ()

    @staticmethod
    def joined(memories: Sequence["Memory"]) -> "Memory":
        """Put together what several encoders made of the same positions."""
        return replace(
            memories[0],
            states=tuple(states for memory in memories for states in memory.states),
            summary=tuple(summary for memory in memories for summary in memory.summary),
        )

    def select(self, index: Tensor) -> "Memory":
        """Gather rows: `index` (N,) int64 names the sentence of each new row; a sentence may be named many times."""
        return replace(
            self,
            states=tuple(states.index_select(0, index) for states in self.states),
            mask=self.mask.index_select(0, index),
            lengths=self.lengths.index_select(0, index),
            summary=tuple(summary.index_select(0, index) for summary in self.summary),
            syntax={kind: tensor.index_select(0, index) for kind, tensor in self.syntax.items()},
            keys=tuple(keys.index_select(0, index) for keys in self.keys),
        )
