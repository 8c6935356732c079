"""Trees of a batch level by level: what the passes up and down them share."""

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor


def spans(sizes: Sequence[int]) -> list[slice]:
    """Where each level's inner nodes stand among all, lowest level first, given the levels' sizes."""
    return [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]


def places(nodes: Tensor, rows: int) -> Tensor:
    """Turn a list of nodes round: which entry of it is each node?

    With it, what an entry holds is gathered by its node. Scattering to the nodes instead would be slow where it must
    be repeatable, and would have to begin with zeros.

    Args:
        nodes: rows of the table of nodes (N,) int64, no one twice.
        rows: size of the table.

    Returns:
        (rows,) int64: for each node its place in `nodes`, N where it has none.
    """
    found = nodes.new_full((rows,), len(nodes))
    return found.scatter_(0, nodes, torch.arange(len(nodes), device=nodes.device))


def product_dtype(values: Tensor) -> torch.dtype:
    """The type in which matrix products with `values` are made: that of autocast, or their own."""
    kind = values.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else values.dtype
