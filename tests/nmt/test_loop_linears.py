"""Maps side by side against each of them alone."""

from functools import partial

import pytest
import torch
from torch import Tensor, nn

from pipeline_py.nmt.gru import GRU, sequences
from pipeline_py.nmt.loop_linear import LoopLinear
from pipeline_py.nmt.loop_linears import LoopLinears
from pipeline_py.nmt.time_loop import time_loop


def make_maps() -> list[LoopLinear]:
    torch.manual_seed(0)
    maps = [LoopLinear(3, 3, bias=False).double() for _ in range(2)]
    for one in maps:
        nn.init.normal_(one.weight)
    return maps


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_are_those_of_autograd(masked: bool) -> None:
    maps = make_maps()
    start = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    mask = torch.rand(2, 4, 3, dtype=torch.float64) if masked else None

    def walk(apply, state: Tensor) -> Tensor:
        for _ in range(3):
            state = torch.tanh(apply(state))
        return state.square().sum()

    def alone(state: Tensor) -> Tensor:
        dropped = state if mask is None else state * mask
        return torch.stack([dropped[0] @ maps[0].weight.T, dropped[1] @ maps[1].weight.T])

    wanted = [start, *(one.weight for one in maps)]
    expected = torch.autograd.grad(walk(alone, start), wanted)
    together = LoopLinears(maps)
    with time_loop(start, [partial(together.traced, 3 * 4)]) as state:
        total = walk(lambda values: together(values, mask), state)
    for one, other in zip(torch.autograd.grad(total, wanted), expected, strict=True):
        torch.testing.assert_close(one, other)
    with torch.no_grad(), time_loop(start, [partial(together.traced, 4)]) as state:
        torch.testing.assert_close(together(state, mask), alone(state))
    assert not list(together.parameters()), "they are parameters of others"


def test_units_side_by_side_read_as_each_alone() -> None:
    torch.manual_seed(0)
    units = [GRU(3, 5).double() for _ in range(2)]
    for unit in units:
        for parameter in unit.parameters():
            nn.init.normal_(parameter, std=0.7)
    steps = [4, 4, 2, 1]
    inputs = torch.randn(2, sum(steps), 15, dtype=torch.float64)
    masks = torch.rand(2, 4, 5, dtype=torch.float64)
    states = sequences(units, inputs, steps, masks)
    for number, unit in enumerate(units):
        for row in range(4):
            state = torch.zeros(1, 5, dtype=torch.float64)
            for step in range(sum(rows > row for rows in steps)):
                word = sum(steps[:step]) + row
                state = unit.step(inputs[number, word, None], state, masks[number, row, None])
                torch.testing.assert_close(states[number, word, None], state)


def test_half_precision_multiplies_as_one_map_does() -> None:
    maps = [one.float() for one in make_maps()]
    values = torch.randn(2, 4, 3)
    together = LoopLinears(maps)
    traces = [partial(together.traced, 4), partial(maps[0].traced, 4)]
    with torch.autocast("cpu", torch.bfloat16), time_loop(values, traces) as state:
        both, first = together(state), maps[0](state[0])
    assert both.dtype == first.dtype == torch.bfloat16
    torch.testing.assert_close(both[0], first, rtol=0, atol=0)
