"""A parser, and one graph convolution over the heads that it predicts (Hashimoto and Tsuruoka 2017)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.encoders import LatentGraphEncoderConfig
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.dropout import SharedDropout
from pipeline_py.nmt.encoder.recurrent_input import ConcatenatedInputs, run_recurrence
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.initialization import InitializationRule
from pipeline_py.nmt.parsing_encoder import ParseScores, ParsingEncoder
from pipeline_py.nmt.recurrence.lstm import LSTM


class LatentGraphEncoder(ParsingEncoder):
    """Annotations of the hidden size H; the summary is [h; c] of size 2·H.

    With h_i = [→h_i; ←h_i] (2·H) the states of a bidirectional LSTM, for all positions i and j including EOS:

    - p(j | i) = softmax_j(m(i, j)), the probability that j is the head of i: m(i, j) = h_iᵀ W h_j for j ≠ i;
      j = i is ROOT, with m(i, i) = h_iᵀ W r and a learned vector r (2·H);
    - z_i = Σ_{j≠i} p(j | i) h_j + p(i | i) r, the expected head (2·H);
    - p(ℓ | i) = softmax(W_ℓ [h_i; z_i] + b), the label (L);
    - the annotation is tanh(W_dep [h_i; z_i; p(ℓ | i)] + b).

    Heads stay distributions, and the translation loss trains the pretrained parser further. The summary's h and c are
    linear maps (H, 2·H) of [→h_n; ←h_1] and of the cells, as in the bidirectional LSTM encoder.

    tree2seq (section 5.3) specifies only the graph convolution and the pretraining. Differences from Hashimoto and
    Tsuruoka: word embeddings without character n-grams; one bidirectional LSTM for parsing and translation, without
    separate layers for tags and for translation; no predicted tags; annotations of size H, which the score needs.

    Dropout: on the input vectors, with a mask for each direction, and on h before the recurrent product.
    """

    def __init__(
        self,
        options: LatentGraphEncoderConfig,
        model_config: ModelConfig,
        input_parts: Sequence[nn.Module],
        vocabulary_sizes: Mapping[str, int],
    ) -> None:
        super().__init__()
        hidden, labels = model_config.hidden, vocabulary_sizes["labels"]
        self.annotation_size, self.summary_size = hidden, 2 * hidden
        self.inputs = ConcatenatedInputs(input_parts)
        self.forwards = LSTM(model_config.embedding, hidden)
        self.backwards = LSTM(model_config.embedding, hidden)
        self.head = Linear(2 * hidden, 2 * hidden, bias=False)
        self.root = nn.Parameter(torch.zeros(2 * hidden))
        self.label = Linear(4 * hidden, labels)
        self.annotation = Linear(4 * hidden + labels, hidden)
        self.last_state = Linear(2 * hidden, hidden)
        self.last_cell = Linear(2 * hidden, hidden)
        self.dropout = SharedDropout(model_config.dropout_rates)

    def initialize(self, rule: InitializationRule) -> None:
        """Initialize the vector of ROOT."""
        rule.fill_vector(self.root)

    def forward(self, batch: Batch) -> EncoderMemory:
        """Annotate B sentences of up to J positions."""
        states, last_states, last_cells = self._run_lstm(batch)
        parse, states_and_heads = self._predict_from_states(states, batch)
        annotation_inputs = torch.cat([states_and_heads, parse.label_scores.softmax(dim=2)], dim=2)
        annotations = upcast_half_precision(self.annotation(annotation_inputs)).tanh()
        summary = upcast_half_precision(self.last_state(last_states)), upcast_half_precision(self.last_cell(last_cells))
        return EncoderMemory.from_words(batch, annotations, torch.cat(summary, dim=1))

    def predict_parse(self, batch: Batch) -> ParseScores:
        """Predict heads and labels of B sentences of up to J positions."""
        return self._predict_from_states(self._run_lstm(batch)[0], batch)[0]

    def _predict_from_states(self, states: Tensor, batch: Batch) -> tuple[ParseScores, Tensor]:
        """Parse from states h (B, J, 2·H); return the scores and [h_i; z_i] (B, J, 4·H)."""
        diagonal_mask = torch.eye(states.shape[1], dtype=torch.bool, device=states.device)
        queries = self.head(states)
        scores = torch.where(
            diagonal_mask, (queries @ self.root).unsqueeze(2), torch.bmm(queries, states.transpose(1, 2))
        )
        scores = upcast_half_precision(scores).masked_fill(~batch.source_mask.unsqueeze(1), -torch.inf)
        head_probabilities = scores.softmax(dim=2)
        expected_heads = torch.bmm(head_probabilities.masked_fill(diagonal_mask, 0), states)
        expected_heads = expected_heads + head_probabilities.diagonal(dim1=1, dim2=2).unsqueeze(2) * self.root
        states_and_heads = torch.cat([states, expected_heads], dim=2)
        return ParseScores(scores, upcast_half_precision(self.label(states_and_heads))), states_and_heads

    def _run_lstm(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Run the LSTM; return all states (B, J, 2·H), [→h_n; ←h_1] and the cells of the latter (B, 2·H)."""
        values = self.inputs(batch)  # (N, E)
        words = batch.source_words
        reversed_indices, last_indices = (
            words.compute_reversed_indices(batch.source_lengths),
            words.find_last_words(batch.source_lengths),
        )
        rightward = run_recurrence(self.forwards, values, words, self.dropout)
        leftward = run_recurrence(self.backwards, values.index_select(0, reversed_indices), words, self.dropout)
        states = words.unpack(torch.cat([rightward[0], leftward[0].index_select(0, reversed_indices)], dim=1))
        state, cell = (
            torch.cat(
                [forward_values.index_select(0, last_indices), backward_values.index_select(0, last_indices)], dim=1
            )
            for forward_values, backward_values in zip(rightward, leftward, strict=True)
        )
        return states, state, cell
