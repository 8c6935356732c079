"""Measure what it costs to compare files of many sentences with their checksums and the hashes in their records.

    python -m benchmarks.checksums

Writing a checksum or a hash takes as long as comparing it. For comparison, the same file is also read as a stage reads
it. The measure is CPU time, which other work on the machine hardly changes. Files are in the system's cache, so the
disk is not measured.
"""

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from pipeline_py.input_error import InputError
from pipeline_py.ragged import read_rows, write_rows
from pipeline_py.text import read_lines

from benchmarks.machine import processor
from pipeline_py import checksum, stage
from pipeline_py.run.record import hash_content

DISTINCT = 4096
"""Sentences that are drawn; they are repeated until there are enough."""

WORDS = 30_000
"""Of the vocabulary."""


def checksums(*, sentences: int = 1_000_000, words: int = 24, repetitions: int = 3, seed: int = 1) -> None:
    """Print the size of a file of text, of identifiers and of distances, and the CPU seconds to check and to read each.

    Args:
        sentences: Sentences of each file.
        words: Mean words of a sentence.
        repetitions: Number of timed runs of each way.
        seed: Seed of the sentences.

    Raises:
        InputError: there is nothing to measure.
    """
    if min(sentences, words, repetitions) < 1:
        raise InputError("--sentences, --words and --repetitions must be positive")
    random = np.random.default_rng(seed)
    lengths = random.integers(words // 2, words + words // 2 + 1, DISTINCT)
    drawn = [random.integers(0, WORDS, length + 1).astype(np.int32) for length in lengths]
    print(f"Python {platform.python_version()}, {processor()}; {sentences} sentences; medians of {repetitions}\n")
    print(f"{'':<12}{'MB':>10}{'s of record':>13}{'s of checksum':>15}{'s to read':>11}")
    with TemporaryDirectory() as folder:
        text, identifiers, distances = (Path(folder, name) for name in ("text", "identifiers.arrow", "distances.arrow"))
        with text.open("w", encoding="utf-8") as file:
            file.writelines(" ".join(map(str, row)) + "\n" for row in _repeated(drawn, sentences))
        _tell(text, None, read_lines, repetitions)
        write_rows(identifiers, _repeated(drawn, sentences), "int32")
        _tell(identifiers, checksum.is_sealed, read_rows, repetitions)
        write_rows(distances, _repeated([_square(row) for row in drawn], sentences), "uint8")
        _tell(distances, checksum.is_sealed, read_rows, repetitions)


def _repeated(rows: list[np.ndarray], count: int) -> Iterator[np.ndarray]:
    return (rows[number % len(rows)] for number in range(count))


def _square(row: np.ndarray) -> np.ndarray:
    """As many values as there are distances between all positions."""
    return np.tile(row.astype(np.uint8), len(row))


def _tell(
    path: Path, compare: Callable[[Path], bool] | None, read: Callable[[Path], Iterable[object]], repetitions: int
) -> None:
    times: dict[str, list[float]] = {"hash": [], "compare": [], "read": []}
    for _ in range(repetitions):
        os.utime(path)  # a process does not compare a file twice that stays as it is
        began = time.process_time()
        hash_content(path)
        compared_from = time.process_time()
        assert compare is None or compare(path)
        read_from = time.process_time()
        for _row in read(path):
            pass
        times["hash"].append(compared_from - began)
        times["compare"].append(read_from - compared_from)
        times["read"].append(time.process_time() - read_from)
    megabytes = path.stat().st_size / 1e6
    checksum_time = "" if compare is None else f"{median(times['compare']):.2f}"
    print(
        f"{path.stem:<12}{megabytes:>10.1f}{median(times['hash']):>13.2f}{checksum_time:>15}"
        f"{median(times['read']):>11.2f}",
        flush=True,
    )


if __name__ == "__main__":
    stage.run(checksums)
