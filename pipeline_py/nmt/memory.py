"""What the encoders leave for the decoder to attend to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from pipeline_py.nmt.data.batch import Batch, of_kind
from pipeline_py.nmt.search.owners import Owners
from pipeline_py.nmt.trees.schedule import Schedule


@dataclass(frozen=True)
class Auxiliary:
    """What a part of an encoder learns beside translation.

    Attributes:
        loss: of each sentence (B,), to be added in training.
        observed: name of a statistic → its sum and its count in each sentence (B,).
    """

    loss: Tensor
    observed: dict[str, tuple[Tensor, Tensor]]


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
        there: (n,) b · N + j for each word or phrase in column j of sentence b, so that padding may be left out of a
            product; None: all may be.
        reach: in how many columns each sentence may have something; None: in all.
        keys: for each of the decoder's scores, what it computes from the annotations once (B, N, A).
        projections: for each context, for each encoder, what a decoder sums up instead of the annotations (B, N, P)
            once it has prepared for a search; until then empty.
        owners: where a search has several rows for a sentence, whose they are; states, keys and projections are then
            those of the sentences, and all else is of the rows. None: rows are sentences.
        auxiliary: what the encoders learn beside translation.
    """

    states: tuple[Tensor, ...]
    mask: Tensor
    words: int
    lengths: Tensor
    summary: tuple[Tensor, ...]
    syntax: dict[str, Tensor] = field(default_factory=dict)
    there: Tensor | None = None
    reach: tuple[int, ...] | None = None
    keys: tuple[Tensor, ...] = ()
    projections: tuple[tuple[Tensor, ...], ...] = ()
    owners: Owners | None = None
    auxiliary: tuple[Auxiliary, ...] = ()

    @staticmethod
    def of_words(batch: Batch, states: Tensor, summary: Tensor) -> "Memory":
        """Put together what an encoder made of the words of a batch: (B, J, M) and (B, ·)."""
        words = batch.source_words
        return Memory(
            (states,),
            batch.mask,
            words.positions,
            batch.source_lengths,
            (summary,),
            batch.tables,
            words.place_in_rectangle if words.real is None else None,
            words.lengths,
        )

    def table(self, kind: str) -> Tensor:
        """Return the syntax of a kind (B, …).

        Raises:
            LookupError: the network does not read it.
        """
        return of_kind(kind, self.syntax)

    def with_phrases(self, annotations: Tensor, phrases: Schedule) -> "Memory":
        """Put the phrases of trees behind the words of the only encoder: (B, P, M)."""
        (of_words,), there = self.states, self.there
        states = torch.cat([of_words, annotations], dim=1)
        if there is not None:
            columns = states.shape[1]
            of_words = there // self.words * columns + there % self.words
            of_phrases = phrases.places // phrases.phrases * columns + self.words + phrases.places % phrases.phrases
            there = torch.cat([of_words, of_phrases])
        mask = torch.cat([self.mask, phrases.mask], dim=1)
        return replace(self, states=(states,), mask=mask, there=there, reach=None)

    @staticmethod
    def joined(memories: Sequence["Memory"]) -> "Memory":
        """Put together what several encoders made of the same positions."""
        return replace(
            memories[0],
            states=tuple(states for memory in memories for states in memory.states),
            summary=tuple(summary for memory in memories for summary in memory.summary),
            auxiliary=tuple(learnt for memory in memories for learnt in memory.auxiliary),
        )

    def gather(self, index: Tensor) -> "Memory":
        """Bring the sentences into another order (B,) int64, for a loop over them."""
        reach = None if self.reach is None else tuple(self.reach[sentence] for sentence in index.tolist())
        return replace(self._each(lambda held: held.index_select(0, index)), there=None, reach=reach)

    def leading(self, rows: int) -> "Memory":
        """Keep the first sentences only."""
        reach = None if self.reach is None else self.reach[:rows]
        return replace(self._each(lambda held: held[:rows]), there=None, reach=reach)

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Memory":
        """Change all that has a row for each sentence; not during a search."""
        return replace(
            self,
            states=tuple(map(change, self.states)),
            mask=change(self.mask),
            lengths=change(self.lengths),
            summary=tuple(map(change, self.summary)),
            syntax={kind: change(tensor) for kind, tensor in self.syntax.items()},
            keys=tuple(map(change, self.keys)),
        )

    def select(self, index: Tensor) -> "Memory":
        """Gather rows: `index` (R,) int64 names the row that each new one is; a row may be named many times."""
        owners = self.owners or Owners(torch.arange(len(self.mask), device=index.device), self.reach)
        return replace(
            self,
            there=None,
            reach=None,
            mask=self.mask.index_select(0, index),
            lengths=self.lengths.index_select(0, index),
            summary=tuple(summary.index_select(0, index) for summary in self.summary),
            syntax={kind: tensor.index_select(0, index) for kind, tensor in self.syntax.items()},
            owners=Owners.of(owners.sentence.index_select(0, index), len(self.states[0]), owners.reach),
        )
