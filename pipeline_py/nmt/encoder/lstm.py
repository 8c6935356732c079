"""One layer of long short-term memory (tree2seq eq. 1–2)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.encoders import LSTMEncoderConfig as Options
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.dropout import SharedDropout
from pipeline_py.nmt.encoder.recurrent_input import ConcatenatedInputs, run_recurrence
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.recurrence.lstm import LSTM


class LSTMEncoder(nn.Module):
    """Annotation h_j of the hidden size H; the summary is the last state with its cell, [h; c] of size 2·H.

    The input at a position is the concatenation of all input vectors, of the embedding size together. The direction
    `reversed` reads the words from last to first, then EOS, whose state is the last one; annotations keep the order of
    the words. With two directions, h_j is a linear map (H, 2·H) of [→h_j; ←h_j], and the summary's h and c are linear
    maps of [→h_n; ←h_1] and [→c_n; ←c_1], since the decoder expects vectors of size H.

    Dropout: on the input vectors, with a mask for each direction, and on h before the recurrent product.
    """

    def __init__(
        self,
        options: Options,
        model_config: ModelConfig,
        input_parts: Sequence[nn.Module],
        vocabulary_sizes: Mapping[str, int],
    ) -> None:
        super().__init__()
        self.annotation_size, self.summary_size = model_config.hidden, 2 * model_config.hidden
        self.is_reversed = options.direction == "reversed"
        self.inputs = ConcatenatedInputs(input_parts)
        self.forwards = LSTM(model_config.embedding, model_config.hidden)
        self.backwards = None
        if options.direction == "bidirectional":
            self.backwards = LSTM(model_config.embedding, model_config.hidden)
            self.annotation = Linear(2 * model_config.hidden, model_config.hidden)
            self.last_state = Linear(2 * model_config.hidden, model_config.hidden)
            self.last_cell = Linear(2 * model_config.hidden, model_config.hidden)
        self.dropout = SharedDropout(model_config.dropout_rates)

    def forward(self, batch: Batch) -> EncoderMemory:
        """Annotate B sentences of up to J positions."""
        states, _, *last = self.encode_words(batch)
        annotations = batch.source_words.unpack(states)
        return EncoderMemory.from_words(batch, annotations, torch.cat(last, dim=1))

    def encode_words(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Read the N words of B sentences.

        Returns:
            Annotations (N, H); the cells of all directions (N, H) or (N, 2·H); h and c of the summary (B, H).
        """
        lengths = batch.source_lengths
        values = self.inputs(batch)  # (N, E)
        # The last position is not reversed: EOS stays at the end.
        states, cells, *last = self._run_direction(
            self.forwards, values, batch, lengths - 1 if self.is_reversed else None
        )
        if self.backwards is not None:
            leftward, leftward_cells, *first = self._run_direction(self.backwards, values, batch, lengths)
            states = upcast_half_precision(self.annotation(torch.cat([states, leftward], dim=1)))
            cells = torch.cat([cells, leftward_cells], dim=1)
            maps = (self.last_state, self.last_cell)
            last = [
                upcast_half_precision(project(torch.cat(ends, dim=1)))
                for project, *ends in zip(maps, last, first, strict=True)
            ]
        return states, cells, last[0], last[1]

    def _run_direction(
        self, lstm: LSTM, input_vectors: Tensor, batch: Batch, reversed_lengths: Tensor | None
    ) -> tuple[Tensor, ...]:
        """Run one direction.

        Args:
            lstm: the LSTM of this direction.
            input_vectors: (N, E).
            batch: the batch of sentences.
            reversed_lengths: number of positions of each sentence to read in reverse order (B,); None: no position.

        Returns:
            States and cells of the words (N, H), h and c of the last step (B, H).
        """
        words = batch.source_words
        reversed_indices = None if reversed_lengths is None else words.compute_reversed_indices(reversed_lengths)
        input_vectors = input_vectors if reversed_indices is None else input_vectors.index_select(0, reversed_indices)
        states, cells = run_recurrence(lstm, input_vectors, words, self.dropout)
        last_indices = words.find_last_words(batch.source_lengths)
        last = states.index_select(0, last_indices), cells.index_select(0, last_indices)
        if reversed_indices is not None:
            states, cells = states.index_select(0, reversed_indices), cells.index_select(0, reversed_indices)
        return states, cells, *last
