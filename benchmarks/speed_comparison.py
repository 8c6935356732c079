"""Sides that are measured in one run, and the rows of what they did."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any

from benchmarks import machine_metadata
from benchmarks.network_specs import ARBITREE, NetworkSpec, find_matching_size, start_worker
from benchmarks.packed_corpus import PackedCorpus
from benchmarks.rounds import NOT_MEASURED, MedianAndRange, RoundMeasurements, run_alternating_rounds
from benchmarks.settings import Architecture, BenchmarkSettings
from benchmarks.worker_process import WorkerProcess
from pipeline_py.run.device_selection import select_device

WARM_UP_ROUNDS = {"cpu": 1, "cuda": 3}
"""Rounds that do not count; a GPU compiles, captures and chooses in the first ones."""


@dataclass(frozen=True)
class ComparedNetwork:
    """A side, in one process or in several at the same time.

    Attributes:
        spec: what it is.
        workers: its processes.
        threads: CPU threads of each.
        batches_path: what it trains on or translates.
    """

    spec: NetworkSpec
    workers: list[WorkerProcess]
    threads: int
    batches_path: Path

    @property
    def parameter_count(self) -> int:
        """The number of parameters of one network."""
        return self.workers[0].network_metadata["parameters"]

    def run_turn(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Let all its processes do the same; they have done it when the last one has."""
        for worker in self.workers:
            worker.send_request(command, batches=self.batches_path, **arguments)
        answers = [worker.receive_response() for worker in self.workers]
        sums = {key: sum(answer[key] for answer in answers) for key in answers[0] if key != "translations"}
        return {**sums, "seconds": max(answer["seconds"] for answer in answers)}


class SpeedComparison:
    """Contenders, by names that tell them apart."""

    def __init__(
        self, settings: BenchmarkSettings, corpus: PackedCorpus, peer_python: Path | None, exit_stack: ExitStack
    ) -> None:
        """Begin with none.

        Args:
            settings: what all share.
            corpus: what all are given.
            peer_python: of the peers; None where there are none.
            exit_stack: ends the processes.
        """
        self.networks: dict[str, ComparedNetwork] = {}
        self.settings = settings
        self._corpus = corpus
        self._peer_python = peer_python
        self._exit_stack = exit_stack

    def start_network(self, spec: NetworkSpec, batches_path: Path, threads: int = 0, process_count: int = 1) -> str:
        """Start a side.

        Args:
            spec: what it is.
            batches_path: what it trains on or translates.
            threads: CPU threads of each process; 0: all.
            process_count: so many at the same time.

        Returns:
            Its name in this contest.
        """
        threads = threads or self.settings.threads
        starts = [
            start_worker(spec, self.settings, self._corpus, self._peer_python, threads, n) for n in range(process_count)
        ]
        workers = [self._exit_stack.enter_context(start) for start in starts]
        return self._register_network(ComparedNetwork(spec, workers, threads, batches_path))

    def reuse_with_batches(self, name: str, display_name: str, batches_path: Path) -> str:
        """Let the network of a contender have a turn of its own with other batches."""
        network = self.networks[name]
        return self._register_network(
            replace(network, spec=replace(network.spec, name=display_name), batches_path=batches_path)
        )

    def count_multiply_adds(self, name: str) -> float:
        """Count the multiply-adds of a system of ours for each target word.

        The result is not a number for a peer, and on a GPU, where recorded updates hide their operations.
        """
        contender = self.networks[name]
        if contender.spec.toolkit != ARBITREE or select_device(self.settings.device) != "cpu":
            return nan
        counted = contender.workers[0].request(
            "count_multiply_adds", batches=contender.batches_path, count=self.settings.batches
        )
        return counted["multiply_adds"]

    def start_size_matched(self, name: str, system_name: str, precision: str = "") -> None:
        """Let a system of ours with as many parameters as a contender take part, where it has not its nominal size.

        It has the precision of the contender, if no other is given.

        Transformers of a nominal size have as many in all toolkits, up to a thousandth.
        """
        if self.settings.architecture is Architecture.TRANSFORMER:
            return
        network = self.networks[name]
        side = NetworkSpec(
            f"{system_name}, as large as {network.spec.name}",
            ARBITREE,
            network.spec.size,
            precision or network.spec.precision,
            system_name,
        )
        sized = find_matching_size(network.parameter_count, side, self._corpus.vocabulary_sizes)
        if sized != side.size:
            self.start_network(replace(side, size=sized), network.batches_path)

    def _register_network(self, network: ComparedNetwork) -> str:
        name = f"{network.spec.name} {network.spec.precision}"
        self.networks[name] = network
        return name

    def run_rounds(self, progress_label: str, command: str, **arguments: Any) -> dict[str, RoundMeasurements]:
        """Let all have their turns."""
        warm_up = WARM_UP_ROUNDS[select_device(self.settings.device)]
        turns = {name: self._build_turn(contender, command, arguments) for name, contender in self.networks.items()}
        return run_alternating_rounds(turns, self.settings.rounds, warm_up, progress_label)

    @staticmethod
    def _build_turn(network: ComparedNetwork, command: str, arguments: Mapping[str, Any]) -> Any:
        return lambda: network.run_turn(command, **arguments)

    @staticmethod
    def compute_speedups(
        name: str, results: Mapping[str, RoundMeasurements], unit: str, references: Mapping[str, str]
    ) -> dict[str, MedianAndRange]:
        """Divide what a contender did by what others did; arguments are those of `build_table_row`."""
        return {
            column: results[name].summarize_speedup(results[reference], unit) if reference in results else NOT_MEASURED
            for column, reference in references.items()
        }

    def build_table_row(
        self, name: str, results: Mapping[str, RoundMeasurements], unit: str, references: Mapping[str, str]
    ) -> dict[str, Any]:
        """Describe a contender and what it did.

        Args:
            name: which one.
            results: what all did.
            unit: "words" or "sentences".
            references: column → name of the contender that this one is divided by; one that does not take part leaves
                the column empty.
        """
        contender, did = self.networks[name], results[name]
        side = contender.spec
        return {
            "corpus": self._corpus.name,
            "side": side.name,
            "toolkit": side.toolkit,
            "version": contender.workers[0].network_metadata["version"],
            "precision": side.precision,
            **side.size._asdict(),
            "parameters": contender.parameter_count,
            "batch_size": self.settings.batch_size,
            "dropout": self.settings.dropout,
            f"{unit}_per_second": did.summarize_rates(unit),
            **self.compute_speedups(name, results, unit, references),
            "peak_megabytes": did.peak_megabytes,
            **machine_metadata.describe_machine(select_device(self.settings.device), contender.threads),
        }
