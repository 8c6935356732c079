"""Searches of a dataset: limits of length, and sentences in which no hypothesis ends, against the plain search."""

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.decoders import GlobalContextConfig, LocalContextConfig
from pipeline_py.config.systems.training import DecodingConfig, ModelConfig
from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.nmt.data.dataset import SourceDataset
from pipeline_py.nmt.length_model import LengthModel
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.search import dataset_search
from pipeline_py.nmt.search.dataset_search import compute_length_limits, search_dataset
from pipeline_py.nmt.search.ensemble import EnsembleMember
from pipeline_py.subword.vocabulary import EOS
from tests.nmt.fake_graph_recorder import use_gpu_search
from tests.nmt.network_assertions import draw_parameters
from tests.nmt.search.plain_search import plain_search, stepwise

SIZES = {"source": 9, "target": 11}
COUNT = 12
LIMIT = 4
LENGTH_COUNTS = [(length, target, 1 + target) for length in range(1, 6) for target in range(2, 7)]


@pytest.fixture
def members(tmp_path: Path) -> list[EnsembleMember]:
    """Two networks in double precision and their sentences, the first of them empty."""
    random = np.random.default_rng(1)
    members = []
    lengths = [0, *random.integers(1, 7, size=COUNT - 1)]
    for number, context in enumerate((GlobalContextConfig(), LocalContextConfig(window=2))):
        torch.manual_seed(number)
        system = CompositionConfig(contexts=[context], model=ModelConfig(embedding=5, hidden=6))
        network = draw_parameters(TranslationModel(system, SIZES).double().eval())
        rows = [np.array([*random.integers(1, SIZES["source"], size=length), EOS]) for length in lengths]
        write_ragged_rows(tmp_path / f"{number}.arrow", rows, "int32")
        members.append(EnsembleMember(network, SourceDataset(tmp_path / f"{number}.arrow", {}, SIZES)))
    return members


def predict_mean(members: list[EnsembleMember], number: int) -> Callable[[list[int]], list[float]]:
    """Return a function from a prefix to the log-probabilities of its next token, averaged over networks."""
    predictors = [stepwise(member.network, member.sources.build_batch(np.array([number]))) for member in members]

    @cache
    def predict(*prefix: int) -> list[float]:
        probabilities = [np.exp(log_probabilities(prefix)) for log_probabilities in predictors]
        return [float(value) for value in np.log(np.mean(probabilities, axis=0))]

    return lambda prefix: predict(*prefix)


def search_plainly(
    members: list[EnsembleMember], number: int, options: DecodingConfig
) -> tuple[list[tuple[float, list[int]]], str]:
    """Return the best hypotheses of a sentence (score, predictions), and the outcome of its search."""
    words = int(members[0].sources.lengths[number]) - 1
    terms = LengthModel(LENGTH_COUNTS, 1e-3).compute_log_probabilities(np.array([words]), LIMIT)[0]
    term = {"term": terms.__getitem__} if options.length_model else {}
    predict = predict_mean(members, number)

    def search(beam: int) -> list[tuple[float, list[int]]]:
        results = plain_search(predict, beam, LIMIT, options.length_normalization, beam, **term)
        return [(score, tokens) for score, _, tokens in results]

    def is_cut(hypothesis: tuple[float, list[int]]) -> bool:
        return hypothesis[1][-1] != EOS

    hypotheses, outcome = search(3), "ended"
    if options.retry_beam is None:
        outcome = "cut" if is_cut(hypotheses[0]) else "ended"
    elif all(map(is_cut, hypotheses)):
        hypotheses = sorted(search(options.retry_beam), key=is_cut)
        outcome = "not ended" if is_cut(hypotheses[0]) else "ended in second search"
    elif is_cut(hypotheses[0]):
        hypotheses, outcome = sorted(hypotheses, key=is_cut), "preferred"
    return hypotheses[: options.n_best], outcome


@pytest.mark.parametrize("is_gpu", [False, True], ids=["CPU", "GPU"])
@pytest.mark.parametrize("is_ensemble", [False, True])
@pytest.mark.parametrize(
    ("changes", "eos_bias"),
    [
        ({}, -0.5),
        ({"length_normalization": 1}, -0.5),
        ({"length_normalization": 2}, 0.0),
        ({"length_model": True}, -0.5),
        ({"retry_beam": None}, -0.5),
    ],
)
@torch.no_grad()
def test_results_equal_plain_search(
    members, changes: dict[str, Any], eos_bias: float, is_ensemble: bool, is_gpu: bool
) -> None:
    members = members if is_ensemble else members[:1]
    for member in members:
        member.network.decoder.softmax.bias[EOS] = eos_bias
    options = DecodingConfig(
        **{
            **{"beam": 3, "retry_beam": 7, "max_length": LIMIT, "max_length_ratio": None, "n_best": 2, "batch_size": 7},
            **changes,
        }
    )
    length_model = LengthModel(LENGTH_COUNTS, 1e-3) if options.length_model else None
    counts = SentenceCounts()
    with use_gpu_search() if is_gpu else nullcontext():
        results = dict(search_dataset(members, options, 3, length_model, counts))
    assert results.pop(0)[0].tokens == []
    outcomes: Counter[str] = Counter()
    for number, hypotheses in sorted(results.items()):
        expected, outcome = search_plainly(members, number, options)
        predictions = [[*hypothesis.tokens, *([] if hypothesis.is_cut else [EOS])] for hypothesis in hypotheses]
        assert predictions == [tokens for _, tokens in expected]
        assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx(
            [score for score, _ in expected], abs=1e-9
        )
        outcomes[outcome] += 1
    retried = outcomes["ended in second search"] + outcomes["not ended"]
    assert counts.noted_by_reason["searched again with the wider beam"] == retried
    assert counts.noted_by_reason["cut at the greatest length"] == outcomes["not ended"] + outcomes["cut"]
    if options.retry_beam is None:
        assert outcomes["cut"] > 0
    else:
        assert outcomes["ended in second search"] and (outcomes["not ended"] or outcomes["preferred"])


def test_wide_searches_have_no_more_rows_than_first_ones(members, monkeypatch) -> None:
    searches: list[tuple[int, int]] = []
    search = dataset_search.beam_search

    def record_search(*arguments: Any, beam_size: int, max_lengths: torch.Tensor, **options: Any) -> Any:
        searches.append((beam_size, len(max_lengths)))
        return search(*arguments, beam_size=beam_size, max_lengths=max_lengths, **options)

    monkeypatch.setattr(dataset_search, "beam_search", record_search)
    with torch.no_grad():
        members[0].network.decoder.softmax.bias[EOS] = -9.0
    options = DecodingConfig(beam=4, retry_beam=9, max_length=LIMIT, max_length_ratio=None)
    results = dict(search_dataset(members[:1], options, 4, None, SentenceCounts()))
    assert {*results} == {*range(COUNT)}
    sizes = [size for beam, size in searches if beam == 9]
    assert searches[0] == (4, COUNT - 1) and len(sizes) > 1 and max(sizes) == (COUNT - 1) * 4 // 9


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, [13, 16, 310]),
        ({"max_length_ratio": 0.5}, [10, 11, 60]),
        ({"max_length": 15}, [13, 15, 15]),
        ({"max_length": 15, "max_length_ratio": None}, [15, 15, 15]),
    ],
)
def test_both_limits_of_length_apply(limits: dict[str, Any], expected: list[int]) -> None:
    assert compute_length_limits(DecodingConfig(**limits), np.array([1, 2, 100])).tolist() == expected
