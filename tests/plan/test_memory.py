"""Memory requests are above the peaks that jobs recorded, but not far above."""

from pathlib import Path

import pytest
import yaml

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.memory import NETWORK_BASE_MB, PACKAGED_PARSER_MB, TRAINED_PARSER_MB, MemoryPlan
from pipeline_py.run.errors import InputError

ROOT = Path(__file__).parents[2]
DEFAULT = 16_000
LARGE_TRANSFORMER = {
    "encoders": [{"type": "transformer", "layers": 6, "heads": 8, "feed_forward": 4}],
    "decoder": {"type": "transformer", "layers": 6, "heads": 8, "feed_forward": 4},
    "model": {"embedding": 512, "hidden": 512},
    "training": {"batch_size": 80},
}


def build_plan(sentences: int = 10_000, **overrides: object) -> MemoryPlan:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    sizes = {"corpora": {"train": {"generate": {"sentences": sentences}}}}
    experiment = load_experiment(config, {**sizes, **overrides}, should_check_files=False)
    return MemoryPlan(experiment, CorpusPlan(experiment, lambda files: [None for _ in files], {}, {}))


def build_sized_plan(sentences: int, merges: int, size: int, batch_size: int, **overrides: object) -> MemoryPlan:
    return build_plan(
        sentences,
        subword={"scheme": "bpe", "merges": merges},
        model={"embedding": size, "hidden": size, "tied_embeddings": "none"},
        training={"batch_size": batch_size},
        **overrides,
    )


@pytest.mark.parametrize(
    ("plan", "system", "peak"),
    [
        pytest.param(build_plan(), "GlobalAtt", 393, id="embedded"),
        pytest.param(build_plan(), "SDRNMT-1", 411, id="embedded, units"),
        pytest.param(build_sized_plan(29_000, 10_000, 256, 64), "Seq2Seq-bidirectional", 1229, id="Multi30k"),
        pytest.param(build_sized_plan(29_000, 10_000, 256, 64), "Tree2Seq", 912, id="Multi30k, trees"),
        pytest.param(build_sized_plan(96_000, 10_000, 256, 64), "GlobalAtt", 959, id="documentation"),
        pytest.param(build_sized_plan(96_000, 10_000, 256, 64), "Hierarchical", 2106, id="documentation, trees"),
        pytest.param(build_sized_plan(96_000, 30_000, 1000, 80), "GlobalAtt", 4387, id="size of the papers"),
        pytest.param(
            build_sized_plan(96_000, 30_000, 512, 80, systems={"Large": LARGE_TRANSFORMER}),
            "Large",
            3268,
            id="size of Transformers",
        ),
    ],
)
def test_a_training_asks_for_more_than_was_measured(plan: MemoryPlan, system: str, peak: int) -> None:
    assert 1.1 * peak < plan.estimate_network_job(system, DEFAULT) < 4 * peak


def test_a_text_job_asks_for_more_than_was_measured() -> None:
    assert 1.1 * 348 < build_plan().estimate_text_job(4000) < 2 * 348
    assert 1.1 * 340 < build_plan(96_000).estimate_text_job(4000) < 4 * 340


def test_a_phrase_based_system_asks_for_more_than_was_measured() -> None:
    assert 1.1 * 143 < build_plan().estimate_phrase_job(16_000) < 5 * 143
    assert 1.1 * 2045 < build_plan(200_000).estimate_phrase_job(16_000) < 2 * 2045, "9 MB of text, as documentation"


def test_the_members_of_an_ensemble_are_in_memory_together() -> None:
    plan = build_plan()
    sizes = [
        plan.estimate_network_job(name, DEFAULT) - NETWORK_BASE_MB
        for name in ("Tree2Seq", "Tree2Seq-96", "Tree2Seq-ensemble")
    ]
    assert sizes[0] > sizes[1] and sizes[2] > sum(sizes[:2])


def test_a_text_that_cannot_be_read_now_asks_for_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_error(plan: CorpusPlan, split: str) -> int:
        raise InputError("no such file", split)

    monkeypatch.setattr(CorpusPlan, "count_raw_sentences", raise_error)
    plan = build_plan()
    assert plan.estimate_text_job(4000) == 4000
    assert plan.estimate_network_job("GlobalAtt", DEFAULT) == DEFAULT


def test_a_packaged_parser_asks_for_more_than_a_trained_one() -> None:
    plan = build_plan(parsers={"packaged": {"type": "stanza", "directory": "models"}})
    assert plan.estimate_parsing("packaged") == PACKAGED_PARSER_MB
    assert plan.estimate_parsing("embedded") == TRAINED_PARSER_MB > 2 * 1030
