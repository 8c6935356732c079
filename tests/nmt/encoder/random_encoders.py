"""Encoders with weights that were drawn, and the words that they read."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.encoders import WordInputConfig
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.input.words import WordEmbedding
from tests.nmt.network_assertions import draw_parameters

SOURCE_VOCABULARY_SIZE = 7


def build_encoder(
    encoder_class: type,
    encoder_config: object,
    model_config: ModelConfig,
    input_sizes: Sequence[int] = (5,),
    vocabulary_sizes: Mapping[str, int] = MappingProxyType({}),
) -> Any:
    """Return an encoder that reads word embeddings of the given sizes side by side."""
    torch.manual_seed(0)
    words = [WordEmbedding(WordInputConfig(), size, {"source": SOURCE_VOCABULARY_SIZE}) for size in input_sizes]
    return draw_parameters(
        encoder_class(
            encoder_config, model_config, words, {"source": SOURCE_VOCABULARY_SIZE, **vocabulary_sizes}
        ).double()
    )


def embed_words(encoder: nn.Module, source: Sequence[int]) -> list[Tensor]:
    return [torch.cat([words.embedding.weight[word] for words in encoder.inputs]) for word in source]  # type: ignore
