"""Work of jobs, in proportion."""

from pathlib import Path

import pytest
import yaml

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.loading import load
from pipeline_py.config.workload import workload

ROOT = Path(__file__).parents[2]


def experiment(**laid_over: object) -> Experiment:
    described = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    return load(described, laid_over, check_files=False)


def sentences(split: str) -> int:
    return {"train": 4000}.get(split, 200)


def work(stage: str, described: Experiment | None = None, **wildcards: str) -> float:
    return workload(described or experiment(), stage, wildcards, sentences)


def test_stages_of_text_grow_with_their_split() -> None:
    assert work("corpus/clean", split="train") == 20 * work("corpus/clean", split="mixed")
    assert work("subword/vocabulary") == work("subword/pack", split="train")


def test_trainings_grow_with_passes_updates_and_sizes() -> None:
    once = work("nmt/train", system="GlobalAtt", run="seed1")
    twice = experiment(training={"epochs": 8})
    assert work("nmt/train", twice, system="GlobalAtt", run="seed1") == 2 * once
    capped = experiment(training={"updates": 250})  # of 500
    assert work("nmt/train", capped, system="GlobalAtt", run="seed1") == pytest.approx(once / 2)
    large = experiment(model={"embedding": 620, "hidden": 1000})
    assert work("nmt/train", large, system="GlobalAtt", run="seed1") > 6 * once


def test_search_grows_with_the_beam_and_the_members() -> None:
    once = work("nmt/translate", system="GlobalAtt", run="seed1", split="mixed")
    wide = experiment(decoding={"beam": 10})
    assert work("nmt/translate", wide, system="GlobalAtt", run="seed1", split="mixed") == 2 * once
    both = experiment(systems={"Both": {"type": "ensemble", "members": ["GlobalAtt", "LocalAtt"]}})
    assert work("nmt/translate", both, system="Both", run="seed1", split="mixed") == 2 * once


def test_parsing_is_by_shard_and_slower_with_models_of_others() -> None:
    whole = work("syntax/parse", parser="embedded", split="train", trees="conllu")
    cut = experiment(parsing={"shard_size": 1000})
    assert work("syntax/parse_shard", cut, parser="embedded", split="train", shard="0000") == whole / 4
    packaged = experiment(parsers={"package": {"type": "stanza", "package": "default"}})
    assert work("syntax/parse", packaged, parser="package", split="train") == 5 * whole


def test_parsers_grow_with_their_treebank() -> None:
    larger = experiment(parsers={"embedded": {"type": "trained", "treebank": {"generate": 1800}}})
    once = work("syntax/train_parser", parser="embedded", processor="depparse")
    assert work("syntax/train_parser", larger, parser="embedded", processor="depparse") == 2 * once
