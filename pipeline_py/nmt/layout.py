"""How the values of each kind of syntax are laid out in files and tensors.

A kind has a rectangle for each sentence (`LAYOUTS`; that of heads is described in `subword.head_row`) or binary trees
over its pieces (`KINDS_OF_TREES`; their rows are described in `subword.tree_row`).
"""

from dataclasses import dataclass

import numpy as np

from pipeline_py.subword.head_row import NO_HEAD
from pipeline_py.syntax.unit import UNIT_SIZE


@dataclass(frozen=True)
class Layout:
    """How the syntax of a sentence of J positions is laid out: row-major (J, columns).

    Attributes:
        columns: values of each position; None: J of them.
        padding: what stands where a sentence has no positions.
        dtype: of the tensor.
    """

    columns: int | None
    padding: int
    dtype: type

    def width(self, positions: int) -> int:
        """Columns of a sentence of so many positions."""
        return self.columns or positions


LAYOUTS = {
    "distances": Layout(None, 255, np.uint8),
    "heads": Layout(1, NO_HEAD, np.int64),
    "labels": Layout(1, 0, np.int64),
    "units": Layout(UNIT_SIZE, 0, np.int64),
}
"""Kind of syntax → its layout."""

TREES = "trees"
"""A tree over all n pieces has n − 1 inner nodes; where the parse failed, there are none and no root."""

LEXICAL_TREES = "lexical_trees"
"""A tree over the pieces of each split word, and never a root."""

KINDS_OF_TREES = (TREES, LEXICAL_TREES)
"""Kinds of syntax that a batch holds as a `schedule.Schedule`."""
