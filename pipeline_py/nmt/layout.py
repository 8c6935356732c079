"""How the values of each kind of syntax are laid out in files and tensors."""

from dataclasses import dataclass

import numpy as np

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
    "labels": Layout(1, 0, np.int64),
    "units": Layout(UNIT_SIZE, 0, np.int64),
}
"""Kind of syntax → its layout."""
