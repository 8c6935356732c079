"""Rejection of named pipes, sockets and devices without waiting for them."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_py.config.config_files import read_config_file
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.files import artifacts
from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.files.text_files import check_file_format, open_regular_file, read_byte_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.file_hash_cache import FileHashCache
from pipeline_py.run.job_record import check_input_file, get_record_path, hash_content
from tests.plan.conftest import DEFAULT_CONFIG

REMEDY = "not a regular file; write its content to a file and name that"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize(
    "read",
    [
        open_regular_file,
        check_file_format,
        lambda path: [*read_byte_lines(path)],
        hash_content,
        artifacts.has_valid_checksum,
    ],
)
def test_a_named_pipe_is_rejected(pipe: Path, read) -> None:
    with pytest.raises(InputError, match=f"^{pipe}: this is a named pipe, {REMEDY}$"):
        read(pipe)


def test_rows_are_not_read_from_a_named_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.arrow")
    with pytest.raises(InputError, match="this is a named pipe"):
        RaggedArrayFile(tmp_path / "rows.arrow")


def test_a_socket_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(InputError, match=f"^socket: this is a socket, {REMEDY}$"):
            [*read_byte_lines(Path("socket"))]


def test_a_device_is_rejected() -> None:
    with pytest.raises(InputError, match=f"^/dev/zero: this is a device, {REMEDY}$"):
        [*read_byte_lines(Path("/dev/zero"))]


def test_a_folder_and_a_missing_file_are_left_to_the_caller(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_regular_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular_file(tmp_path / "gone")


def test_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("one\n")
    (tmp_path / "link").symlink_to("file")
    assert [*read_byte_lines(tmp_path / "link")] == [b"one"]


def test_a_plan_names_the_pipe_of_a_configuration(pipe: Path) -> None:
    (pipe.parent / "text").write_text("one\n")
    tests = [{"name": "one", "source": "text", "references": ["pipe"]}]
    corpora = {"train": [{"source": "text", "target": "text"}], "tests": tests}
    with pytest.raises(InputError, match=f"{pipe}: this is a named pipe"):
        load_experiment(
            DEFAULT_CONFIG, {"data": str(pipe.parent), "corpora": corpora, "targets": ["table1"], "parser": "embedded"}
        )


def test_a_pipe_has_no_hash_and_is_not_a_configuration(pipe: Path) -> None:
    assert FileHashCache(pipe.parent / "cache.json").hash_files([str(pipe)]) == {str(pipe): None}
    with pytest.raises(InputError, match="this is not a file"):
        read_config_file(pipe)


def test_a_pipe_is_not_a_record(tmp_path: Path) -> None:
    (tmp_path / "output").write_text("one\n")
    os.mkfifo(get_record_path(tmp_path / "output"))
    with pytest.raises(InputError, match="this is a named pipe"):
        check_input_file(tmp_path / "output")


def test_a_stage_and_a_job_end_with_one_sentence(pipe: Path) -> None:
    options = ["--annotation", "dependency", "--treebank", str(pipe)]
    for command in (
        ["pipeline_py.syntax.treebank_text", *options, "--output", str(pipe.parent / "text")],
        ["pipeline_py.run", str(pipe)],
    ):
        result = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, timeout=60)
        assert result.returncode == 1 and "Traceback" not in result.stderr
        assert result.stderr.splitlines()[-1] == f"error: {pipe}: this is a named pipe, {REMEDY}"
