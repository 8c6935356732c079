"""One layer of long short-term memory (tree2seq eq. 1–2)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from pipeline_py.config.encoders import LSTMEncoder
from pipeline_py.config.systems import Model
from pipeline_py.nmt.attention import at_least_single
from pipeline_py.nmt.batch import Batch
from pipeline_py.nmt.dropout import SharedDropout, drop
from pipeline_py.nmt.lstm import LSTM, at_end
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.turn import turn


class Part(nn.Module):
    """Annotation h_j of the hidden size H; the summary is the last state with its cell, [h; c] of size 2·H.

    What is read at a position are the vectors of the inputs side by side, of the embedding's size together. Reversed,
    the words are read from the last to the first and then EOS, whose state is the last one; every annotation stands at
    its own word's position. With two directions, h_j is a linear map (H, 2·H) of [→h_j; ←h_j], and the summary's h and
    c are one each of [→h_n; ←h_1] and of [→c_n; ←c_1], since the decoder attends and starts with vectors of size H.

    Dropout: on what is read, for each direction its own, and on h on its way into the recurrent product.
    """

    def __init__(
        self, options: LSTMEncoder, sizes: Model, inputs: Sequence[nn.Module], vocabularies: Mapping[str, int]
    ) -> None:
        super().__init__()
        self.size, self.summary_size = sizes.hidden, 2 * sizes.hidden
        self.reversed = options.direction == "reversed"
        self.inputs = nn.ModuleList(inputs)
        self.forwards = LSTM(sizes.embedding, sizes.hidden)
        self.backwards = None
        if options.direction == "bidirectional":
            self.backwards = LSTM(sizes.embedding, sizes.hidden)
            self.annotation = nn.Linear(2 * sizes.hidden, sizes.hidden)
            self.last_state = nn.Linear(2 * sizes.hidden, sizes.hidden)
            self.last_cell = nn.Linear(2 * sizes.hidden, sizes.hidden)
        self.dropout = SharedDropout(sizes.dropout)

    def forward(self, batch: Batch) -> Memory:
        """Annotate B sentences of up to J positions."""
        length, lengths = batch.source.shape[1], batch.source_lengths
        read = [part(batch) for part in self.inputs]
        words = read[0] if len(read) == 1 else torch.cat(read, dim=2)  # (J, B, E)
        # Turned round without its last position, a sentence ends with EOS all the same.
        states, *last = self._read(self.forwards, words, lengths, lengths - 1 if self.reversed else None)
        if self.backwards is not None:
            leftward, *first = self._read(self.backwards, words, lengths, lengths)
            states = at_least_single(self.annotation(torch.cat([states, leftward], dim=2)))
            maps = (self.last_state, self.last_cell)
            last = [
                at_least_single(project(torch.cat(ends, dim=1)))
                for project, *ends in zip(maps, last, first, strict=True)
            ]
        mask = torch.arange(length, device=lengths.device) < lengths.unsqueeze(1)  # (B, J)
        return Memory((states.transpose(0, 1),), mask, length, lengths, (torch.cat(last, dim=1),), batch.tables)

    def _read(self, lstm: LSTM, words: Tensor, lengths: Tensor, turned: Tensor | None) -> tuple[Tensor, ...]:
        """Run one direction.

        Args:
            lstm: its parameters.
            words: what is read (J, B, E).
            lengths: of the sentences (B,).
            turned: how many positions of each sentence are read from the last to the first (B,), or None.

        Returns:
            States at their own positions (J, B, H), h and c of the last step (B, H).
        """
        words = words if turned is None else turn(words, turned)
        words = drop(words, self.dropout.draw(words.shape[1], words.shape[2], words))
        mask = self.dropout.draw(words.shape[1], lstm.hidden, words)
        states, cells = lstm.sequence(at_least_single(lstm.input(words)), mask)
        return states if turned is None else turn(states, turned), at_end(states, lengths), at_end(cells, lengths)
