"""Tests of the reader of lexicon tables and of its error messages."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from embedded_grammar import attachment, modifiers, nouns, senses
from embedded_grammar.lexicon import entries as lexicon
from pipeline_py.run import provenance
from pipeline_py.run.errors import InputError

WORD_NUMBERS = {"cat": 1, "dog": 2}


def read(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[tuple[int, str], ...]:
    (folder / "animals.tsv").write_text(text, encoding="utf-8")
    monkeypatch.setattr(lexicon, "LEXICON_FOLDER", folder)
    return lexicon.read_entries("animals", lambda english, german, colour: (WORD_NUMBERS[english], german + colour))


def test_entries_keep_their_order_and_comments_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_errors_name_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, monkeypatch, f"# Animals.\nenglish\tgerman\tcolour?\n{line}\n")
    assert str(error.value) == f"{tmp_path / 'animals.tsv'}, line 3: {message}"


BUILDERS = {
    "nouns": nouns._build_noun,
    "senses": senses._build_sense,
    "adjectives": modifiers._build_adjective,
    "adverbs": modifiers._build_adverb,
    "subordinators": modifiers._build_subordinator,
    "open_attachments": attachment._parse_ambiguous_with_entry,
}


@pytest.mark.parametrize(
    ("table", "old", "new", "unknown_word"),
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
    ],
)
def test_unknown_words_of_each_table_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, old: str, new: str, unknown_word: str
) -> None:
    path = tmp_path / f"{table}.tsv"
    line = misspell_word(lexicon.LEXICON_FOLDER / path.name, path, old, new)
    monkeypatch.setattr(lexicon, "LEXICON_FOLDER", tmp_path)
    with pytest.raises(InputError) as error:
        lexicon.read_entries(table, BUILDERS[table])
    message = f"{path}, line {line}: `{unknown_word}` is not allowed here; see the comments at the top"
    assert str(error.value) == message


def misspell_word(source: Path, target: Path, old: str, new: str) -> int:
    """Copy a table with a replacement, and return its line number."""
    text = source.read_text(encoding="utf-8")
    target.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def test_the_stage_reports_an_error_of_the_lexicon_in_one_sentence(tmp_path: Path) -> None:
    for package in provenance.PACKAGE_NAMES:
        shutil.copytree(
            provenance.PROJECT_FOLDER / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    file = tmp_path / "embedded_grammar" / "lexicon" / "opposites.tsv"
    line = misspell_word(file, file, "rich poor", "rich pour")
    outputs = {f"{name}_output": name for name in ("source", "target", "conllu", "ptb", "counts")}
    job = {
        "stage": "corpus.generate",
        "arguments": {"sentences": 5, **outputs},
        "calls": [{}],
        "results": str(tmp_path),
        "process": "",
    }
    command = [sys.executable, "-m", "pipeline_py.run", json.dumps(job)]
    result = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert result.stderr == f"error: {file}, line {line}: `pour` is not allowed here; see the comments at the top\n"
