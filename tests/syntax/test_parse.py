"""Parsing with a local Stanza directory, and what happens to sentences and models that are at fault."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_py.stage import InputError
from pipeline_py.syntax.annotation import Annotation
from pipeline_py.syntax.constituency import read_trees
from pipeline_py.syntax.dependency import read_dependencies
from pipeline_py.syntax.parse import parse

STANZA = (Path(__file__).parents[2] / "../shared/data/stanza_en").resolve()

needs_models = pytest.mark.skipif(not STANZA.exists(), reason="the Stanza directory stanza_en is not on this machine")

LINES = [
    "The dog that saw the cat sleeps .",
    "",
    "don't split-me ( a\u00a0b ) \u2028 ... \u200d 👩\u200d🚀 # 😀",
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen",
    "(",
    "A man in a red shirt is riding a bike .",
]


@needs_models
@pytest.mark.slow
@pytest.mark.parametrize("annotation", list(Annotation))
def test_one_tree_per_line_over_the_same_tokens(annotation: Annotation, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    for output, batch_size in (("a", 4), ("b", 4)):
        parse(
            annotation=annotation,
            tokens=tmp_path / "t",
            output=tmp_path / output,
            ledger_output=tmp_path / "l",
            directory=STANZA,
            batch_size=batch_size,
            max_words=13,
        )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    read = read_dependencies if annotation is Annotation.DEPENDENCY else read_trees
    trees = list(read(tmp_path / "a"))
    assert [tree.words for tree in trees] == [tuple(line.split(" ")) if line else () for line in LINES]
    assert [bool(tree.failed) for tree in trees] == [False, False, False, True, False, False]
    assert json.loads((tmp_path / "l").read_text()) == {
        "in": 6,
        "kept": 6,
        "dropped": {},
        "noted": {"empty line": 1, "parsed by fallback: more than 13 words": 1},
    }


@needs_models
@pytest.mark.slow
def test_parses_are_sensible(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(LINES[-1] + "\n", encoding="utf-8")
    parse(
        annotation=Annotation.DEPENDENCY,
        tokens=tmp_path / "t",
        output=tmp_path / "o",
        ledger_output=tmp_path / "l",
        directory=STANZA,
    )
    (tree,) = read_dependencies(tmp_path / "o")
    assert tree.words[tree.roots[0] - 1] == "riding"
    assert tree.upos[1] == "NOUN"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, "one source of models"),
        ({"directory": Path("d"), "package": "default"}, "one source of models"),
        ({"tagger": Path("t")}, "give --depparse"),
        ({"tagger": Path("nowhere.pt"), "depparse": Path("nowhere.pt")}, r"nowhere\.pt: no such model"),
        ({"directory": Path("nowhere")}, r"nowhere: no resources\.json"),
        ({"directory": Path("d"), "batch_size": 0}, "at least 1"),
    ],
)
def test_sources_of_models_at_fault(options: dict[str, object], error: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\n")
    with pytest.raises(InputError, match=error):
        parse(
            annotation=Annotation.DEPENDENCY,
            tokens=tmp_path / "t",
            output=tmp_path / "o",
            ledger_output=tmp_path / "l",
            **options,  # type: ignore[arg-type]
        )


def test_model_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\n")
    (tmp_path / "m.pt").write_bytes(b"no model")
    with pytest.raises(InputError, match=r"Stanza cannot load .*m\.pt"):
        parse(
            annotation=Annotation.DEPENDENCY,
            tokens=tmp_path / "t",
            output=tmp_path / "o",
            ledger_output=tmp_path / "l",
            tagger=tmp_path / "m.pt",
            depparse=tmp_path / "m.pt",
        )


def test_command_names_the_line_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"a\nb\xff\n")
    command = [sys.executable, "-m", "pipeline_py.syntax.parse", "--annotation", "dependency", "--directory", "d"]
    command += ["--tokens", tmp_path / "t", "--output", tmp_path / "o", "--ledger-output", tmp_path / "l"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "t, line 2: byte 1 is not UTF-8" in done.stderr
    assert not (tmp_path / "o").exists()


def test_tab_is_named_before_parsing(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\na\tb\n")
    with pytest.raises(InputError, match="t, line 2: a tab"):
        parse(
            annotation=Annotation.DEPENDENCY,
            tokens=tmp_path / "t",
            output=tmp_path / "o",
            ledger_output=tmp_path / "l",
            directory=tmp_path,
        )


def test_package_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import stanza

    def offline(*_: object, **__: object) -> None:
        raise ConnectionError("Max retries\nexceeded")

    monkeypatch.setattr(stanza, "Pipeline", offline)
    (tmp_path / "t").write_text("a\n")
    with pytest.raises(InputError, match=r"package 'default' for 'en' .*give a local directory.*retries ex"):
        parse(
            annotation=Annotation.DEPENDENCY,
            tokens=tmp_path / "t",
            output=tmp_path / "o",
            ledger_output=tmp_path / "l",
            package="default",
        )
