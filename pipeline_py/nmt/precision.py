"""The precision of matrix products in training and search, where the configuration leaves it to the machine."""

import sys
import time
from functools import cache
from typing import Literal

import torch
from torch import Tensor

from pipeline_py.config.systems.training import DecodingConfig, TrainingConfig
from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.fast.matrix_products import compute_weight_gradient, detect_bfloat16_mode, multiply_matrices

LARGE = 256
"""Hidden size from which on most of the time goes into products that half precision can make faster."""

WORTHWHILE = 1.5
"""Times that products must be as fast: what is around them takes longer in half precision."""

MANY = 32
"""Hypotheses at a time from which on half precision makes the products of a search faster."""

ROUNDS = 5
ROWS, SIZE = 512, 512
"""Of the products that are timed: those of a batch's words, in a network of common size."""


def with_precision(training: TrainingConfig, hidden: int, device: torch.device) -> TrainingConfig:
    """Replace the precision `auto`: bfloat16 in large networks where this processor or GPU is fast at it, else float32.

    Says so on standard error where bfloat16 is asked for on a CPU that is slower with it.

    Args:
        training: options of the training.
        hidden: hidden size of the network.
        device: where it is trained.
    """
    if training.precision == "bfloat16" and on_cpu(device):
        _warn_if_slow("training")
    if training.precision != "auto":
        return training
    precision: Literal["bfloat16", "float32"] = "bfloat16" if hidden >= LARGE and _is_fast(device) else "float32"
    return training.model_copy(update={"precision": precision})


def searches_in_half(decoding: DecodingConfig, hidden: int, sentences: int, device: torch.device) -> bool:
    """Say whether the products of a search read bfloat16.

    Says so on standard error where bfloat16 is asked for on a CPU that is slower with it.

    Args:
        decoding: options of the search; how many sentences are searched at a time does not count.
        hidden: the largest hidden size of its networks.
        sentences: how many there are.
        device: where the networks are.
    """
    if not on_cpu(device) or decoding.precision == "float32":
        return False
    if decoding.precision == "bfloat16":
        _warn_if_slow("decoding")
        return detect_bfloat16_mode() is not None
    return (
        hidden >= LARGE
        and decoding.beam * sentences >= MANY
        and detect_bfloat16_mode() is not None
        and half_speedup() >= WORTHWHILE
    )


def _warn_if_slow(section: str) -> None:
    if half_speedup() < 1:
        print(
            f"bfloat16 is slower than float32 on this processor; `{section}.precision: auto` takes the faster one",
            file=sys.stderr,
        )


@cache
def half_speedup() -> float:
    """Measure on a CPU how many times as fast products in bfloat16 are as in float32, in some hundredths of a second.

    The forms are those of an update: what a map gives, and the gradients of what it reads and of its weight. A
    processor without instructions for bfloat16 makes none: 0.
    """
    if not (torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()):
        return 0.0
    values, weight = torch.ones(ROWS, SIZE), torch.ones(SIZE, SIZE)
    pairs = (values, weight), (values.bfloat16(), weight.bfloat16())
    for pair in pairs:
        _seconds(*pair)
    single, half = (
        min(times) for times in zip(*([_seconds(*pair) for pair in pairs] for _ in range(ROUNDS)), strict=True)
    )
    return single / half


def _seconds(values: Tensor, weight: Tensor) -> float:
    start = time.perf_counter()
    made = multiply_matrices(values, weight.T)
    multiply_matrices(made, weight)
    compute_weight_gradient(made, values)
    return time.perf_counter() - start


def _is_fast(device: torch.device) -> bool:
    if on_cpu(device):
        return half_speedup() >= WORTHWHILE
    return torch.cuda.is_bf16_supported(including_emulation=False)
