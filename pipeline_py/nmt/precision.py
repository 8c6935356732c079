"""The precision of matrix products in training and search, where the configuration leaves it to the machine."""

import sys
import time
from functools import cache
from typing import Literal

import torch
from torch import Tensor

from pipeline_py.config.systems.training import DecodingConfig, TrainingConfig
from pipeline_py.nmt.fast.matrix_products import compute_weight_gradient, detect_bfloat16_mode, multiply_matrices
from pipeline_py.nmt.torch_setup import is_cpu

MIN_HIDDEN_SIZE = 256
"""Hidden size from which on most of the time goes into products that half precision can make faster."""

MIN_SPEEDUP = 1.5
"""Times that products must be as fast: what is around them takes longer in half precision."""

MIN_HYPOTHESES = 32
"""Hypotheses at a time from which on half precision makes the products of a search faster."""

TIMING_ROUNDS = 5
TIMED_ROWS, TIMED_SIZE = 512, 512
"""Of the products that are timed: those of a batch's words, in a network of common size."""


def resolve_precision(training: TrainingConfig, hidden_size: int, device: torch.device) -> TrainingConfig:
    """Replace the precision `auto`: bfloat16 in large networks where this processor or GPU is fast at it, else float32.

    Says so on standard error where bfloat16 is asked for on a CPU that is slower with it.

    Args:
        training: options of the training.
        hidden_size: hidden size of the network.
        device: where it is trained.
    """
    if training.precision == "bfloat16" and is_cpu(device):
        _warn_if_slow("training")
    if training.precision != "auto":
        return training
    precision: Literal["bfloat16", "float32"] = (
        "bfloat16" if hidden_size >= MIN_HIDDEN_SIZE and _is_bfloat16_fast(device) else "float32"
    )
    return training.model_copy(update={"precision": precision})


def should_search_in_bfloat16(
    decoding: DecodingConfig, hidden_size: int, sentence_count: int, device: torch.device
) -> bool:
    """Say whether the products of a search read bfloat16.

    Says so on standard error where bfloat16 is asked for on a CPU that is slower with it.

    Args:
        decoding: options of the search; how many sentences are searched at a time does not count.
        hidden_size: the largest hidden size of its networks.
        sentence_count: how many there are.
        device: where the networks are.
    """
    if not is_cpu(device) or decoding.precision == "float32":
        return False
    if decoding.precision == "bfloat16":
        _warn_if_slow("decoding")
        return detect_bfloat16_mode() is not None
    return (
        hidden_size >= MIN_HIDDEN_SIZE
        and decoding.beam * sentence_count >= MIN_HYPOTHESES
        and detect_bfloat16_mode() is not None
        and measure_bfloat16_speedup() >= MIN_SPEEDUP
    )


def _warn_if_slow(section: str) -> None:
    if measure_bfloat16_speedup() < 1:
        print(
            f"bfloat16 is slower than float32 on this processor; `{section}.precision: auto` takes the faster one",
            file=sys.stderr,
        )


@cache
def measure_bfloat16_speedup() -> float:
    """Measure on a CPU how many times as fast products in bfloat16 are as in float32, in some hundredths of a second.

    The forms are those of an update: what a map gives, and the gradients of what it reads and of its weight. A
    processor without instructions for bfloat16 makes none: 0.
    """
    if not (torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()):
        return 0.0
    values, weight = torch.ones(TIMED_ROWS, TIMED_SIZE), torch.ones(TIMED_SIZE, TIMED_SIZE)
    pairs = (values, weight), (values.bfloat16(), weight.bfloat16())
    for pair in pairs:
        _measure_seconds(*pair)
    single, half = (
        min(times)
        for times in zip(*([_measure_seconds(*pair) for pair in pairs] for _ in range(TIMING_ROUNDS)), strict=True)
    )
    return single / half


def _measure_seconds(values: Tensor, weight: Tensor) -> float:
    start = time.perf_counter()
    made = multiply_matrices(values, weight.T)
    multiply_matrices(made, weight)
    compute_weight_gradient(made, values)
    return time.perf_counter() - start


def _is_bfloat16_fast(device: torch.device) -> bool:
    if is_cpu(device):
        return measure_bfloat16_speedup() >= MIN_SPEEDUP
    return torch.cuda.is_bf16_supported(including_emulation=False)
