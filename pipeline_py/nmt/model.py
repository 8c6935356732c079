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
from pipeline_py.nmt.decoder.base import Decoder, Parts
from pipeline_py.nmt.initialization import initialize, initialize_tied
from pipeline_py.nmt.input.words import WordEmbedding
from pipeline_py.nmt.memory import Memory


def part(kind: str, name: str) -> Any:
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


def tie(network: nn.Module, name: str, to: str) -> None:
    """Let a parameter of a network be another one of the same shape.

    Args:
        network: whose `state_dict` has the parameter no more, and whose `load_state_dict` needs it no more.
        name: of the parameter that is given up, dotted.
        to: of the parameter that it becomes.
    """
    module, _, attribute = name.rpartition(".")
    setattr(network.get_submodule(module), attribute, network.get_parameter(to))

    def leave_out(module: nn.Module, state: dict[str, Tensor], prefix: str, metadata: Any) -> None:
        del state[prefix + name]

    def fill_in(module: nn.Module, state: dict[str, Tensor], prefix: str, *rest: Any) -> None:
        if prefix + to in state:
            state[prefix + name] = state[prefix + to]

    network.register_state_dict_post_hook(leave_out)
    network.register_load_state_dict_pre_hook(fill_in)


class Model(nn.Module):
    """Encoders, decoder and loss of a system.

    Attributes:
        vocabularies: the sizes of the vocabularies that the network was built for.
        encoders: `Batch` → `Memory` without keys, each; they tell the `size` of an annotation and `summary_size`.
        graphs: by the number of an encoder, what changes its annotations: `Memory`, `Batch` → `Memory`.
        decoder: what it offers is described at `decoder.base.Decoder`.
    """

    def __init__(self, system: CompositionConfig, vocabularies: Mapping[str, int]) -> None:
        """Build the network; the parameters are drawn from torch's global generator.

        Args:
            system: the composition, and how the parameters begin (`model.initialization`).
            vocabularies: "source" and "target" → size, EOS and the unknown word counted; likewise for each kind of
                syntax that has identifiers.
        """
        super().__init__()
        self.system = system
        self.vocabularies = dict(vocabularies)
        encoders = [self._encoder(options) for options in system.encoders]
        scores, contexts = (system.scores, system.contexts) if system.decoder.has_score_parts else ([], [])
        self.encoders = nn.ModuleList(encoders)
        self.graphs = nn.ModuleDict(
            {
                str(number): part("graph", options.graph.type)(
                    options.graph, encoder.size, system.model.dropout_rates.states, self.vocabularies
                )
                for number, (options, encoder) in enumerate(zip(system.encoders, encoders, strict=True))
                if options.graph
            }
        )
        hidden, memory_sizes = system.model.hidden, [encoder.size for encoder in encoders]
        parts = Parts(
            system,
            target_size=vocabularies["target"],
            memory_sizes=memory_sizes,
            summary_sizes=[encoder.summary_size for encoder in encoders],
            scores=[part("score", score.type)(score, hidden, memory_sizes[score.encoder]) for score in scores],
            weightings=[part("weighting", context.type)(context, hidden) for context in contexts],
            loss=part("loss", system.loss.type)(system.loss, vocabularies["target"]),
            vocabularies=self.vocabularies,
        )
        self.decoder: Decoder = part("decoder", system.decoder.type)(system.decoder, parts)
        initialize(self, system.model.initialization)
        for name in self._tied(system.model.tied_embeddings):
            tie(self, name, "decoder.embedding.weight")
        if system.model.tied_embeddings != "none":
            initialize_tied(self.decoder.embedding.weight, system.model.initialization)

    def _encoder(self, options: Any) -> Any:
        sizes = options.sizes(self.system.model.embedding)
        inputs = [
            part("input", given.type)(given, size, self.vocabularies)
            for given, size in zip(options.inputs, sizes, strict=True)
        ]
        return part("encoder", options.type)(options, self.system.model, inputs, self.vocabularies)

    def _tied(self, tied: str) -> list[str]:
        """Name the matrices that are those of the embedding of target words."""
        inputs = [name for name, module in self.named_modules() if isinstance(module, WordEmbedding)]
        of_source = [f"{name}.embedding.weight" for name in inputs] if tied == "all" else []
        return [] if tied == "none" else ["decoder.softmax.weight", *of_source]

    def forward(self, batch: Batch) -> Tensor:
        """Compute the loss; see there."""
        return self.loss(batch)

    def encode(self, batch: Batch) -> Memory:
        """Read the sources; the memory holds the keys of all scores."""
        memories = [encoder(batch) for encoder in self.encoders]
        for number, graph in self.graphs.items():
            memories[int(number)] = graph(memories[int(number)], batch)
        memory = Memory.joined(memories)
        return replace(memory, keys=self.decoder.keys(memory))

    def loss(self, batch: Batch) -> Tensor:
        """Compute the loss of each target sentence (B,), summed over its words, EOS included.

        It is −log p, or while training what the system's loss part has instead, and what encoders learn beside.
        """
        assert batch.target is not None and batch.target_words is not None
        memory = self.encode(batch)
        losses = self.decoder.loss(memory, batch.target, batch.target_words)
        return sum((learnt.loss for learnt in memory.auxiliary), losses) if self.training else losses

    def learn_frequencies(self, counts: Tensor) -> None:
        """Tell how often each target word occurs in the training data (V,), EOS and unknown words included.

        The loss draws by them, and the bias of the softmax begins with their logarithms if the system's is to. The
        counts are no part of the state that is saved; only training needs them.
        """
        self.decoder.criterion.learn_frequencies(counts)
        if self.system.model.softmax_bias == "unigram":
            with torch.no_grad():
                self.decoder.softmax.bias.copy_((counts / counts.sum()).log())
