"""Job server: its jobs behave like jobs in separate processes."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline_py.run.job_server import JOB_STARTED_ANSWER, LENGTH_PREFIX_BYTES, SERVER_VARIABLE, format_server_identity
from tests.project_copy import ROOT, SNAKEMAKE_PROGRAM, ProjectCopy

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when a process ends")

RUN = [sys.executable, "-P", "-m", "pipeline_py.run"]


@pytest.fixture
def server_environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Start a server, and yield the environment of its clients."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "jobs"))
        listener.listen()
        command = [sys.executable, "-P", "-m", "pipeline_py.run.job_server", str(listener.fileno())]
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, pass_fds=[listener.fileno()])
    yield {**environment, SERVER_VARIABLE: format_server_identity(str(tmp_path / "jobs")), "SERVER": str(process.pid)}
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=10) == 0 and not (tmp_path / "jobs").exists()


def build_tokenize_job(folder: Path, source: str, output: str) -> str:
    (folder / "text").write_text("It's here.\n")
    arguments = {"input": source, "output": output, "language": "en", "tokenizer": "moses"}
    job = {"stage": "corpus.tokenize", "arguments": arguments, "calls": [{}], "results": "", "process": ""}
    return json.dumps(job)


def test_a_job_runs_in_the_folder_of_its_client(server_environment: dict[str, str], tmp_path: Path) -> None:
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        job = build_tokenize_job(folder, "text", "tokens")
        result = subprocess.run([*RUN, job], cwd=folder, env=server_environment, capture_output=True, text=True)
        assert (result.returncode, (folder / "tokens").read_text()) == (0, "It 's here .\n")
        assert result.stderr.startswith("tokenize text: starting"), result.stderr


def test_the_server_imports_libraries_of_earlier_jobs(server_environment: dict[str, str], tmp_path: Path) -> None:
    job = build_tokenize_job(tmp_path, "text", "tokens")
    subprocess.run([*RUN, job], cwd=tmp_path, env=server_environment, check=True, capture_output=True)
    subprocess.run([*RUN, job], cwd=tmp_path, env=server_environment, check=True, capture_output=True)
    maps = Path("/proc", server_environment["SERVER"], "maps").read_text()
    assert "pydantic_core" in maps


def test_an_error_is_reported_by_the_client(server_environment: dict[str, str], tmp_path: Path) -> None:
    job = build_tokenize_job(tmp_path, "missing", "tokens")
    result = subprocess.run([*RUN, job], cwd=tmp_path, env=server_environment, capture_output=True, text=True)
    separate_result = subprocess.run(
        [*RUN, job], cwd=tmp_path, env={**server_environment, "OMP_NUM_THREADS": "2"}, capture_output=True, text=True
    )
    assert result.returncode == separate_result.returncode == 1
    assert result.stderr == separate_result.stderr
    assert "missing" in result.stderr


def start_slow_job(folder: Path, environment: dict[str, str]) -> subprocess.Popen:
    """Start a slow job that handles Ctrl-C like a foreground process, and wait until it runs."""
    (folder / "many").write_text("a b c\n" * 10_000_000)
    starter = subprocess.Popen(
        [*RUN, build_tokenize_job(folder, "many", "tokens")],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert starter.stderr is not None
    starter.stderr.readline()
    return starter


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_job_ends_with_its_client(server_environment: dict[str, str], tmp_path: Path, end: signal.Signals) -> None:
    starter = start_slow_job(tmp_path, server_environment)
    children = Path("/proc", server_environment["SERVER"], "task", server_environment["SERVER"], "children")
    (job,) = children.read_text().split()
    starter.send_signal(end)
    code = starter.wait(timeout=60)
    assert starter.stderr is not None
    message = starter.stderr.read()
    assert "error: interrupted" in message and code == (130 if end == signal.SIGINT else -signal.SIGKILL)
    deadline = time.monotonic() + 60
    while Path("/proc", job).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path("/proc", job).exists() and not (tmp_path / "tokens").exists()


def test_a_killed_job_fails(server_environment: dict[str, str], tmp_path: Path) -> None:
    starter = start_slow_job(tmp_path, server_environment)
    (job,) = (
        Path("/proc", server_environment["SERVER"], "task", server_environment["SERVER"], "children")
        .read_text()
        .split()
    )
    os.kill(int(job), signal.SIGKILL)
    assert starter.wait(timeout=60) == 128 + signal.SIGKILL


def test_an_incomplete_request_is_ignored(server_environment: dict[str, str], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(tmp_path / "jobs"))
        socket.send_fds(connection, [(1000).to_bytes(LENGTH_PREFIX_BYTES, "big")], [writer, writer])
        connection.sendall(b"{")
    os.close(writer)
    assert os.read(reader, 1) == b"", "the server leaves the output of the starter open"
    os.close(reader)
    job = build_tokenize_job(tmp_path, "text", "tokens")
    assert subprocess.run([*RUN, job], cwd=tmp_path, env=server_environment, capture_output=True).returncode == 0


@pytest.mark.parametrize("answer", [None, b"", JOB_STARTED_ANSWER])
def test_without_a_server_a_job_runs_in_its_own_process(tmp_path: Path, answer: bytes | None) -> None:
    job = build_tokenize_job(tmp_path, "text", "tokens")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        SERVER_VARIABLE: format_server_identity(str(tmp_path / "jobs")),
    }
    with socket.socket(socket.AF_UNIX) as listener:
        if answer is not None:
            listener.bind(str(tmp_path / "jobs"))
            listener.listen()
        starter = subprocess.Popen([*RUN, job], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
        if answer is not None:
            connection, _ = listener.accept()
            while not connection.recv(65536).endswith(b"}"):
                pass
            connection.sendall(answer)
            connection.close()
    _, message = starter.communicate(timeout=60)
    if answer == JOB_STARTED_ANSWER:  # the server has ended with the job
        assert starter.returncode == 1
        assert message == "error: the job server has ended; this job ends too; run it again\n"
    else:
        assert starter.returncode == 0 and (tmp_path / "tokens").read_text() == "It 's here .\n"


@pytest.mark.slow
def test_results_are_the_same_with_and_without_a_server(tmp_path: Path) -> None:
    target = "results/nmt/GlobalAtt/seed1/model.safetensors"
    models = []
    for name, variables in (("with", {}), ("without", {SERVER_VARIABLE: ""})):
        project = ProjectCopy(tmp_path / name)
        environment = {name: value for name, value in os.environ.items() if name != SERVER_VARIABLE}
        options = project._build_options([target], None)
        result = subprocess.run(
            [SNAKEMAKE_PROGRAM, *options],
            cwd=project.folder,
            env={**environment, **variables},
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stderr[-3000:]
        models.append((project.folder / target).read_bytes())
    assert models[0] == models[1]
