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
    """Return the class of a part, the only public `nn.Module` that its module defines, e.g. `nmt/weighting/local.py`.

    Raises:
        TypeError: the module defines no or several such classes.
    """
    module = importlib.import_module(f"pipeline_py.{get_part_module_name(kind, name)}")
    part_classes = [
        member
        for name, member in vars(module).items()
        if isinstance(member, type)
        and issubclass(member, nn.Module)
        and member.__module__ == module.__name__
        and not name.startswith("_")
    ]
    if len(part_classes) != 1:
        raise TypeError(f"{module.__name__} has {len(part_classes)} public network classes; define exactly one")
    return part_classes[0]


def tie_parameter(network: nn.Module, name: str, target_name: str) -> None:
    """Replace a parameter of a network by another parameter of the same shape.

    The `state_dict` of the network no longer has the replaced parameter, and `load_state_dict` does not need it.

    Args:
        network: the network.
        name: dotted name of the replaced parameter.
        target_name: dotted name of the other parameter.
    """
    module, _, attribute = name.rpartition(".")
    setattr(network.get_submodule(module), attribute, network.get_parameter(target_name))

    def remove_parameter(module: nn.Module, state: dict[str, Tensor], prefix: str, metadata: Any) -> None:
        del state[prefix + name]

    def add_parameter(module: nn.Module, state: dict[str, Tensor], prefix: str, *rest: Any) -> None:
        if prefix + target_name in state:
            state[prefix + name] = state[prefix + target_name]

    network.register_state_dict_post_hook(remove_parameter)
    network.register_load_state_dict_pre_hook(add_parameter)


class TranslationModel(nn.Module):
    """Encoders, decoder and loss of a system.

    Attributes:
        composition: the composition of the system.
        vocabulary_sizes: sizes of the vocabularies for which the network was built.
        encoders: modules `Batch` → `EncoderMemory` without keys, with attributes `size` (of an annotation) and
            `summary_size`.
        graphs: encoder index → module that changes the annotations: `EncoderMemory`, `Batch` → `EncoderMemory`.
        decoder: the decoder.
    """

    def __init__(self, composition: CompositionConfig, vocabulary_sizes: Mapping[str, int]) -> None:
        """Build the network, with parameters drawn from torch's global generator.

        Args:
            composition: the composition, including `model.initialization`.
            vocabulary_sizes: "source", "target" and each kind of syntax with identifiers → size, including EOS and the
                unknown word.
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
            find_part_class("input", input_config.type)(input_config, size, self.vocabulary_sizes)
            for input_config, size in zip(options.inputs, sizes, strict=True)
        ]
        return find_part_class("encoder", options.type)(options, self.composition.model, inputs, self.vocabulary_sizes)

    def _find_tied_parameters(self, tied_embeddings: str) -> list[str]:
        """Return the names of the matrices that are tied to the embedding of target words."""
        input_names = [name for name, module in self.named_modules() if isinstance(module, WordEmbedding)]
        source_names = [f"{name}.embedding.weight" for name in input_names] if tied_embeddings == "all" else []
        return [] if tied_embeddings == "none" else ["decoder.softmax.weight", *source_names]

    def forward(self, batch: Batch) -> Tensor:
        """Call `compute_loss`."""
        return self.compute_loss(batch)

    def encode(self, batch: Batch) -> EncoderMemory:
        """Encode the sources; the memory includes the keys of all scores."""
        memories = [encoder(batch) for encoder in self.encoders]
        for number, graph in self.graphs.items():
            memories[int(number)] = graph(memories[int(number)], batch)
        memory = EncoderMemory.merge(memories)
        return replace(memory, keys=self.decoder.compute_keys(memory))

    def compute_loss(self, batch: Batch) -> Tensor:
        """Compute the loss of each target sentence (B,), summed over its words including EOS.

        The loss is −log p. In training it is the value of the loss part plus the auxiliary losses of the encoders.
        """
        assert batch.target is not None and batch.target_words is not None
        memory = self.encode(batch)
        losses = self.decoder.compute_loss(memory, batch.target, batch.target_words)
        return sum((auxiliary.loss for auxiliary in memory.auxiliary_losses), losses) if self.training else losses

    def set_word_frequencies(self, counts: Tensor) -> None:
        """Set the counts (V,) of target words in the training data, including EOS and the unknown word.

        A sampled loss draws words by these frequencies, and `model.softmax_bias: unigram` initializes the bias of the
        softmax with their logarithms. The counts are not saved with the model.
        """
        self.decoder.criterion.set_word_frequencies(counts)
        if self.composition.model.softmax_bias == "unigram":
            with torch.no_grad():
                self.decoder.softmax.bias.copy_((counts / counts.sum()).log())
