"""The tree encoder against the equations of the paper on one sentence at a time, in float64."""

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.encoders import GRUEncoderConfig, TreeGRUEncoderConfig
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.encoder import gru, tree_gru
from tests.nmt.encoder.random_encoders import build_encoder
from tests.nmt.formulas import compose_gru_node, step_gru
from tests.nmt.network_assertions import assert_independent_of_batch, assert_same_gradients

HIDDEN = 4
SIZES = ModelConfig(embedding=3, hidden=HIDDEN, dropout=0.4)
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
    options = TreeGRUEncoderConfig.model_validate(OPTIONS[name])
    part = build_encoder(tree_gru.TreeGRUEncoder, options, SIZES, (3,)).eval()
    reading = (
        gru.GRUEncoder(GRUEncoderConfig(direction=options.leaves), SIZES, list(part.leaves.inputs), {}).double().eval()
    )
    reading.load_state_dict(part.leaves.state_dict())
    return part, reading


def batch_of(sources: list[list[int]], kind: str, rows: list[list[int]], multiple: int = 1) -> Batch:
    trees = [np.array(row, dtype=np.int32) for row in rows]
    labels = [np.array(source, dtype=np.int32) for source in sources]
    return collate_batch(
        [np.array(source) for source in sources], syntax={"labels": labels, kind: trees}, length_multiple=multiple
    )


def rows_for(name: str) -> tuple[str, list[list[int]]]:
    return ("lexical_trees", LEXICAL) if "lexical" in name else ("trees", PARSES)


def annotate(part: tree_gru.TreeGRUEncoder, words: Tensor, row: list[int]) -> tuple[list[Tensor], Tensor]:
    """Final states of words, EOS and phrases, and the summary, given the words and EOS as they were read (J, H)."""
    n = len(words) - 1
    up = dict(enumerate(words[:-1]))
    triples = [row[k : k + 3] for k in range(1, len(row), 3)]
    for k, (left, right, _) in enumerate(triples):
        up[n + k] = compose_gru_node(part.bottom_up, up[left], up[right])
    final = dict(up)
    if part.top_down is not None:
        for k, (left, right, _) in reversed(list(enumerate(triples))):
            final[left] = step_gru(part.top_down.left, up[left], final[n + k])
            final[right] = step_gru(part.top_down.right, up[right], final[n + k])
    states = [*(final[j] for j in range(n)), words[-1], *(final[n + k] for k in range(len(triples)))]
    if part.tree_type == "lexical":
        return states, sum(states[: n + 1]) / (n + 1)  # type: ignore[return-value]
    return states, torch.zeros(HIDDEN, dtype=torch.float64) if row[0] < 0 else up[row[0]]


@pytest.mark.parametrize(("multiple", "J"), [(1, 6), (3, 6), (4, 8), (8, 8)])
@pytest.mark.parametrize("name", OPTIONS)
def test_annotations_and_gradients(name: str, multiple: int, J: int) -> None:
    part, reading = make(name)
    kind, rows = rows_for(name)
    memory = part(batch_of(SOURCES, kind, rows, multiple))
    P = max(len(row) // 3 for row in rows) if multiple == 1 else J - 2
    assert (memory.position_count, memory.lengths.tolist(), list(memory.syntax)) == (J, [6, 3, 2, 4, 1], ["labels"])
    assert part.annotation_size == part.summary_size == HIDDEN
    (states,), (summary,) = memory.annotations, memory.summaries
    assert states.shape == (5, J + P, HIDDEN)
    read = reading(batch_of(SOURCES, kind, rows)).annotations[0]

    actual, expected = [], []
    for b, (source, row) in enumerate(zip(SOURCES, rows, strict=True)):
        words, phrases = len(source), len(row) // 3
        assert memory.mask[b].nonzero().flatten().tolist() == [*range(words), *range(J, J + phrases)]
        assert not states[b, J + phrases :].any()
        annotations, of_sentence = annotate(part, read[b, :words], row)
        actual += [states[b][memory.mask[b]], summary[b]]
        expected += [torch.stack(annotations), of_sentence]
    of = [parameter for label, parameter in part.named_parameters() if not label.startswith("leaves")]
    leaves, expected_leaves = [*part.leaves.parameters(), *of], [*reading.parameters(), *of]
    assert_same_gradients(actual, expected, leaves, expected_leaves, can_vanish=False)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_sentence_is_the_same_alone(name: str) -> None:
    part, _ = make(name)
    kind, rows = rows_for(name)
    single = [part(batch_of([source], kind, [row])) for source, row in zip(SOURCES, rows, strict=True)]
    assert all(memory.mask.all() for memory in single)
    assert_independent_of_batch(part(batch_of(SOURCES, kind, rows)), single)


@pytest.mark.parametrize("name", ["tree-based encoder", "hierarchical"])
def test_without_any_tree_it_annotates_words_alone(name: str) -> None:
    part, reading = make(name)
    batch = batch_of(SOURCES, "trees", [NONE] * 5)
    memory = part(batch)
    torch.testing.assert_close(memory.annotations[0], reading(batch).annotations[0], rtol=0, atol=0)
    assert not memory.summaries[0].any()
    memory.annotations[0].sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in part.parameters())


def test_one_word_is_its_own_root_and_stays_as_it_was_read() -> None:
    part, reading = make("hierarchical")
    batch = batch_of([[3, 0]], "trees", [[0]])
    memory, read = part(batch), reading(batch)
    torch.testing.assert_close(memory.annotations[0], read.annotations[0], rtol=0, atol=0)
    torch.testing.assert_close(memory.summaries[0], read.annotations[0][:, 0], rtol=0, atol=0)


def test_dropout_is_that_of_reading() -> None:
    part, reading = make("hierarchical")
    batch = batch_of(SOURCES, "trees", [NONE] * 5)
    torch.manual_seed(3)
    dropped = part.train()(batch).annotations[0]
    torch.manual_seed(3)
    torch.testing.assert_close(dropped, reading.train()(batch).annotations[0], rtol=0, atol=0)
    assert not torch.equal(dropped, part.eval()(batch).annotations[0])
