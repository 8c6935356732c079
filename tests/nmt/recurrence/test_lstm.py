"""The LSTM against torch's and against its equations, in float64."""

import pytest
import torch
from torch import Tensor, nn

from pipeline_py.nmt.initialization import initialize_parameters
from pipeline_py.nmt.recurrence.lstm import LSTM
from tests.nmt.formulas import NO_DROPOUT, run_lstm
from tests.nmt.network_assertions import assert_same_gradients, draw_parameters

INPUTS, HIDDEN, STEPS, SENTENCES = 3, 5, 6, 4


def make() -> LSTM:
    torch.manual_seed(0)
    return draw_parameters(LSTM(INPUTS, HIDDEN).double(), std=0.7)


def random_words() -> Tensor:
    return torch.randn(STEPS, SENTENCES, INPUTS, dtype=torch.float64, requires_grad=True)


def read(lstm: LSTM, inputs: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Let it read sentences of one length: (J, B, 4·H) → (J, B, H) each."""
    states, cells = lstm.forward_packed(inputs.flatten(0, 1), [inputs.shape[1]] * len(inputs), mask)
    return states.view(*inputs.shape[:2], -1), cells.view(*inputs.shape[:2], -1)


@pytest.mark.parametrize("masked", [False, True])
def test_it_follows_the_equations(masked: bool) -> None:
    lstm, values = make(), random_words()
    mask = torch.rand(SENTENCES, HIDDEN, dtype=torch.float64) * 2 if masked else None
    expected = []
    for sentence, words in enumerate(values.unbind(1)):
        steps = run_lstm(lstm, words, mask_h=NO_DROPOUT if mask is None else mask[sentence])
        expected.append([torch.stack(part) for part in zip(*steps, strict=True)])
    states, cells = (torch.stack(part, dim=1) for part in zip(*expected, strict=True))
    assert_same_gradients(read(lstm, lstm.input(values), mask), [states, cells], [values, *lstm.parameters()])


def test_it_is_that_of_torch() -> None:
    lstm, values = make(), random_words()
    theirs = nn.LSTM(INPUTS, HIDDEN).double()

    def in_order_of_torch(weight: Tensor) -> Tensor:
        i, f, o, candidate = weight.chunk(4)
        return torch.cat([i, f, candidate, o])

    assert lstm.input.bias is not None
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(in_order_of_torch(lstm.input.weight))
        theirs.weight_hh_l0.copy_(in_order_of_torch(lstm.recurrent.weight))
        theirs.bias_ih_l0.copy_(in_order_of_torch(lstm.input.bias))
        theirs.bias_hh_l0.zero_()
    states, cells = read(lstm, lstm.input(values))
    expected, (last, last_cell) = theirs(values)
    torch.testing.assert_close(states[-1], last[0])
    assert_same_gradients([states, cells[-1]], [expected, last_cell[0]], [values])


def test_gradients_of_a_step() -> None:
    lstm = make()

    def step(*arguments: Tensor) -> tuple[Tensor, Tensor]:
        return lstm.step(*arguments)

    arguments = [torch.randn(2, size, dtype=torch.float64, requires_grad=True) for size in (4 * HIDDEN, HIDDEN, HIDDEN)]
    torch.autograd.gradcheck(step, arguments)


def test_forget_gates_begin_open() -> None:
    lstm = make()
    initialize_parameters(lstm, "uniform")
    assert lstm.input.bias.tolist() == [0] * HIDDEN + [1] * HIDDEN + [0] * 2 * HIDDEN
    # An LSTM of zeros otherwise forgets sigmoid(1) of its cell.
    with torch.no_grad():
        for linear in (lstm.input, lstm.recurrent):
            linear.weight.zero_()
    cell = torch.ones(1, HIDDEN, dtype=torch.float64)
    _, new = lstm.step(lstm.input(torch.ones(1, INPUTS, dtype=torch.float64)), cell, cell)
    torch.testing.assert_close(new, torch.full_like(new, 0.7310585786300049))


def test_half_precision() -> None:
    lstm, values = make().float(), random_words().detach().float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inputs = lstm.input(values)
        assert inputs.dtype == torch.bfloat16
        states, cells = read(lstm, inputs.float())
    assert states.dtype == cells.dtype == torch.float32
    exact = read(lstm, lstm.input(values))
    torch.testing.assert_close(states, exact[0], rtol=0, atol=0.05)
    got = torch.autograd.grad(states.sum(), [*lstm.parameters()])
    for actual, expected_value in zip(got, torch.autograd.grad(exact[0].sum(), [*lstm.parameters()]), strict=True):
        assert actual.dtype == torch.float32
        torch.testing.assert_close(actual, expected_value, rtol=0.1, atol=0.2)
