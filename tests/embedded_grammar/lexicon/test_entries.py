"""The lexicon's tables: what may stand in them, and what a mistake says."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from embedded_grammar.lexicon import entries as lexicon
from pipeline_py.run import provenance
from pipeline_py.run.errors import InputError

KNOWN = {"cat": 1, "dog": 2}


def read(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[tuple[int, str], ...]:
    (folder / "animals.tsv").write_text(text, encoding="utf-8")
    monkeypatch.setattr(lexicon, "LEXICON_FOLDER", folder)
    return lexicon.read_entries("animals", lambda english, german, colour: (KNOWN[english], german + colour))


def test_entries_keep_their_order_and_comments_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# Animals.\nenglish\tgerman\tcolour?\n\ndog\tHund\tbraun\n# Rare ones.\ncat\tKatze\n"
    assert read(tmp_path, monkeypatch, text) == ((2, "Hundbraun"), (1, "Katze"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cat\tKatze\tgrau\tlieb", "4 cells; there are only 3 columns"),
        ("cat\t\tgrau", "the column `german` is empty; fill it in"),
        ("cat", "the column `german` is empty; fill it in"),
        ("cta\tKatze", "`cta` is not allowed here; see the comments at the top"),
    ],
)
def test_a_mistake_names_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, message: str
) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, monkeypatch, f"# Animals.\nenglish\tgerman\tcolour?\n{line}\n")
    assert str(error.value) == f"{tmp_path / 'animals.tsv'}, line 3: {message}"


@pytest.mark.parametrize(
    ("table", "old", "new", "unknown"),
    [
        ("nouns", "der\tMann", "dre\tMann", "dre"),
        ("nouns", "in=in to=zu", "in to=zu", "in"),
        ("senses", "see\tperson", "see\tpersons", "persons"),
        ("senses", "obj:readable=acc", "obj:readable=akk", "akk"),
        ("senses", "\tstative", "\tstativ", "stativ"),
        ("adjectives", "\tperson", "\tpersons", "persons"),
        ("adverbs", "\tmanner", "\tmaner", "maner"),
        ("adverbs", "\tpast", "\tpsat", "psat"),
        ("subordinators", "\tsimple", "\tsimply", "simply"),
        ("open_attachments", "watch\tperson", "watching\tperson", "watching"),
        ("opposites", "rich poor", "rich pour", "pour"),
    ],
)
def test_a_misprint_in_the_lexicon_is_one_sentence(
    tmp_path: Path, table: str, old: str, new: str, unknown: str
) -> None:
    for package in provenance.PACKAGE_NAMES:
        shutil.copytree(
            provenance.PROJECT_FOLDER / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    file = tmp_path / "embedded_grammar" / "lexicon" / f"{table}.tsv"
    before, found, after = file.read_text(encoding="utf-8").partition(old)
    assert found
    file.write_text(before + new + after, encoding="utf-8")
    outputs = {f"{name}_output": name for name in ("source", "target", "conllu", "ptb", "counts")}
    job = {
        "stage": "corpus.generate",
        "arguments": {"sentences": 5, **outputs},
        "calls": [{}],
        "results": str(tmp_path),
        "process": "",
    }
    command = [sys.executable, "-m", "pipeline_py.run", json.dumps(job)]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    line = before.count("\n") + 1
    assert done.stderr == f"error: {file}, line {line}: `{unknown}` is not allowed here; see the comments at the top\n"
