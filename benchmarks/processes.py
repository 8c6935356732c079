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


class Worker:
    """A process of `benchmarks.toolkits`; several start at the same time, and `facts` waits for one."""

    def __init__(self, name: str, python: Path | str, toolkit: str, job: Mapping[str, Any], log: Path) -> None:
        """Start it.

        Args:
            name: for messages.
            python: the interpreter that has the toolkit.
            toolkit: "ours", "opennmt" or "joeynmt".
            job: what to build.
            log: a file for what it prints.
        """
        self.name = name
        self._log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        threads = {name: str(job["threads"]) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                [python, "-m", f"benchmarks.toolkits.{toolkit}", json.dumps(job)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=ROOT,
                env={**os.environ, **threads},
            )

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What it says when it has built its network: parameters, version, torch."""
        return self.answer()

    def ask(self, do: str, **what: Any) -> None:
        """Ask for something; `answer` waits for it."""
        _ = self.facts
        assert self._process.stdin is not None
        try:
            print(json.dumps({"do": do, **what}, default=str), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise self._failure() from None

    def answer(self) -> dict[str, Any]:
        """Wait for the answer to the last question.

        Raises:
            InputError: the process has ended.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._failure()
        return json.loads(line)

    def asked(self, do: str, **what: Any) -> dict[str, Any]:
        """Ask and wait."""
        self.ask(do, **what)
        return self.answer()

    def _failure(self) -> InputError:
        return InputError(f"{self.name} has ended; this file says why", self._log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self._process.kill()
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
