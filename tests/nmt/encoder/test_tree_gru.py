"""The tree encoder against the equations of the paper on one sentence at a time, in float64."""

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.encoders import GRUEncoder, TreeGRU, WordInput
from pipeline_py.config.systems.training import Model
from pipeline_py.nmt.data.batch import Batch, collate
from pipeline_py.nmt.encoder import gru, tree_gru
from pipeline_py.nmt.input.words import WordEmbedding as Words
from pipeline_py.nmt.recurrence.original_gru import OriginalGRU

HIDDEN = 4
SIZES = Model(embedding=3, hidden=HIDDEN, dropout=0.4)
NONE: list[int] = [-1]
# Sentences and rows as `kinds.trees` describes them.
SOURCES = [[5, 3, 1, 2, 6, 0], [4, 4, 0], [1, 0], [2, 3, 4, 0], [0]]
PARSES = [
    [8, 1, 2, 1, 3, 4, 1, 5, 6, 2, 0, 7, 3],  # (0 ((1 2) (3 4)))
    NONE,
    [0],
    [4, 0, 1, 1, 3, 2, 2],  # ((0 1) 2)
    NONE,
]
LEXICAL = [
    [-1, 0, 1, 1, 3, 4, 1, 5, 2, 2],  # ((0 1) 2) and (3 4)
    [-1, 0, 1, 1],
    NONE,
    [-1, 1, 2, 1],
    NONE,
]
OPTIONS = {
    "tree-based encoder": {},
    "bi-directional leaves": {"leaves": "bidirectional"},
    "top-down": {"top_down": True},
    "hierarchical": {"leaves": "bidirectional", "top_down": True},
    "lexical": {"leaves": "bidirectional", "top_down": True, "trees": "lexical"},
    "lexical, bottom-up alone": {"trees": "lexical"},
}


def make(name: str) -> tuple[tree_gru.TreeGRUEncoder, gru.GRUEncoder]:
    """The encoder, and one of sequences that reads the same with the same parameters."""
    torch.manual_seed(0)
    options = TreeGRU.model_validate(OPTIONS[name])
    words = Words(WordInput(), 3, {"source": 7})
    part = tree_gru.TreeGRUEncoder(options, SIZES, [words], {}).double().eval()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.normal_(std=0.8)
    reading = gru.GRUEncoder(GRUEncoder(direction=options.leaves), SIZES, [words], {}).double().eval()
    reading.load_state_dict(part.leaves.state_dict())
    return part, reading


def batch_of(sources: list[list[int]], kind: str, rows: list[list[int]], multiple: int = 1) -> Batch:
    trees = [np.array(row, dtype=np.int32) for row in rows]
    labels = [np.array(source, dtype=np.int32) for source in sources]
    return collate([np.array(source) for source in sources], syntax={"labels": labels, kind: trees}, multiple=multiple)


def rows_for(name: str) -> tuple[str, list[list[int]]]:
    return ("lexical_trees", LEXICAL) if "lexical" in name else ("trees", PARSES)


def gru_step(cell: OriginalGRU, x: Tensor, h: Tensor) -> Tensor:
    """Hierarchical eq. 3."""
    W, b = cell.input.weight.chunk(3), cell.input.bias.chunk(3)  # type: ignore[union-attr]
    U = [*cell.gates_recurrent.weight.chunk(2), cell.candidate_recurrent.weight]
    z, r = (torch.sigmoid(W[k] @ x + U[k] @ h + b[k]) for k in (0, 1))
    return (1 - z) * h + z * torch.tanh(W[2] @ x + U[2] @ (r * h) + b[2])


def annotate(part: tree_gru.TreeGRUEncoder, words: Tensor, row: list[int]) -> tuple[list[Tensor], Tensor]:
    """Final states of words, EOS and phrases, and the summary, given the words and EOS as they were read (J, H)."""
    n = len(words) - 1
    L, R = part.bottom_up.left_recurrent.weight.chunk(4), part.bottom_up.right_recurrent.weight.chunk(4)
    b = part.bottom_up.left_recurrent.bias.chunk(4)
    up = dict(enumerate(words[:-1]))
    triples = [row[k : k + 3] for k in range(1, len(row), 3)]
    for k, (left, right, _) in enumerate(triples):
        h_l, h_r = up[left], up[right]
        z, keep_l, keep_r = (torch.sigmoid(L[g] @ h_l + R[g] @ h_r + b[g]) for g in range(3))
        candidate = torch.tanh(L[3] @ (keep_l * h_l) + R[3] @ (keep_r * h_r) + b[3])
        up[n + k] = z * candidate + (1 - z) * (h_l + h_r)
    final = dict(up)
    if part.top_down is not None:
        for k, (left, right, _) in reversed(list(enumerate(triples))):
            final[left] = gru_step(part.top_down.left, up[left], final[n + k])
            final[right] = gru_step(part.top_down.right, up[right], final[n + k])
    states = [*(final[j] for j in range(n)), words[-1], *(final[n + k] for k in range(len(triples)))]
    if part.trees == "lexical":
        return states, sum(states[: n + 1]) / (n + 1)  # type: ignore[return-value]
    return states, torch.zeros(HIDDEN, dtype=torch.float64) if row[0] < 0 else up[row[0]]


@pytest.mark.parametrize(("multiple", "J"), [(1, 6), (3, 6), (4, 8), (8, 8)])
@pytest.mark.parametrize("name", OPTIONS)
def test_annotations_and_gradients(name: str, multiple: int, J: int) -> None:
    part, reading = make(name)
    kind, rows = rows_for(name)
    memory = part(batch_of(SOURCES, kind, rows, multiple))
    P = max(len(row) // 3 for row in rows)
    assert (memory.words, memory.lengths.tolist(), list(memory.syntax)) == (J, [6, 3, 2, 4, 1], ["labels"])
    assert part.size == part.summary_size == HIDDEN
    (states,), (summary,) = memory.states, memory.summary
    assert states.shape == (5, J + P, HIDDEN)
    read = reading(batch_of(SOURCES, kind, rows)).states[0]

    got, want = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for b, (source, row) in enumerate(zip(SOURCES, rows, strict=True)):
        words, phrases = len(source), len(row) // 3
        assert memory.mask[b].nonzero().flatten().tolist() == [*range(words), *range(J, J + phrases)]
        expected, of_sentence = annotate(part, read[b, :words], row)
        torch.testing.assert_close(states[b][memory.mask[b]], torch.stack(expected))
        torch.testing.assert_close(summary[b], of_sentence)
        assert not states[b, J + phrases :].any()
        direction = torch.randn(words + phrases + 1, HIDDEN, dtype=torch.float64)
        got = got + (states[b][memory.mask[b]] * direction[:-1]).sum() + (summary[b] * direction[-1]).sum()
        want = want + (torch.stack(expected) * direction[:-1]).sum() + (of_sentence * direction[-1]).sum()
    of = [parameter for label, parameter in part.named_parameters() if not label.startswith("leaves")]
    ours = torch.autograd.grad(got, [*part.leaves.parameters(), *of])
    theirs = torch.autograd.grad(want, [*reading.parameters(), *of])
    for one, other in zip(ours, theirs, strict=True):
        assert other.abs().max() > 1e-6
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_sentence_is_the_same_alone(name: str) -> None:
    part, _ = make(name)
    kind, rows = rows_for(name)
    together = part(batch_of(SOURCES, kind, rows))
    for b, (source, row) in enumerate(zip(SOURCES, rows, strict=True)):
        alone = part(batch_of([source], kind, [row]))
        assert alone.mask.all()
        torch.testing.assert_close(together.states[0][b][together.mask[b]], alone.states[0][0])
        torch.testing.assert_close(together.summary[0][b], alone.summary[0][0])


@pytest.mark.parametrize("name", ["tree-based encoder", "hierarchical"])
def test_without_any_tree_it_annotates_words_alone(name: str) -> None:
    part, reading = make(name)
    batch = batch_of(SOURCES, "trees", [NONE] * 5)
    memory = part(batch)
    torch.testing.assert_close(memory.states[0], reading(batch).states[0], rtol=0, atol=0)
    assert not memory.summary[0].any()
    memory.states[0].sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in part.parameters())


def test_one_word_is_its_own_root_and_stays_as_it_was_read() -> None:
    part, reading = make("hierarchical")
    batch = batch_of([[3, 0]], "trees", [[0]])
    memory, read = part(batch), reading(batch)
    torch.testing.assert_close(memory.states[0], read.states[0], rtol=0, atol=0)
    torch.testing.assert_close(memory.summary[0], read.states[0][:, 0], rtol=0, atol=0)


def test_dropout_is_that_of_reading() -> None:
    part, reading = make("hierarchical")
    batch = batch_of(SOURCES, "trees", [NONE] * 5)
    torch.manual_seed(3)
    dropped = part.train()(batch).states[0]
    torch.manual_seed(3)
    torch.testing.assert_close(dropped, reading.train()(batch).states[0], rtol=0, atol=0)
    assert not torch.equal(dropped, part.eval()(batch).states[0])
