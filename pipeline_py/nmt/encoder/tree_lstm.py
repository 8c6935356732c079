"""A binary Tree-LSTM over the words of a sentence (tree2seq section 3.1)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.encoders import LSTMEncoderConfig
from pipeline_py.config.systems.encoders import TreeLSTMEncoderConfig as Options
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.dropout import SharedDropout
from pipeline_py.nmt.encoder.lstm import LSTMEncoder
from pipeline_py.nmt.encoder.recurrent_input import ConcatenatedInputs, run_recurrence
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.recurrence.lstm import LSTM
from pipeline_py.nmt.trees.tree_lstm import TreeLSTM


class TreeLSTMEncoder(nn.Module):
    """Annotations of words and EOS, then of phrases, all of the hidden size H; the summary is [h; c] of size 2·H.

    With LSTM leaves, a word's annotation is the state of a forward LSTM; the state and its cell are a leaf of the tree.
    Phrases have no input vectors (eq. 11–18). A second Tree-LSTM combines the last state, that of EOS, and the root to
    the summary (eq. 19). Without a tree, the root's h and c are 0.

    With leaves of a bidirectional LSTM, h of a leaf is the annotation of `LSTMEncoder`, and c is a linear map (H, 2·H)
    of [→c; ←c]; the last state is that encoder's summary.

    With embeddings as leaves, a word's annotation is its input vector, its c is 0, and the summary is the root, or 0
    without a tree.

    Dropout: on the input vectors, and on every h before a product of the LSTM or Tree-LSTM, with separate masks for
    left and right children.
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
        self.leaves: LSTM | LSTMEncoder | None = None
        if options.leaves == "bidirectional_lstm":
            self.leaves = LSTMEncoder(
                LSTMEncoderConfig(direction="bidirectional"), model_config, input_parts, vocabulary_sizes
            )
            self.leaf_cell = Linear(2 * model_config.hidden, model_config.hidden)
        else:
            self.inputs = ConcatenatedInputs(input_parts)
            if options.leaves == "lstm":
                self.leaves = LSTM(model_config.embedding, model_config.hidden)
        if options.leaves != "embeddings":
            self.summarize = TreeLSTM(model_config.hidden)
        self.tree = TreeLSTM(model_config.hidden)
        self.dropout = SharedDropout(model_config.dropout_rates)

    def forward(self, batch: Batch) -> EncoderMemory:
        """Annotate B sentences of up to J positions and P phrases."""
        lengths = batch.source_lengths
        schedule = batch.get_tree_schedule("trees")
        words = batch.source_words
        states, cells, last_state = self._encode_leaves(batch)
        leaves = (words.unpack_by_position(states).flatten(0, 1), words.unpack_by_position(cells).flatten(0, 1))
        phrases = self.tree(*leaves, schedule, self._draw_child_mask(len(lengths), states))
        root = schedule.get_root_values(leaves[0], phrases[0]), schedule.get_root_values(leaves[1], phrases[1])
        if last_state is not None:
            summary = self.summarize.compose_nodes(last_state, root, self._draw_child_mask(len(lengths), states))
        else:
            summary = root
        annotations = (
            leaves[0].view(words.position_count, words.sentence_count, self.annotation_size).transpose(0, 1)
        )  # (B, J, H)
        memory = EncoderMemory.from_words(batch, annotations, torch.cat(summary, dim=1))
        return memory.append_phrases(schedule.group_by_sentence(phrases[0]), schedule)

    def _encode_leaves(self, batch: Batch) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor] | None]:
        """Return h and c of the words (N, H), and h and c of the last state (B, H) if the leaves are those of LSTMs."""
        if isinstance(self.leaves, LSTMEncoder):
            states, direction_cells, *last_state = self.leaves.encode_words(batch)
            return states, upcast_half_precision(self.leaf_cell(direction_cells)), (last_state[0], last_state[1])
        values = self.inputs(batch)  # (N, E)
        if self.leaves is None:
            return values, torch.zeros_like(values), None
        states, cells = run_recurrence(self.leaves, values, batch.source_words, self.dropout)
        last_indices = batch.source_words.find_last_words(batch.source_lengths)
        return states, cells, (states.index_select(0, last_indices), cells.index_select(0, last_indices))

    def _draw_child_mask(self, sentence_count: int, reference: Tensor) -> Tensor | None:
        """Draw a dropout mask of [h_l; h_r] (B, 2·H)."""
        return self.dropout.draw_mask("states", sentence_count, 2 * self.annotation_size, reference)
