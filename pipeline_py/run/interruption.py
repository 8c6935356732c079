"""Termination of a process by Ctrl-C or at the end of its Snakemake process."""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NoReturn

INTERRUPT_EXIT_CODE = 130
"""128 and the number of SIGINT, as shells report it."""


def install_interrupt_hook() -> None:
    """Report Ctrl-C in one sentence instead of a traceback."""
    sys.excepthook = _handle_uncaught_exception


def _handle_uncaught_exception(
    error_type: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    if issubclass(error_type, KeyboardInterrupt):
        exit_interrupted()
    sys.__excepthook__(error_type, error, traceback)


def exit_interrupted() -> NoReturn:
    """End this process after Ctrl-C."""
    print("error: interrupted; run the same command again", file=sys.stderr, flush=True)
    os._exit(INTERRUPT_EXIT_CODE)


SNAKEMAKE_PID_VARIABLE = "ARBITREE_SNAKEMAKE"
"""Environment variable with the ID of the Snakemake process that runs a job; the Snakefile sets it."""


def exit_with_snakemake() -> None:
    """End this process and its descendants as soon as its Snakemake process ends, for whatever reason.

    Nothing happens outside Linux or if Snakemake does not run this process.
    """
    runner = os.environ.get(SNAKEMAKE_PID_VARIABLE, "")
    if not hasattr(os, "pidfd_open") or not runner.isdecimal() or int(runner) not in _iterate_ancestor_ids():
        return
    try:
        handle = os.pidfd_open(int(runner))
    except OSError:
        return
    threading.Thread(target=_wait_for_snakemake, args=(handle, runner), daemon=True).start()


def _wait_for_snakemake(process_descriptor: int, snakemake_pid: str) -> None:
    waiting = select.poll()
    waiting.register(process_descriptor, select.POLLIN)
    waiting.poll()
    print(f"error: Snakemake (process {snakemake_pid}) has ended; this job ends too; run it again", file=sys.stderr)
    sys.stderr.flush()
    for process in [*_list_descendant_ids(os.getpid()), os.getpid()]:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _read_parent_id(process_id: int) -> int:
    """Return the ID of a process's parent; 0 if there is none."""
    try:
        status = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(status.rpartition(")")[2].split()[1])  # the process name before it may contain brackets


def _iterate_ancestor_ids() -> Iterator[int]:
    process = os.getppid()
    while process:
        yield process
        process = _read_parent_id(process)


def _list_descendant_ids(process_id: int) -> list[int]:
    numbers = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdecimal()]
    children = [number for number in numbers if _read_parent_id(number) == process_id]
    return [descendant for child in children for descendant in (*_list_descendant_ids(child), child)]
