"""Results do not depend on paths: neither the same files under other paths nor a renamed project plan a job."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.project_copy import ProjectCopy
from tests.test_external_translations import ENGLISH, run_experiment, write_experiment

pytestmark = pytest.mark.slow

SYNTAX = "results/given/syntax"
TARGETS = ["all", f"{SYNTAX}/mine/one.conllu", f"{SYNTAX}/bank/accuracy/conllu.tokens"]


def render_dependency_tree(sentence: str) -> str:
    words = sentence.split()
    rows = [f"{n}\t{word}\t_\tX\t_\t_\t{n - 1}\t{'dep' if n > 1 else 'root'}\t_\t_" for n, word in enumerate(words, 1)]
    return "\n".join([*rows, ""])


def write_experiment_with_trees(project: ProjectCopy, data: Path) -> dict:
    """Write texts, translations, scores, pairs, claims, trees and a treebank, and return the configuration."""
    data.mkdir()
    config = write_experiment(data)
    trees = "\n".join(map(render_dependency_tree, ENGLISH)) + "\n"
    for file in ("trees", "train", "dev", "test"):
        (data / f"{file}.conllu").write_text(trees, encoding="utf-8")
    claims = project.folder / "workflow/claims/sdatt.yaml"
    shutil.copy(claims, data / "mine.yaml")
    (data / "mine.yaml").write_text(
        claims.read_text(encoding="utf-8").replace("SDAtt", "Good").replace("GlobalAtt", "Bad"), encoding="utf-8"
    )
    bank = {part: f"{part}.conllu" for part in ("train", "dev", "test")}
    parsers = {
        "mine": {"type": "given", "trees": {"one": {"conllu": "trees.conllu"}}},
        "bank": {"type": "trained", "treebank": bank},
    }
    return {**config, "data": str(data), "parsers": parsers}


def copy_data(data: Path) -> Path:
    return shutil.copytree(data, data.with_name("copied"), copy_function=shutil.copyfile)


def link_data(data: Path) -> Path:
    (data.with_name("linked")).symlink_to(data)
    return data.with_name("linked")


@pytest.fixture(scope="module")
def finished_experiment(tmp_path_factory) -> tuple[ProjectCopy, dict]:
    project = ProjectCopy(tmp_path_factory.mktemp("projects") / "project")
    config = write_experiment_with_trees(project, project.folder.with_name("data"))
    code, output = run_experiment(project, config, *TARGETS)
    assert code == 0, output[-5000:]
    return project, config


def list_planned_rules(project: ProjectCopy, config: dict) -> set[str]:
    code, output = run_experiment(project, config, *TARGETS, "--dry-run")
    assert code == 0, output
    return {*re.findall(r"^(?:local)?rule (\w+):", output, flags=re.MULTILINE)}


@pytest.mark.parametrize(
    "move_data", [lambda data: data, copy_data, link_data, lambda data: data / ".." / data.name], ids=range(4)
)
def test_the_same_files_under_another_path(finished_experiment, move_data: Callable[[Path], Path]):
    project, config = finished_experiment
    assert list_planned_rules(project, {**config, "data": str(move_data(Path(config["data"])))}) == set()


def test_a_renamed_project(finished_experiment, tmp_path):
    project, config = finished_experiment
    copy = project.copy_to(tmp_path / "renamed")
    assert list_planned_rules(copy, config) == set()
    claims = copy.folder / "workflow/claims/sdatt.yaml"
    claims.write_text(claims.read_text(encoding="utf-8") + "\n# A comment.\n", encoding="utf-8")
    assert "judge_claims" in list_planned_rules(copy, config)


def test_other_content_under_the_same_path(finished_experiment, tmp_path):
    project, config = finished_experiment
    data = shutil.copytree(config["data"], tmp_path / "data")
    for file, (old, new) in {
        "one.de": (b"Haus", b"Hans"),
        "pairs.tsv": (b"Haus", b"Hans"),
        "good.one": (b"Haus", b"Hans"),
        "told.tsv": (b"-7", b"-8"),
        "trees.conllu": (b"house", b"horse"),
        "test.conllu": (b"house", b"horse"),
    }.items():
        content = (data / file).read_bytes()
        assert old in content
        (data / file).write_bytes(content.replace(old, new))
    rules = {
        "fetch",
        "split_contrastive_pairs",
        "import_translations",
        "import_scores",
        "import_trees",
        "treebank_text",
    }
    assert rules <= list_planned_rules(project, {**config, "data": str(data)})
