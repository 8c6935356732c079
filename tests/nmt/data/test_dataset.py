"""Reading packed pairs: what is refused, what is skipped, and the order of an epoch."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_py.files.ragged_arrays import MAX_ROWS_PER_BLOCK, write_ragged_rows
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.run.errors import InputError

SIZE = 9


def write(folder: Path, sources: list, targets: list, distances: list | None = None) -> dict:
    for side, rows in (("source", sources), ("target", targets)):
        write_ragged_rows(folder / side, [np.array(row, dtype=np.int32) for row in rows], "int32")
    paths: dict = {"source": folder / "source", "target": folder / "target", "syntax": {}}
    if distances is not None:
        write_ragged_rows(folder / "distances", [np.array(row, dtype=np.uint8) for row in distances], "uint8")
        paths["syntax"] = {"distances": folder / "distances"}
    return paths


def open_(paths: dict, max_length: int | None = None) -> ParallelDataset:
    return ParallelDataset(**paths, vocabularies={"source": SIZE, "target": SIZE}, max_length=max_length)


def random_pairs(lengths: list[tuple[int, int]]) -> tuple[list, list]:
    random = np.random.default_rng(0)
    sources = [[*random.integers(1, SIZE, source), 0] for source, _ in lengths]
    targets = [[*random.integers(1, SIZE, target), 0] for _, target in lengths]
    return sources, targets


def test_batch_is_padded(tmp_path: Path) -> None:
    data = open_(write(tmp_path, [[3, 0], [4, 5, 0]], [[2, 3, 0], [0]], [[0, 1, 1, 0], [0, 1, 2, 3, 0, 5, 6, 7, 0]]))
    batch = data.build_batch(np.array([1, 0]))
    assert batch.source.tolist() == [[4, 5, 0], [3, 0, 0]]
    assert batch.source_lengths.tolist() == [3, 2]
    assert batch.target is not None and batch.target_lengths is not None
    assert batch.target.tolist() == [[0, 0, 0], [2, 3, 0]]
    assert batch.target_lengths.tolist() == [1, 3]
    assert batch.syntax["distances"].tolist() == [
        [[0, 1, 2], [3, 0, 5], [6, 7, 0]],
        [[0, 1, 255], [1, 0, 255], [255, 255, 255]],
    ]
    assert data.count_target_words(np.array([0, 1])) == 2


lengths = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=200)


@settings(max_examples=40)
@given(lengths=lengths, batch_size=st.integers(1, 20), unit=st.sampled_from(["sentences", "tokens"]))
def test_epoch_has_every_pair_once(tmp_path_factory, lengths, batch_size: int, unit: str) -> None:
    longest = 9
    pair_indices = [number for number, pair in enumerate(lengths) if max(pair) <= longest]
    paths = write(tmp_path_factory.mktemp("pairs"), *random_pairs(lengths))
    if not pair_indices:
        with pytest.raises(InputError, match="have more than 9 pieces"):
            open_(paths, longest)
        return
    data = open_(paths, longest)
    assert data.skipped_count == len(lengths) - len(pair_indices)
    for batches in (data.build_epoch_batches(1, 0, batch_size, unit), data.build_sorted_batches(batch_size, unit)):
        assert sorted(pair for batch in batches for pair in batch) == pair_indices
        for batch in batches:
            if unit == "sentences":
                assert 1 <= len(batch) <= batch_size
            else:
                padded = len(batch) * (1 + max(lengths[pair][1] for pair in batch))
                assert len(batch) == 1 or padded <= batch_size


@pytest.mark.parametrize("unit", ["sentences", "tokens"])
def test_epoch_order_depends_on_seed_and_epoch(tmp_path: Path, unit: str) -> None:
    random = np.random.default_rng(1)
    pairs = [(int(random.integers(1, 30)), int(random.integers(1, 30))) for _ in range(3000)]
    data = open_(write(tmp_path, *random_pairs(pairs)))
    size = 10 if unit == "sentences" else 150

    def order(seed: int, epoch: int) -> list[list[int]]:
        return [batch.tolist() for batch in data.build_epoch_batches(seed, epoch, size, unit)]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1) != order(2, 1)
    targets = [[pairs[pair][1] for pair in batch] for batch in order(1, 0)]
    assert np.mean([max(lengths) - min(lengths) for lengths in targets]) < 3  # sorted within pools …
    firsts = [lengths[0] for lengths in targets]
    assert firsts != sorted(firsts)  # … and shuffled among themselves
    if unit == "sentences":
        assert len(order(1, 0)) == 300


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": [[2, 0]]}, "target: the file has 1 sentences and {folder}/source has 2"),
        ({"sources": [[3, 0], [9, 5, 0]]}, "source, line 2: an identifier is outside the vocabulary of 9 tokens"),
        ({"distances": [[0, 1, 1, 0], [0] * 4]}, "distances, line 2: the sentence has 4 values of distances"),
        ({"distances": [[0, 1, 1, 0]]}, "distances: the file has 1 sentences"),
        ({"sources": [], "targets": [], "distances": []}, "source: the file is empty"),
    ],
)
def test_inconsistent_files_raise_error(tmp_path: Path, change: dict, message: str) -> None:
    content: dict = {"sources": [[3, 0], [4, 5, 0]], "targets": [[2, 0], [0]], "distances": [[0, 1, 1, 0], [0] * 9]}
    with pytest.raises(InputError) as error:
        open_(write(tmp_path, **content | change))
    assert message.format(folder=tmp_path) in str(error.value)


def test_unpacked_file_raises_error(tmp_path: Path) -> None:
    paths = write(tmp_path, [[0]], [[0]])
    paths["target"].write_text("not arrow\n")
    with pytest.raises(InputError, match="damaged"):
        open_(paths)


@pytest.mark.parametrize("longest", [1, 2, 4])
def test_target_frequencies_exclude_long_pairs(tmp_path: Path, longest: int) -> None:
    random = np.random.default_rng(5)
    # More than one block of the file; 7 and 8 occur nowhere.
    targets = [[*random.integers(1, 7, random.integers(0, 5)), 0] for _ in range(MAX_ROWS_PER_BLOCK + 700)]
    data = open_(write(tmp_path, [[0]] * len(targets), targets), max_length=longest)
    counted = Counter(int(word) for number in data.pair_indices for word in targets[number])
    frequencies = data.count_target_frequencies(SIZE)
    assert frequencies.tolist() == [max(counted[word], 1) for word in range(SIZE)]
    assert frequencies[0] == len(data.pair_indices)
    assert frequencies.dtype == np.int64
