"""The encoder of a Transformer (Vaswani et al. 2017, section 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from torch import Tensor, nn

from pipeline_py.config.systems.encoders import TransformerEncoderConfig as Options
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.dropout import Dropout
from pipeline_py.nmt.encoder.recurrent_input import ConcatenatedInputs
from pipeline_py.nmt.encoder_memory import AuxiliaryLoss, EncoderMemory
from pipeline_py.nmt.transformer.multi_head_attention import (
    ScoreTransform,
    SelfAttentionChange,
    build_attention_change,
    combine_score_transforms,
)
from pipeline_py.nmt.transformer.transformer_layers import (
    TransformerEncoderLayer,
    add_positional_encoding,
    build_last_norm,
)


class TransformerEncoder(nn.Module):
    """Annotations are the states of the last layer, of the hidden size; the summary is their mean over the sentence.

    The input at a position is the concatenation of all input vectors, times √D, plus sinusoidal positions.

    Dropout, as published: on the input, and on the output of each sublayer before the residual connection.
    """

    def __init__(
        self,
        options: Options,
        model_config: ModelConfig,
        input_parts: Sequence[nn.Module],
        vocabulary_sizes: Mapping[str, int],
    ) -> None:
        super().__init__()
        self.annotation_size = self.summary_size = model_config.hidden
        self.options = options
        self.inputs = ConcatenatedInputs(input_parts)
        self.layers = nn.ModuleList(
            TransformerEncoderLayer(options, model_config.hidden, model_config.dropout_rates.states)
            for _ in range(options.layers)
        )
        self.last_norm = build_last_norm(model_config.hidden, options.norm)
        self.changes = nn.ModuleList(
            build_attention_change(
                SelfAttentionChange, "self_attention", change, model_config.hidden, options.heads, vocabulary_sizes
            )
            for change in options.self_attention_changes
        )
        self.dropout = Dropout(model_config.dropout_rates.embeddings)

    def forward(self, batch: Batch) -> EncoderMemory:
        """Annotate B sentences of up to J positions."""
        mask = batch.source_mask
        states = self.dropout(add_positional_encoding(batch.source_words.unpack(self.inputs(batch))))
        auxiliary: list[AuxiliaryLoss] = []
        for number, layer in enumerate(self.layers):
            states = layer(states, mask, partial(self._build_score_transform, number, batch, auxiliary))
        states = upcast_half_precision(self.last_norm(states)).masked_fill(~mask.unsqueeze(2), 0)
        memory = EncoderMemory.from_words(batch, states, states.sum(dim=1) / batch.source_lengths.unsqueeze(1))
        return replace(memory, auxiliary_losses=tuple(auxiliary))

    def _build_score_transform(
        self, layer_index: int, batch: Batch, auxiliary_losses: list[AuxiliaryLoss], layer_input: Tensor
    ) -> ScoreTransform | None:
        """Return the score transform of a layer with input (B, J, D), and append its auxiliary losses to the list."""
        changes = [
            (options, change)
            for options, change in zip(self.options.self_attention_changes, self.changes, strict=True)
            if options.is_layer_changed(layer_index)
        ]
        for _, change in changes:
            if auxiliary_loss := change.compute_auxiliary_loss(layer_input, batch):  # type: ignore[operator]
                auxiliary_losses.append(auxiliary_loss)
        return combine_score_transforms(
            (options, partial(change, states=layer_input, batch=batch)) for options, change in changes
        )
