"""The experiments that come with the project: each preset is planned as a whole, over stand-ins for its files."""

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
from pipeline_py.evaluation.compute_metric_statistics import compute_metric_statistics
from pipeline_py.evaluation.import_translations import import_translations
from pipeline_py.evaluation.postprocess import postprocess
from pipeline_py.report.tables.published_numbers import find_published_number, read_published_numbers
from tests import project_copy
from tests.project_copy import ROOT, ProjectCopy, merge_configs

EXPERIMENTS = ROOT / "workflow" / "experiments"
NEWSTESTS = ROOT.parent / "shared" / "data" / "newstest_ende"


BELOW = {name: ["multi30k"] for name in ("contrastive_ende", "multi30k_planned", "multi30k_transformers")}
"""The experiment that a file is combined with, if it is none by itself."""


def presets() -> Iterator[tuple[str, str | None]]:
    """Each experiment with each of its presets, or with none where it has none."""
    for file in sorted(EXPERIMENTS.glob("*.yaml")):
        names = yaml.safe_load(file.read_text(encoding="utf-8")).get("presets", {})
        yield from ((file.stem, preset) for preset in [*names] or [None])


def experiment_of(name: str, preset: str | None, data: Path | str = "data") -> ExperimentConfig:
    """What the Snakefile makes of an experiment over the default, its files apart."""
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    over: dict[str, Any] = {}
    for file in [*BELOW.get(name, []), name]:
        over = merge_configs(over, yaml.safe_load((EXPERIMENTS / f"{file}.yaml").read_text(encoding="utf-8")))
    config: dict[str, Any] = merge_configs(merge_configs(default, over), {"data": str(data), "preset": preset})
    return load_experiment(config, should_check_files=False, own_config=over)


PAIRS_OF_LINGEVAL = b'[{"source": "x", "reference": "y", "errors": [{"contrastive": "z", "type": "k"}]}]'


def write_stand_ins(experiment: ExperimentConfig) -> None:
    """A small file wherever the experiment names one that is not there; directories come with their index."""
    contrastive = [Path(experiment.resolve_path(file)) for text in experiment.corpora.contrast for file in text.file]
    for file in map(Path, experiment.collect_file_paths()):
        if file.suffix and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            content = b"{}\n" if file.suffix == ".json" else b"x\n"
            if ".conllu" in file.suffixes:
                content = b"1\tx\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
            if file in contrastive:
                content = PAIRS_OF_LINGEVAL if ".json" in file.suffixes else b"source\tcorrect\tcontrastive\nx\ty\tz\n"
            file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)


def snakemake(place: ProjectCopy, name: str, preset: str | None, data: Path, *arguments: str) -> str:
    """Run an experiment in a copy of the project, and give what Snakemake says."""
    files = [f"workflow/experiments/{file}.yaml" for file in [*BELOW.get(name, []), name]]
    words = ["--cores", "2", *arguments, "--configfile", *files]
    words += ["--config", f"data={data}", *([f"preset={preset}"] if preset else [])]
    done = project_copy.run_snakemake(words, place.folder)
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> ProjectCopy:
    return ProjectCopy(tmp_path_factory.mktemp("experiments"))


# Networks trained, phrase-based systems trained, sides of texts (source, target, references), processors of parsers
# trained, and segmenters learnt: counted by hand in the tables that an experiment asks for.
PLANNED = {
    ("calibration", None): (21, 0, 0, 0, 0),
    ("contrastive_ende", None): (12, 0, 6, 0, 0),
    ("docs_ende", "fast"): (29, 0, 6, 0, 0),
    ("ende_wmt14", None): (9, 1, 10, 0, 0),
    ("ende_nc11", None): (5, 0, 6, 0, 0),
    ("enja", "fast"): (4, 0, 6, 0, 0),
    ("enja", "paper"): (4, 0, 6, 0, 0),
    ("enja_aspec", "small"): (16, 0, 6, 0, 0),
    ("enja_aspec", "large"): (4, 0, 6, 0, 0),
    ("enzh", "fast"): (3, 0, 8, 0, 0),
    ("enzh", "paper"): (12, 0, 8, 0, 0),
    ("enzh_nist", None): (12, 0, 10, 0, 0),
    ("multi30k", "fast"): (41, 1, 6, 0, 0),
    ("multi30k", "paper"): (10, 1, 6, 0, 0),
    ("multi30k", "published"): (45, 0, 6, 3, 0),
    ("multi30k_planned", None): (32, 0, 10, 0, 0),
    ("multi30k_transformers", None): (26, 0, 6, 0, 0),
    ("nc11", None): (0, 0, 2, 0, 0),
    ("readings", None): (17, 0, 0, 3, 0),
    ("whole_lexicon", None): (45, 1, 0, 3, 0),
    ("zhen", "fast"): (2, 0, 8, 2, 1),
    ("zhen", "paper"): (10, 1, 8, 2, 1),
    ("zhen_nist", "sdatt"): (9, 1, 32, 2, 1),
    ("zhen_nist", "sdrnmt"): (4, 1, 32, 2, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "preset"), [*presets()])
def test_a_preset_is_planned_as_a_whole(place, tmp_path, name, preset):
    write_stand_ins(experiment_of(name, preset, tmp_path))
    said = snakemake(place, name, preset, tmp_path, "--dry-run")
    jobs = Counter(re.findall(r"^(?:local)?rule (\w+):", said, flags=re.MULTILINE))
    assert re.search(r"^In total about [\d.]+ (s|min|h|days) on 2 cores", said, flags=re.MULTILINE)
    rules = ("train", "train_smt", "fetch", "train_parser", "learn_segmenter")
    assert tuple(jobs[rule] for rule in rules) == PLANNED[name, preset]


@pytest.mark.parametrize(("name", "preset"), [*presets()])
def test_all_that_stands_beside_printed_numbers_was_printed(name, preset):
    """A set or a row under another name than the paper's would have no number, without a word."""
    experiment = experiment_of(name, preset)
    sets = [text.name for text in experiment.corpora.held_out_sets.values()]
    for table in map(experiment.tables.get, experiment.select_requested_names(experiment.tables)):
        if asked := getattr(table, "published", None):
            numbers = read_published_numbers(ROOT / "workflow" / "published" / f"{asked.paper}.tsv")
            columns = {one.set for one in numbers if (one.table, one.task) == (asked.table, asked.task)}
            assert columns <= {*sets, "AVG"}
            for row in table.systems:
                printed = asked.names.get(row, table.labels.get(row, row))
                for each in columns:
                    assert find_published_number(numbers, asked.table, asked.task, printed, each), (printed, each)


@pytest.mark.parametrize(
    ("name", "preset", "tables"),
    [
        ("ende_wmt14", None, 2),
        ("ende_nc11", None, 1),
        ("zhen_nist", "sdatt", 2),
        ("zhen_nist", "sdrnmt", 1),
        ("zhen", "paper", 0),
    ],
)
def test_printed_numbers_stand_where_the_data_is_the_papers(name, preset, tables):
    experiment = experiment_of(name, preset)
    asked = [experiment.tables[table] for table in experiment.select_requested_names(experiment.tables)]
    assert sum(getattr(table, "published", None) is not None for table in asked) == tables


SENTENCES = {"dev": 3003, "newstest2013": 3000, "newstest2014": 3003, "newstest2015": 2169}
"""As WMT counts them."""


@pytest.mark.slow
def test_the_held_out_sets_of_wmt14_come_through_whole(place, tmp_path):
    """Raw text to words and back: nothing of the references is lost that BLEU would see."""
    if not NEWSTESTS.is_dir():
        pytest.skip(f"the newstests of WMT are not at {NEWSTESTS}")
    (tmp_path / "newstest_ende").symlink_to(NEWSTESTS)
    write_stand_ins(experiment_of("ende_wmt14", None, tmp_path))
    tokens = {
        (split, side): f"results/ende_wmt14/corpus/tokenized/{split}.{side}"
        for split in SENTENCES
        for side in ("source", "target")
    }
    snakemake(place, "ende_wmt14", None, tmp_path, *tokens.values())
    for (split, _), file in tokens.items():
        lines = (place.folder / file).read_text(encoding="utf-8").split("\n")
        assert lines.pop() == "" and len(lines) == SENTENCES[split] and all(lines)
    for split in SENTENCES:
        postprocess(
            pieces=place.folder / tokens[split, "target"], output=tmp_path / "text", language="de", joiner="none"
        )
        year = "newstest2012" if split == "dev" else split
        with gzip.open(NEWSTESTS / f"{year}.de.gz", "rt", encoding="utf-8", newline="\n") as file:
            reference = file.read().split("\n")
        text = (tmp_path / "text").read_text(encoding="utf-8").split("\n")
        assert sacrebleu.corpus_bleu(text, [reference], lowercase=True).score > 99


OUTPUTS = ROOT.parent / "shared" / "data" / "nc11_outputs"
PUBLISHED = {"Transformer": 25.0, "TagEmb": 25.5, "Multi-Task": 24.8, "LISA": 25.5, "PASCAL": 25.9}
"""BLEU that Bugliarello and Okazaki (2020) print of their systems."""


@pytest.mark.slow
def test_translations_from_elsewhere_score_as_published(tmp_path):
    if not OUTPUTS.is_dir():
        pytest.skip(f"the outputs of five published systems are not at {OUTPUTS}")
    experiment = experiment_of("nc11", None, OUTPUTS.parent)
    (table,) = map(experiment.tables.get, experiment.select_requested_names(experiment.tables))
    (test,) = experiment.corpora.tests
    assert table.systems == [*PUBLISHED] and not experiment.evaluation.lowercase
    found = {}
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
        found[system] = round(json.loads((tmp_path / "bleu.json").read_text())["score"], 1)
    assert found == PUBLISHED
