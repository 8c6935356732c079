"""Stages run in a process that has imported everything once, and divides itself for each of them."""

import importlib
import os
import pkgutil
import resource
import runpy
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from tqdm import tqdm

PRELOADED_LIBRARIES = (
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "sacrebleu",
    "sacremoses",
    "safetensors.torch",
    "scipy.stats",
    "snakemake.cli",
    "stanza",
    "subword_nmt.apply_bpe",
    "thot",
    "torch",
)
MAX_MEMORY = 6 * 2**30
"""Bytes that one stage may ask for: a number that it cannot bear must not take the machine with it."""

POLL_SECONDS = 0.002
"""Seconds between two looks whether a file is there."""


@dataclass(frozen=True)
class ProcessResult:
    """The exit code, output and duration of a process.

    Attributes:
        exit_code: its exit code, that of a signal negative; None where it was stopped as it took too long.
        output: what it wrote to stdout and stderr.
        seconds: how long it took.
    """

    exit_code: int | None
    output: str
    seconds: float


def import_stage_modules() -> None:
    """Import whatever stages import, so that no case has to."""
    import pipeline_py

    for name in PRELOADED_LIBRARIES:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(pipeline_py.__path__, "pipeline_py."):
        importlib.import_module(module.name)


class ForkedProcess:
    """Work that is done in a process of its own, a copy of this one, in a session of its own."""

    def __init__(
        self, function: Callable[[], object], folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start it.

        Args:
            function: what it does.
            folder: where.
            environment: variables that differ from those of this process.
        """
        self._output_descriptor, write_descriptor = os.pipe()  # a file would be cut where files may not grow
        self._start_time = time.monotonic()
        self.process_id = os.fork()
        if self.process_id == 0:
            os.setsid()
            _run_and_exit(function, folder, environment or {}, write_descriptor)
        os.close(write_descriptor)
        os.set_blocking(self._output_descriptor, False)

    def wait_for_result(
        self, time_limit: float, kill_seconds: float | None = None, kill_condition: Callable[[], bool] | None = None
    ) -> ProcessResult:
        """Wait for its end.

        Args:
            time_limit: seconds after which it hangs and is stopped.
            kill_seconds: seconds after which it is killed, with all processes that it started; None: it is not.
            kill_condition: it is also killed as soon as this is true, such as that a file is there.
        """
        waits = time_limit if kill_seconds is None else min(time_limit, kill_seconds)
        output = bytearray()
        late = not self._wait_for_end(waits, kill_condition, output)
        for process in self.list_session_processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(self.process_id, 0)
        seconds = time.monotonic() - self._start_time
        self._read_output(output)
        os.close(self._output_descriptor)
        hangs = late and kill_seconds is None and not (kill_condition and kill_condition())
        code = None if hangs else os.waitstatus_to_exitcode(status)
        return ProcessResult(code, output.decode("utf-8", errors="replace"), seconds)

    def _wait_for_end(self, time_limit: float, kill_condition: Callable[[], bool] | None, output: bytearray) -> bool:
        """Read output until the process ends; return whether that was before the limit and `kill_condition`."""
        end = time.monotonic() + time_limit
        descriptor = os.pidfd_open(self.process_id)
        try:
            while (left := end - time.monotonic()) > 0 and not (kill_condition and kill_condition()):
                ready, _, _ = select.select(
                    [descriptor, self._output_descriptor], [], [], min(left, POLL_SECONDS) if kill_condition else left
                )
                if descriptor in ready:
                    return True
                if not self._read_output(output):
                    return bool(select.select([descriptor], [], [], max(end - time.monotonic(), 0))[0])
        finally:
            os.close(descriptor)
        return False

    def _read_output(self, output: bytearray) -> bool:
        """Read what it has said by now; say whether it may say more."""
        with suppress(BlockingIOError):
            while chunk := os.read(self._output_descriptor, 2**16):
                output += chunk
            return False
        return True

    def list_session_processes(self) -> list[int]:
        """Its processes, itself first."""
        process_ids = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, ProcessLookupError):
                if os.getsid(int(folder.name)) == self.process_id:
                    process_ids.append(int(folder.name))
        return sorted(process_ids, key=lambda process: process != self.process_id)


def run_stage(
    arguments: Sequence[str],
    folder: Path,
    time_limit: float,
    kill_seconds: float | None = None,
    kill_condition: Callable[[], bool] | None = None,
    max_file_size: int | None = None,
) -> ProcessResult:
    """Run a stage as `python -m` does, to its end, or as long as `ForkedProcess.done` says.

    Args:
        arguments: the name of its module, and its options.
        folder: where it runs; the folder `cache` in it is the user's cache.
        time_limit: see there.
        kill_seconds: see there.
        kill_condition: see there.
        max_file_size: bytes that a file which it writes may have, as on a disk that is full; None: as many as it likes.
    """
    return start_stage(arguments, folder, max_file_size).wait_for_result(time_limit, kill_seconds, kill_condition)


def start_stage(arguments: Sequence[str], folder: Path, max_file_size: int | None = None) -> ForkedProcess:
    """Start a stage."""

    def run() -> None:
        if max_file_size is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (max_file_size, max_file_size))
        module, *options = arguments
        sys.argv = [module, *options]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="runpy")
            runpy.run_module(module, run_name="__main__", alter_sys=True)

    return ForkedProcess(run, folder, {"XDG_CACHE_HOME": str(folder / "cache")})


def _run_and_exit(
    function: Callable[[], object], folder: Path, environment: Mapping[str, str], output_descriptor: int
) -> None:
    """Do the work of the new process, and leave it as an interpreter is left; it never comes back from here."""
    code = 1
    try:
        os.dup2(output_descriptor, 1)
        os.dup2(output_descriptor, 2)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)
        tqdm.set_lock(RLock())  # its own is shared by all processes, and one that is killed would never give it back
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
        os.environ.update(environment)
        os.chdir(folder)
        function()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
