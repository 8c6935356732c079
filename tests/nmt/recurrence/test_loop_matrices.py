"""Products with a matrix of each sentence, and gradients that wait for the end of the loop."""

import pytest
import torch
from torch import Tensor

from pipeline_py.nmt.recurrence.loop_matrices import LoopMatrices
from pipeline_py.nmt.recurrence.time_loop import time_loop
from pipeline_py.nmt.search.owners import Owners

STEPS = 4


def walk(part: LoopMatrices, state: Tensor, matrices: Tensor) -> Tensor:
    """Some steps of a recurrence, each with two products, of which the last step's second is not used."""
    total = state.new_zeros(())
    for step in range(STEPS):
        state = torch.tanh(part(state, matrices))
        aside = part(2 * state, matrices)
        if step < STEPS - 1:
            total = total + aside.square().sum()
    return total + state.sum()


def values() -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    state = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    return state, torch.randn(3, 5, 5, dtype=torch.float64, requires_grad=True)


def test_gradients_are_those_of_autograd() -> None:
    state, matrices = values()
    expected = torch.autograd.grad(
        walk(lambda x, w: torch.einsum("bx,bxy->by", x, w), state, matrices), (state, matrices)
    )
    part = LoopMatrices()
    with time_loop(state, [lambda: part.traced(matrices)]) as begun:
        total = walk(part, begun, matrices)
    for one, other in zip(torch.autograd.grad(total, (state, matrices)), expected, strict=True):
        torch.testing.assert_close(one, other)
    assert part.trace is None


def test_what_is_never_multiplied_has_no_gradient() -> None:
    state, matrices = values()
    part = LoopMatrices()
    with time_loop(state, [lambda: part.traced(matrices)]) as begun:
        total = begun.sum()
    assert torch.autograd.grad(total, matrices, allow_unused=True) == (None,)


@pytest.mark.parametrize("in_loop", [True, False])
def test_autocast_leaves_them_alone_on_a_cpu(in_loop: bool) -> None:
    state, matrices = (tensor.detach().float().requires_grad_() for tensor in values())
    part = LoopMatrices()
    with (
        torch.autocast("cpu", torch.bfloat16),
        torch.set_grad_enabled(in_loop),
        time_loop(state, [lambda: part.traced(matrices)]) as begun,
    ):
        product = part(begun.bfloat16(), matrices)
    assert product.dtype == torch.float32
    exact = torch.einsum("bx,bxy->by", state.bfloat16().double(), matrices.double())
    torch.testing.assert_close(product.double(), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("placed", [True, False])
def test_rows_of_a_search_are_multiplied_with_the_matrices_of_their_sentences(placed: bool) -> None:
    _, matrices = values()
    sentence = torch.tensor([2, 0, 0, 2, 2])
    owners = Owners.of(sentence, 3) if placed else Owners(sentence)
    rows = torch.randn(len(sentence), 5, dtype=torch.float64)
    expected = torch.stack([row @ matrices[number] for row, number in zip(rows, sentence.tolist(), strict=True)])
    torch.testing.assert_close(LoopMatrices()(rows, matrices, owners), expected)
