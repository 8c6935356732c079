"""Results that are kept again are the same."""

import tarfile
from pathlib import Path

import pytest

from docs.keep_results import keep_outputs, keep_tables
from pipeline_py.run.errors import InputError
from tests.project_copy import ROOT

NETWORKS = {"multi30k": "GlobalAtt/seed1"}
"""The runs whose weights are in the archives."""


def read_archive(path: Path) -> dict[str, bytes]:
    """Return the files of an archive by name."""
    with tarfile.open(path) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}


@pytest.mark.parametrize("archive", sorted((ROOT / "docs" / "outputs").glob("*.tar.xz")), ids=lambda path: path.name)
def test_archive_of_kept_outputs_is_the_same(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as content:
        content.extractall(tmp_path, filter="data")
    name = archive.name.removesuffix(".tar.xz")
    keep_outputs(tmp_path / name, tmp_path / archive.name, NETWORKS.get(name))
    assert read_archive(tmp_path / archive.name) == read_archive(archive)


def test_tables_are_kept_with_their_answers(tmp_path: Path) -> None:
    """A table of measures has no answers, the folder `three_seeds` has a table, and `mine` is another experiment."""
    results, kept_folder = tmp_path / "results", tmp_path / "kept"
    files = ["a.sheet.json", "a.facts.tsv", "three_seeds/b.sheet.json", "evaluation/three_seeds/b/claims.tsv", "a.tsv"]
    files += ["evaluation/a/test.comparisons.tsv"]
    files += ["evaluation/all/claims.tsv", "evaluation/all/exclusions.tsv", "evaluation/other/claims.tsv"]
    files += ["corpus/raw/dev.source", "mine/a.sheet.json", "mine/corpus/raw/dev.source"]
    for file in files:
        (results / file).parent.mkdir(parents=True, exist_ok=True)
        (results / file).write_text(file)
    kept_folder.mkdir()
    (kept_folder / "old.sheet.json").touch()
    keep_tables(results, kept_folder)
    assert {
        str(path.relative_to(kept_folder)): path.read_text() for path in kept_folder.rglob("*") if path.is_file()
    } == {
        "a.sheet.json": "a.sheet.json",
        "a.facts.tsv": "a.facts.tsv",
        "a.test.comparisons.tsv": "evaluation/a/test.comparisons.tsv",
        "three_seeds/b.sheet.json": "three_seeds/b.sheet.json",
        "three_seeds/b.claims.tsv": "evaluation/three_seeds/b/claims.tsv",
        "claims.tsv": "evaluation/all/claims.tsv",
        "exclusions.tsv": "evaluation/all/exclusions.tsv",
    }


def test_counts_are_kept_with_their_translations(tmp_path: Path) -> None:
    kept_files = ["evaluation/A/seed1/dev.txt", "evaluation/A/seed1/dev.json", "syntax/p/dev.binary.json"]
    kept_files += ["evaluation/tree2seq/table12/attention.tsv", "evaluation/table/attention.tsv"]
    for file in [*kept_files, "evaluation/A/seed1/dev.bleu.json", "evaluation/A/seed1/test.json"]:
        (tmp_path / "results" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "results" / file).write_text(file)
    keep_outputs(tmp_path / "results", tmp_path / "mine.tar.xz", None)
    assert read_archive(tmp_path / "mine.tar.xz") == {f"mine/{file}": file.encode() for file in kept_files}


def test_nothing_is_lost_if_the_folder_has_no_results(tmp_path: Path) -> None:
    kept_folder, archive = tmp_path / "kept", tmp_path / "multi30k.tar.xz"
    kept_folder.mkdir()
    (kept_folder / "a.sheet.json").touch()
    archive.write_bytes((ROOT / "docs" / "outputs" / archive.name).read_bytes())
    with pytest.raises(InputError, match="the folder has no tables"):
        keep_tables(tmp_path / "none", kept_folder)
    with pytest.raises(InputError, match="the folder has no outputs"):
        keep_outputs(tmp_path / "none", archive, None)
    (tmp_path / "results" / "nmt" / "GlobalAtt" / "seed1").mkdir(parents=True)
    (tmp_path / "results" / "nmt" / "GlobalAtt" / "seed1" / "facts.json").touch()
    with pytest.raises(InputError, match=r"the archive has a network; name it with --network ROW/RUN"):
        keep_outputs(tmp_path / "results", archive, None)
    assert (kept_folder / "a.sheet.json").exists()
    assert archive.read_bytes() == (ROOT / "docs" / "outputs" / archive.name).read_bytes()
