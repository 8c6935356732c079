"""Jobs of a workflow that are forked from a process that has imported libraries, PyTorch among them.

Importing it takes longer than the work of a job in a small experiment. The `python` that such jobs find writes its
process ID into a queue. A forked process takes over its arguments, folder, environment and output, and `python` ends
with the exit code of that process. The project's own modules are imported again, from the folder where the job runs.
"""

import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

PRELOADED_CONTEXT = get_context("forkserver")
"""Processes that are forked from one that has imported `tests.preloaded_modules`."""
PRELOADED_CONTEXT.set_forkserver_preload(["tests.preloaded_modules"])

FORK_CONTEXT = get_context("fork")
"""Processes that are forked from the one that starts them."""

PROCESS_LOCK = Lock()
"""Lock for starting and joining: a start also collects other ended processes, whose exit code can be read only once."""

PACKAGE = "pipeline_py"
PYTHON_STAND_IN = """\
#!/bin/bash
[[ $1 == -m && $2 == {package}.* ]] || exec "{python}" "$@"
answer="{folder}/$$"
mkfifo "$answer" && exec 3<> "$answer" && printf '%s\\0' "${{@:2}}" > "$answer.words" && echo $$ > "{folder}/queue"
read -r code <&3 && exit $code
"""
"""Script `python` in the folder of the queue, which forwards only modules of the project."""


def start_process(process: BaseProcess) -> None:
    """Start a process, in any thread."""
    with PROCESS_LOCK:
        process.start()


def join_process(process: BaseProcess) -> int | None:
    """Wait for a process, in any thread; return its exit code."""
    wait([process.sentinel])
    with PROCESS_LOCK:
        process.join()
        return process.exitcode


@contextmanager
def serve_forked_jobs() -> Iterator[Path]:
    """Serve jobs within the context.

    Yields:
        The stand-in for Python that starts them, or Python itself if processes cannot see each other's files.
    """
    if not Path("/proc/self/fd").exists():
        yield Path(sys.executable)
        return
    with TemporaryDirectory(prefix="jobs.", ignore_cleanup_errors=True) as folder:
        python = Path(folder, "python")
        python.write_text(PYTHON_STAND_IN.format(package=PACKAGE, python=sys.executable, folder=folder))
        python.chmod(0o700)
        os.mkfifo(Path(folder, "queue"))
        server = PRELOADED_CONTEXT.Process(target=_serve_queue, args=(Path(folder),))
        start_process(server)
        try:
            yield python
        finally:
            server.terminate()
            join_process(server)


def _serve_queue(folder: Path) -> None:
    with os.fdopen(os.open(folder / "queue", os.O_RDWR)) as queue:  # does not end if there is no writer
        for starter_id in queue:
            FORK_CONTEXT.Process(target=_run_and_answer, args=(folder, starter_id.strip())).start()


def _run_and_answer(folder: Path, starter_id: str) -> None:
    job = FORK_CONTEXT.Process(target=_run_job, args=(folder, Path("/proc", starter_id)))
    job.start()
    job.join()
    with suppress(OSError):  # the starter is killed
        answer = os.open(folder / starter_id, os.O_WRONLY | os.O_NONBLOCK)
        os.write(answer, f"{job.exitcode % 256}\n".encode())


def _run_job(folder: Path, starter_folder: Path) -> None:
    """Run a module on behalf of the stand-in that requested it."""
    for descriptor in (1, 2):
        os.dup2(os.open(starter_folder / "fd" / str(descriptor), os.O_WRONLY | os.O_APPEND), descriptor)
    os.chdir((starter_folder / "cwd").readlink())
    os.environ.clear()
    for variable in (starter_folder / "environ").read_bytes().rstrip(b"\0").split(b"\0"):
        os.environb.__setitem__(*variable.split(b"=", 1))
    module, *arguments = (folder / f"{starter_folder.name}.words").read_text(errors="surrogateescape").split("\0")[:-1]
    unload_project_modules()
    folders = [] if "PYTHONSAFEPATH" in os.environ else [str(Path.cwd())]
    sys.path[:0] = [*folders, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = ["python", *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def unload_project_modules() -> None:
    """Remove the project's modules, so that they are imported again."""
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]
