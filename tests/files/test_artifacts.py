"""Atomic output files and sentence counts."""

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
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.nmt.saved_model import save_weights
from pipeline_py.nmt.training.checkpoint import Checkpoint, CheckpointStore
from pipeline_py.report.figures import figure_files
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.stanza.training_commands import save_reproducibly


def test_a_file_is_complete_or_absent(tmp_path):
    path = tmp_path / "new" / "file"
    with pytest.raises(RuntimeError), open_atomic_text_file(path) as file:
        file.write("half")
        raise RuntimeError
    assert not path.exists() and not list(path.parent.iterdir())
    with open_atomic_text_file(path) as file:
        file.write("all\n")
    assert path.read_text() == "all\n"


def test_a_directory_replaces_the_old_one(tmp_path):
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


def test_temporaries_of_another_machine_are_kept_for_a_day(tmp_path):
    other_files = [tmp_path / f".file.{name}.part" for name in ("00000000.1", "00000000.2", "17", "strange")]
    for place, other_file in enumerate(other_files):
        other_file.mkdir() if place == 1 else other_file.touch()
    (tmp_path / ".file.name.json.00000000.1.part").touch()
    ours = get_temporary_path(tmp_path / "file", os.getpid())
    ours.mkdir()  # of a process that had our number
    with open_atomic_text_file(tmp_path / "file"):
        pass
    assert all(other_file.exists() for other_file in other_files)
    before = time.time() - STALE_TEMPORARY_SECONDS - 1
    for entry in tmp_path.iterdir():
        os.utime(entry, (before, before))
    with open_atomic_text_file(tmp_path / "file") as file:
        file.write("whole")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file"]


def test_a_folder_in_the_place_of_a_file_is_rejected(tmp_path):
    (tmp_path / "file" / "inside").mkdir(parents=True)
    sentence = "file: there is a folder in the place of a file; move it away and run again"
    with pytest.raises(InputError, match=sentence), open_atomic_text_file(tmp_path / "file"):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def _write_text(path):
    with open_atomic_text_file(path) as file:
        file.write("word " * 100_000)


def _write_weights(path):
    save_weights(path, {"weight": torch.zeros(100_000)})


def _write_checkpoint(path):
    CheckpointStore(path.parent, "this").save(Checkpoint({"model": {"weight": torch.zeros(100_000)}}, {}))


@pytest.mark.parametrize(
    "write",
    [
        _write_text,
        _write_weights,
        _write_checkpoint,
        lambda path: write_ragged_rows(path, [np.zeros(100_000, dtype=np.int32)], "int32"),
        lambda path: save_reproducibly({"weight": torch.zeros(100_000)}, path),
        lambda path: figure_files.save_figure(Figure(), "empty " * 4000, path, path.with_suffix(".pdf")),
    ],
)
def test_a_full_disk_is_reported_in_one_sentence(tiny_file_system, write):
    with pytest.raises(InputError, match=r"/tiny/[a-z.]+: the disk is full; free some space and run again$"):
        write(tiny_file_system / "file.svg")
    assert not list(tiny_file_system.iterdir())


def test_counts_account_for_every_sentence(tmp_path):
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
