"""Command lines of stages: options, errors and checked inputs."""

import subprocess
import sys

import pytest

from pipeline_py.run.job_record import RECORD_MISMATCH_ERROR, write_records


def run(code: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)


STAGE = """
from pathlib import Path
from pipeline_py.run.command_line import run_command
from pipeline_py.run.errors import InputError

def greet(*, name: str, times: int = 1, missing: Path | None = None) -> None:
    '''Greet somebody.

    Args:
        name: whom to greet.
        times: how often.
        missing: a file to open.
    '''
    if name == "nobody":
        raise InputError("greets nobody; name somebody", "people.txt", 3)
    if missing:
        missing.open()
    if name == "full":
        with open("/dev/full", "w") as file:
            file.write(name)
    if name == "large":
        bytearray(2**62)
    print("hello", *[name] * times)

run_command(greet)
"""


def test_parameters_become_options():
    result = run(STAGE, "--name", "you", "--times", "2")
    assert (result.returncode, result.stdout) == (0, "hello you you\n")
    shown = run(STAGE, "--help").stdout
    assert "Greet somebody." in shown and "whom to greet." in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--name", "nobody"], "error: people.txt, line 3: greets nobody; name somebody\n"),
        (
            ["--name", "a", "--missing", "gone.txt"],
            "error: gone.txt: no such file; check the path in the configuration\n",
        ),
        (["--name", "a", "--missing", "/"], "error: /: is a directory; check the path in the configuration\n"),
        (
            ["--name", "a", "--missing", "x" * 300],
            f"error: {'x' * 300}: the name is too long; choose a shorter one in the configuration\n",
        ),
        (["--name", "full"], "error: the disk is full; free some space and run again\n"),
        (["--name", "large"], "error: there is not enough memory; docs/faq.md says how to use less\n"),
    ],
)
def test_bad_input_is_reported_in_one_sentence(arguments, sentence):
    result = run(STAGE, *arguments)
    assert (result.returncode, result.stdout, result.stderr) == (1, "", sentence)


COPY = """
from pathlib import Path
from pipeline_py.run.command_line import run_command

def copy(*, input: Path, more: list[Path] | None = None, output: Path) -> None:
    output.write_bytes(b"".join(path.read_bytes() for path in [input, *(more or [])]))

run_command(copy)
"""


def test_a_command_rejects_inputs_that_differ_from_their_records(tmp_path):
    mine, output, copied = (tmp_path / name for name in ("mine", "made", "copied"))
    mine.write_text("mine\n")
    output.write_text("made\n")
    write_records({}, [output], tmp_path)
    arguments = "--input", str(mine), "--more", str(output), "--output", str(copied)
    assert run(COPY, *arguments).returncode == 0 and copied.read_text() == "mine\nmade\n"
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "made", ".made.job.json", "copied"}
    output.write_text("edited\n")
    for refused in (arguments, ("--input", str(output), "--output", str(copied))):
        result = run(COPY, *refused)
        assert (result.returncode, result.stdout, result.stderr) == (
            1,
            "",
            f"error: {output}: {RECORD_MISMATCH_ERROR}\n",
        )
    assert copied.read_text() == "mine\nmade\n"
    arguments = "--input", str(mine), "--output", str(output)
    assert run(COPY, *arguments).returncode == 0, "an output is not compared"


def test_bugs_keep_their_traceback():
    result = run(
        "from pipeline_py.run.command_line import run_command\ndef f(*, x: int = 1): return 1 / 0\nrun_command(f)"
    )
    assert result.returncode == 1 and "ZeroDivisionError" in result.stderr
