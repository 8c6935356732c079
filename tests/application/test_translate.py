"""Equality of the text that the command and the workflow read."""

import sys
from io import BytesIO, TextIOWrapper
from types import SimpleNamespace

import pytest

from pipeline_py import translate as module
from pipeline_py.corpus.fetch import fetch

TEXTS = {
    "byte order mark": "\ufeffA girl sleeps .\nA man too .\n".encode(),
    "mark within": "A girl .\n\ufeffA man .".encode(),
    "line ends": b"A girl\rsleeps .\r\n\r\nA man .\r\n",
    "no end": b"A girl .\n\nA man .",
    "empty lines": b"\n\n",
}


def set_stdin(monkeypatch: pytest.MonkeyPatch, text: bytes) -> list[str]:
    """Run the command with a text on stdin, and return the lines that the system gets."""
    lines: list[str] = []
    system = SimpleNamespace(translate=lambda sentences: lines.extend(sentences) or sentences)
    monkeypatch.setattr(module, "load_from_cli_options", lambda *options: system)
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(text)))
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(BytesIO()))
    module.translate(system="SDAtt")
    return lines


@pytest.mark.parametrize("name", TEXTS)
def test_lines_equal_those_of_the_workflow(tmp_path, monkeypatch, name):
    (tmp_path / "mine.en").write_bytes(TEXTS[name])
    fetch(input=[tmp_path / "mine.en"], output=tmp_path / "fetched")
    fetched = (tmp_path / "fetched").read_bytes().decode().split("\n")[:-1]
    assert set_stdin(monkeypatch, TEXTS[name]) == fetched


def test_a_wrong_encoding_is_a_warning(monkeypatch, capsys):
    assert set_stdin(monkeypatch, "élève\nGröße\n".encode("latin-1")) == ["\ufffdl\ufffdve", "Gr\ufffd\ufffde"]
    warning = capsys.readouterr().err
    assert warning.startswith("warning: standard input: 2 of 2 lines are not UTF-8; the file looks like Latin-1")
    assert set_stdin(monkeypatch, b"") == [] and capsys.readouterr().err == ""
