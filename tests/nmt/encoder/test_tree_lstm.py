"""The tree-to-sequence encoder against one sentence and one node at a time, in float64."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.encoders import TreeLSTM, WordInput
from pipeline_py.config.systems.training import Model
from pipeline_py.nmt.data.batch import Batch, collate
from pipeline_py.nmt.encoder.tree_lstm import TreeLSTMEncoder
from pipeline_py.nmt.input.words import WordEmbedding as Words

HIDDEN = 4
SIZES = {
    "lstm": Model(embedding=3, hidden=HIDDEN, dropout=0.5),
    "embeddings": Model(embedding=4, hidden=4, dropout=0.5),
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
LEAVES = ["lstm", "embeddings"]


def make(leaves: str) -> TreeLSTMEncoder:
    torch.manual_seed(0)
    sizes = SIZES[leaves]
    words = [Words(WordInput(), sizes.embedding, {"source": 7})]
    part = TreeLSTMEncoder(TreeLSTM.model_validate({"leaves": leaves}), sizes, words, {}).double()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.normal_(std=0.8)
    return part


def batch_of(rows: Sequence[int], multiple: int = 1) -> Batch:
    trees = {"trees": [np.array(TREES[row], dtype=np.int32) for row in rows]}
    return collate([np.array(SOURCES[row]) for row in rows], syntax=trees, multiple=multiple)


def compose(tree, left: list[Tensor], right: list[Tensor], keep: Tensor) -> list[Tensor]:
    """Eq. 12–18."""
    gates = tree.weight @ (keep * torch.cat([left[0], right[0]])) + tree.bias
    i, f_l, f_r, o, candidate = gates.chunk(5)
    c = torch.sigmoid(i) * torch.tanh(candidate) + torch.sigmoid(f_l) * left[1] + torch.sigmoid(f_r) * right[1]
    return [torch.sigmoid(o) * torch.tanh(c), c]


def reference(part: TreeLSTMEncoder, leaves: str, row: int, masks: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Annotations of positions and of phrases and the summary of one sentence; `masks` in the order of drawing."""
    zeros = torch.zeros(HIDDEN, dtype=torch.float64)
    embedded = [part.inputs[0].embedding.weight[token] for token in SOURCES[row]]
    words = []
    if leaves == "lstm":
        kept_x, kept_h, kept_children, kept_last = masks or [torch.ones(())] * 4
        h, c = zeros, zeros
        for x in embedded:
            lstm = part.leaves
            gates = lstm.input.weight @ (kept_x * x) + lstm.input.bias + lstm.recurrent.weight @ (kept_h * h)
            i, f, o, candidate = gates.chunk(4)
            c = torch.sigmoid(i) * torch.tanh(candidate) + torch.sigmoid(f) * c
            h = torch.sigmoid(o) * torch.tanh(c)
            words.append([h, c])
    else:
        (kept_children,) = masks or [torch.ones(())]
        words = [[x, zeros] for x in embedded]
    root, *numbers = TREES[row]
    nodes = words[:-1]
    for left, right, _ in np.array(numbers).reshape(-1, 3).tolist():
        nodes.append(compose(part.tree, nodes[left], nodes[right], kept_children))
    top = [zeros, zeros] if root < 0 else nodes[root]
    summary = top if leaves == "embeddings" else compose(part.summarize, words[-1], top, kept_last)
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
    drawn: list[Tensor] = []
    draw = part.dropout.draw
    monkeypatch.setattr(part.dropout, "draw", lambda *size: drawn.append(draw(*size)) or drawn[-1])
    batch = batch_of(range(len(SOURCES)), multiple)
    memory = part(batch)
    (states,), (summary,) = memory.states, memory.summary
    if dropping and leaves == "lstm":  # whose rows have an order of their own
        drawn[:2] = [mask[batch.source_words.order.argsort()] for mask in drawn[:2]]
    assert memory.words == columns and memory.lengths.tolist() == [6, 3, 2, 4, 2, 1, 3]
    assert states.shape == (7, columns + 4, HIDDEN) and part.size == HIDDEN
    assert summary.shape == (7, 2 * HIDDEN) and part.summary_size == 2 * HIDDEN
    assert memory.syntax == {}

    ours = theirs = torch.zeros((), dtype=torch.float64)
    for row, source in enumerate(SOURCES):
        words, phrases, last = reference(part, leaves, row, [mask[row] for mask in drawn] if dropping else [])
        length, inner = len(source), len(phrases)
        torch.testing.assert_close(states[row, :length], words)
        torch.testing.assert_close(states[row, columns : columns + inner], phrases)
        torch.testing.assert_close(summary[row], last)
        mask = [True] * length + [False] * (columns - length) + [True] * inner + [False] * (4 - inner)
        assert memory.mask[row].tolist() == mask
        found = torch.cat([states[row, :length], states[row, columns : columns + inner]]).flatten(), summary[row]
        wanted = torch.cat([words, phrases]).flatten(), last
        ways = [torch.randn_like(one) for one in wanted]
        ours = ours + sum((one * way).sum() for one, way in zip(found, ways, strict=True))
        theirs = theirs + sum((one * way).sum() for one, way in zip(wanted, ways, strict=True))
    parameters = list(part.parameters())
    got, want = torch.autograd.grad(ours, parameters), torch.autograd.grad(theirs, parameters)
    for one, other in zip(got, want, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("leaves", LEAVES)
def test_a_sentence_alone_is_as_in_a_batch(leaves: str) -> None:
    part = make(leaves).eval()
    together = part(batch_of(range(len(SOURCES))))
    for row in range(len(SOURCES)):
        alone = part(batch_of([row]))
        torch.testing.assert_close(alone.states[0][0][alone.mask[0]], together.states[0][row][together.mask[row]])
        torch.testing.assert_close(alone.summary[0][0], together.summary[0][row])


@pytest.mark.parametrize("leaves", LEAVES)
def test_a_batch_without_any_tree(leaves: str) -> None:
    """Training goes on where all parses of a batch failed."""
    part = make(leaves).train()
    memory = part(batch_of([1, 4]))
    assert memory.states[0].shape == (2, 3, HIDDEN)
    (memory.states[0].sum() + memory.summary[0].sum()).backward()
    assert not part.tree.weight.grad.any()
    assert part.inputs[0].embedding.weight.grad.any()
    if leaves == "embeddings":
        assert not memory.summary[0].any()


@pytest.mark.parametrize("leaves", LEAVES)
def test_half_precision(leaves: str) -> None:
    part = make(leaves).eval().float()
    batch = batch_of(range(len(SOURCES)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        memory = part(batch)
    exact = part(batch)
    for one, other in ((memory.states, exact.states), (memory.summary, exact.summary)):
        assert one[0].dtype == torch.float32
        torch.testing.assert_close(one[0], other[0], rtol=0, atol=0.1)


def test_parameters_at_256() -> None:
    """LSTM 4 · (2 · 256² + 256), and twice 5 · (2 · 256² + 256) for phrases and for the decoder's first state."""
    part = TreeLSTMEncoder(TreeLSTM(), Model(embedding=256, hidden=256), [], {})
    assert sum(parameter.numel() for parameter in part.parameters()) == 525_312 + 2 * 656_640
