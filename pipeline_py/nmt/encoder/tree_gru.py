"""A binary Tree-GRU over the words of a sequential GRU (hierarchical sections 2.1 and 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import nn

from pipeline_py.config.systems.encoders import TreeGRUEncoderConfig as Options
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.encoder import gru
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.trees.tree_gru import TopDownGRU, TreeGRU


class TreeGRUEncoder(nn.Module):
    """A GRU encoder over words, a bottom-up Tree-GRU over phrases, and optionally a top-down GRU over all nodes.

    Annotations are those of the words, EOS included, followed by those of the phrases. EOS and the words of sentences
    without a tree keep the states of the GRU.

    The summary is the bottom-up state of the root, or zero for a sentence without a root (tree2seq section 3.2). With
    lexical trees it is the mean of the words' annotations.

    Dropout: as in `gru`; there is no dropout within trees.
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
        (kind,) = options.required_syntax
        self.tree_type, self.tree_kind = options.trees, kind.name
        self.leaves = gru.GRUEncoder(gru.Options(direction=options.leaves), model_config, input_parts, vocabulary_sizes)
        self.bottom_up = TreeGRU(model_config.hidden)
        self.top_down = TopDownGRU(model_config.hidden) if options.top_down else None

    def forward(self, batch: Batch) -> EncoderMemory:
        """Annotate B sentences of up to J positions and P phrases."""
        schedule = batch.get_tree_schedule(self.tree_kind)
        memory = self.leaves(batch)
        leaves = memory.annotations[0].transpose(0, 1).flatten(0, 1)  # (J·B, H)
        phrases = self.bottom_up(leaves, schedule)
        node_states = torch.cat([leaves, phrases])
        if self.top_down is not None:
            node_states = self.top_down(node_states, schedule)

        words, inner = node_states.split([len(leaves), len(phrases)])
        words = words.view(memory.position_count, len(batch), self.annotation_size).transpose(0, 1)
        summary = (
            schedule.get_root_values(leaves, phrases)
            if self.tree_type == "parse"
            else gru.average_states(words, memory.mask)
        )
        return replace(memory, annotations=(words,), summaries=(summary,)).append_phrases(
            schedule.group_by_sentence(inner), schedule
        )
