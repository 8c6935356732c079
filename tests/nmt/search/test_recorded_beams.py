"""Compare searches with the GPU code with those of the CPU code, and count the operations of their steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.search import beam_search as search_module
from pipeline_py.nmt.search import ensemble
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.nmt.search.ensemble import open_predictor
from pipeline_py.nmt.search.hypothesis import Hypothesis
from pipeline_py.nmt.search.recorded_beams import rank_tokens
from pipeline_py.subword.vocabulary import EOS
from tests.nmt import default_compositions
from tests.nmt.default_compositions import (
    ALL_SENTENCES,
    LARGE_VOCABULARY_SIZE,
    SYSTEMS,
    build_system_batch,
    build_system_model,
)
from tests.nmt.fake_graph_recorder import use_gpu_search
from tests.nmt.operation_counter import SYNCHRONIZING_OPERATIONS, OperationCounter
from tests.nmt.search.test_beam_search import Toy, random_terms, sentences

pytestmark = pytest.mark.usefixtures("one_thread")


def search_twice(*arguments: Any, **options: Any) -> tuple[list[list[Hypothesis]], list[list[Hypothesis]]]:
    """Search with the GPU code and with the CPU code."""
    with use_gpu_search():
        results = beam_search(*arguments, **options)
    return results, beam_search(*arguments, **options)


def assert_equal_hypotheses(results: list[list[Hypothesis]], expected: list[list[Hypothesis]]) -> None:
    for hypotheses, references in zip(results, expected, strict=True):
        assert [hypothesis.tokens for hypothesis in hypotheses] == [reference.tokens for reference in references]
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            assert (hypothesis.is_cut, hypothesis.alignment) == (reference.is_cut, reference.alignment)
            assert hypothesis.score == pytest.approx(reference.score, rel=1e-12, abs=1e-12)
            assert hypothesis.log_probability == pytest.approx(reference.log_probability, rel=1e-12, abs=1e-12)
            assert (hypothesis.attention is None) == (reference.attention is None)
            if hypothesis.attention is not None:
                np.testing.assert_array_equal(hypothesis.attention, reference.attention)


def draw_tied_logits(toys: list[Toy], random: np.random.Generator) -> None:
    """Let many logits of a state tie, but no sums of different states: values have few levels, scaled by state."""
    for toy in toys:
        scales = torch.tensor(random.uniform(0.5, 1.5, size=(len(toy.logits), 1))).float()
        toy.logits.copy_(toy.logits.round() * scales)


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    tokens=st.one_of(st.integers(2, 40), st.just(LARGE_VOCABULARY_SIZE)),
    beam=st.integers(1, 9),
    alpha=st.sampled_from([0.0, 0.0, 0.6, 2.0]),
    sharpness=st.sampled_from([0.0, 1.0, 3.0]),
    lengths=st.sampled_from([0.0, 0.0, 2.0]),
    attention=st.booleans(),
    members=st.integers(1, 2),
    is_tied=st.booleans(),
)
def test_gpu_results_equal_cpu_results(
    seed: int,
    tokens: int,
    beam: int,
    alpha: float,
    sharpness: float,
    lengths: float,
    attention: bool,
    members: int,
    is_tied: bool,
) -> None:
    random = np.random.default_rng(seed)
    toys = [Toy(random, tokens, sharpness, phrases=bool(random.integers(2))) for _ in range(members)]
    if is_tied and members == 1:  # a mean of probabilities has other ties in another order of sums
        draw_tied_logits(toys, random)
    limits = torch.tensor(random.integers(1, 9, size=5))
    assert_equal_hypotheses(
        *search_twice(
            toys,
            [collate_batch(sentences(random, count=5)) for _ in toys],
            beam_size=beam,
            max_lengths=limits,
            length_normalization=alpha,
            length_terms=random_terms(random, 5, int(limits.max()), lengths) if lengths else None,
            n_best=int(random.integers(1, beam + 1)),
            should_return_attention=attention,
        )
    )


@pytest.mark.parametrize("beam", [1, 6])
def test_ties_prefer_better_parent_and_lower_token(beam: int) -> None:
    toy = Toy(np.random.default_rng(0), tokens=1000)
    toy.logits.zero_()
    toy.logits[:, 100:] += 1.0  # tokens 100 to 999 tie for the first place, in every row
    toy.logits[:, EOS] -= 9.0
    batch = collate_batch(sentences(np.random.default_rng(1), count=3))
    results, expected = search_twice([toy], [batch], beam_size=beam, max_lengths=torch.full((3,), 4), n_best=beam)
    assert_equal_hypotheses(results, expected)
    assert results[0][0].tokens == [100] * 4
    assert beam == 1 or results[0][1].tokens == [100, 100, 100, 101]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_ranked_tokens_are_those_of_a_stable_sort(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(50, 700, generator=generator).round(decimals=1) * torch.rand(50, 1, generator=generator)
    logits = torch.cat([logits, -logits.flip(1), logits.new_zeros(50, 3), -logits.new_zeros(50, 3)], dim=1).to(dtype)
    logits[:10] = logits[:10] * 1e-30
    logits[10:20] = (logits[10:20] * 1e30).clamp(max=torch.finfo(dtype).max)
    logits[20:30, ::2] = -torch.inf
    for count in (1, 3, 12, logits.shape[1]):  # those of few tokens are in few blocks of columns
        expected = logits.float().argsort(dim=1, descending=True, stable=True)[:, :count]
        assert torch.equal(rank_tokens(logits, count), expected)


@pytest.mark.parametrize("interval", [1, 3, 100])
def test_steps_after_the_end_change_nothing(interval: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    toy = Toy(random, tokens=6)
    toy.logits[:, EOS] += 2
    options = {"beam_size": 3, "max_lengths": torch.tensor([2, 60, 1, 60]), "n_best": 3}
    batch = collate_batch(sentences(random, count=4))
    step, step_count = toy.decoder.step, 0

    def count_steps(*arguments: Any) -> Any:
        nonlocal step_count
        step_count += 1
        return step(*arguments)

    expected = beam_search([toy], [batch], **options)
    monkeypatch.setattr(search_module, "STEPS_BETWEEN_CHECKS", interval)
    monkeypatch.setattr(toy.decoder, "step", count_steps)
    with use_gpu_search():
        assert_equal_hypotheses(beam_search([toy], [batch], **options), expected)
    assert step_count == 60 if interval == 100 else step_count < 30 and step_count % interval == 0


@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.parametrize("token", [EOS, 3])
def test_nan_logits_raise_error(beam: int, token: int) -> None:
    toy = Toy(np.random.default_rng(2), tokens=5)
    toy.logits[:, token] = torch.nan
    options = {"beam_size": beam, "max_lengths": torch.tensor([9])}
    with use_gpu_search(), pytest.raises(FloatingPointError, match="not a number"):
        beam_search([toy], [collate_batch([np.array([4, EOS])])], **options)


def test_impossible_tokens_are_never_selected() -> None:
    toy = Toy(np.random.default_rng(2), tokens=5)
    toy.logits[:, 2:] = -torch.inf
    options = {"beam_size": 8, "max_lengths": torch.tensor([3]), "n_best": 8}
    assert_equal_hypotheses(*search_twice([toy], [collate_batch([np.array([4, EOS])])], **options))


@dataclass(frozen=True)
class StepOperations:
    """Operations of one step of a search, and those of its prediction."""

    step: OperationCounter
    prediction: OperationCounter


BOOKKEEPING_COUNT = 43
"""Operations of a step in addition to its prediction, without length normalization."""


def count_step_operations(system_name: str, beam_size: int = 4, **options: Any) -> StepOperations:
    """Count the operations of a recorded step in single precision; `tolist`, which is none, must not be called."""
    model = build_system_model(system_name).float().eval()
    batch = build_system_batch(model.composition, ALL_SENTENCES, 8)
    steps, predictions = [], []

    def count_calls(function: Callable[..., Any], counters: list[OperationCounter]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            counters.append(OperationCounter())
            with counters[-1], patch.object(Tensor, "tolist", side_effect=AssertionError):
                return function(*arguments)

        return call

    with (
        use_gpu_search(),
        patch.object(ensemble, "predict_step", count_calls(ensemble.predict_step, predictions)),
        patch.object(ensemble, "advance_recorded_beams", count_calls(ensemble.advance_recorded_beams, steps)),
        open_predictor([model]) as predictor,
    ):
        limits = torch.full((len(ALL_SENTENCES),), 8)
        beam_search([model], [batch], beam_size=beam_size, max_lengths=limits, predictor=predictor, **options)
    return StepOperations(steps[0], predictions[1])


@pytest.mark.parametrize(
    ("system_name", "prediction_count"), [("GlobalAtt", 33), ("Transformer-base", 57)], ids=["recurrent", "Transformer"]
)
def test_steps_have_few_operations(system_name: str, prediction_count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers are those reached with a large vocabulary; a step may have two more."""
    monkeypatch.setitem(default_compositions.VOCABULARY_SIZES, "target", LARGE_VOCABULARY_SIZE)
    operations = count_step_operations(system_name)
    assert operations.prediction.total <= prediction_count + 2
    assert operations.step.total <= prediction_count + BOOKKEEPING_COUNT + 2


@pytest.mark.parametrize("system_name", SYSTEMS)
def test_steps_do_not_synchronize(system_name: str) -> None:
    terms = torch.full((len(ALL_SENTENCES), 9), -0.5, dtype=torch.float64)
    options = {"length_normalization": 1.0, "length_terms": terms, "n_best": 2, "should_return_attention": True}
    operations = count_step_operations(system_name, **options)
    assert operations.step.total > operations.prediction.total
    assert not SYNCHRONIZING_OPERATIONS & {*operations.step.counts}


@pytest.mark.parametrize("system_name", SYSTEMS)
def test_half_precision_search_stays_close(system_name: str) -> None:
    """As in the validation of a training in bfloat16, and recorded."""
    model = build_system_model(system_name).float().eval()
    batch = build_system_batch(model.composition, ALL_SENTENCES, 8)
    options = {"beam_size": 1, "max_lengths": torch.full((len(ALL_SENTENCES),), 9)}
    expected = beam_search([model], [batch], **options)
    with use_gpu_search(), torch.autocast("cpu", torch.bfloat16), open_predictor([model]) as predictor:
        searches = [beam_search([model], [batch], **options, predictor=steps) for steps in (None, predictor)]
    for results in searches:
        pairs = [(best, reference) for (best,), (reference,) in zip(results, expected, strict=True)]
        same = [pair for pair in pairs if pair[0].tokens == pair[1].tokens]
        assert len(same) >= 5
        for best, reference in same:
            assert best.log_probability == pytest.approx(reference.log_probability, rel=0.05, abs=0.2)
