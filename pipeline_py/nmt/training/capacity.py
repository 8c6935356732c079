"""Networks with the same number of parameters as a reference (tree2seq section 5.3, Table 7)."""

from bisect import bisect_left
from collections.abc import Mapping

import torch
from pydantic import ValidationError

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.run.errors import InputError

MAX_SIZE = 8192
"""Largest embedding and hidden size to try."""


def match_parameter_count(
    system: CompositionConfig, reference_system: CompositionConfig, vocabulary_sizes: Mapping[str, int]
) -> CompositionConfig:
    """Set embedding and hidden size to the smallest d with at least the parameters of a reference system.

    Rounding up never favours the reference system, and yields the sizes of the paper (269 and 272 for trees at 256).

    Args:
        system: the composition; its sizes are ignored.
        reference_system: the composition with the number of parameters to match.
        vocabulary_sizes: sizes of the vocabularies, as in `TranslationModel`.

    Returns:
        The composition with the new sizes.

    Raises:
        InputError: no valid size up to `MAX_SIZE` has enough parameters.
    """
    candidates = [resized for size in range(1, MAX_SIZE + 1) if (resized := _resize_system(system, size)) is not None]
    target_count = count_parameters(reference_system, vocabulary_sizes)
    # The number of parameters increases with the size.
    index = bisect_left(candidates, target_count, key=lambda candidate: count_parameters(candidate, vocabulary_sizes))
    if index == len(candidates):
        raise InputError(
            f"no embedding and hidden size up to {MAX_SIZE} that fits the inputs gives the system the {target_count} "
            "parameters of the one it shall be like; give its inputs no `size`, or leave `like` out"
        )
    return candidates[index]


def count_parameters(system: CompositionConfig, vocabulary_sizes: Mapping[str, int]) -> int:
    """Count the parameters of a system without allocating them."""
    with torch.device("meta"):
        model = TranslationModel(system, vocabulary_sizes)
    return sum(parameter.numel() for parameter in model.parameters())


def _resize_system(system: CompositionConfig, size: int) -> CompositionConfig | None:
    """Return the composition with another size; None if the size is invalid for its parts, such as an odd one."""
    content = system.model_dump()
    try:
        return CompositionConfig.model_validate(
            {**content, "model": {**content["model"], "embedding": size, "hidden": size}}
        )
    except ValidationError:
        return None
