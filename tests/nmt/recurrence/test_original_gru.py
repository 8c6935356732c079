"""The GRU with the reset gate before the product, against its equations one position at a time, in float64."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor

from pipeline_py.nmt.fast.time_loop import open_time_loop
from pipeline_py.nmt.recurrence.original_gru import OriginalGRU
from tests.nmt.formulas import NO_DROPOUT, run_gru, step_gru
from tests.nmt.network_assertions import assert_same_gradients, draw_parameters

INPUTS, HIDDEN, LENGTH, SENTENCES = 3, 4, 6, 5


def make(seed: int = 0) -> OriginalGRU:
    torch.manual_seed(seed)
    return draw_parameters(OriginalGRU(INPUTS, HIDDEN).double())


def read(gru: OriginalGRU, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
    """Let it read sentences of one length: (J, B, 3·H) → (J, B, H)."""
    states = gru.forward_packed(inputs.flatten(0, 1), [inputs.shape[1]] * len(inputs), mask)
    return states.view(*inputs.shape[:2], -1)


@pytest.mark.parametrize("masked", [False, True])
def test_whole_sentences(masked: bool) -> None:
    gru = make()
    values = torch.randn(LENGTH, SENTENCES, INPUTS, dtype=torch.float64, requires_grad=True)
    mask = torch.empty(SENTENCES, HIDDEN, dtype=torch.float64).bernoulli_(0.6).div_(0.6) if masked else None
    got = read(gru, gru.input(values), mask)
    columns = []
    for sentence, words in enumerate(values.unbind(1)):
        states = run_gru(gru, words, mask_h=NO_DROPOUT if mask is None else mask[sentence])
        columns.append(torch.stack(states))
    assert_same_gradients([got], [torch.stack(columns, dim=1)], [values, *gru.parameters()], can_vanish=False)


def test_a_loop_in_which_the_input_depends_on_the_state() -> None:
    """As in a decoder: the input's product is then part of the loop too."""
    gru = make()
    start = torch.randn(SENTENCES, HIDDEN, dtype=torch.float64, requires_grad=True)

    def steps(state: Tensor) -> Tensor:
        for _ in range(4):
            state = gru.step(gru.input(state[:, :INPUTS].square()), state)
        return state

    maps = gru.input, gru.gates_recurrent, gru.candidate_recurrent
    with open_time_loop(start, [partial(item.begin_trace, 4 * SENTENCES) for item in maps]) as state:
        got = steps(state)
    rows = []
    for b in range(SENTENCES):
        h = start[b]
        for _ in range(4):
            h = step_gru(gru, h[:INPUTS].square(), h)
        rows.append(h)
    want = torch.stack(rows)
    assert_same_gradients([got], [want], [start, *gru.parameters()], can_vanish=False)
    with torch.no_grad():
        torch.testing.assert_close(steps(start), want)


def test_derivatives_are_those_of_differences() -> None:
    gru = make()
    x = torch.randn(2, INPUTS, dtype=torch.float64, requires_grad=True)
    h = torch.randn(2, HIDDEN, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, h, *_: gru.step(gru.input(x), h), (x, h, *gru.parameters()))


def test_one_step_by_hand() -> None:
    gru = OriginalGRU(1, 1).double()
    with torch.no_grad():
        gru.input.weight.copy_(torch.tensor([[1.0], [0.0], [2.0]]))
        gru.input.bias.copy_(torch.tensor([0.0, math.log(3), 0.5]))  # type: ignore[union-attr]
        gru.gates_recurrent.weight.copy_(torch.tensor([[2.0], [0.0]]))
        gru.candidate_recurrent.weight.fill_(4.0)
    # z = σ(−1 + 2 · 0.5) = 1/2, r = σ(log 3) = 3/4, h~ = tanh(−2 + 4 · 3/4 · 1/2 + 1/2) = 0, h' = 1/2 · 1/2.
    x, h = torch.tensor([[-1.0]], dtype=torch.float64), torch.tensor([[0.5]], dtype=torch.float64)
    torch.testing.assert_close(gru.step(gru.input(x), h), torch.tensor([[0.25]], dtype=torch.float64))


def test_half_precision_concerns_the_products_alone() -> None:
    gru = make().float()
    values = torch.randn(LENGTH, SENTENCES, INPUTS)
    exact = read(gru, gru.input(values))
    with torch.autocast("cpu", torch.bfloat16):
        rounded = read(gru, gru.input(values).float())
    assert rounded.dtype == torch.float32
    assert not torch.equal(rounded, exact)
    torch.testing.assert_close(rounded, exact, rtol=0, atol=0.05)
    ours = torch.autograd.grad(rounded.sum(), [*gru.parameters()])
    theirs = torch.autograd.grad(exact.sum(), [*gru.parameters()])
    for actual, expected in zip(ours, theirs, strict=True):
        assert actual.dtype == torch.float32
        assert (actual - expected).norm() < 0.05 * expected.norm()
