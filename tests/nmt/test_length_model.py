"""The length model against counts by hand."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.nmt.length_model import LengthModel, length_model
from pipeline_py.run.errors import InputError
from pipeline_py.subword.vocabulary import EOS

PAIRS = [(2, 3), (2, 3), (2, 4), (10, 1), (2, 3), (0, 5), (7, 0)]
"""Source and target length of sentences, the end of sentence not counted."""

HEADER = "source_length\ttarget_length\tcount\n"


def packed(folder, pairs=PAIRS):
    for side, lengths in (("source", [pair[0] for pair in pairs]), ("target", [pair[1] for pair in pairs])):
        write_ragged_rows(folder / f"{side}.arrow", [np.array([5] * length + [EOS]) for length in lengths], "int32")
    sides = {side: folder / f"{side}.arrow" for side in ("source", "target")}
    return {**sides, "counts_output": folder / "lengths.tsv"}


def test_pairs_are_counted(tmp_path):
    length_model(**packed(tmp_path))
    expected = HEADER + "0\t5\t1\n2\t3\t3\n2\t4\t1\n7\t0\t1\n10\t1\t1\n"
    assert (tmp_path / "lengths.tsv").read_bytes() == expected.encode()


def test_tags_are_added_to_the_source(tmp_path):
    length_model(**packed(tmp_path), added=2)
    expected = HEADER + "2\t5\t1\n4\t3\t3\n4\t4\t1\n9\t0\t1\n12\t1\t1\n"
    assert (tmp_path / "lengths.tsv").read_text() == expected


def test_probabilities_are_relative_frequencies_with_floor(tmp_path):
    length_model(**packed(tmp_path))
    model = LengthModel.load(tmp_path / "lengths.tsv", floor=0.001)
    table = model.compute_log_probabilities(np.array([2, 10, 7, 0]), max_length=4)
    floor = math.log(0.001)
    np.testing.assert_allclose(
        table,
        [
            [floor, floor, floor, math.log(3 / 4), math.log(1 / 4)],
            [floor, 0, floor, floor, floor],
            [0, floor, floor, floor, floor],
            [floor] * 5,  # length 5 lies beyond the table
        ],
    )
    assert table.dtype == np.float64


def test_floor_applies_to_rare_pairs():
    model = LengthModel([(4, 4, 999), (4, 9, 1)], floor=0.01)
    table = np.exp(model.compute_log_probabilities(np.array([4]), max_length=9))
    np.testing.assert_allclose(table, [[0.01] * 4 + [0.999] + [0.01] * 5])


def test_unknown_source_length_is_neutral():
    model = LengthModel([(4, 4, 2), (6, 1, 1)], floor=1e-6)
    assert [model.has_source_length(length) for length in (4, 5, 6, 60)] == [True, False, True, False]
    assert model.compute_log_probabilities(np.array([5, 60]), max_length=3).tolist() == [[0.0] * 4] * 2


@settings(max_examples=40)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1, max_size=60),
    floor=st.sampled_from([1e-9, 0.05, 1.0]),
)
def test_probabilities_equal_direct_counts(tmp_path_factory, pairs, floor):
    folder = tmp_path_factory.mktemp("lengths")
    length_model(**packed(folder, pairs))
    model = LengthModel.load(folder / "lengths.tsv", floor)
    counts, totals = Counter(pairs), Counter(source for source, _ in pairs)
    table = model.compute_log_probabilities(np.arange(9), max_length=11)
    assert (table <= 0).all()
    for source, row in enumerate(np.exp(table).tolist()):
        for target, probability in enumerate(row):
            expected = max(floor, counts[source, target] / totals[source]) if totals[source] else 1.0
            assert probability == pytest.approx(expected)


def fewer(folder):
    write_ragged_rows(folder / "target.arrow", [np.array([5, EOS])], "int32")


def empty(folder):
    packed(folder, [])


def text(folder):
    (folder / "source.arrow").write_text("ein Satz\n")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (fewer, r"target.arrow: the file has 1 sentences and .*source.arrow has 7; make both from the same text"),
        (empty, r"source.arrow: the file is empty; check the corpus"),
        (text, r"source.arrow: damaged"),
    ],
)
def test_invalid_files_raise_error(tmp_path, spoil, message):
    arguments = packed(tmp_path)
    spoil(tmp_path)
    with pytest.raises(InputError, match=message):
        length_model(**arguments)
    assert not arguments["counts_output"].exists()
