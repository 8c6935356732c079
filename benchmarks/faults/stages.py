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

LIBRARIES = (
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
MEMORY = 6 * 2**30
"""Bytes that one stage may ask for: a number that it cannot bear must not take the machine with it."""

MOMENT = 0.002
"""Seconds between two looks whether a file is there."""


@dataclass(frozen=True)
class Done:
    """How a process ended.

    Attributes:
        code: its exit code, that of a signal negative; None where it was stopped as it took too long.
        said: what it wrote to stdout and stderr.
        seconds: how long it took.
    """

    code: int | None
    said: str
    seconds: float


def warm() -> None:
    """Import whatever stages import, so that no case has to."""
    import pipeline_py

    for name in LIBRARIES:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(pipeline_py.__path__, "pipeline_py."):
        importlib.import_module(module.name)


class Process:
    """Work that is done in a process of its own, a copy of this one, in a session of its own."""

    def __init__(self, work: Callable[[], object], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        """Start it.

        Args:
            work: what it does.
            folder: where.
            environment: variables that differ from those of this process.
        """
        self._output, written = os.pipe()  # a file would be cut where files may not grow
        self._began = time.monotonic()
        self.id = os.fork()
        if self.id == 0:
            os.setsid()
            _end(work, folder, environment or {}, written)
        os.close(written)
        os.set_blocking(self._output, False)

    def done(self, limit: float, killed_after: float | None = None, until: Callable[[], bool] | None = None) -> Done:
        """Wait for its end.

        Args:
            limit: seconds after which it hangs and is stopped.
            killed_after: seconds after which it is killed, with all processes that it started; None: it is not.
            until: it is also killed as soon as this is true, such as that a file is there.
        """
        waits = limit if killed_after is None else min(limit, killed_after)
        said = bytearray()
        late = not self._ends(waits, until, said)
        for process in self.session():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(self.id, 0)
        seconds = time.monotonic() - self._began
        self._read(said)
        os.close(self._output)
        hangs = late and killed_after is None and not (until and until())
        code = None if hangs else os.waitstatus_to_exitcode(status)
        return Done(code, said.decode("utf-8", errors="replace"), seconds)

    def _ends(self, limit: float, until: Callable[[], bool] | None, said: bytearray) -> bool:
        """Read what it says until its end; say whether this came before the limit, and before `until` was true."""
        end = time.monotonic() + limit
        descriptor = os.pidfd_open(self.id)
        try:
            while (left := end - time.monotonic()) > 0 and not (until and until()):
                ready, _, _ = select.select([descriptor, self._output], [], [], min(left, MOMENT) if until else left)
                if descriptor in ready:
                    return True
                if not self._read(said):
                    return bool(select.select([descriptor], [], [], max(end - time.monotonic(), 0))[0])
        finally:
            os.close(descriptor)
        return False

    def _read(self, said: bytearray) -> bool:
        """Read what it has said by now; say whether it may say more."""
        with suppress(BlockingIOError):
            while chunk := os.read(self._output, 2**16):
                said += chunk
            return False
        return True

    def session(self) -> list[int]:
        """Its processes, itself first."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, ProcessLookupError):
                if os.getsid(int(folder.name)) == self.id:
                    found.append(int(folder.name))
        return sorted(found, key=lambda process: process != self.id)


def stage(
    arguments: Sequence[str],
    folder: Path,
    limit: float,
    killed_after: float | None = None,
    until: Callable[[], bool] | None = None,
    file_size: int | None = None,
) -> Done:
    """Run a stage as `python -m` does, to its end, or as long as `Process.done` says.

    Args:
        arguments: the name of its module, and its options.
        folder: where it runs; the folder `cache` in it is the user's cache.
        limit: see there.
        killed_after: see there.
        until: see there.
        file_size: bytes that a file which it writes may have, as on a disk that is full; None: as many as it likes.
    """
    return started(arguments, folder, file_size).done(limit, killed_after, until)


def started(arguments: Sequence[str], folder: Path, file_size: int | None = None) -> Process:
    """Start a stage."""

    def run() -> None:
        if file_size is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        module, *options = arguments
        sys.argv = [module, *options]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="runpy")
            runpy.run_module(module, run_name="__main__", alter_sys=True)

    return Process(run, folder, {"XDG_CACHE_HOME": str(folder / "cache")})


def _end(work: Callable[[], object], folder: Path, environment: Mapping[str, str], output: int) -> None:
    """Do the work of the new process, and leave it as an interpreter is left; it never comes back from here."""
    code = 1
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)
        tqdm.set_lock(RLock())  # its own is shared by all processes, and one that is killed would never give it back
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        os.environ.update(environment)
        os.chdir(folder)
        work()
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
