"""Sentences from last word to first."""

import torch
from torch import Tensor


def turn(values: Tensor, lengths: Tensor) -> Tensor:
    """Turn each sentence round within its own length, so that padding stays last and is never read.

    Args:
        values: (J, B, X).
        lengths: how many positions of each sentence are turned, the others keep their place (B,).

    Returns:
        (J, B, X); turned once more, it is `values`.
    """
    position = torch.arange(len(values), device=values.device).unsqueeze(1)
    turned = torch.where(position < lengths, lengths - 1 - position, position)  # (J, B)
    # Rows by their number: the gradient of a gather along one dimension is slow where it must be repeatable.
    rows = turned * values.shape[1] + torch.arange(values.shape[1], device=values.device)
    return values.flatten(0, 1).index_select(0, rows.flatten()).view_as(values)
