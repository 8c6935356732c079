"""Groups of rows cover all of them, once each, and are as large as allowed."""

import pytest
import torch

from pipeline_py.nmt.fast.products import CACHED, groups


@pytest.mark.parametrize(("rows", "width"), [(1, 1), (7, CACHED // 3), (7, CACHED), (5, 2 * CACHED), (1000, 1000)])
def test_groups_cover_all_rows(rows: int, width: int) -> None:
    covered = [list(range(rows))[group] for group in groups(rows, width, torch.device("cpu"))]
    assert [row for group in covered for row in group] == list(range(rows))
    assert {len(group) for group in covered[:-1]} <= {max(1, CACHED // width)}


def test_a_gpu_has_one() -> None:
    assert list(groups(5, 10 * CACHED, torch.device("cuda"))) == [slice(0, 5)]
