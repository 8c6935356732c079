"""Networks with as many parameters as others (tree2seq section 5.3, Table 7)."""

from bisect import bisect_left
from collections.abc import Mapping

import torch
from pydantic import ValidationError

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.run.errors import InputError

MAX_SIZE = 8192
"""The largest size that is tried."""


def match_parameter_count(
    system: CompositionConfig, reference_system: CompositionConfig, vocabulary_sizes: Mapping[str, int]
) -> CompositionConfig:
    """Give a composition the embedding and hidden size, one number d, with which it is as large as another.

    d is the smallest number with at least as many parameters. So a system that does better than what is matched to it
    does so with fewer, and the sizes are those of the paper: 269 and 272 beside trees at 256. With the nearest count
    the first would be 268.

    Args:
        system: the composition; its own sizes do not count.
        reference_system: the system to be matched.
        vocabulary_sizes: sizes of the vocabularies of both, as `Model` takes them.

    Returns:
        The composition with its sizes.

    Raises:
        InputError: no size fits the composition and is large enough.
    """
    sized = [fitting for size in range(1, MAX_SIZE + 1) if (fitting := _resize_system(system, size)) is not None]
    wanted = count_parameters(reference_system, vocabulary_sizes)
    # No part has fewer parameters at a larger size.
    place = bisect_left(sized, wanted, key=lambda candidate: count_parameters(candidate, vocabulary_sizes))
    if place == len(sized):
        raise InputError(
            f"no embedding and hidden size up to {MAX_SIZE} that fits the inputs gives the system the {wanted} "
            "parameters of the one it shall be like; give its inputs no `size`, or leave `like` out"
        )
    return sized[place]


def count_parameters(system: CompositionConfig, vocabulary_sizes: Mapping[str, int]) -> int:
    """Count the parameters of a system without making any."""
    with torch.device("meta"):
        model = TranslationModel(system, vocabulary_sizes)
    return sum(parameter.numel() for parameter in model.parameters())


def _resize_system(system: CompositionConfig, size: int) -> CompositionConfig | None:
    """Give a composition a size; None where its parts do not fit that, as halves of an odd one."""
    content = system.model_dump()
    try:
        return CompositionConfig.model_validate(
            {**content, "model": {**content["model"], "embedding": size, "hidden": size}}
        )
    except ValidationError:
        return None
