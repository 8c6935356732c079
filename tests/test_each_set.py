"""Several sets in one process: as in a process for each, with what is loaded once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_py import checksum
from pipeline_py.corpus import tokenize
from pipeline_py.each_set import each_set, of_each
from pipeline_py.input_error import InputError
from tests.workplace import ROOT

COMMON = ["--language", "en", "--tokenizer", "moses"]
TEXTS = {"dev": "A dog (black) barks.\n", "test": 'The "cat" isn\'t here.\n\n'}


def of_sets(folder: Path) -> dict[str, list[str]]:
    return {name: ["--input", str(folder / name), "--output", str(folder / f"{name}.tokens")] for name in TEXTS}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def words(folder: Path) -> list[str]:
    return [*COMMON, *(word for name, own in of_sets(folder).items() for word in (f"--set={name}", *own))]


def command(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-m", module, *words], capture_output=True, text=True, env=environment)


def test_options_in_front_are_those_of_all_sets() -> None:
    assert of_each(["--a", "1", "--set=x", "--b", "2", "--set=y", "--b", "--set"]) == {
        "x": ["--a", "1", "--b", "2"],
        "y": ["--a", "1", "--b", "--set"],
    }
    assert of_each(["--a", "1"]) == {}


def test_each_set_is_made_as_by_a_command_of_its_own(folder: Path) -> None:
    run = command("pipeline_py.each_set", "corpus.tokenize", *words(folder))
    assert (run.returncode, run.stdout) == (0, ""), run.stderr
    together = {name: (folder / f"{name}.tokens").read_bytes() for name in TEXTS}
    for name, own in of_sets(folder).items():
        made = folder / f"{name}.tokens"
        made.write_bytes(b"another")
        assert not checksum.is_whole(made), "it has a checksum"
        command("pipeline_py.corpus.tokenize", *COMMON, *own)
        assert made.read_bytes() == together[name] != b""


def test_the_first_set_at_fault_ends_the_process_with_a_sentence(folder: Path) -> None:
    (folder / "test").write_bytes(b"good\nb\xffd\n")
    run = command("pipeline_py.each_set", "corpus.tokenize", *words(folder))
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith(f"error: {folder / 'test'}, line 2: ")
    assert "Traceback" not in run.stderr
    assert checksum.is_whole(folder / "dev.tokens") and not (folder / "test.tokens").exists()


def test_a_set_whose_input_has_changed_is_not_read(folder: Path) -> None:
    checksum.record(folder / "test")
    (folder / "test").write_text("changed\n")
    with pytest.raises(InputError, match=checksum.DAMAGED):
        each_set("corpus.tokenize", words(folder))
    assert not (folder / "test.tokens").exists()


def test_what_takes_long_to_load_is_loaded_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    original = tokenize._segmenter
    monkeypatch.setattr(tokenize, "_segmenter", lambda *given: loaded.append(given) or original(*given))
    each_set("corpus.tokenize", words(folder))
    assert len(loaded) == 1
