"""What a network computes by element in a loop over time, in C (`elementwise.c`), for the processor that runs it.

torch makes a tensor of every operation, and writes to memory what the next one reads; for rows as short as those of a
recurrence it takes longer to start an operation than to compute it. Where nothing compiles the code (`compiled.py`), on
a GPU and in double precision torch does the same in several steps.
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
    """`struct rows`."""

    _fields_ = (("first", c_void_p), ("row", c_int64), ("half", c_int32))

    @staticmethod
    def from_tensor(values: Tensor) -> "_RowPointer":
        """Point at rows (R, X)."""
        return _RowPointer(values.data_ptr(), values.stride(0), values.dtype == HALF_PRECISION)


def can_compute_scores(*tensors: Tensor) -> bool:
    """Say whether `forward_scores` and `backward_scores` can be computed of queries, keys or v like these."""
    return all(_is_readable(one, torch.float32) for one in tensors) and load_kernels() is not None


def is_gru_input(values: Tensor) -> bool:
    """Say whether `forward_gru` reads W x + b or U h like this."""
    return _is_readable(values, torch.float32, HALF_PRECISION) and load_kernels() is not None


def can_compute_gru(state: Tensor, *products: Tensor) -> bool:
    """Say whether `forward_gru` and `backward_gru` can be computed of h, and of W x + b and U h as far as they are known."""
    return _is_readable(state, torch.float32) and all(len(one) == len(state) and is_gru_input(one) for one in products)


def forward_scores(
    query: Tensor,
    keys: Tensor,
    vector: Tensor,
    bias: Tensor,
    column_counts: Tensor,
    sentence_indices: Tensor | None = None,
) -> Tensor:
    """vᵀ tanh(q + k) + b_e.

    Args:
        query: (R, A).
        keys: (B, N, A).
        vector: v (A,).
        bias: b_e ().
        column_counts: how many columns of each sentence are computed (B,) int64; the others are 0.
        sentence_indices: the sentence of each row (R,) int64, each one of the B; None: its own.

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
    found = query.new_zeros(len(query), keys.shape[1])
    _get_kernels().score(
        len(query), *keys.shape[1:], *map(_get_data_pointer, (query, keys, vector)), bias.item(), _get_data_pointer(sentence_indices), _get_data_pointer(column_counts),
        _get_data_pointer(found),
    )  # fmt: skip
    return found


def backward_scores(
    gradient: Tensor,
    query: Tensor,
    keys: Tensor,
    vector: Tensor,
    column_counts: Tensor,
    weighted_squares: Tensor,
    grad_vector: Tensor,
) -> Tensor:
    """Of the gradient g (R, N) of `forward_scores`, with t = tanh(q + k): add Σ g t² and Σ g t, and give v ⊙ Σ g (1 − t²).

    Args:
        gradient: g, of the first R ≤ B sentences.
        query: (R, A).
        keys: (B, N, A).
        vector: v (A,).
        column_counts: what is behind so many columns is left out (B,) int64.
        weighted_squares: to which g t² is added (B, N, A).
        grad_vector: to which Σ g t of each sentence is added (B, A).

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
    given = gradient, query, keys, vector, column_counts, grad_query, weighted_squares, grad_vector
    _get_kernels().score_back(len(query), *keys.shape[1:], *map(_get_data_pointer, given))
    return grad_query


def forward_gru(input_products: Tensor, recurrent_products: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """What a GRU does after its products.

    Args:
        input_products: W x + b (R, 3·H).
        recurrent_products: U h (R, 3·H).
        state: h (R, H).

    Returns:
        r, z and n side by side (R, 3·H), and h' (R, H).
    """
    gates, new = state.new_empty(len(state), 3 * state.shape[1]), state.new_empty(state.shape)
    _get_kernels().gru(
        *state.shape, *map(_RowPointer.from_tensor, (input_products, recurrent_products, state, gates, new))
    )
    return gates, new


def backward_gru(
    gradient: Tensor,
    gates: Tensor,
    state: Tensor,
    recurrent_products: Tensor,
    input_dtype: torch.dtype,
    grad_recurrent: Tensor,
) -> tuple[Tensor, Tensor]:
    """Give the gradients of W x + b, in the precision of the inputs, and of h, of that of h' (R, H).

    That of U h is put in `grad_recurrent` (R, 3·H).
    """
    grad_inputs, grad_state = torch.empty_like(gates, dtype=input_dtype), state.new_empty(state.shape)
    gradient = gradient if gradient.stride(-1) == 1 else gradient.contiguous()
    given = gradient, gates, state, recurrent_products, grad_inputs, grad_recurrent, grad_state
    _get_kernels().gru_back(*state.shape, *map(_RowPointer.from_tensor, given))
    return grad_inputs, grad_state


@cache
def load_kernels() -> ctypes.CDLL | None:
    """Load the kernels; None where they cannot be compiled."""
    found = compiled_library.load_library(C_SOURCE_PATH, C_FUNCTION_NAMES)
    return None if found is None else _declare_argument_types(found)


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
    found = load_kernels()
    assert found is not None, "`compute_scores` and `compute_gru` say whether there is any"
    return found


def _is_readable(values: Tensor, *dtypes: torch.dtype) -> bool:
    return values.dtype in dtypes and is_cpu(values.device) and values.stride(-1) == 1


def _get_data_pointer(values: Tensor | None) -> int | None:
    return None if values is None else values.data_ptr()
