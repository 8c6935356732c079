"""Predicted parses against gold ones, counted by hand."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.parsing_encoder import ParseScores, count_parsed_words

SENTENCES = [[5, 6, 7, 0], [5, 0], [5, 6, 0]]
HEADS = [[1, 1, 0, 3], [0, 1], [-1, -1, -1]]
LABELS = [[2, 0, 1, 0], [1, 0], [1, 1, 0]]


def gold() -> Batch:
    def rows(table: list[list[int]]) -> list[np.ndarray]:
        return [np.array(row) for row in table]

    return collate_batch(rows(SENTENCES), syntax={"heads": rows(HEADS), "labels": rows(LABELS)})


def one_hot(rows: list[list[int]], width: int) -> Tensor:
    """Scores of ln 9 for one class and 0 for the others, rows filled up with class 0."""
    filled = torch.tensor([row + [0] * (4 - len(row)) for row in rows])
    return torch.nn.functional.one_hot(filled, width).double() * math.log(9)


def test_batch_has_heads_of_file() -> None:
    heads = gold().syntax_tensors["heads"].squeeze(2)
    assert heads.tolist() == [[1, 1, 0, 3], [0, 1, -1, -1], [-1, -1, -1, -1]]


def test_attachments_are_counted() -> None:
    # In the first sentence the second word's head is wrong and the third's label; the ends are wrong, and not counted.
    parse = ParseScores(one_hot([[1, 0, 0, 0], [0, 0], [0, 0, 0]], 4), one_hot([[2, 0, 2, 1], [1, 1], [1, 1, 0]], 3))
    assert parse.count_attachments(gold()) == (3, 2)
    assert count_parsed_words(gold()).item() == 4


def test_correct_label_of_wrong_head_does_not_count() -> None:
    parse = ParseScores(one_hot([[0, 0, 1], [1], []], 4), one_hot([[2, 0, 1], [1], []], 3))
    assert parse.count_attachments(gold()) == (0, 0)


def test_loss() -> None:
    """A right class has p = 9 / (9 + others), a wrong one 1 / (9 + others)."""
    parse = ParseScores(one_hot([[1, 0, 0, 0], [0, 0], [0, 0, 0]], 4), one_hot([[2, 0, 2, 1], [1, 1], [1, 1, 0]], 3))
    first = 2 * math.log(12 / 9) + math.log(12) + 2 * math.log(11 / 9) + math.log(11)
    second = math.log(12 / 9) + math.log(11 / 9)
    assert parse.compute_loss(gold()).tolist() == pytest.approx([first, second, 0])
