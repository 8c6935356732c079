"""Comparison of the C kernels with formulas in double precision."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.decoders import MLPScoreConfig
from pipeline_py.nmt.fast import elementwise
from pipeline_py.nmt.fast.time_loop import open_time_loop
from pipeline_py.nmt.recurrence.gru import GRU
from pipeline_py.nmt.score import mlp

SENTENCES, COLUMNS, WIDTH = 5, 7, 37  # no multiple of what a processor does at once
HALF, SINGLE, DOUBLE = torch.bfloat16, torch.float32, torch.float64


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


pytestmark = pytest.mark.skipif(
    elementwise.load_kernels() is None, reason="no C compiler, or none that makes the kernels"
)


def far_and_near() -> Tensor:
    """Numbers of all sizes and both signs, and what is none."""
    sizes = torch.logspace(-30, 2, 5000)
    special = torch.tensor([0.0, torch.inf, torch.nan])
    return torch.cat([sizes, torch.linspace(0, 12, 5000), special, -sizes, -special])


def test_tanh_is_right_to_single_precision() -> None:
    x = far_and_near()
    actual, zero = torch.ones(1), torch.zeros(())
    result = elementwise.forward_scores(
        x.unsqueeze(1), torch.zeros(len(x), 1, 1), actual, zero, torch.ones(len(x), dtype=torch.int64)
    )
    torch.testing.assert_close(result.flatten().double(), x.double().tanh(), rtol=5e-7, atol=0, equal_nan=True)


def test_sigmoid_is_right_to_single_precision() -> None:
    x = far_and_near().clamp(-80, 80)
    gates, _ = elementwise.forward_gru(x.unsqueeze(1).repeat(1, 3), torch.zeros(len(x), 3), torch.zeros(len(x), 1))
    torch.testing.assert_close(gates[:, 0].double(), x.double().sigmoid(), rtol=5e-7, atol=0, equal_nan=True)


def written_out_scores(query: Tensor, keys: Tensor, vector: Tensor, bias: Tensor) -> Tensor:
    return (query.unsqueeze(1) + keys).tanh() @ vector + bias


def scored(rows: int = SENTENCES) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return torch.randn(rows, WIDTH), torch.randn(SENTENCES, COLUMNS, WIDTH), torch.randn(WIDTH), torch.randn(())


def test_scores_as_far_as_a_sentence_reaches() -> None:
    query, keys, vector, bias = scored()
    reach = torch.tensor([7, 1, 4, 0, 6])
    result = elementwise.forward_scores(query, keys, vector, bias, reach)
    expected = written_out_scores(query.double(), keys.double(), vector.double(), bias.double())
    column_mask = torch.arange(COLUMNS) < reach.unsqueeze(1)
    torch.testing.assert_close(result.double(), expected * column_mask, rtol=1e-5, atol=1e-5)


def test_scores_of_rows_that_belong_to_any_sentence() -> None:
    owner, reach = torch.tensor([4, 4, 0, 2, 0, 0, 1]), torch.tensor([7, 1, 4, 2, 6])
    query, keys, vector, bias = scored(len(owner))
    result = elementwise.forward_scores(query, keys, vector, bias, reach, owner)
    for row, sentence in enumerate(owner.tolist()):
        single_result = elementwise.forward_scores(
            query[row, None], keys[sentence, None], vector, bias, reach[sentence, None]
        )
        assert torch.equal(result[row], single_result[0])


def test_gradients_of_scores_are_those_of_autograd() -> None:
    """Also where a step has fewer rows than sentences, and sums are gone on with."""
    *values, bias = (value.double().requires_grad_() for value in scored())
    query, keys, vector = values
    reach = torch.tensor([7, 1, 4, 0, 6])
    squares, of_vector = torch.zeros(SENTENCES, COLUMNS, WIDTH), torch.zeros(SENTENCES, WIDTH)
    of_scores = torch.zeros(SENTENCES, COLUMNS)
    total, queries = torch.zeros((), dtype=DOUBLE), []
    for rows in (SENTENCES, 3):
        gradient = torch.randn(rows, COLUMNS)
        single = [value.detach().float() for value in (query[:rows], keys, vector)]
        queries.append(elementwise.backward_scores(gradient, *single, reach, squares, of_vector))
        column_mask = torch.arange(COLUMNS) < reach[:rows].unsqueeze(1)
        of_scores[:rows] += gradient * column_mask
        total = total + (written_out_scores(query[:rows], keys[:rows], vector, bias) * gradient * column_mask).sum()
    of_query, of_keys, of_v = torch.autograd.grad(total, values)
    queries[0][:3] += queries[1]
    torch.testing.assert_close(queries[0].double(), of_query, rtol=1e-5, atol=1e-5)
    result = (of_scores.unsqueeze(2) - squares) * vector.detach().float()
    torch.testing.assert_close(result.double(), of_keys, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(of_vector.sum(dim=0).double(), of_v, rtol=1e-5, atol=1e-5)


def written_out_gru(inputs: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
    of_reset, of_update, of_candidate = inputs.chunk(3, dim=-1)
    reset, update, candidate = recurrent.chunk(3, dim=-1)
    candidate = torch.tanh(of_candidate + torch.sigmoid(of_reset + reset) * candidate)
    update = torch.sigmoid(of_update + update)
    return (1 - update) * candidate + update * state


def step(inputs: torch.dtype, recurrent: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Return four rows of a larger, strided tensor."""
    return (
        torch.randn(6, 4 * WIDTH)[1:5, : 3 * WIDTH].to(inputs),
        torch.randn(9, 3 * WIDTH).to(recurrent)[2:6],
        torch.randn(4, 2 * WIDTH)[:, :WIDTH],
    )


@pytest.mark.parametrize("recurrent", [SINGLE, HALF])
@pytest.mark.parametrize("inputs", [SINGLE, HALF])
def test_a_gru_and_its_gradients(inputs: torch.dtype, recurrent: torch.dtype) -> None:
    arguments = step(inputs, recurrent)
    assert elementwise.can_compute_gru(arguments[2], *arguments[:2])
    exact = [value.double().requires_grad_() for value in arguments]
    expected = written_out_gru(*exact)
    gates, new = elementwise.forward_gru(*arguments)
    torch.testing.assert_close(new.double(), expected.detach(), rtol=1e-6, atol=1e-6)
    gradient = torch.randn(5, WIDTH)[:4]
    of_recurrent = torch.empty_like(gates, dtype=recurrent)
    of_inputs, of_state = elementwise.backward_gru(gradient, gates, arguments[2], arguments[1], inputs, of_recurrent)
    result = of_inputs, of_recurrent, of_state
    for actual, wanted, dtype in zip(
        result, torch.autograd.grad(expected, exact, gradient.double()), (inputs, recurrent, SINGLE), strict=True
    ):
        assert actual.dtype == dtype
        torch.testing.assert_close(actual, wanted.to(dtype), rtol=1e-2 if dtype == HALF else 1e-5, atol=1e-6)


def test_half_precision_is_rounded_as_torch_does() -> None:
    inputs, recurrent, state = step(HALF, HALF)
    recurrent, gradient = recurrent.float(), torch.randn(4, WIDTH)
    gradient[0, :3] = torch.tensor([torch.nan, torch.inf, 1e-40])
    gates, _ = elementwise.forward_gru(inputs, recurrent, state)
    half, _ = elementwise.backward_gru(gradient, gates, state, recurrent, HALF, torch.empty_like(gates))
    single, _ = elementwise.backward_gru(gradient, gates, state, recurrent, SINGLE, torch.empty_like(gates))
    torch.testing.assert_close(half, single.to(HALF), rtol=0, atol=0, equal_nan=True)


def test_a_gradient_may_be_one_number_for_all() -> None:
    inputs, recurrent, state = step(SINGLE, SINGLE)
    gates, _ = elementwise.forward_gru(inputs, recurrent, state)

    def back(gradient: Tensor) -> list[Tensor]:
        of_recurrent = torch.empty_like(gates)
        return [*elementwise.backward_gru(gradient, gates, state, recurrent, SINGLE, of_recurrent), of_recurrent]

    for result, wanted in zip(back(torch.ones(()).expand(state.shape)), back(torch.ones(state.shape)), strict=True):
        assert torch.equal(result, wanted)


def test_threads_change_no_bit(threads: Callable[[int], None]) -> None:
    query, keys, vector, bias = scored()
    reach, arguments, gradient = torch.full((SENTENCES,), COLUMNS), step(HALF, HALF), torch.randn(SENTENCES, COLUMNS)

    def compute() -> list[Tensor]:
        sums = torch.zeros_like(keys), torch.zeros(SENTENCES, WIDTH)
        back = elementwise.backward_scores(gradient, query, keys, vector, reach, *sums)
        gates, new = elementwise.forward_gru(*arguments)
        of_recurrent = torch.empty_like(gates, dtype=HALF)
        of_gru = elementwise.backward_gru(new, gates, arguments[2], arguments[1], HALF, of_recurrent)
        return [
            elementwise.forward_scores(query, keys, vector, bias, reach),
            back,
            *sums,
            gates,
            new,
            *of_gru,
            of_recurrent,
        ]

    threads(1)
    single_result = compute()
    threads(3)
    for actual, expected_value in zip(single_result, compute(), strict=True):
        assert torch.equal(actual, expected_value)


SINGLES = {"query": torch.zeros(2, 3), "keys": torch.zeros(2, 4, 3), "vector": torch.zeros(3)}
OF_GRU = {"state": torch.zeros(2, 3), "inputs": torch.zeros(2, 9), "recurrent": torch.zeros(2, 9)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("query", torch.zeros(2, 3, dtype=DOUBLE)),
        ("keys", torch.zeros(2, 4, 3, dtype=HALF)),
        ("vector", torch.zeros(3, dtype=HALF)),
        ("query", torch.zeros(3, 2).T),
        ("query", torch.zeros(2, 3, device="meta")),
    ],
)
def test_scores_that_are_left_to_torch(name: str, value: Tensor) -> None:
    assert elementwise.can_compute_scores(*SINGLES.values())
    assert not elementwise.can_compute_scores(*{**SINGLES, name: value}.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state", torch.zeros(2, 3, dtype=HALF)),
        ("inputs", torch.zeros(2, 9, dtype=DOUBLE)),
        ("inputs", torch.zeros(1, 9)),
        ("recurrent", torch.zeros(2, 9, dtype=torch.float16)),
        ("recurrent", torch.zeros(9, 2).T),
    ],
)
def test_gates_that_are_left_to_torch(name: str, value: Tensor) -> None:
    assert elementwise.can_compute_gru(*OF_GRU.values())
    assert not elementwise.can_compute_gru(*{**OF_GRU, name: value}.values())


def test_a_sentence_reaches_no_further_than_its_columns() -> None:
    query, keys, vector, bias = scored()
    far = torch.full((SENTENCES,), 10 * COLUMNS)
    assert torch.equal(
        elementwise.forward_scores(query, keys, vector, bias, far),
        elementwise.forward_scores(query, keys, vector, bias, torch.full_like(far, COLUMNS)),
    )


@pytest.mark.parametrize("half", [False, True])
def test_a_loop_has_the_gradients_that_torch_gives_it(half: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two units read, one with dropout, and their states are scored: with the kernels, and without."""
    units, steps = [GRU(4, 6), GRU(4, 6)], [SENTENCES, SENTENCES, 3]
    score = mlp.PerceptronScore(MLPScoreConfig(), 6, 12)
    torch.nn.init.normal_(score.vector)
    read, states = torch.randn(sum(steps), 4), torch.randn(SENTENCES, COLUMNS, 12)
    masks = [None, torch.randint(2, (SENTENCES, 6)) * 2.0]

    def gradients() -> list[Tensor]:
        wanted = [*score.parameters(), *(actual for unit in units for actual in unit.parameters())]
        with torch.autocast("cpu", HALF, enabled=half):
            result = torch.stack(
                [unit.forward_packed(unit.input(read), steps, mask) for unit, mask in zip(units, masks, strict=True)]
            )
            keys, reach = score.compute_keys(states), (7, 2, 4, 1, 5)
            traces = [partial(score.query.begin_trace, sum(steps)), partial(score.begin_trace, keys, len(steps), reach)]
            with open_time_loop(result.sum(dim=0), traces) as queries:
                scores = [score(query, keys) for query in queries.split(steps)]
        direction = torch.linspace(-1, 1, COLUMNS)
        column_mask = torch.arange(COLUMNS) < torch.tensor(reach).unsqueeze(1)
        total = torch.stack([(actual * direction * column_mask[: len(actual)]).sum() for actual in scores]).sum()
        return [*torch.autograd.grad(total, wanted)]

    compiled = gradients()
    monkeypatch.setattr(elementwise, "load_kernels", lambda: None)
    for actual, expected_value in zip(compiled, gradients(), strict=True):
        torch.testing.assert_close(actual, expected_value, rtol=0.05 if half else 1e-4, atol=0.02 if half else 1e-5)
        assert actual.abs().max() > 0.01
