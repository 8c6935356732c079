"""The archives of outputs hold what the pages of results show."""

import json
import re
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from tests.docs.page_blocks import find_commands
from tests.project_copy import ROOT, ProjectCopy, run_snakemake

ARCHIVES = sorted((ROOT / "docs" / "outputs").glob("*.tar.xz"))
DATA = ROOT.parent / "shared" / "data"
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "corpus"),
    [
        ("multi30k", "multi30k"),
        ("multi30k_planned", "multi30k"),
        ("multi30k_control", "multi30k"),
        ("multi30k_distances", "multi30k"),
        ("multi30k_tuning", "multi30k"),
        ("multi30k_readings", "multi30k"),
        ("docs_ende", "docs_ende"),
        ("embedded", None),
        ("calibration", None),
        ("whole_lexicon", None),
    ],
)
def test_tables_are_made_from_kept_outputs(name: str, corpus: str | None, tmp_path: Path) -> None:
    if corpus is not None and not (DATA / corpus).is_dir():
        pytest.skip(f"the corpus is not at {DATA / corpus}")
    ProjectCopy(tmp_path)
    with tarfile.open(ROOT / "docs" / "outputs" / f"{name}.tar.xz") as content:
        content.extractall(tmp_path / "results", filter="data")
    for arguments in find_table_commands()[name]:
        result = run_snakemake(arguments, tmp_path)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    kept_folder, results = ROOT / "docs" / "kept" / name, tmp_path / "results" / name
    kept_sheets = [*kept_folder.rglob("*.sheet.json")]
    assert kept_sheets
    for kept_path in [*kept_folder.rglob("*claims.tsv"), *kept_folder.rglob("*.contrast_comparisons.tsv")]:
        made_path = results / "evaluation" / name_made_file(kept_path.relative_to(kept_folder))
        pd.testing.assert_frame_equal(*(pd.read_csv(path, sep="\t") for path in (made_path, kept_path)), rtol=1e-9)
    for kept_path in kept_folder.rglob("*.facts.tsv"):
        made_path = results / kept_path.relative_to(kept_folder)
        pd.testing.assert_frame_equal(*(pd.read_csv(path, sep="\t") for path in (made_path, kept_path)), rtol=1e-9)
    for kept_path in kept_sheets:
        rows, kept_rows = (
            json.loads(path.read_text(encoding="utf-8"))["rows"]
            for path in (results / kept_path.relative_to(kept_folder), kept_path)
        )
        assert rows == kept_rows


def name_made_file(kept_file: Path) -> Path:
    """Name the file of which `TABLE.claims.tsv` or `TABLE.SET.contrast_comparisons.tsv` is a copy, or `claims.tsv`."""
    if kept_file.name == "claims.tsv":
        return Path("all") / kept_file
    table, _, file = kept_file.name.partition(".")
    return kept_file.with_name(table) / file
