"""Tests of products with sentence matrices."""

import pytest
import torch

from pipeline_py.nmt.attention_weighting import cast_to_product_dtype, multiply_sentence_matrices
from pipeline_py.nmt.search.row_sentences import RowSentences


def test_rows_are_multiplied_by_sentence_matrices() -> None:
    torch.manual_seed(0)
    rows, matrices = torch.randn(3, 4, dtype=torch.float64), torch.randn(3, 4, 5, dtype=torch.float64)
    torch.testing.assert_close(multiply_sentence_matrices(rows, matrices), torch.einsum("bx,bxy->by", rows, matrices))


@pytest.mark.parametrize(("sentences", "is_gpu"), [([2, 0, 0, 2, 2], False), ([0, 0, 1, 1, 2, 2], True)])
def test_search_rows_are_multiplied_by_sentence_matrices(
    sentences: list[int], is_gpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    if is_gpu:
        monkeypatch.setattr("pipeline_py.nmt.torch_setup.CPU", "none")
    matrices = torch.randn(3, 5, 5, dtype=torch.float64)
    sentence = torch.tensor(sentences)
    owners = RowSentences.from_sentences(sentence, 3)
    rows = torch.randn(len(sentence), 5, dtype=torch.float64)
    expected = torch.stack([row @ matrices[number] for row, number in zip(rows, sentence.tolist(), strict=True)])
    torch.testing.assert_close(multiply_sentence_matrices(rows, matrices, owners), expected)


def test_autocast_does_not_cast_matrices_on_cpu() -> None:
    torch.manual_seed(0)
    rows, matrices = torch.randn(3, 5), torch.randn(3, 5, 5)
    with torch.autocast("cpu", torch.bfloat16):
        product = multiply_sentence_matrices(rows.bfloat16(), cast_to_product_dtype(matrices))
    assert product.dtype == torch.float32
    exact = torch.einsum("bx,bxy->by", rows.bfloat16().double(), matrices.double())
    torch.testing.assert_close(product.double(), exact, rtol=1e-5, atol=1e-5)
