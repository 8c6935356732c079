"""Encoders with weights that were drawn, and the words that they read."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.encoders import WordInput
from pipeline_py.config.systems.training import Model
from pipeline_py.nmt.input.words import WordEmbedding
from tests.nmt.comparison import draw_parameters

SOURCE_SIZE = 7


def make_encoder(
    encoder: type,
    options: object,
    sizes: Model,
    inputs: Sequence[int] = (5,),
    vocabularies: Mapping[str, int] = MappingProxyType({}),
) -> Any:
    """Return an encoder that reads word embeddings of the given sizes side by side."""
    torch.manual_seed(0)
    words = [WordEmbedding(WordInput(), size, {"source": SOURCE_SIZE}) for size in inputs]
    return draw_parameters(encoder(options, sizes, words, {"source": SOURCE_SIZE, **vocabularies}).double())


def embed_words(encoder: nn.Module, source: Sequence[int]) -> list[Tensor]:
    return [torch.cat([words.embedding.weight[word] for words in encoder.inputs]) for word in source]  # type: ignore
