"""Sides that are measured in one run, and the rows of what they did."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.material import Material
from benchmarks.processes import Worker
from benchmarks.rounds import NOT_MEASURED, Measured, Spread, alternate
from benchmarks.setting import Architecture, Setting
from benchmarks.sides import OURS, Side, as_large_as, worker
from pipeline_py.run.device import device_named

WARM_UP = {"cpu": 1, "cuda": 3}
"""Rounds that do not count; a GPU compiles, captures and chooses in the first ones."""


@dataclass(frozen=True)
class Contender:
    """A side, in one process or in several at the same time.

    Attributes:
        side: what it is.
        workers: its processes.
        threads: CPU threads of each.
        batches: what it trains on or translates.
    """

    side: Side
    workers: list[Worker]
    threads: int
    batches: Path

    @property
    def parameters(self) -> int:
        """Of one of its networks."""
        return self.workers[0].facts["parameters"]

    def turn(self, do: str, **what: Any) -> dict[str, Any]:
        """Let all its processes do the same; they have done it when the last one has."""
        for each in self.workers:
            each.ask(do, batches=self.batches, **what)
        answers = [each.answer() for each in self.workers]
        sums = {key: sum(answer[key] for answer in answers) for key in answers[0] if key != "translations"}
        return {**sums, "seconds": max(answer["seconds"] for answer in answers)}


class Contest:
    """Contenders, by names that tell them apart."""

    def __init__(self, setting: Setting, material: Material, python: Path | None, running: ExitStack) -> None:
        """Begin with none.

        Args:
            setting: what all share.
            material: what all are given.
            python: of the peers; None where there are none.
            running: ends the processes.
        """
        self.contenders: dict[str, Contender] = {}
        self.setting = setting
        self._material = material
        self._python = python
        self._running = running

    def add(self, side: Side, batches: Path, threads: int = 0, processes: int = 1) -> str:
        """Start a side.

        Args:
            side: what it is.
            batches: what it trains on or translates.
            threads: CPU threads of each process; 0: all.
            processes: so many at the same time.

        Returns:
            Its name in this contest.
        """
        threads = threads or self.setting.threads
        starts = [worker(side, self.setting, self._material, self._python, threads, n) for n in range(processes)]
        workers = [self._running.enter_context(start) for start in starts]
        return self._add(Contender(side, workers, threads, batches))

    def again(self, name: str, called: str, batches: Path) -> str:
        """Let the network of a contender have a turn of its own with other batches."""
        known = self.contenders[name]
        return self._add(replace(known, side=replace(known.side, name=called), batches=batches))

    def multiply_adds(self, name: str) -> float:
        """Count the multiply-adds of a system of ours for each target word.

        The result is not a number for a peer, and on a GPU, where recorded updates hide their operations.
        """
        contender = self.contenders[name]
        if contender.side.toolkit != OURS or device_named(self.setting.device) != "cpu":
            return nan
        counted = contender.workers[0].asked("multiply_adds", batches=contender.batches, count=self.setting.batches)
        return counted["multiply_adds"]

    def match(self, name: str, system: str, precision: str = "") -> None:
        """Let a system of ours with as many parameters as a contender take part, where it has not its nominal size.

        It has the precision of the contender, if no other is given.

        Transformers of a nominal size have as many in all toolkits, up to a thousandth.
        """
        if self.setting.architecture is Architecture.TRANSFORMER:
            return
        known = self.contenders[name]
        side = Side(
            f"{system}, as large as {known.side.name}",
            OURS,
            known.side.shape,
            precision or known.side.precision,
            system,
        )
        sized = as_large_as(known.parameters, side, self._material.sizes)
        if sized != side.shape:
            self.add(replace(side, shape=sized), known.batches)

    def _add(self, contender: Contender) -> str:
        name = f"{contender.side.name} {contender.side.precision}"
        self.contenders[name] = contender
        return name

    def run(self, what: str, do: str, **asked: Any) -> dict[str, Measured]:
        """Let all have their turns."""
        warm_up = WARM_UP[device_named(self.setting.device)]
        turns = {name: self._turn(contender, do, asked) for name, contender in self.contenders.items()}
        return alternate(turns, self.setting.rounds, warm_up, what)

    @staticmethod
    def _turn(contender: Contender, do: str, asked: Mapping[str, Any]) -> Any:
        return lambda: contender.turn(do, **asked)

    @staticmethod
    def ratios(
        name: str, measured: Mapping[str, Measured], unit: str, references: Mapping[str, str]
    ) -> dict[str, Spread]:
        """Divide what a contender did by what others did; arguments are those of `row`."""
        return {
            column: measured[name].times_as_fast_as(measured[other], unit) if other in measured else NOT_MEASURED
            for column, other in references.items()
        }

    def row(
        self, name: str, measured: Mapping[str, Measured], unit: str, references: Mapping[str, str]
    ) -> dict[str, Any]:
        """Describe a contender and what it did.

        Args:
            name: which one.
            measured: what all did.
            unit: "words" or "sentences".
            references: column → name of the contender that this one is divided by; one that does not take part leaves
                the column empty.
        """
        contender, did = self.contenders[name], measured[name]
        side = contender.side
        return {
            "corpus": self._material.name,
            "side": side.name,
            "toolkit": side.toolkit,
            "version": contender.workers[0].facts["version"],
            "precision": side.precision,
            **side.shape._asdict(),
            "parameters": contender.parameters,
            "batch_size": self.setting.batch_size,
            "dropout": self.setting.dropout,
            f"{unit}_per_second": did.rate(unit),
            **self.ratios(name, measured, unit, references),
            "peak_megabytes": did.peak_memory,
            **machine.described(device_named(self.setting.device), contender.threads),
        }
