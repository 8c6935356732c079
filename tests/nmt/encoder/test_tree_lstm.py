"""The tree-to-sequence encoder against one sentence and one node at a time, in float64."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.encoders import TreeLSTMEncoderConfig
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.encoder.tree_lstm import TreeLSTMEncoder
from tests.nmt.encoder.random_encoders import build_encoder, embed_words
from tests.nmt.encoder.test_sequential import annotate_by_lstm
from tests.nmt.formulas import NO_DROPOUT, compose_lstm_node, run_lstm
from tests.nmt.network_assertions import (
    assert_close_in_half_precision,
    assert_independent_of_batch,
    assert_same_gradients,
    record_masks,
)

HIDDEN = 4
SIZES = {
    "lstm": ModelConfig(embedding=3, hidden=HIDDEN, dropout=0.5),
    "bidirectional_lstm": ModelConfig(embedding=3, hidden=HIDDEN, dropout=0.5),
    "embeddings": ModelConfig(embedding=4, hidden=4, dropout=0.5),
}
# Sentences, and rows as `kinds.trees` describes them.
SOURCES = [[5, 3, 1, 2, 6, 0], [4, 4, 0], [1, 0], [2, 3, 4, 0], [3, 0], [0], [6, 2, 0]]
TREES = [
    [8, 1, 2, 1, 3, 4, 1, 5, 6, 2, 0, 7, 3],  # (0 ((1 2) (3 4)))
    [-1],
    [0],
    [4, 0, 1, 1, 3, 2, 2],  # ((0 1) 2)
    [-1],
    [-1],
    [2, 0, 1, 1],
]
LEAVES = ["lstm", "bidirectional_lstm", "embeddings"]


def make(leaves: str) -> TreeLSTMEncoder:
    sizes = SIZES[leaves]
    return build_encoder(
        TreeLSTMEncoder, TreeLSTMEncoderConfig.model_validate({"leaves": leaves}), sizes, (sizes.embedding,)
    )


def batch_of(rows: Sequence[int], multiple: int = 1) -> Batch:
    trees = {"trees": [np.array(TREES[row], dtype=np.int32) for row in rows]}
    return collate_batch([np.array(SOURCES[row]) for row in rows], syntax=trees, length_multiple=multiple)


def reference(part: TreeLSTMEncoder, leaves: str, row: int, masks: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Annotations of positions and of phrases and the summary of one sentence; `masks` in the order of drawing."""
    zeros = torch.zeros(HIDDEN, dtype=torch.float64)
    embedded = embed_words(part.leaves if leaves == "bidirectional_lstm" else part, SOURCES[row])
    last = None
    if leaves == "lstm":
        kept_x, kept_h, kept_children, kept_last = masks
        words = run_lstm(part.leaves, embedded, kept_x, kept_h)
        last = words[-1]
    elif leaves == "bidirectional_lstm":
        *leaf_masks, kept_children, kept_last = masks
        states, last_state = annotate_by_lstm(part.leaves, "bidirectional", embedded, leaf_masks)
        rightward = run_lstm(part.leaves.forwards, embedded, *leaf_masks[:2])
        leftward = run_lstm(part.leaves.backwards, embedded[::-1], *leaf_masks[2:])[::-1]
        cells = [
            part.leaf_cell.weight @ torch.cat([right[1], left[1]]) + part.leaf_cell.bias
            for right, left in zip(rightward, leftward, strict=True)
        ]
        words = [*zip(states, cells, strict=True)]
        last = last_state.chunk(2)
    else:
        (kept_children,) = masks
        words = [(x, zeros) for x in embedded]
    root, *numbers = TREES[row]
    nodes: list[Sequence[Tensor]] = [*words[:-1]]
    for left, right, _ in np.array(numbers).reshape(-1, 3).tolist():
        nodes.append(compose_lstm_node(part.tree.weight, part.tree.bias, nodes[left], nodes[right], kept_children))
    top = [zeros, zeros] if root < 0 else nodes[root]
    summary: Sequence[Tensor] = top
    if last is not None:
        summary = compose_lstm_node(part.summarize.weight, part.summarize.bias, last, top, kept_last)
    phrases = [h for h, _ in nodes[len(words) - 1 :]]
    return (
        torch.stack([h for h, _ in words]),
        torch.stack(phrases) if phrases else zeros.new_zeros(0, HIDDEN),
        torch.cat(summary),
    )


@pytest.mark.parametrize(("multiple", "columns"), [(1, 6), (3, 6), (4, 8), (8, 8)])
@pytest.mark.parametrize("dropping", [False, True])
@pytest.mark.parametrize("leaves", LEAVES)
def test_annotations_and_gradients(leaves: str, dropping: bool, multiple: int, columns: int, monkeypatch) -> None:
    part = make(leaves).train(dropping)
    mask_records = record_masks(part, monkeypatch)
    batch = batch_of(range(len(SOURCES)), multiple)
    memory = part(batch)
    (states,), (summary,) = memory.annotations, memory.summaries
    if dropping:
        # Masks of LSTMs have the order of packed words.
        count = len(mask_records) - (1 if leaves == "embeddings" else 2)
        mask_records[:count] = [mask[batch.source_words.sentence_order.argsort()] for mask in mask_records[:count]]
    assert memory.position_count == columns and memory.lengths.tolist() == [6, 3, 2, 4, 2, 1, 3]
    phrases = 4 if multiple == 1 else columns - 2
    assert states.shape == (7, columns + phrases, HIDDEN) and part.annotation_size == HIDDEN
    assert summary.shape == (7, 2 * HIDDEN) and part.summary_size == 2 * HIDDEN
    assert memory.syntax == {}

    actual, expected = [], []
    for row, source in enumerate(SOURCES):
        masks = [mask[row] if dropping else NO_DROPOUT for mask in mask_records]
        expected += reference(part, leaves, row, masks)
        length, inner = len(source), len(expected[-2])
        actual += [states[row, :length], states[row, columns : columns + inner], summary[row]]
        mask = [True] * length + [False] * (columns - length) + [True] * inner + [False] * (phrases - inner)
        assert memory.mask[row].tolist() == mask
        assert not states[row, columns + inner :].any()
    assert_same_gradients(actual, expected, list(part.parameters()))


@pytest.mark.parametrize("leaves", LEAVES)
def test_a_sentence_alone_is_as_in_a_batch(leaves: str) -> None:
    part = make(leaves).eval()
    single = [part(batch_of([row])) for row in range(len(SOURCES))]
    assert_independent_of_batch(part(batch_of(range(len(SOURCES)))), single)


@pytest.mark.parametrize("leaves", LEAVES)
def test_a_batch_without_any_tree(leaves: str) -> None:
    """Training goes on where all parses of a batch failed."""
    part = make(leaves).train()
    memory = part(batch_of([1, 4]))
    assert memory.annotations[0].shape == (2, 3, HIDDEN)
    (memory.annotations[0].sum() + memory.summaries[0].sum()).backward()
    assert not part.tree.weight.grad.any()
    inputs = part.leaves.inputs if leaves == "bidirectional_lstm" else part.inputs
    assert inputs[0].embedding.weight.grad.any()
    if leaves == "embeddings":
        assert not memory.summaries[0].any()


@pytest.mark.parametrize("leaves", LEAVES)
def test_half_precision(leaves: str) -> None:
    assert_close_in_half_precision(make(leaves).eval().float(), batch_of(range(len(SOURCES))))


def test_parameters_at_256() -> None:
    """LSTM 4 · (2 · 256² + 256), and twice 5 · (2 · 256² + 256) for phrases and for the decoder's first state."""
    part = TreeLSTMEncoder(TreeLSTMEncoderConfig(), ModelConfig(embedding=256, hidden=256), [], {})
    assert sum(parameter.numel() for parameter in part.parameters()) == 525_312 + 2 * 656_640
