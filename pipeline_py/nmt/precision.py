"""Select the precision of matrix products in training and search for `precision: auto`."""

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
"""Minimum hidden size for bfloat16; smaller networks spend little time in matrix products."""

MIN_SPEEDUP = 1.5
"""Minimum speedup of products for bfloat16, which slows down the other computations."""

MIN_HYPOTHESES = 32
"""Minimum number of simultaneous hypotheses for bfloat16 in a search."""

TIMING_ROUNDS = 5
TIMED_ROWS, TIMED_SIZE = 512, 512
"""Sizes of the timed products: the words of a batch, in a network of common size."""


def resolve_precision(training: TrainingConfig, hidden_size: int, device: torch.device) -> TrainingConfig:
    """Replace the precision `auto` by bfloat16 for large networks on devices that are fast at it, otherwise by float32.

    Warns on standard error if the configuration sets bfloat16 on a CPU that is slower with it.

    Args:
        training: options of the training.
        hidden_size: hidden size of the network.
        device: device of the training.
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
    decoding: DecodingConfig, hidden_size: int, hypothesis_count: int, device: torch.device
) -> bool:
    """Return whether the products of a search read bfloat16.

    Warns on standard error if the configuration sets bfloat16 on a CPU that is slower with it.

    Args:
        decoding: options of the search.
        hidden_size: the largest hidden size of the networks.
        hypothesis_count: number of sentences to translate times the beam width.
        device: device of the networks.
    """
    if not is_cpu(device) or decoding.precision == "float32":
        return False
    if decoding.precision == "bfloat16":
        _warn_if_slow("decoding")
        return detect_bfloat16_mode() is not None
    return (
        hidden_size >= MIN_HIDDEN_SIZE
        and hypothesis_count >= MIN_HYPOTHESES
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
    """Measure the speedup of bfloat16 over float32 products on a CPU, in some hundredths of a second.

    The products are those of an update: the output of a linear layer and the gradients of its input and weight. The
    result is 0 for a processor without bfloat16 instructions.
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
    product = multiply_matrices(values, weight.T)
    multiply_matrices(product, weight)
    compute_weight_gradient(product, values)
    return time.perf_counter() - start


def _is_bfloat16_fast(device: torch.device) -> bool:
    if is_cpu(device):
        return measure_bfloat16_speedup() >= MIN_SPEEDUP
    return torch.cuda.is_bf16_supported(including_emulation=False)
