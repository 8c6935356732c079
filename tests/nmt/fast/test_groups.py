"""Groups of rows cover all of them, once each, and are as large as allowed."""

import pytest
import torch

from pipeline_py.nmt.fast.matrix_products import MAX_CACHED_NUMBERS, split_rows


@pytest.mark.parametrize(
    ("rows", "width"),
    [(1, 1), (7, MAX_CACHED_NUMBERS // 3), (7, MAX_CACHED_NUMBERS), (5, 2 * MAX_CACHED_NUMBERS), (1000, 1000)],
)
def test_groups_cover_all_rows(rows: int, width: int) -> None:
    covered = [list(range(rows))[group] for group in split_rows(rows, width, torch.device("cpu"))]
    assert [row for group in covered for row in group] == list(range(rows))
    assert {len(group) for group in covered[:-1]} <= {max(1, MAX_CACHED_NUMBERS // width)}


def test_a_gpu_has_one() -> None:
    assert list(split_rows(5, 10 * MAX_CACHED_NUMBERS, torch.device("cuda"))) == [slice(0, 5)]
