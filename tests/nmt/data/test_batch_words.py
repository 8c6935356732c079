"""Packed words against sentences one by one."""

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

from pipeline_py.nmt.data.batch import PackedWords

LENGTHS = [[1], [3, 3], [3, 2, 1], [1, 3, 2, 3], [2, 5, 1, 4, 5]]


def rectangle(lengths: list[int]) -> torch.Tensor:
    """Number the words of each sentence 100, 101, …, 200, 201, …: (I, B), 0 on padding."""
    position = torch.arange(max(lengths))[:, None]
    numbers = 100 * torch.arange(1, len(lengths) + 1) + position
    return numbers * (position < torch.tensor(lengths))


@pytest.mark.parametrize("lengths", LENGTHS)
def test_packing_equals_torch(lengths: list[int]) -> None:
    words, values = PackedWords.from_lengths(lengths), rectangle(lengths)
    theirs = pack_padded_sequence(values, torch.tensor(lengths), enforce_sorted=False)
    assert words.batch_sizes == tuple(theirs.batch_sizes.tolist())
    assert (words.position_count, words.sentence_count) == values.shape
    # Torch does not define the order of equal lengths; PackedWords keeps the order of the batch.
    packed = words.pack(values)
    assert packed.sort().values.tolist() == theirs.data.sort().values.tolist()
    assert words.sentence_order.tolist() == sorted(range(len(lengths)), key=lambda b: (-lengths[b], b))
    assert words.is_sorted == (lengths == sorted(lengths, reverse=True))


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("with_padding", [False, True])
def test_unpacking_restores_words(lengths: list[int], with_padding: bool) -> None:
    values = rectangle(lengths)
    words = PackedWords.from_lengths(lengths, len(values) if with_padding else None)
    packed = words.pack(values)
    real = packed > 0
    assert bool(real.all()) or with_padding
    assert torch.equal(words.unpack_by_position(packed + 1 * ~real), values), "padding is zero whatever it was"
    assert torch.equal(words.unpack(packed), values.T)
    assert torch.equal(words.sentence_indices[real], packed[real] // 100 - 1)
    assert torch.equal(words.sentence_order.index_select(0, words.row_indices), words.sentence_indices)
    assert torch.equal(values.T.flatten().index_select(0, words.rectangle_indices), packed)
    start = 0
    for rows in words.batch_sizes:
        assert words.row_indices[start : start + rows].tolist() == list(range(rows)), "a step has the first rows"
        start += rows
    mask = torch.arange(len(lengths)) + 1.0
    assert torch.equal(
        words.apply_dropout_mask(torch.ones(len(packed), 1), mask[:, None])[:, 0], 1.0 + words.row_indices
    )


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("with_padding", [False, True])
@pytest.mark.parametrize("kept_suffix", [0, 1])
def test_reversed_indices_reverse_sentences(lengths: list[int], with_padding: bool, kept_suffix: int) -> None:
    values = rectangle(lengths)
    words = PackedWords.from_lengths(lengths, len(values) if with_padding else None)
    packed, turned = words.pack(values), words.compute_reversed_indices(torch.tensor(lengths) - kept_suffix)
    expected = values.clone()
    for sentence, length in enumerate(lengths):
        expected[: length - kept_suffix, sentence] = values[: length - kept_suffix, sentence].flip(0)
    assert torch.equal(words.unpack_by_position(packed.index_select(0, turned)), expected)
    assert torch.equal(turned.index_select(0, turned), torch.arange(len(packed)))
    last = packed.index_select(0, words.find_last_words(torch.tensor(lengths)))
    assert last.tolist() == [100 * (sentence + 1) + length - 1 for sentence, length in enumerate(lengths)]
