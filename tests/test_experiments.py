"""Every preset of the project's experiments can be planned completely, with stand-ins for its files."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import yaml

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.tables import BleuTableConfig, MeasureTableConfig
from pipeline_py.evaluation.compute_metric_statistics import compute_metric_statistics
from pipeline_py.evaluation.import_translations import import_translations
from pipeline_py.evaluation.postprocess import postprocess
from pipeline_py.report.tables.published_numbers import find_published_number, read_published_numbers
from tests import project_copy
from tests.project_copy import ROOT, ProjectCopy, merge_configs

EXPERIMENTS = ROOT / "workflow" / "experiments"
NEWSTESTS = ROOT.parent / "shared" / "data" / "newstest_ende"


BASE_EXPERIMENTS = {
    **{
        name: ["multi30k"]
        for name in (
            "contrastive_ende",
            "multi30k_control",
            "multi30k_distances",
            "multi30k_planned",
            "multi30k_transformers",
            "multi30k_tuning",
        )
    },
    "multi30k_warmup": ["multi30k", "multi30k_planned"],
    "zhja_aspec": ["enja_aspec"],
}
"""Experiment file that is not complete → the experiments that it extends."""


def list_presets() -> Iterator[tuple[str, str | None]]:
    """Yield each experiment with each of its presets, or with None if it has none."""
    for file in sorted(EXPERIMENTS.glob("*.yaml")):
        names = yaml.safe_load(file.read_text(encoding="utf-8")).get("presets", {})
        yield from ((file.stem, preset) for preset in [*names] or [None])


def load_preset(name: str, preset: str | None, data: Path | str = "data") -> ExperimentConfig:
    """Load an experiment over the default as the Snakefile does, but without checking files."""
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    overrides: dict[str, Any] = {}
    for file in [*BASE_EXPERIMENTS.get(name, []), name]:
        overrides = merge_configs(overrides, yaml.safe_load((EXPERIMENTS / f"{file}.yaml").read_text(encoding="utf-8")))
    config: dict[str, Any] = merge_configs(merge_configs(default, overrides), {"data": str(data), "preset": preset})
    return load_experiment(config, should_check_files=False, own_config=overrides)


LINGEVAL_PAIRS = b'[{"source": "x", "reference": "y", "errors": [{"contrastive": "z", "type": "k"}]}]'


def write_stand_ins(experiment: ExperimentConfig) -> None:
    """Write a small file for each missing file of the experiment, including the index of directories."""
    contrastive = [Path(experiment.resolve_path(file)) for text in experiment.corpora.contrast for file in text.file]
    for file in map(Path, experiment.collect_file_paths()):
        if file.suffix and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            content = b"{}\n" if file.suffix == ".json" else b"x\n"
            if ".conllu" in file.suffixes:
                content = b"1\tx\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
            if file in contrastive:
                content = LINGEVAL_PAIRS if ".json" in file.suffixes else b"source\tcorrect\tcontrastive\nx\ty\tz\n"
            file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)


def run_experiment(project: ProjectCopy, name: str, preset: str | None, data: Path, *arguments: str) -> str:
    """Run an experiment in a copy of the project, and return the output of Snakemake."""
    files = [f"workflow/experiments/{file}.yaml" for file in [*BASE_EXPERIMENTS.get(name, []), name]]
    command_line = ["--cores", "2", *arguments, "--configfile", *files]
    command_line += ["--config", f"data={data}", *([f"preset={preset}"] if preset else [])]
    result = project_copy.run_snakemake(command_line, project.folder)
    assert result.returncode == 0, (result.stdout + result.stderr)[-5000:]
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> ProjectCopy:
    return ProjectCopy(tmp_path_factory.mktemp("experiments"))


# Preset → numbers of trained networks, trained phrase-based systems, sides of texts (source, target, references),
# trained processors of parsers, and learned segmenters, counted by hand in the tables of the experiment.
PLANNED_JOBS = {
    ("calibration", None): (21, 0, 0, 0, 0),
    ("contrastive_ende", None): (12, 0, 6, 0, 0),
    ("docs_ende", "fast"): (29, 0, 6, 0, 0),
    ("ende_wmt14", None): (9, 1, 10, 0, 0),
    ("ende_nc11", None): (5, 0, 6, 0, 0),
    ("enja", "fast"): (4, 0, 6, 0, 0),
    ("enja", "paper"): (4, 0, 6, 0, 0),
    ("enja_aspec", "small"): (16, 0, 8, 0, 0),
    ("enja_aspec", "large"): (4, 0, 8, 0, 0),
    ("enzh", "fast"): (3, 0, 8, 0, 0),
    ("enzh", "paper"): (12, 0, 8, 0, 0),
    ("enzh_nist", None): (12, 0, 10, 0, 0),
    ("multi30k", "fast"): (41, 1, 6, 0, 0),
    ("multi30k", "paper"): (10, 1, 6, 0, 0),
    ("multi30k", "published"): (45, 0, 6, 3, 0),
    ("multi30k_control", None): (8, 0, 6, 3, 0),
    ("multi30k_distances", None): (21, 0, 10, 3, 0),
    ("multi30k_planned", None): (32, 0, 10, 0, 0),
    ("multi30k_transformers", None): (26, 0, 6, 0, 0),
    ("multi30k_tuning", None): (6, 0, 6, 0, 0),
    ("multi30k_warmup", "published"): (16, 0, 10, 0, 0),
    ("nc11", None): (0, 0, 2, 0, 0),
    ("readings", None): (17, 0, 0, 3, 0),
    ("whole_lexicon", None): (45, 1, 0, 3, 0),
    ("zhen", "fast"): (2, 0, 8, 2, 1),
    ("zhen", "paper"): (10, 1, 8, 2, 1),
    ("zhen_nist", "sdatt"): (9, 1, 32, 2, 1),
    ("zhen_nist", "sdrnmt"): (4, 1, 32, 2, 1),
    ("zhja_aspec", None): (16, 0, 8, 0, 0),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "preset"), [*list_presets()])
def test_a_preset_is_planned_as_a_whole(project, tmp_path, name, preset):
    write_stand_ins(load_preset(name, preset, tmp_path))
    output = run_experiment(project, name, preset, tmp_path, "--dry-run")
    jobs = Counter(re.findall(r"^(?:local)?rule (\w+):", output, flags=re.MULTILINE))
    assert re.search(r"^In total about [\d.]+ (s|min|h|days) on 2 cores", output, flags=re.MULTILINE)
    rules = ("train", "train_smt", "fetch", "train_parser", "learn_segmenter")
    assert tuple(jobs[rule] for rule in rules) == PLANNED_JOBS[name, preset]


@pytest.mark.parametrize(("name", "preset"), [*list_presets()])
def test_published_tables_have_published_sets_and_rows(name, preset):
    """A set or a row with another name than in the paper would silently have no published number."""
    experiment = load_preset(name, preset)
    sets = [text.name for text in experiment.corpora.held_out_sets.values()]
    for table in map(experiment.tables.get, experiment.select_requested_names(experiment.tables)):
        if isinstance(table, BleuTableConfig) and (published := table.published):
            numbers = read_published_numbers(ROOT / "workflow" / "published" / f"{published.paper}.tsv")
            columns = {
                number.set for number in numbers if (number.table, number.task) == (published.table, published.task)
            }
            assert columns <= {*sets, "AVG"}
            for row in table.systems:
                published_name = published.names.get(row, table.labels.get(row, row))
                for column in columns:
                    assert find_published_number(numbers, published.table, published.task, published_name, column), (
                        published_name,
                        column,
                    )


@pytest.mark.parametrize(("name", "preset"), [*list_presets()])
def test_published_measures_have_published_rows(name, preset):
    experiment = load_preset(name, preset)
    for title in experiment.select_requested_names(experiment.tables):
        table = experiment.tables[title]
        if isinstance(table, BleuTableConfig) or not (published := table.published):
            continue
        numbers = read_published_numbers(ROOT / "workflow" / "published" / f"{published.paper}.tsv")
        numbers = [number for number in numbers if number.task == published.task]
        table_numbers = [number for number in numbers if number.table == published.table]
        rows, columns = {number.system for number in table_numbers}, {number.set for number in table_numbers}
        assert {*published.names.values()} <= rows and {*published.columns.values()} <= columns
        assert {*published.sections} <= {number.table for number in numbers}
        if isinstance(table, MeasureTableConfig):
            names = {row: published.names.get(row, table.labels.get(row, row)) for row in table.systems}
            assert {*names.values()} <= rows and len({*names.values()}) == len(names), title


@pytest.mark.parametrize(
    ("name", "preset", "table_count"),
    [
        ("enja_aspec", "small", 7),
        ("enja_aspec", "large", 2),
        ("zhja_aspec", None, 7),
        ("enzh_nist", None, 3),
        ("ende_wmt14", None, 2),
        ("ende_nc11", None, 1),
        ("zhen_nist", "sdatt", 2),
        ("zhen_nist", "sdrnmt", 1),
        ("zhen", "paper", 0),
    ],
)
def test_published_numbers_need_the_data_of_the_paper(name, preset, table_count):
    experiment = load_preset(name, preset)
    requested_tables = [experiment.tables[table] for table in experiment.select_requested_names(experiment.tables)]
    assert sum(table.published is not None for table in requested_tables) == table_count


SENTENCES = {"dev": 3003, "newstest2013": 3000, "newstest2014": 3003, "newstest2015": 2169}
"""Sentences of each set, as counted by WMT."""


@pytest.mark.slow
def test_the_held_out_sets_of_wmt14_keep_all_sentences(project, tmp_path):
    """Tokenizing and detokenizing changes nothing in the references that matters to BLEU."""
    if not NEWSTESTS.is_dir():
        pytest.skip(f"the newstests of WMT are not at {NEWSTESTS}")
    (tmp_path / "newstest_ende").symlink_to(NEWSTESTS)
    write_stand_ins(load_preset("ende_wmt14", None, tmp_path))
    tokens = {
        (split, side): f"results/ende_wmt14/corpus/tokenized/{split}.{side}"
        for split in SENTENCES
        for side in ("source", "target")
    }
    run_experiment(project, "ende_wmt14", None, tmp_path, *tokens.values())
    for (split, _), file in tokens.items():
        lines = (project.folder / file).read_text(encoding="utf-8").split("\n")
        assert lines.pop() == "" and len(lines) == SENTENCES[split] and all(lines)
    for split in SENTENCES:
        postprocess(
            pieces=project.folder / tokens[split, "target"], output=tmp_path / "text", language="de", joiner="none"
        )
        year = "newstest2012" if split == "dev" else split
        with gzip.open(NEWSTESTS / f"{year}.de.gz", "rt", encoding="utf-8", newline="\n") as file:
            reference = file.read().split("\n")
        text = (tmp_path / "text").read_text(encoding="utf-8").split("\n")
        assert sacrebleu.corpus_bleu(text, [reference], lowercase=True).score > 99


OUTPUTS = ROOT.parent / "shared" / "data" / "nc11_outputs"
PUBLISHED_BLEU = {"Transformer": 25.0, "TagEmb": 25.5, "Multi-Task": 24.8, "LISA": 25.5, "PASCAL": 25.9}
"""BLEU of the systems of Bugliarello and Okazaki (2020), as published."""


@pytest.mark.slow
def test_external_translations_score_as_published(tmp_path):
    if not OUTPUTS.is_dir():
        pytest.skip(f"the outputs of five published systems are not at {OUTPUTS}")
    experiment = load_preset("nc11", None, OUTPUTS.parent)
    (table,) = map(experiment.tables.get, experiment.select_requested_names(experiment.tables))
    (test,) = experiment.corpora.tests
    assert table.systems == [*PUBLISHED_BLEU] and not experiment.evaluation.lowercase
    scores = {}
    for system in table.systems:
        import_translations(
            translations=Path(experiment.resolve_path(experiment.systems[system].files[test.name][0])),
            source=Path(experiment.resolve_path(test.source)),
            name=test.name,
            output=tmp_path / "text",
        )
        compute_metric_statistics(
            hypothesis=tmp_path / "text",
            references=[Path(experiment.resolve_path(test.references[0]))],
            output=tmp_path / "statistics",
            metrics=["bleu"],
            scores_output=[tmp_path / "bleu.json"],
            tokenizer=experiment.evaluation.tokenizer,
            lowercase=experiment.evaluation.lowercase,
        )
        scores[system] = round(json.loads((tmp_path / "bleu.json").read_text())["score"], 1)
    assert scores == PUBLISHED_BLEU
