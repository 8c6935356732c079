"""Sentences are turned round within their own lengths."""

import torch

from pipeline_py.nmt.turn import turn


def test_padding_stays_last() -> None:
    values = torch.tensor([[1, 4, 6], [2, 5, 0], [3, 0, 0]]).unsqueeze(2)
    lengths = torch.tensor([3, 2, 1])
    assert turn(values, lengths).squeeze(2).tolist() == [[3, 5, 6], [2, 4, 0], [1, 0, 0]]
    assert torch.equal(turn(turn(values, lengths), lengths), values)
