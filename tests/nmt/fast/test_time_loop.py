"""Gradients of weights within a loop are those that autograd computes step by step."""

import gc
import weakref
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from pipeline_py.nmt.fast import matrix_products
from pipeline_py.nmt.fast.linear import LoopLinear
from pipeline_py.nmt.fast.time_loop import open_time_loop
from pipeline_py.nmt.recurrence.gru import GRU
from tests.nmt.network_assertions import assert_same_gradients, draw_parameters

ROWS = 8
"""More than any loop here takes."""


def build() -> tuple[LoopLinear, LoopLinear]:
    torch.manual_seed(0)
    maps = LoopLinear(3, 3, bias=True), LoopLinear(3, 2, bias=False)
    for layer in maps:
        layer.double()
        nn.init.normal_(layer.weight)
    return maps


def loop(first: LoopLinear, second: LoopLinear, start: Tensor, use_loop: bool) -> Tensor:
    """The second map is fed by the recurrence but does not feed it, as a second context's weighting."""

    def steps(state: Tensor) -> Tensor:
        total = torch.zeros((), dtype=start.dtype)
        for _ in range(4):
            state = torch.tanh(first(state))
            total = total + second(state).square().sum()
        return total

    if not use_loop:
        return steps(start)
    with open_time_loop(start, [partial(first.begin_trace, ROWS), partial(second.begin_trace, ROWS)]) as state:
        return steps(state)


def gradients(use_loop: bool) -> list[Tensor]:
    first, second = build()
    start = torch.linspace(-1, 1, 6, dtype=torch.float64).view(2, 3).requires_grad_()
    loop(first, second, start, use_loop).backward()
    return [tensor.grad for tensor in (start, first.weight, first.bias, second.weight)]  # type: ignore[misc]


def test_gradients_are_those_of_autograd() -> None:
    for ours, theirs in zip(gradients(True), gradients(False), strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.usefixtures("same_torch_afterwards")
def test_rows_that_are_appended_in_half_precision_change_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    def compute_gradients(block: int) -> list[Tensor]:
        monkeypatch.setattr(matrix_products, "ROW_BLOCK_SIZE", block)
        first, second = (layer.float() for layer in build())
        start = torch.linspace(-1, 1, 6).view(2, 3).requires_grad_()
        with torch.autocast("cpu", torch.bfloat16):
            total = loop(first, second, start, True)
        total.backward()
        return [tensor.grad for tensor in (start, first.weight, first.bias, second.weight)]  # type: ignore[misc]

    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
    assert torch.ones(1).new_empty(1).isnan()
    monkeypatch.setattr(matrix_products, "MAX_STEP_ROWS", 0)
    for appended, single in zip(compute_gradients(64), compute_gradients(1), strict=True):
        torch.testing.assert_close(appended, single)


def test_going_back_twice_gives_the_same_twice() -> None:
    first, second = build()
    start = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    loss = loop(first, second, start, True)
    (first_gradients,) = torch.autograd.grad(loss, first.weight, retain_graph=True)
    torch.autograd.grad(loss, start, retain_graph=True)
    (twice,) = torch.autograd.grad(loss, first.weight)
    torch.testing.assert_close(first_gradients, twice, rtol=0, atol=0)


def test_outside_of_a_loop_it_is_a_linear_map() -> None:
    first, _ = build()
    values = torch.randn(4, 5, 3, dtype=torch.float64)
    torch.testing.assert_close(first(values), nn.functional.linear(values, first.weight, first.bias))
    with torch.no_grad(), open_time_loop(values[0], [partial(first.begin_trace, ROWS)]) as state:
        assert state is values[0] or torch.equal(state, values[0])
        assert first.trace is None


def test_a_graph_that_is_thrown_away_leaves_nothing() -> None:
    first, second = build()
    start = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    with open_time_loop(start, [partial(first.begin_trace, ROWS), partial(second.begin_trace, ROWS)]) as state:
        product = first(state)
        trace = weakref.ref(first.trace)
    del state, product
    gc.collect()
    assert first.trace is None
    assert trace() is None


@pytest.mark.parametrize("masked", [False, True])
def test_gru_is_that_of_torch(masked: bool) -> None:
    torch.manual_seed(0)
    ours = draw_parameters(GRU(3, 5).double(), std=0.7)
    theirs = nn.GRU(3, 5).double()
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(ours.input.weight)
        theirs.weight_hh_l0.copy_(ours.recurrent.weight)
        assert ours.input.bias is not None
        theirs.bias_ih_l0.copy_(ours.input.bias)
        theirs.bias_hh_l0.zero_()
    values = torch.randn(6, 4, 3, dtype=torch.float64, requires_grad=True)
    mask = torch.ones(4, 5, dtype=torch.float64) if masked else None
    outputs = ours.forward_packed(ours.input(values).flatten(0, 1), [4] * 6, mask).view(6, 4, 5)
    expected, _ = theirs(values)
    leaves = [values, ours.input.weight, ours.recurrent.weight]
    assert_same_gradients([outputs], [expected], leaves, [values, theirs.weight_ih_l0, theirs.weight_hh_l0])
