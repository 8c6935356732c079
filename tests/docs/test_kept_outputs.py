"""The archives of outputs hold what the pages of results show."""

import re
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from pipeline_py.report.tables.sheet import read_sheet
from tests.docs.page_blocks import find_commands
from tests.project_copy import ROOT, ProjectCopy, run_snakemake

ARCHIVES = sorted((ROOT / "docs" / "outputs").glob("*.tar.xz"))
DATA = ROOT.parent / "shared" / "data"
DATA_FOLDERS = {
    "calibration": "",
    "docs_ende": "docs_ende",
    "embedded": "",
    "enja": "small_parallel_enja",
    "enzh": "tatoeba_enzh",
    "multi30k": "multi30k",
    "multi30k_control": "multi30k",
    "multi30k_distances": "multi30k",
    "multi30k_planned": "multi30k",
    "multi30k_readings": "multi30k",
    "multi30k_small": "multi30k",
    "multi30k_transformers": "multi30k",
    "multi30k_tuning": "multi30k",
    "whole_lexicon": "",
    "zhen": "tatoeba_enzh",
}
"""Folder of the corpus below `DATA` that the commands of each archive need; empty for generated text."""

UNREAD_STUDIES = {"multi30k_warmup"}
"""Planned studies whose complete blocks are kept, and whose scores must not be read before the last one."""

KEPT_OUTPUTS_PAGE = "docs/how_to/kept_outputs.md"


def find_table_commands() -> dict[str, list[list[str]]]:
    """Return the arguments of each call of Snakemake that makes tables from an archive, by name of the experiment."""
    commands: dict[str, list[list[str]]] = {}
    for command in find_commands():
        if command.block.page == KEPT_OUTPUTS_PAGE and "workflow/profiles/kept_outputs" in command.words:
            arguments = [word.replace("data=DIR", f"data={DATA}") for word in command.words[1:]]
            first_target = next(word for word in arguments if word.startswith("results/"))
            commands.setdefault(first_target.split("/")[1], []).append(arguments)
    return commands


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_paths_in_archives_need_no_quotes_in_a_shell(archive: Path) -> None:
    with tarfile.open(archive) as content:
        assert [name for name in content.getnames() if not re.fullmatch(r"[A-Za-z0-9+._@/-]+", name)] == []


def test_each_archive_has_kept_tables_and_a_command() -> None:
    archives = {path.name.removesuffix(".tar.xz") for path in ARCHIVES} - UNREAD_STUDIES
    assert archives == {path.name for path in (ROOT / "docs" / "kept").iterdir()}
    assert archives == find_table_commands().keys() == DATA_FOLDERS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA_FOLDERS)
def test_tables_are_made_from_kept_outputs(name: str, tmp_path: Path) -> None:
    if DATA_FOLDERS[name] and not (DATA / DATA_FOLDERS[name]).is_dir():
        pytest.skip(f"the corpus is not at {DATA / DATA_FOLDERS[name]}")
    ProjectCopy(tmp_path)
    with tarfile.open(ROOT / "docs" / "outputs" / f"{name}.tar.xz") as content:
        content.extractall(tmp_path / "results", filter="data")
    for arguments in find_table_commands()[name]:
        result = run_snakemake(arguments, tmp_path)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    kept_folder, results = ROOT / "docs" / "kept" / name, tmp_path / "results" / name
    kept_files = [path for path in kept_folder.rglob("*") if path.is_file()]
    assert any(path.name.endswith(".sheet.json") for path in kept_files)
    for kept_path in kept_files:
        rebuilt_path = results / find_source_path(kept_path.relative_to(kept_folder))
        if kept_path.suffix == ".json":
            assert read_sheet(rebuilt_path).rows == read_sheet(kept_path).rows, kept_path
        else:
            frames = (pd.read_csv(path, sep="\t") for path in (rebuilt_path, kept_path))
            pd.testing.assert_frame_equal(*frames, rtol=1e-9)


def find_source_path(kept_file: Path) -> Path:
    """Return the path in the results of which `docs/keep_results.py` keeps a copy at this path."""
    if kept_file.name in ("claims.tsv", "exclusions.tsv"):
        return Path("evaluation", "all", kept_file.name)
    if kept_file.name.endswith((".sheet.json", ".facts.tsv")):
        return kept_file
    table, _, file = kept_file.name.partition(".")
    return Path("evaluation", kept_file.with_name(table), file)
