"""What stages share: command lines, whole files, counts, lines of text, ragged arrays."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from pipeline_py.files.artifacts import (
    STALE_TEMPORARY_SECONDS,
    SentenceCounts,
    get_temporary_path,
    open_atomic_text_file,
    write_atomically,
)
from pipeline_py.files.ragged_arrays import MAX_ROWS_PER_BLOCK, RaggedArrayFile, write_ragged_rows
from pipeline_py.files.text_files import read_lines, read_parallel
from pipeline_py.nmt.saved import save_weights
from pipeline_py.nmt.training.checkpoint import Checkpoint, CheckpointStore
from pipeline_py.report.figures import figure_files
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_record import RECORD_MISMATCH_ERROR, write_records
from pipeline_py.syntax.stanza.training_commands import save_reproducibly


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
    done = run(STAGE, "--name", "you", "--times", "2")
    assert (done.returncode, done.stdout) == (0, "hello you you\n")
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
def test_bad_input_ends_with_one_sentence(arguments, sentence):
    done = run(STAGE, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", sentence)


COPY = """
from pathlib import Path
from pipeline_py.run.command_line import run_command

def copy(*, input: Path, more: list[Path] | None = None, output: Path) -> None:
    output.write_bytes(b"".join(path.read_bytes() for path in [input, *(more or [])]))

run_command(copy)
"""


def test_a_command_refuses_results_that_differ_from_their_records(tmp_path):
    mine, made, copied = (tmp_path / name for name in ("mine", "made", "copied"))
    mine.write_text("mine\n")
    made.write_text("made\n")
    write_records({}, [made], tmp_path)
    arguments = "--input", str(mine), "--more", str(made), "--output", str(copied)
    assert run(COPY, *arguments).returncode == 0 and copied.read_text() == "mine\nmade\n"
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "made", ".made.job.json", "copied"}
    made.write_text("edited\n")
    for refused in (arguments, ("--input", str(made), "--output", str(copied))):
        done = run(COPY, *refused)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"error: {made}: {RECORD_MISMATCH_ERROR}\n")
    assert copied.read_text() == "mine\nmade\n"
    written = "--input", str(mine), "--output", str(made)
    assert run(COPY, *written).returncode == 0, "an output is not compared"


def test_our_own_mistakes_keep_their_traceback():
    done = run(
        "from pipeline_py.run.command_line import run_command\ndef f(*, x: int = 1): return 1 / 0\nrun_command(f)"
    )
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr


def test_a_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "new" / "file"
    with pytest.raises(RuntimeError), open_atomic_text_file(path) as file:
        file.write("half")
        raise RuntimeError
    assert not path.exists() and not list(path.parent.iterdir())
    with open_atomic_text_file(path) as file:
        file.write("all\n")
    assert path.read_text() == "all\n"


def test_a_directory_takes_the_place_of_the_old_one(tmp_path):
    for content in ("one", "two"):
        with write_atomically(tmp_path / "folder") as temporary:
            temporary.mkdir()
            (temporary / content).touch()
    assert [entry.name for entry in (tmp_path / "folder").iterdir()] == ["two"]


def test_a_killed_writer_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom pipeline_py.files.artifacts import open_atomic_text_file\n"
        "with open_atomic_text_file(Path(sys.argv[1])) as file:\n"
        "    file.write('half'); file.flush(); print('x', flush=True)\n"
        "    time.sleep(60)"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.read(1)
    with open_atomic_text_file(tmp_path / "file") as file:
        file.write("new")
    (part,) = tmp_path.glob(".file.*")
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    time.sleep(0.01)
    assert path.read_text() == "new" and part.is_file()
    with open_atomic_text_file(tmp_path / "file") as file:
        file.write("newer")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_what_another_machine_writes_is_left_for_a_day(tmp_path):
    others = [tmp_path / f".file.{name}.part" for name in ("00000000.1", "00000000.2", "17", "strange")]
    for place, other in enumerate(others):
        other.mkdir() if place == 1 else other.touch()
    (tmp_path / ".file.name.json.00000000.1.part").touch()
    ours = get_temporary_path(tmp_path / "file", os.getpid())
    ours.mkdir()  # of a process that had our number
    with open_atomic_text_file(tmp_path / "file"):
        pass
    assert all(other.exists() for other in others)
    before = time.time() - STALE_TEMPORARY_SECONDS - 1
    for entry in tmp_path.iterdir():
        os.utime(entry, (before, before))
    with open_atomic_text_file(tmp_path / "file") as file:
        file.write("whole")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file"]


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path):
    (tmp_path / "file" / "inside").mkdir(parents=True)
    sentence = "file: there is a folder in the place of a file; move it away and run again"
    with pytest.raises(InputError, match=sentence), open_atomic_text_file(tmp_path / "file"):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def _text(path):
    with open_atomic_text_file(path) as file:
        file.write("word " * 100_000)


def _weights(path):
    save_weights(path, {"weight": torch.zeros(100_000)})


def _checkpoint(path):
    CheckpointStore(path.parent, "this").save(Checkpoint({"model": {"weight": torch.zeros(100_000)}}, {}))


@pytest.mark.parametrize(
    "write",
    [
        _text,
        _weights,
        _checkpoint,
        lambda path: write_ragged_rows(path, [np.zeros(100_000, dtype=np.int32)], "int32"),
        lambda path: save_reproducibly({"weight": torch.zeros(100_000)}, path),
        lambda path: figure_files.save_figure(Figure(), "empty " * 4000, path, path.with_suffix(".pdf")),
    ],
)
def test_a_full_disk_is_told_in_one_sentence_and_leaves_nothing(tiny, write):
    with pytest.raises(InputError, match=r"/tiny/[a-z.]+: the disk is full; free some space and run again$"):
        write(tiny / "file.svg")
    assert not list(tiny.iterdir())


def test_a_counts_accounts_for_every_sentence(tmp_path):
    counts = SentenceCounts()
    counts.add_kept(3)
    counts.add_dropped("too long", 2)
    counts.add_dropped("empty")
    counts.add_noted("truncated")
    counts.write_json_file(tmp_path / "counts.json")
    assert json.loads((tmp_path / "counts.json").read_text()) == {
        "in": 6,
        "kept": 3,
        "dropped": {"empty": 1, "too long": 2},
        "noted": {"truncated": 1},
    }


def test_only_line_ends_end_lines(tmp_path):
    text = "a\u2028b\u0085c\x0bd\x1ce\r\nf\rg\n\nlast"
    for path, data in (
        (tmp_path / "plain", text.encode()),
        (tmp_path / "packed.gz", gzip.compress(text.encode())),
    ):
        path.write_bytes(data)
        assert list(read_lines(path)) == ["a\u2028b\u0085c\x0bd\x1ce", "f\rg", "", "last"]


def test_a_line_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "latin1"
    path.write_bytes("gut\nschön\n".encode("latin-1"))
    with pytest.raises(InputError, match="latin1, line 2: byte 3 is not UTF-8"):
        list(read_lines(path))


@pytest.mark.parametrize("data", [b"not gzip\n", gzip.compress(b"line\n" * 9999, mtime=0)[:-30]])
def test_a_broken_gzip_file_is_named(tmp_path, data):
    path = tmp_path / "broken.gz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"broken.gz: broken gzip file"):
        list(read_lines(path))


def test_parallel_files_need_the_same_number_of_lines(tmp_path):
    (tmp_path / "long").write_text("1\n2\n3\n")
    (tmp_path / "short").write_text("1\n2\n")
    with pytest.raises(InputError, match=r"short: the file has 2 lines and .*long has more"):
        list(read_parallel(tmp_path / "long", tmp_path / "short"))


@pytest.mark.parametrize("count", [0, 1, MAX_ROWS_PER_BLOCK, 2 * MAX_ROWS_PER_BLOCK + 5])
def test_ragged_rows_come_back(tmp_path, count):
    random = np.random.default_rng(0)
    rows = [random.integers(0, 256, random.integers(0, 9)).astype(np.uint8) for _ in range(count)]
    write_ragged_rows(tmp_path / "rows.arrow", iter(rows), "uint8")
    ragged = RaggedArrayFile(tmp_path / "rows.arrow")
    assert len(ragged) == count
    assert ragged.row_lengths.tolist() == [len(row) for row in rows]
    for row, expected in enumerate(rows):
        assert ragged[row].dtype == np.uint8 and ragged[row].tolist() == expected.tolist()
    with pytest.raises(IndexError):
        ragged[count]


def test_a_ragged_file_that_is_none_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        RaggedArrayFile(tmp_path / "gone.arrow")
    assert str(caught.value.filename).endswith("gone.arrow")
    (tmp_path / "text.arrow").write_text("not arrow\n")
    with pytest.raises(InputError, match=r"text.arrow: damaged"):
        RaggedArrayFile(tmp_path / "text.arrow")


def test_a_ragged_file_opens_elsewhere(tmp_path):
    import pandas

    write_ragged_rows(tmp_path / "rows.arrow", [np.array([1, 2]), np.array([], dtype=int), np.array([3])], "int32")
    assert [list(row) for row in pandas.read_feather(tmp_path / "rows.arrow")["values"]] == [[1, 2], [], [3]]
