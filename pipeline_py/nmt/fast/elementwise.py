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

from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.fast import compiled

SOURCE = Path(__file__).with_suffix(".c")
FUNCTIONS = ("score", "score_back", "gru", "gru_back")
HALF = torch.bfloat16


class _Rows(ctypes.Structure):
    """`struct rows`."""

    _fields_ = (("first", c_void_p), ("row", c_int64), ("half", c_int32))

    @staticmethod
    def of(values: Tensor) -> "_Rows":
        """Point at rows (R, X)."""
        return _Rows(values.data_ptr(), values.stride(0), values.dtype == HALF)


def compute_scores(*values: Tensor) -> bool:
    """Say whether `scores` and `scores_back` can be computed of queries, keys or v like these."""
    return all(_can_be_read(one, torch.float32) for one in values) and library() is not None


def read_by_gru(values: Tensor) -> bool:
    """Say whether `gru` reads W x + b or U h like this."""
    return _can_be_read(values, torch.float32, HALF) and library() is not None


def compute_gru(state: Tensor, *read: Tensor) -> bool:
    """Say whether `gru` and `gru_back` can be computed of h, and of W x + b and U h as far as they are known."""
    return _can_be_read(state, torch.float32) and all(len(one) == len(state) and read_by_gru(one) for one in read)


def scores(
    query: Tensor, keys: Tensor, vector: Tensor, bias: Tensor, reach: Tensor, owner: Tensor | None = None
) -> Tensor:
    """vᵀ tanh(q + k) + b_e.

    Args:
        query: (R, A).
        keys: (B, N, A).
        vector: v (A,).
        bias: b_e ().
        reach: how many columns of each sentence are computed (B,) int64; the others are 0.
        owner: the sentence of each row (R,) int64, each one of the B; None: its own.

    Returns:
        (R, N).
    """
    assert reach.dtype == torch.int64 and reach.is_contiguous() and len(reach) == len(keys)
    assert len(query) <= len(keys) if owner is None else owner.dtype == torch.int64 and owner.is_contiguous()
    query, keys = query.contiguous(), keys.contiguous()
    found = query.new_zeros(len(query), keys.shape[1])
    _loaded().score(
        len(query), *keys.shape[1:], *map(_start, (query, keys, vector)), bias.item(), _start(owner), _start(reach),
        _start(found),
    )  # fmt: skip
    return found


def scores_back(
    gradient: Tensor, query: Tensor, keys: Tensor, vector: Tensor, reach: Tensor, squares: Tensor, grad_vector: Tensor
) -> Tensor:
    """Of the gradient g (R, N) of `scores`, with t = tanh(q + k): add Σ g t² and Σ g t, and give v ⊙ Σ g (1 − t²).

    Args:
        gradient: g, of the first R ≤ B sentences.
        query: (R, A).
        keys: (B, N, A).
        vector: v (A,).
        reach: what is behind so many columns is left out (B,) int64.
        squares: to which g t² is added (B, N, A).
        grad_vector: to which Σ g t of each sentence is added (B, A).

    Returns:
        The gradient of the query (R, A).
    """
    assert reach.dtype == torch.int64 and reach.is_contiguous() and len(query) <= len(reach) == len(keys)
    gradient, query = gradient.contiguous(), query.contiguous()
    grad_query = torch.empty_like(query)
    given = gradient, query, keys, vector, reach, grad_query, squares, grad_vector
    _loaded().score_back(len(query), *keys.shape[1:], *map(_start, given))
    return grad_query


def gru(inputs: Tensor, recurrent: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """What a GRU does after its products.

    Args:
        inputs: W x + b (R, 3·H).
        recurrent: U h (R, 3·H).
        state: h (R, H).

    Returns:
        r, z and n side by side (R, 3·H), and h' (R, H).
    """
    gates, new = state.new_empty(len(state), 3 * state.shape[1]), state.new_empty(state.shape)
    _loaded().gru(*state.shape, *map(_Rows.of, (inputs, recurrent, state, gates, new)))
    return gates, new


def gru_back(
    gradient: Tensor, gates: Tensor, state: Tensor, recurrent: Tensor, inputs: torch.dtype, grad_recurrent: Tensor
) -> tuple[Tensor, Tensor]:
    """Give the gradients of W x + b, in the precision of the inputs, and of h, of that of h' (R, H).

    That of U h is put in `grad_recurrent` (R, 3·H).
    """
    grad_inputs, grad_state = torch.empty_like(gates, dtype=inputs), state.new_empty(state.shape)
    gradient = gradient if gradient.stride(-1) == 1 else gradient.contiguous()
    given = gradient, gates, state, recurrent, grad_inputs, grad_recurrent, grad_state
    _loaded().gru_back(*state.shape, *map(_Rows.of, given))
    return grad_inputs, grad_state


@cache
def library() -> ctypes.CDLL | None:
    """Load the kernels; None where they cannot be compiled."""
    found = compiled.load(SOURCE, FUNCTIONS)
    return None if found is None else _typed(found)


def _typed(library: ctypes.CDLL) -> ctypes.CDLL:
    sizes, rows = (c_int64,) * 3, _Rows
    library.score.argtypes = (*sizes, *(c_void_p,) * 3, c_float, *(c_void_p,) * 3)
    library.score_back.argtypes = (*sizes, *(c_void_p,) * 8)
    library.gru.argtypes = (*sizes[:2], *(rows,) * 5)
    library.gru_back.argtypes = (*sizes[:2], *(rows,) * 7)
    for function in FUNCTIONS:
        getattr(library, function).restype = None
    return library


def _loaded() -> ctypes.CDLL:
    found = library()
    assert found is not None, "`compute_scores` and `compute_gru` say whether there is any"
    return found


def _can_be_read(values: Tensor, *dtypes: torch.dtype) -> bool:
    return values.dtype in dtypes and on_cpu(values.device) and values.stride(-1) == 1


def _start(values: Tensor | None) -> int | None:
    return None if values is None else values.data_ptr()
