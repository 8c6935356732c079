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
    """Words as `gru` reads them, then phrases from the words up, then, if asked, all of them from the root down.

    Annotations are the words', EOS among them, and behind them the phrases'. The end of sentence is in no tree, and
    the words of a sentence without a tree are in none either: they stay as they were read.

    The summary is the root's state, which the way down does not change; zero where a sentence has no root (tree2seq
    section 3.2). Lexical trees give no sentence one: their summary is the mean of the words' annotations.

    Dropout: that of `gru`; there is none within trees.
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
        """Annotate B sentences of up to J positions and P phrases; the trees are not handed on with the memory."""
        schedule = batch.get_tree_schedule(self.tree_kind)
        read = self.leaves(batch)
        leaves = read.annotations[0].transpose(0, 1).flatten(0, 1)  # (J·B, H)
        phrases = self.bottom_up(leaves, schedule)
        final = torch.cat([leaves, phrases])
        if self.top_down is not None:
            final = self.top_down(final, schedule)

        words, inner = final.split([len(leaves), len(phrases)])
        words = words.view(read.position_count, len(batch), self.annotation_size).transpose(0, 1)
        summary = (
            schedule.get_root_values(leaves, phrases)
            if self.tree_type == "parse"
            else gru.average_states(words, read.mask)
        )
        return replace(read, annotations=(words,), summaries=(summary,)).append_phrases(
            schedule.group_by_sentence(inner), schedule
        )
