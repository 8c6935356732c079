"""Gradients of the matrices of sentences within a loop are those that autograd computes step by step."""

from functools import partial

import pytest
import torch
from torch import Tensor

from pipeline_py.nmt.fast.sentence_products import SentenceProduct
from pipeline_py.nmt.fast.time_loop import open_time_loop

ROW_COUNTS = (3, 3, 2, 1)
"""Sentences that are long enough for each step."""


def compute_gradients(dtype: torch.dtype, is_traced: bool, unused_step: int | None = None) -> list[Tensor]:
    """Multiply vectors that depend on the products before them; return the gradients of the start and the matrices."""
    torch.manual_seed(0)
    start = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    matrices = torch.randn(3, 4, 4, dtype=torch.float64).to(dtype).requires_grad_()
    product = SentenceProduct()

    def run_steps(state: Tensor) -> Tensor:
        total = state.new_zeros(())
        for number, rows in enumerate(ROW_COUNTS):
            values = product(state[:rows], matrices[:rows])
            if number != unused_step:
                state = torch.tanh(values.to(state.dtype))
                total = total + state.square().sum()
        return total

    if is_traced:
        with open_time_loop(start, [partial(product.begin_trace, matrices, len(ROW_COUNTS))]) as state:
            total = run_steps(state)
    else:
        total = run_steps(start)
    first = torch.autograd.grad(total, [start, matrices], retain_graph=True)
    for gradient, again in zip(first, torch.autograd.grad(total, [start, matrices]), strict=True):
        assert torch.equal(gradient, again)
    return [*first]


@pytest.mark.parametrize("unused_step", [None, 1])
def test_gradients_equal_those_of_autograd(unused_step: int | None) -> None:
    expected = compute_gradients(torch.float64, False, unused_step)
    for ours, theirs in zip(compute_gradients(torch.float64, True, unused_step), expected, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_half_precision_matrices_round_vectors_only() -> None:
    expected = compute_gradients(torch.bfloat16, False)
    for ours, theirs in zip(compute_gradients(torch.bfloat16, True), expected, strict=True):
        assert ours.dtype == theirs.dtype
        torch.testing.assert_close(ours, theirs, rtol=0.05, atol=0.05)


def test_values_that_do_not_depend_on_the_state_leave_matrices_their_gradient() -> None:
    """The weights of a context may be constants, for example the same for all words."""
    start = torch.zeros(2, 3, requires_grad=True)
    matrices, product = torch.randn(2, 3, 4, requires_grad=True), SentenceProduct()
    with open_time_loop(start, [partial(product.begin_trace, matrices, 1)]) as state:
        total = product(torch.ones(2, 3), matrices).sum() + state.sum()
    (gradient,) = torch.autograd.grad(total, matrices)
    torch.testing.assert_close(gradient, torch.ones_like(matrices))
