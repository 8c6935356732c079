"""The score of a perceptron against one that is written out, in a loop and outside of it."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.decoders import MLPScoreConfig
from pipeline_py.nmt.fast import matrix_products
from pipeline_py.nmt.fast.time_loop import open_time_loop
from pipeline_py.nmt.score import mlp
from pipeline_py.nmt.search.row_sentences import RowSentences

SENTENCES, POSITIONS, QUERY, MEMORY = 5, 4, 3, 6


def build() -> mlp.PerceptronScore:
    torch.manual_seed(0)
    part = mlp.PerceptronScore(MLPScoreConfig(), QUERY, MEMORY).double()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.normal_()
    return part


def values() -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    query = torch.randn(SENTENCES, QUERY, dtype=torch.float64, requires_grad=True)
    return query, torch.randn(SENTENCES, POSITIONS, MEMORY, dtype=torch.float64, requires_grad=True)


def written_out(part: mlp.PerceptronScore, query: Tensor, states: Tensor) -> Tensor:
    hidden = torch.tanh(
        torch.einsum("aq,bq->ba", part.query.weight, query).unsqueeze(1)
        + torch.einsum("am,bnm->bna", part.key.weight, states)
        + part.key.bias
    )
    return torch.einsum("bna,a->bn", hidden, part.vector) + part.bias


def test_one_score_by_hand() -> None:
    part = build()
    query, states = values()
    total = part.bias.item()
    for unit in range(2 * QUERY):
        reached = part.key.bias[unit].item()
        reached += sum(a * b for a, b in zip(part.query.weight[unit].tolist(), query[1].tolist(), strict=True))
        reached += sum(a * b for a, b in zip(part.key.weight[unit].tolist(), states[1, 2].tolist(), strict=True))
        total += part.vector[unit].item() * math.tanh(reached)
    with torch.no_grad():
        assert part(query, part.compute_keys(states))[1, 2].item() == pytest.approx(total)


@pytest.mark.parametrize("at_once", [1, 2 * POSITIONS * 2 * QUERY, 2**20], ids=["one", "two", "all"])
def test_a_loop_has_the_scores_and_gradients_of_autograd(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_products, "MAX_CACHED_NUMBERS", at_once)
    part = build()
    query, states = values()
    direction = torch.randn(3, SENTENCES, POSITIONS, dtype=torch.float64)

    def walk(score, query: Tensor) -> Tensor:
        total = query.new_zeros(())
        for step in direction:
            scores = score(query)
            total = total + (scores * step).sum()
            query = query + scores.sum(dim=1, keepdim=True).tanh()
        return total

    wanted = [query, states, *part.parameters()]
    expected = walk(lambda query: written_out(part, query, states), query)
    keys = part.compute_keys(states)
    with open_time_loop(
        query, [partial(part.query.begin_trace, 3 * SENTENCES), partial(part.begin_trace, keys, 3)]
    ) as begun:
        total = walk(lambda query: part(query, keys), begun)
    torch.testing.assert_close(total, expected)
    result = torch.autograd.grad(total, wanted, retain_graph=True)
    for actual, expected_value in zip(result, torch.autograd.grad(expected, wanted), strict=True):
        torch.testing.assert_close(actual, expected_value)
    for actual, expected_value in zip(torch.autograd.grad(total, wanted), result, strict=True):
        torch.testing.assert_close(actual, expected_value, rtol=0, atol=0)


def test_half_precision_is_left_before_many_units_are_summed() -> None:
    part = build().float()
    query, states = (tensor.detach().float() for tensor in values())
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        keys = part.compute_keys(states)
        scores = part(query, keys)
    assert keys.dtype == scores.dtype == torch.float32
    torch.testing.assert_close(scores, written_out(part, query, states), rtol=0.05, atol=0.1)


@pytest.mark.parametrize("at_once", [1, 2**20], ids=["one", "all"])
def test_rows_of_a_search_have_the_scores_of_their_sentences(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_products, "MAX_CACHED_NUMBERS", at_once)
    part = build()
    _, states = values()
    sentence = torch.tensor([4, 4, 0, 2, 0, 0])
    query = torch.randn(len(sentence), QUERY, dtype=torch.float64)
    with torch.no_grad():
        scores = part(query, part.compute_keys(states), RowSentences.from_sentences(sentence, SENTENCES))
        torch.testing.assert_close(scores, written_out(part, query, states[sentence]))


@pytest.mark.parametrize("at_once", [1, 2**20], ids=["one", "all"])
def test_rows_of_a_search_have_scores_as_far_as_their_sentences_reach(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_products, "MAX_CACHED_NUMBERS", at_once)
    part = build()
    _, states = values()
    sentence, reach = torch.tensor([4, 4, 0, 2, 0, 0]), (1, 4, 3, 4, 2)
    query = torch.randn(len(sentence), QUERY, dtype=torch.float64)
    with torch.no_grad():
        scores = part(query, part.compute_keys(states), RowSentences.from_sentences(sentence, SENTENCES, reach))
        expected = written_out(part, query, states[sentence])
    for row, owner in enumerate(sentence.tolist()):
        torch.testing.assert_close(scores[row, : reach[owner]], expected[row, : reach[owner]])
    assert scores.isfinite().all()
