"""Paths do not decide a result: the same files under other paths plan no job, and neither does a renamed project."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.project_copy import ProjectCopy
from tests.test_external_translations import ENGLISH, described, run

pytestmark = pytest.mark.slow

SYNTAX = "results/given/syntax"
TARGETS = ["all", f"{SYNTAX}/mine/one.conllu", f"{SYNTAX}/bank/accuracy/conllu.tokens"]


def dependencies(sentence: str) -> str:
    words = sentence.split()
    rows = [f"{n}\t{word}\t_\tX\t_\t_\t{n - 1}\t{'dep' if n > 1 else 'root'}\t_\t_" for n, word in enumerate(words, 1)]
    return "\n".join([*rows, ""])


def make_experiment(place: ProjectCopy, data: Path) -> dict:
    """Describe an experiment with texts, translations, scores, pairs, claims, trees and a treebank in a folder."""
    data.mkdir()
    config = described(data)
    trees = "\n".join(map(dependencies, ENGLISH)) + "\n"
    for file in ("trees", "train", "dev", "test"):
        (data / f"{file}.conllu").write_text(trees, encoding="utf-8")
    claims = place.folder / "workflow/claims/sdatt.yaml"
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


def copy_elsewhere(data: Path) -> Path:
    return shutil.copytree(data, data.with_name("copied"), copy_function=shutil.copyfile)


def link(data: Path) -> Path:
    (data.with_name("linked")).symlink_to(data)
    return data.with_name("linked")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[ProjectCopy, dict]:
    place = ProjectCopy(tmp_path_factory.mktemp("projects") / "project")
    config = make_experiment(place, place.folder.with_name("data"))
    code, said = run(place, config, *TARGETS)
    assert code == 0, said[-5000:]
    return place, config


def planned(place: ProjectCopy, config: dict) -> set[str]:
    code, said = run(place, config, *TARGETS, "--dry-run")
    assert code == 0, said
    return {*re.findall(r"^(?:local)?rule (\w+):", said, flags=re.MULTILINE)}


@pytest.mark.parametrize(
    "change", [lambda data: data, copy_elsewhere, link, lambda data: data / ".." / data.name], ids=range(4)
)
def test_the_same_files_under_another_path(made, change: Callable[[Path], Path]):
    place, config = made
    assert planned(place, {**config, "data": str(change(Path(config["data"])))}) == set()


def test_a_renamed_project(made, tmp_path):
    place, config = made
    copy = place.copy_to(tmp_path / "renamed")
    assert planned(copy, config) == set()
    claims = copy.folder / "workflow/claims/sdatt.yaml"
    claims.write_text(claims.read_text(encoding="utf-8") + "\n# A comment.\n", encoding="utf-8")
    assert "judge_claims" in planned(copy, config)


def test_other_content_under_the_same_path(made, tmp_path):
    place, config = made
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
    assert rules <= planned(place, {**config, "data": str(data)})
