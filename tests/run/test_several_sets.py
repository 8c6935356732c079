"""Jobs of several sets: equality with separate jobs, and shared loading."""

from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.corpus.tokenize import TokenizerFunction, load
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_record import check_input_file, get_record_path
from pipeline_py.run.job_runner import run_job

TEXTS = {"dev": "A dog (black) barks.\n", "test": 'The "cat" isn\'t here.\n\n'}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def build_job(folder: Path, *names: str) -> dict[str, Any]:
    return {
        "stage": "corpus.tokenize",
        "arguments": {"language": "en", "tokenizer": "moses", "lowercase": True},
        "calls": [{"input": str(folder / name), "output": str(folder / f"{name}.tokens")} for name in names],
        "results": str(folder),
        "process": "",
    }


def test_each_set_has_the_outputs_of_a_separate_job(folder: Path) -> None:
    run_job(build_job(folder, *TEXTS))
    outputs = {name: (folder / f"{name}.tokens").read_bytes() for name in TEXTS}
    assert outputs["dev"] == b"a dog ( black ) barks .\n"
    for name in TEXTS:
        output = folder / f"{name}.tokens"
        output.write_bytes(b"another")
        with pytest.raises(InputError, match="damaged"):
            check_input_file(output)
        run_job(build_job(folder, name))
        assert output.read_bytes() == outputs[name]
        check_input_file(output)


def test_the_first_invalid_set_ends_the_job(folder: Path) -> None:
    (folder / "test").write_bytes(b"good\nb\xffd\n")
    with pytest.raises(InputError, match="test, line 2: "):
        run_job(build_job(folder, *TEXTS))
    check_input_file(folder / "dev.tokens")
    assert get_record_path(folder / "dev.tokens").is_file() and not (folder / "test.tokens").exists()


def test_a_set_with_a_changed_input_is_rejected(folder: Path) -> None:
    run_job(build_job(folder, "test"))
    (folder / "test.tokens").write_text("changed\n")
    with pytest.raises(InputError, match="damaged"):
        run_job(build_job(folder, "dev", "test.tokens"))
    assert not (folder / "test.tokens.tokens").exists()


def test_shared_values_are_loaded_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []

    @wraps(load)
    def counted(**options: object) -> TokenizerFunction:
        loads.append(options)
        return load(**options)

    monkeypatch.setattr("pipeline_py.corpus.tokenize.load", counted)
    run_job(build_job(folder, *TEXTS))
    assert loads == [{"language": "en", "tokenizer": "moses"}]
