"""The network of a system, built from the parts of its composition."""

import importlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.network_parts import get_part_module_name
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.decoder.base import Decoder, DecoderParts
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.initialization import initialize_parameters, scale_tied_embedding
from pipeline_py.nmt.input.words import WordEmbedding


def find_part_class(kind: str, name: str) -> Any:
    """Find a part: the only public class of a network that its module defines, e.g. `nmt/weighting/local.py`.

    Raises:
        TypeError: there are none, or several.
    """
    module = importlib.import_module(f"pipeline_py.{get_part_module_name(kind, name)}")
    found = [
        member
        for called, member in vars(module).items()
        if isinstance(member, type)
        and issubclass(member, nn.Module)
        and member.__module__ == module.__name__
        and not called.startswith("_")
    ]
    if len(found) != 1:
        raise TypeError(f"{module.__name__} has {len(found)} public classes of networks; the part is the only one")
    return found[0]


def tie_parameter(network: nn.Module, name: str, target_name: str) -> None:
    """Let a parameter of a network be another one of the same shape.

    Args:
        network: whose `state_dict` has the parameter no more, and whose `load_state_dict` needs it no more.
        name: of the parameter that is given up, dotted.
        target_name: of the parameter that it becomes.
    """
    module, _, attribute = name.rpartition(".")
    setattr(network.get_submodule(module), attribute, network.get_parameter(target_name))

    def leave_out(module: nn.Module, state: dict[str, Tensor], prefix: str, metadata: Any) -> None:
        del state[prefix + name]

    def fill_in(module: nn.Module, state: dict[str, Tensor], prefix: str, *rest: Any) -> None:
        if prefix + target_name in state:
            state[prefix + name] = state[prefix + target_name]

    network.register_state_dict_post_hook(leave_out)
    network.register_load_state_dict_pre_hook(fill_in)


class TranslationModel(nn.Module):
    """Encoders, decoder and loss of a system.

    Attributes:
        vocabulary_sizes: the sizes of the vocabularies that the network was built for.
        encoders: `Batch` → `Memory` without keys, each; they tell the `size` of an annotation and `summary_size`.
        graphs: by the number of an encoder, what changes its annotations: `Memory`, `Batch` → `Memory`.
        decoder: what it offers is described at `decoder.base.Decoder`.
    """

    def __init__(self, composition: CompositionConfig, vocabulary_sizes: Mapping[str, int]) -> None:
        """Build the network; the parameters are drawn from torch's global generator.

        Args:
            composition: the composition, and how the parameters begin (`model.initialization`).
            vocabulary_sizes: "source" and "target" → size, EOS and the unknown word counted; likewise for each kind of
                syntax that has identifiers.
        """
        super().__init__()
        self.composition = composition
        self.vocabulary_sizes = dict(vocabulary_sizes)
        encoders = [self._build_encoder(options) for options in composition.encoders]
        scores, contexts = (
            (composition.scores, composition.contexts) if composition.decoder.has_score_parts else ([], [])
        )
        self.encoders = nn.ModuleList(encoders)
        self.graphs = nn.ModuleDict(
            {
                str(number): find_part_class("graph", options.graph.type)(
                    options.graph,
                    encoder.annotation_size,
                    composition.model.dropout_rates.states,
                    self.vocabulary_sizes,
                )
                for number, (options, encoder) in enumerate(zip(composition.encoders, encoders, strict=True))
                if options.graph
            }
        )
        hidden, memory_sizes = composition.model.hidden, [encoder.annotation_size for encoder in encoders]
        parts = DecoderParts(
            composition,
            target_vocabulary_size=vocabulary_sizes["target"],
            annotation_sizes=memory_sizes,
            summary_sizes=[encoder.summary_size for encoder in encoders],
            scores=[
                find_part_class("score", score.type)(score, hidden, memory_sizes[score.encoder]) for score in scores
            ],
            weightings=[find_part_class("weighting", context.type)(context, hidden) for context in contexts],
            loss=find_part_class("loss", composition.loss.type)(composition.loss, vocabulary_sizes["target"]),
            vocabulary_sizes=self.vocabulary_sizes,
        )
        self.decoder: Decoder = find_part_class("decoder", composition.decoder.type)(composition.decoder, parts)
        initialize_parameters(self, composition.model.initialization)
        for name in self._find_tied_parameters(composition.model.tied_embeddings):
            tie_parameter(self, name, "decoder.embedding.weight")
        if composition.model.tied_embeddings != "none":
            scale_tied_embedding(self.decoder.embedding.weight, composition.model.initialization)

    def _build_encoder(self, options: Any) -> Any:
        sizes = options.compute_input_sizes(self.composition.model.embedding)
        inputs = [
            find_part_class("input", given.type)(given, size, self.vocabulary_sizes)
            for given, size in zip(options.inputs, sizes, strict=True)
        ]
        return find_part_class("encoder", options.type)(options, self.composition.model, inputs, self.vocabulary_sizes)

    def _find_tied_parameters(self, tied_embeddings: str) -> list[str]:
        """Name the matrices that are those of the embedding of target words."""
        inputs = [name for name, module in self.named_modules() if isinstance(module, WordEmbedding)]
        of_source = [f"{name}.embedding.weight" for name in inputs] if tied_embeddings == "all" else []
        return [] if tied_embeddings == "none" else ["decoder.softmax.weight", *of_source]

    def forward(self, batch: Batch) -> Tensor:
        """Compute the loss; see there."""
        return self.compute_loss(batch)

    def encode(self, batch: Batch) -> EncoderMemory:
        """Read the sources; the memory holds the keys of all scores."""
        memories = [encoder(batch) for encoder in self.encoders]
        for number, graph in self.graphs.items():
            memories[int(number)] = graph(memories[int(number)], batch)
        memory = EncoderMemory.merge(memories)
        return replace(memory, keys=self.decoder.compute_keys(memory))

    def compute_loss(self, batch: Batch) -> Tensor:
        """Compute the loss of each target sentence (B,), summed over its words, EOS included.

        It is −log p, or while training what the system's loss part has instead, and what encoders learn beside.
        """
        assert batch.target is not None and batch.target_words is not None
        memory = self.encode(batch)
        losses = self.decoder.compute_loss(memory, batch.target, batch.target_words)
        return sum((learnt.loss for learnt in memory.auxiliary_losses), losses) if self.training else losses

    def set_word_frequencies(self, counts: Tensor) -> None:
        """Tell how often each target word occurs in the training data (V,), EOS and unknown words included.

        The loss draws by them, and the bias of the softmax begins with their logarithms if the system's is to. The
        counts are no part of the state that is saved; only training needs them.
        """
        self.decoder.criterion.set_word_frequencies(counts)
        if self.composition.model.softmax_bias == "unigram":
            with torch.no_grad():
                self.decoder.softmax.bias.copy_((counts / counts.sum()).log())
