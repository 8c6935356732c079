"""Syntax that a batch does not hold is told, and not found to be missing somewhere within a part."""

import numpy as np
import pytest

from pipeline_py.nmt.data.batch import collate_batch


def test_missing_syntax_raises_error() -> None:
    batch = collate_batch([np.array([3, 0])], syntax={"labels": [np.array([1, 0])]})
    assert batch.get_syntax("labels").tolist() == [[[1], [0]]]
    with pytest.raises(LookupError, match=r"^the batch has no syntax of kind `distances` \(available: \S+\); name"):
        batch.get_syntax("distances")
    with pytest.raises(LookupError, match="no syntax of kind `trees`"):
        batch.get_tree_schedule("trees")
