"""Measure time and peak memory of every stage between text and training, each in its own process as in the workflow.

    python -m benchmarks.preprocessing --sentences 1000000
    python -m benchmarks.preprocessing --sentences 1000000 --compare 100000     memory of both sizes side by side

The text is synthetic (`benchmarks.synthetic_text`), and so are its trees (`syntax.control_trees`). A file is deleted
after the last stage that reads it.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pipeline_py.artifact import writing
from pipeline_py.input_error import InputError

from benchmarks.preprocessing_steps import Step, steps
from pipeline_py import stage

MEGABYTE = 1e6


class Measured(NamedTuple):
    """What a stage took.

    Attributes:
        name: of the stage.
        seconds: from start to end of its process.
        cpu: seconds of processors; fewer than `seconds` where others use them as well.
        memory: bytes of the largest resident set that it had.
        files: bytes of the files that it wrote.
    """

    name: str
    seconds: float
    cpu: float
    memory: int
    files: int


def preprocessing(
    *,
    sentences: int = 20_000,
    words: int = 25,
    merges: int = 8000,
    compare: int = 0,
    folder: Path | None = None,
    keep: bool = False,
    output: Path | None = None,
    seed: int = 1,
) -> None:
    """Print the time, sentences per second, peak memory and output size of each stage.

    Args:
        sentences: Number of sentence pairs.
        words: Mean words of a sentence.
        merges: Number of merges that `learn_bpe` learns.
        compare: A smaller number of sentence pairs to measure first; the comparison shows whether memory grows.
        folder: Parent of the folder of each run; by default the system's folder for temporary files.
        keep: Delete nothing.
        output: The numbers of all runs as TSV, memory and file sizes in bytes.
        seed: Seed of texts and trees.

    Raises:
        InputError: a size is too small, or the disk is.
    """
    if compare < 0 or sentences <= compare:
        raise InputError("--sentences must be at least 1 and more than --compare")
    runs = {size: _run(size, words, merges, folder, keep, seed) for size in (compare, sentences) if size}
    print(f"\n{sentences:,} sentences of {words} words on average, {merges:,} merges\n")
    _print_table(runs[sentences], sentences)
    if compare:
        print(f"\n{'peak MB, sentences:':<28}{compare:>12,}{sentences:>12,}")
        for less, more in zip(runs[compare], runs[sentences], strict=True):
            print(f"{more.name:<28}{less.memory / MEGABYTE:>12.0f}{more.memory / MEGABYTE:>12.0f}")
    if output is not None:
        _write(output, runs)


def _run(sentences: int, words: int, merges: int, folder: Path | None, keep: bool, seed: int) -> list[Measured]:
    """Make a text and let it go through all stages."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"preprocessing.{sentences}.", dir=folder))
    try:
        _check_disk(made, sentences, words, keep)
        sizes = ["--sentences", str(sentences), "--words", str(words), "--seed", str(seed)]
        outputs = ["--source-output", str(made / "raw.source"), "--target-output", str(made / "raw.target")]
        _measured("text", ["benchmarks.synthetic_text", *sizes, *outputs], [])
        return list(_all_measured(steps(made, merges, seed), made, keep))
    finally:
        if keep:
            print(f"files are in {made}", file=sys.stderr)
        else:
            shutil.rmtree(made)


def _check_disk(folder: Path, sentences: int, words: int, keep: bool) -> None:
    # A pair of 25 words takes 6.8 kB while the largest files lie beside each other, and 14 kB if nothing is deleted;
    # distances grow with the square of words, everything else with words.
    needed = sentences * words * (5 * words + (450 if keep else 180))
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(
            f"{sentences:,} sentences need about {needed / 1e9:.1f} GB and {free / 1e9:.1f} GB are free; "
            "name another --folder",
            folder,
        )


def _all_measured(chain: list[Step], folder: Path, keep: bool) -> Iterator[Measured]:
    for number, step in enumerate(chain):
        job = json.dumps(step.job(folder), default=str)
        yield _measured(step.name, ["pipeline_py.run", job], step.outputs)
        later = set().union(*(other.files for other in chain[number + 1 :]))
        for file in step.files - later:
            if not keep:
                file.unlink()


def _measured(name: str, command: list[str], outputs: list[Path]) -> Measured:
    """Run a module.

    Args:
        name: what tables call it.
        command: the module and its arguments.
        outputs: files that it writes.

    Raises:
        InputError: where it fails.
    """
    command = [sys.executable, "-m", *command]
    start = time.perf_counter()
    # Linux counts what this process has resident as the child's, from before it runs anything of its own. That is less
    # than any stage takes, as long as nothing large is imported here: every stage imports what this module does.
    process = subprocess.Popen(command, stdout=sys.stderr)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise InputError(f"{name} ended with exit code {process.returncode}; its message stands above")
    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    files = sum(path.stat().st_size for path in outputs)
    print(f"{name}: {seconds:.1f} s, {memory / MEGABYTE:.0f} MB", file=sys.stderr)
    return Measured(name, seconds, usage.ru_utime + usage.ru_stime, memory, files)


def _print_table(run: list[Measured], sentences: int) -> None:
    together = Measured(
        "together",
        sum(step.seconds for step in run),
        sum(step.cpu for step in run),
        max(step.memory for step in run),
        sum(step.files for step in run),
    )
    print(f"{'':<28}{'seconds':>10}{'CPU':>10}{'sentences/s':>14}{'peak MB':>10}{'files MB':>11}")
    for step in (*run, together):
        print(
            f"{step.name:<28}{step.seconds:>10.1f}{step.cpu:>10.1f}{sentences / step.seconds:>14,.0f}"
            f"{step.memory / MEGABYTE:>10.0f}{step.files / MEGABYTE:>11.1f}"
        )


def _write(path: Path, runs: dict[int, list[Measured]]) -> None:
    with writing(path) as file:
        file.write("sentences\tstage\tseconds\tcpu_seconds\tpeak_memory\tfiles\n")
        for sentences, run in runs.items():
            for step in run:
                numbers = (f"{step.seconds:.2f}", f"{step.cpu:.2f}", str(step.memory), str(step.files))
                file.write("\t".join((str(sentences), step.name, *numbers)) + "\n")


if __name__ == "__main__":
    stage.run(preprocessing)
