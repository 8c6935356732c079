"""Elementwise operations of a loop over time, fused in C (`elementwise.c`) for the current CPU.

For the short rows of a recurrence, torch needs longer to start an operation than to compute it. Without a compiler (see
`compiled_library.py`), on a GPU and in double precision, torch computes the same in several operations.
"""

import ctypes
from ctypes import c_float, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from pipeline_py.nmt.fast import compiled_library
from pipeline_py.nmt.torch_setup import is_cpu

C_SOURCE_PATH = Path(__file__).with_suffix(".c")
C_FUNCTION_NAMES = ("score", "score_back", "gru", "gru_back")
HALF_PRECISION = torch.bfloat16


class _RowPointer(ctypes.Structure):
    """The C type `struct rows`."""

    _fields_ = (("first", c_void_p), ("row", c_int64), ("half", c_int32))

    @staticmethod
    def from_tensor(values: Tensor) -> "_RowPointer":
        """Create a pointer to rows (R, X)."""
        return _RowPointer(values.data_ptr(), values.stride(0), values.dtype == HALF_PRECISION)


def can_compute_scores(*tensors: Tensor) -> bool:
    """Return whether the kernels support queries, keys or v like these tensors."""
    return all(_is_readable(tensor, torch.float32) for tensor in tensors) and load_kernels() is not None


def is_supported_gru_product(values: Tensor) -> bool:
    """Return whether `forward_gru` supports this tensor as the product W x + b or U h."""
    return _is_readable(values, torch.float32, HALF_PRECISION) and load_kernels() is not None


def can_compute_gru(state: Tensor, *products: Tensor) -> bool:
    """Return whether the GRU kernels support h and the products W x + b and U h."""
    return _is_readable(state, torch.float32) and all(
        len(product) == len(state) and is_supported_gru_product(product) for product in products
    )


def forward_scores(
    query: Tensor,
    keys: Tensor,
    vector: Tensor,
    bias: Tensor,
    column_counts: Tensor,
    sentence_indices: Tensor | None = None,
) -> Tensor:
    """Compute vᵀ tanh(q + k) + b_e.

    Args:
        query: (R, A).
        keys: (B, N, A).
        vector: v (A,).
        bias: b_e ().
        column_counts: number of columns to compute in each sentence (B,) int64; the others are 0.
        sentence_indices: sentence of each row (R,) int64; None: row r belongs to sentence r.

    Returns:
        (R, N).
    """
    assert column_counts.dtype == torch.int64 and column_counts.is_contiguous() and len(column_counts) == len(keys)
    assert (
        len(query) <= len(keys)
        if sentence_indices is None
        else sentence_indices.dtype == torch.int64 and sentence_indices.is_contiguous()
    )
    query, keys = query.contiguous(), keys.contiguous()
    scores = query.new_zeros(len(query), keys.shape[1])
    _get_kernels().score(
        len(query), *keys.shape[1:], *map(_get_data_pointer, (query, keys, vector)), bias.item(),
        *map(_get_data_pointer, (sentence_indices, column_counts, scores)),
    )  # fmt: skip
    return scores


def backward_scores(
    gradient: Tensor,
    query: Tensor,
    keys: Tensor,
    vector: Tensor,
    column_counts: Tensor,
    weighted_squares: Tensor,
    grad_vector: Tensor,
) -> Tensor:
    """Compute the query's gradient v ⊙ Σ g (1 − t²), and accumulate g t² and Σ g t, with t = tanh(q + k).

    Args:
        gradient: gradient g of the scores of the first R ≤ B sentences (R, N).
        query: (R, A).
        keys: (B, N, A).
        vector: v (A,).
        column_counts: number of columns of each sentence (B,) int64.
        weighted_squares: accumulator of g t² (B, N, A).
        grad_vector: accumulator of Σ g t for each sentence (B, A).

    Returns:
        The gradient of the query (R, A).
    """
    assert (
        column_counts.dtype == torch.int64
        and column_counts.is_contiguous()
        and len(query) <= len(column_counts) == len(keys)
    )
    gradient, query = gradient.contiguous(), query.contiguous()
    grad_query = torch.empty_like(query)
    arguments = gradient, query, keys, vector, column_counts, grad_query, weighted_squares, grad_vector
    _get_kernels().score_back(len(query), *keys.shape[1:], *map(_get_data_pointer, arguments))
    return grad_query


def forward_gru(input_products: Tensor, recurrent_products: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """Apply the gates of a GRU to its matrix products.

    Args:
        input_products: W x + b (R, 3·H).
        recurrent_products: U h (R, 3·H).
        state: h (R, H).

    Returns:
        Gates [r; z; n] (R, 3·H), and h' (R, H).
    """
    gates, new_state = state.new_empty(len(state), 3 * state.shape[1]), state.new_empty(state.shape)
    _get_kernels().gru(
        *state.shape, *map(_RowPointer.from_tensor, (input_products, recurrent_products, state, gates, new_state))
    )
    return gates, new_state


def backward_gru(
    gradient: Tensor,
    gates: Tensor,
    state: Tensor,
    recurrent_products: Tensor,
    input_dtype: torch.dtype,
    grad_recurrent: Tensor,
) -> tuple[Tensor, Tensor]:
    """Compute the gradients of W x + b, in `input_dtype`, and of h from the gradient of h' (R, H).

    The gradient of U h is written to `grad_recurrent` (R, 3·H).
    """
    grad_inputs, grad_state = torch.empty_like(gates, dtype=input_dtype), state.new_empty(state.shape)
    gradient = gradient if gradient.stride(-1) == 1 else gradient.contiguous()
    arguments = gradient, gates, state, recurrent_products, grad_inputs, grad_recurrent, grad_state
    _get_kernels().gru_back(*state.shape, *map(_RowPointer.from_tensor, arguments))
    return grad_inputs, grad_state


@cache
def load_kernels() -> ctypes.CDLL | None:
    """Load the kernels; None if they cannot be compiled."""
    library = compiled_library.load_library(C_SOURCE_PATH, C_FUNCTION_NAMES)
    return None if library is None else _declare_argument_types(library)


def _declare_argument_types(library: ctypes.CDLL) -> ctypes.CDLL:
    sizes, rows = (c_int64,) * 3, _RowPointer
    library.score.argtypes = (*sizes, *(c_void_p,) * 3, c_float, *(c_void_p,) * 3)
    library.score_back.argtypes = (*sizes, *(c_void_p,) * 8)
    library.gru.argtypes = (*sizes[:2], *(rows,) * 5)
    library.gru_back.argtypes = (*sizes[:2], *(rows,) * 7)
    for function in C_FUNCTION_NAMES:
        getattr(library, function).restype = None
    return library


def _get_kernels() -> ctypes.CDLL:
    library = load_kernels()
    assert library is not None, "check `can_compute_scores` or `can_compute_gru` first"
    return library


def _is_readable(values: Tensor, *dtypes: torch.dtype) -> bool:
    return values.dtype in dtypes and is_cpu(values.device) and values.stride(-1) == 1


def _get_data_pointer(values: Tensor | None) -> int | None:
    return None if values is None else values.data_ptr()
