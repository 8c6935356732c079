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
from pipeline_py.nmt.encoder.reading import Inputs
from pipeline_py.nmt.encoder_memory import AuxiliaryLoss, EncoderMemory
from pipeline_py.nmt.transformer.attention import Change, ScoreChange, built, of_layer
from pipeline_py.nmt.transformer.layers import EncoderLayer, last_norm, with_positions


class TransformerEncoder(nn.Module):
    """Annotations are the states of the last layer, of the hidden size; the summary is their mean over the sentence.

    What is read at a position are the vectors of the inputs side by side, times √D, plus sinusoidal positions.

    Dropout, as published: on what is read, and on what each sublayer adds to its residual connection.
    """

    def __init__(
        self, options: Options, sizes: ModelConfig, inputs: Sequence[nn.Module], vocabularies: Mapping[str, int]
    ) -> None:
        super().__init__()
        self.size = self.summary_size = sizes.hidden
        self.options = options
        self.inputs = Inputs(inputs)
        self.layers = nn.ModuleList(
            EncoderLayer(options, sizes.hidden, sizes.dropout_rates.states) for _ in range(options.layers)
        )
        self.last_norm = last_norm(sizes.hidden, options.norm)
        self.changes = nn.ModuleList(
            built(ScoreChange, "self_attention", change, sizes.hidden, options.heads, vocabularies)
            for change in options.self_attention_changes
        )
        self.dropout = Dropout(sizes.dropout_rates.embeddings)

    def forward(self, batch: Batch) -> EncoderMemory:
        """Annotate B sentences of up to J positions."""
        mask = batch.source_mask
        states = self.dropout(with_positions(batch.source_words.unpack(self.inputs(batch))))
        auxiliary: list[AuxiliaryLoss] = []
        for number, layer in enumerate(self.layers):
            states = layer(states, mask, partial(self._change, number, batch, auxiliary))
        states = upcast_half_precision(self.last_norm(states)).masked_fill(~mask.unsqueeze(2), 0)
        memory = EncoderMemory.from_words(batch, states, states.sum(dim=1) / batch.source_lengths.unsqueeze(1))
        return replace(memory, auxiliary_losses=tuple(auxiliary))

    def _change(self, layer: int, batch: Batch, auxiliary: list[AuxiliaryLoss], read: Tensor) -> Change | None:
        """Say what changes the scores of a layer that reads (B, J, D), and add what that learns to a list."""
        changes = [
            (options, change)
            for options, change in zip(self.options.self_attention_changes, self.changes, strict=True)
            if options.is_layer_changed(layer)
        ]
        auxiliary += [learnt for _, change in changes if (learnt := change.auxiliary(read, batch))]  # type: ignore[operator]
        return of_layer((options, partial(change, states=read, batch=batch)) for options, change in changes)
