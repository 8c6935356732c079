"""Measurements of `benchmarks.gpu`, the most important one first, and the command that makes one of them."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from statistics import median
from typing import Any, Literal

from benchmarks import batch_selection, machine_metadata
from benchmarks.network_specs import ARBITREE, OPENNMT, NetworkSpec, start_worker
from benchmarks.packed_corpus import prepare_corpus
from benchmarks.settings import BenchmarkSettings, CorpusName, NetworkSize
from benchmarks.speed_comparison import ComparedNetwork
from pipeline_py.run.command_line import run_command
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.tree_formats import TreeKind

ROUNDS = 3
WARM_UP_PASSES, MEASURED_PASSES = 4, 10
"""Passes over the batches of a training."""

PARSED_SENTENCES, PARSER_BATCH_SIZE, MAX_PARSED_WORDS = 600, 100, 250
TINY: dict[str, Any] = {"batch_size": 3, "vocabulary": 50, "batches": 1, "is_recorded": False}
"""Sizes on a CPU, where the measurements only show that they work."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A measurement of one update, one search or one parsed text.

    Attributes:
        system: a system of `config.yaml`, a toolkit, or the kind of trees of a parser.
        expected_seconds: on an H100 or H200, with the start of all processes.
        size: sizes of the network; None for a parser.
        precision: float32 or bfloat16.
        beam_size: of a search; 0 for an update.
        batch_size: sentences of an update or a search.
        vocabulary: words of each side.
        batches: batches of different shapes; times are means.
        processes: trainings that share the GPU.
        toolkit: a module of `benchmarks.toolkits`.
        is_recorded: whether the update or the steps of the search are CUDA graphs.
    """

    system: str
    expected_seconds: int
    size: NetworkSize | None = None
    precision: str = "float32"
    beam_size: int = 0
    batch_size: int = 80
    vocabulary: int = 50_000
    batches: int = 1
    processes: int = 1
    toolkit: str = ARBITREE
    is_recorded: bool = True

    @property
    def needed_paths(self) -> set[str]:
        """Options with paths without which it cannot be made."""
        return {"stanza", "text"} if self.size is None else set() if self.toolkit == ARBITREE else {"peers"}


PAPER, MEDIUM, SMALL = NetworkSize(620, 1000), NetworkSize(512, 512), NetworkSize(256, 512)
TRAINING = Measurement(system="GlobalAtt", size=PAPER, expected_seconds=40)
SEARCH = Measurement(system="GlobalAtt", size=SMALL, beam_size=12, batch_size=32, vocabulary=8000, expected_seconds=40)
SHARED = replace(TRAINING, size=SMALL, precision="bfloat16", batch_size=64, vocabulary=8000, batches=8)
PEER: dict[str, Any] = {"system": "OpenNMT-py", "toolkit": OPENNMT, "is_recorded": False}

MEASUREMENTS = {
    "update_globalatt_bfloat16": replace(TRAINING, precision="bfloat16", expected_seconds=60),
    "update_globalatt_float32": TRAINING,
    "update_globalatt_medium": replace(TRAINING, size=MEDIUM),
    "update_tree2seq_medium": replace(TRAINING, system="Tree2Seq", size=MEDIUM),
    "search_globalatt": SEARCH,
    "search_transformer": replace(SEARCH, system="Transformer-base", size=NetworkSize(256, 256), expected_seconds=50),
    "one_training": replace(SHARED, expected_seconds=30),
    "eight_trainings": replace(SHARED, processes=8, expected_seconds=90),
    "four_trainings": replace(SHARED, processes=4, expected_seconds=60),
    "peer_update_bfloat16": replace(TRAINING, precision="bfloat16", **PEER),
    "peer_update_float32": replace(TRAINING, **PEER),
    "peer_search": replace(SEARCH, **PEER),
    **{
        f"parse_{kind}": Measurement(system=f"Stanza, {kind}", is_recorded=False, expected_seconds=60)
        for kind in TreeKind
    },
}
"""Measurements by name, the most important one first."""


def measure(
    *,
    measurement: str,
    device: Literal["cuda", "cpu"] = "cuda",
    peers: Path | None = None,
    stanza: Path | None = None,
    text: Path | None = None,
    work: Path = Path("benchmarks/work"),
) -> None:
    """Make one measurement of `benchmarks.gpu`, and print its row as JSON: without kernels, then with them.

    Args:
        measurement: Name of the measurement.
        device: cuda, or cpu for a trial in tiny sizes.
        peers: Python of an environment with OpenNMT-py.
        stanza: Folder with Stanza's English models.
        text: Tokenized English text that is parsed, one sentence a line, plain or gzipped.
        work: Folder for prepared files and logs.

    Raises:
        InputError: there is no such measurement, or it needs options that are not given.
    """
    if measurement not in MEASUREMENTS:
        raise InputError(f"--measurement {measurement} is none of {', '.join(MEASUREMENTS)}")
    options = MEASUREMENTS[measurement]
    paths = {"peers": peers, "stanza": stanza, "text": text}
    if missing_names := sorted(name for name in options.needed_paths if paths[name] is None):
        raise InputError(f"--measurement {measurement} needs --{' and --'.join(missing_names)}; give these, too")
    if stanza is not None and text is not None and options.size is None:
        rows = measure_parsing(TreeKind(measurement.removeprefix("parse_")), options, device, stanza, text)
    else:
        rows = measure_network(measurement, options, device, peers, work.absolute())
    machine = machine_metadata.describe_machine(device, 1)
    code = {**machine_metadata.describe_code(), "torch": machine["torch"]}
    for row in rows:
        columns = {"measurement": measurement, **row, **code, "device": machine["card"] or machine["processor"]}
        print(json.dumps(columns), flush=True)


def measure_network(
    name: str, measurement: Measurement, device: str, peer_python: Path | None, work: Path
) -> Iterator[dict[str, Any]]:
    """Measure updates or searches on random sentences; see `build_rows`.

    Networks are untrained, so that each search reaches its maximum length.
    """
    if device == "cpu":
        beam_size, processes = min(measurement.beam_size, 2), min(measurement.processes, 2)
        measurement = replace(measurement, size=NetworkSize(16, 16), beam_size=beam_size, processes=processes, **TINY)
    assert measurement.size is not None
    settings = BenchmarkSettings(
        corpus=CorpusName.RANDOM,
        vocabulary=measurement.vocabulary,
        batch_size=measurement.batch_size,
        batches=measurement.batches,
        together=measurement.batch_size,
        sentences=measurement.batch_size,
        device=device,
        threads=1,
        work=work,
    )
    corpus = prepare_corpus(settings)
    path = work / "batches" / f"gpu.{name}.npz"
    if measurement.beam_size:
        batch_selection.write_test_batches(corpus, settings, path)
    else:
        batch_selection.write_training_batches(corpus, settings, measurement.batches, path)
    spec = NetworkSpec(f"gpu {name}", measurement.toolkit, measurement.size, measurement.precision, measurement.system)
    with ExitStack() as exit_stack:
        starts = [start_worker(spec, settings, corpus, peer_python, 1, n) for n in range(measurement.processes)]
        network = ComparedNetwork(spec, [exit_stack.enter_context(worker) for worker in starts], 1, path)

        def run_turn(passes: int, is_profiled: bool) -> dict[str, Any]:
            if measurement.beam_size:
                return network.run_turn("translate_again", beam=measurement.beam_size, is_profiled=is_profiled)
            return network.run_turn("train", first=0, count=passes * measurement.batches, is_profiled=is_profiled)

        yield from build_rows(measurement, run_turn, 1 if measurement.beam_size else MEASURED_PASSES)


def measure_parsing(
    kind: TreeKind, measurement: Measurement, device: str, models: Path, text: Path
) -> Iterator[dict[str, Any]]:
    """Measure parsing of the first sentences of a text as the stage does, in this process; see `build_rows`."""
    import tempfile
    from itertools import islice

    import torch

    from benchmarks import parse
    from benchmarks.toolkits.worker_server import measure_work
    from pipeline_py.files.artifacts import SentenceCounts
    from pipeline_py.files.text_files import read_lines
    from pipeline_py.syntax.stanza.model_source import ModelSource
    from pipeline_py.syntax.stanza.text_parser import build_text_parser

    pipeline = ModelSource(kind, "en", directory=models).load_pipeline(device, PARSER_BATCH_SIZE)
    parser = build_text_parser(pipeline, kind, PARSER_BATCH_SIZE, MAX_PARSED_WORDS, SentenceCounts())
    with tempfile.TemporaryDirectory() as folder:
        tokens, trees = Path(folder) / "tokens", Path(folder) / "trees"
        lines = [*islice(read_lines(text), PARSED_SENTENCES if device == "cuda" else TINY["batch_size"])]
        tokens.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        words = sum(len(line.split()) for line in lines)

        def run_turn(_: int, is_profiled: bool) -> dict[str, Any]:
            with measure_work(torch.device(device), is_profiled) as measurements:
                parse.parse_to_file(parser, tokens, trees)
            return {**measurements, "words": words}

        yield from build_rows(measurement, run_turn, 1)


def build_rows(
    measurement: Measurement, run_turn: Callable[[int, bool], dict[str, Any]], passes: int
) -> Iterator[dict[str, Any]]:
    """Run turns, and yield the row of the measurement without kernels, then the same row with them.

    Args:
        measurement: the measurement.
        run_turn: makes so many passes over the batches, which are profiled or not, and returns sums over all processes.
        passes: of a turn.
    """
    run_turn(WARM_UP_PASSES, False)
    turns = [run_turn(passes, False) for _ in range(ROUNDS)]
    row = {
        "system": measurement.system,
        "sizes": str(measurement.size or ""),
        "precision": measurement.precision,
        "recorded": "yes" if measurement.is_recorded else "no",
        "processes": measurement.processes,
        "wall_ms": 1000 * median(turn["seconds"] for turn in turns) / passes / measurement.batches,
        "kernel_ms": nan,
        "kernels": nan,
        "busy_share": nan,
        "words_per_second": median(turn["words"] / turn["seconds"] for turn in turns),
        "peak_mb": turns[-1]["peak_memory"] / measurement.processes / 1e6,
    }
    yield row
    profiled_turn, count = run_turn(1, True), measurement.processes * measurement.batches
    kernel_ms = 1000 * profiled_turn["kernel_seconds"] / count
    kernels = profiled_turn["kernels"] / count
    yield {**row, "kernel_ms": kernel_ms, "kernels": kernels, "busy_share": kernel_ms / row["wall_ms"]}


if __name__ == "__main__":
    run_command(measure)
