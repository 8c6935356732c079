"""Sides as processes of their own, which are asked for rounds."""

import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pipeline_py.run.errors import InputError

ROOT = Path(__file__).parent.parent


class WorkerProcess:
    """A process of `benchmarks.toolkits`; several start at the same time, and `network_metadata` waits for one."""

    def __init__(
        self, name: str, python: Path | str, toolkit: str, worker_options: Mapping[str, Any], log_path: Path
    ) -> None:
        """Start it.

        Args:
            name: for messages.
            python: the interpreter that has the toolkit.
            toolkit: "arbitree", "opennmt" or "joeynmt".
            worker_options: what to build.
            log_path: a file for what it prints.
        """
        self.name = name
        self._log_path = log_path
        log_path.parent.mkdir(parents=True, exist_ok=True)
        threads = {name: str(worker_options["threads"]) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        with log_path.open("w") as errors:
            self._process = subprocess.Popen(
                [python, "-m", f"benchmarks.toolkits.{toolkit}", json.dumps(worker_options)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=ROOT,
                env={**os.environ, **threads},
            )

    @cached_property
    def network_metadata(self) -> dict[str, Any]:
        """Metadata that a worker reports after building its network: parameters, version, torch."""
        return self.receive_response()

    def send_request(self, command: str, **arguments: Any) -> None:
        """Ask for something; `receive_response` waits for it."""
        _ = self.network_metadata
        assert self._process.stdin is not None
        try:
            print(json.dumps({"command": command, **arguments}, default=str), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise self._build_exit_error() from None

    def receive_response(self) -> dict[str, Any]:
        """Wait for the answer to the last question.

        Raises:
            InputError: the process has ended.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._build_exit_error()
        return json.loads(line)

    def request(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Ask and wait."""
        self.send_request(command, **arguments)
        return self.receive_response()

    def _build_exit_error(self) -> InputError:
        return InputError(f"{self.name} has ended; this file says why", self._log_path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if error_type is not None:
            self._process.kill()
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
