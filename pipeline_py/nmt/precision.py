"""Select the precision of matrix products in training and search for `precision: auto`."""

import sys
from functools import cache
from pathlib import Path
from typing import Literal

import torch

from pipeline_py.config.systems.training import DecodingConfig, TrainingConfig
from pipeline_py.nmt.fast.matrix_products import detect_bfloat16_mode
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.run.processor_name import PROCESSOR_FILE

MIN_HIDDEN_SIZE = 256
"""Minimum hidden size for bfloat16; smaller networks spend little time in matrix products."""

MIN_HYPOTHESES = 32
"""Minimum number of simultaneous hypotheses for bfloat16 in a search."""

BFLOAT16_FLAGS = frozenset({"amx_bf16", "avx512_bf16", "bf16"})
"""Instructions for bfloat16 products in `PROCESSOR_FILE`, of Intel and AMD processors and of ARM."""


def resolve_precision(training: TrainingConfig, hidden_size: int, device: torch.device) -> TrainingConfig:
    """Replace the precision `auto` by bfloat16 for large networks on devices that are fast at it, otherwise by float32.

    Warns on standard error if the configuration sets bfloat16 on a CPU without instructions for it.

    Args:
        training: options of the training.
        hidden_size: hidden size of the network.
        device: device of the training.
    """
    if training.precision == "bfloat16" and is_cpu(device):
        _warn_without_instructions("training")
    if training.precision != "auto":
        return training
    precision: Literal["bfloat16", "float32"] = (
        "bfloat16" if hidden_size >= MIN_HIDDEN_SIZE and _is_bfloat16_fast(device) else "float32"
    )
    return training.model_copy(update={"precision": precision})


def should_search_in_bfloat16(
    decoding: DecodingConfig, hidden_size: int, hypothesis_count: int, device: torch.device
) -> bool:
    """Return whether the products of a search read bfloat16.

    Warns on standard error if the configuration sets bfloat16 on a CPU without instructions for it.

    Args:
        decoding: options of the search.
        hidden_size: the largest hidden size of the networks.
        hypothesis_count: number of sentences to translate times the beam width.
        device: device of the networks.
    """
    if not is_cpu(device) or decoding.precision == "float32":
        return False
    if decoding.precision == "bfloat16":
        if detect_bfloat16_mode() is None:
            _warn_without_instructions("decoding", "not available, and float32 is used")
            return False
        _warn_without_instructions("decoding")
        return True
    return hidden_size >= MIN_HIDDEN_SIZE and hypothesis_count >= MIN_HYPOTHESES and has_bfloat16_instructions()


def _warn_without_instructions(section: str, effect: str = "slower than float32") -> None:
    if not has_bfloat16_instructions():
        print(
            f"warning: bfloat16 is {effect}, because this processor has no instructions for it; "
            f"`{section}.precision: auto` takes the faster one",
            file=sys.stderr,
        )


@cache
def has_bfloat16_instructions(processor_file: Path = PROCESSOR_FILE) -> bool:
    """Return whether this processor has instructions for bfloat16 products, and torch uses them.

    This is not measured, because times vary: on one machine, all seeds of a system, and a training that is resumed, get
    one precision.
    """
    if detect_bfloat16_mode() is None or not processor_file.is_file():
        return False
    lines = (line.partition(":") for line in processor_file.read_text(encoding="utf-8").splitlines())
    flag_lists = (value.split() for key, _, value in lines if key.strip() in ("flags", "Features"))
    return any(BFLOAT16_FLAGS.intersection(flags) for flags in flag_lists)


def _is_bfloat16_fast(device: torch.device) -> bool:
    if is_cpu(device):
        return has_bfloat16_instructions()
    return torch.cuda.is_bf16_supported(including_emulation=False)
