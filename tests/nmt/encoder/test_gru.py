"""The sequential GRU encoder against one that reads a sentence word by word, in float64."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.encoders import GRUEncoder as Options
from pipeline_py.config.systems.encoders import WordInput
from pipeline_py.config.systems.training import Model
from pipeline_py.nmt.data.batch import Batch, collate
from pipeline_py.nmt.encoder.gru import GRUEncoder
from pipeline_py.nmt.input.words import WordEmbedding as Words
from pipeline_py.nmt.recurrence.original_gru import OriginalGRU

SIZES = Model(embedding=5, hidden=6, dropout=0.5)
SOURCES = [[3, 1, 4, 1, 5, 0], [2, 0], [0], [6, 5, 3, 0]]
DIRECTIONS = ["forward", "bidirectional"]


def make(direction: str, inputs: tuple[int, ...] = (5,)) -> GRUEncoder:
    torch.manual_seed(0)
    words = [Words(WordInput(), size, {"source": 7}) for size in inputs]
    part = GRUEncoder(Options.model_validate({"direction": direction}), SIZES, words, {}).double()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.normal_(std=0.8)
    return part


def batch_of(sources: list[list[int]]) -> Batch:
    return collate([np.array(source) for source in sources], syntax={})


def run(gru: OriginalGRU, read: list[Tensor], kept: Tensor | None) -> list[Tensor]:
    """Hierarchical eq. 1 and 3; `kept` are the factors that dropout gives h within U."""
    size = gru.candidate_recurrent.weight.shape[0]
    W, b = gru.input.weight.split(size), gru.input.bias.split(size)  # type: ignore[union-attr]
    U = [*gru.gates_recurrent.weight.split(size), gru.candidate_recurrent.weight]
    h, states = torch.zeros(size, dtype=torch.float64), []
    for x in read:
        seen = h if kept is None else kept * h
        z, r = (torch.sigmoid(W[k] @ x + U[k] @ seen + b[k]) for k in (0, 1))
        h = (1 - z) * h + z * torch.tanh(W[2] @ x + U[2] @ (r * seen) + b[2])
        states.append(h)
    return states


def annotate(part: GRUEncoder, source: list[int], masks: Iterator[Tensor | None]) -> Tensor:
    """Annotations (J, H) of a sentence; `masks` are those of what is read and of h, of each direction in turn."""
    read = [torch.cat([words.embedding.weight[word] for words in part.inputs]) for word in source]  # type: ignore

    def one_way(gru: OriginalGRU, read: list[Tensor]) -> list[Tensor]:
        kept = next(masks)
        return run(gru, read if kept is None else [kept * x for x in read], next(masks))

    rightward = one_way(part.forwards, read)
    if part.backwards is None:
        return torch.stack(rightward)
    leftward = one_way(part.backwards, read[::-1])[::-1]
    return torch.stack([torch.cat(both) for both in zip(rightward, leftward, strict=True)])


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_annotations_and_gradients(direction: str, training: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    part = make(direction, inputs=(3, 2)).train(training)
    drawn: list[Tensor | None] = []
    draw = part.dropout.draw
    monkeypatch.setattr(part.dropout, "draw", lambda *given: drawn.append(draw(*given)) or drawn[-1])
    batch = batch_of(SOURCES)
    memory, row_of = part(batch), batch.source_words.order.argsort()
    assert len(drawn) == (4 if direction == "bidirectional" else 2)
    assert all((mask is not None) == training for mask in drawn)
    assert (memory.words, memory.lengths.tolist(), memory.syntax) == (6, [6, 2, 1, 4], {})
    assert part.size == part.summary_size == 6
    (states,), (summary,) = memory.states, memory.summary
    assert states.shape == (4, 6, 6)

    got, want = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for b, source in enumerate(SOURCES):
        J = len(source)
        assert memory.mask[b].tolist() == [True] * J + [False] * (6 - J)
        expected = annotate(part, source, iter([None if mask is None else mask[row_of[b]] for mask in drawn]))
        torch.testing.assert_close(states[b, :J], expected)
        torch.testing.assert_close(summary[b], sum(expected) / J)
        direction_of = torch.randn(J + 1, 6, dtype=torch.float64)
        got = got + (states[b, :J] * direction_of[:J]).sum() + (summary[b] * direction_of[J]).sum()
        want = want + (expected * direction_of[:J]).sum() + (expected.mean(dim=0) * direction_of[J]).sum()
    parameters = list(part.parameters())
    for one, other in zip(torch.autograd.grad(got, parameters), torch.autograd.grad(want, parameters), strict=True):
        assert other.abs().max() > 1e-6
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_sentence_is_the_same_alone(direction: str) -> None:
    part = make(direction).eval()
    together = part(batch_of(SOURCES))
    for b, source in enumerate(SOURCES):
        alone = part(batch_of([source]))
        torch.testing.assert_close(together.states[0][b, : len(source)], alone.states[0][0])
        torch.testing.assert_close(together.summary[0][b], alone.summary[0][0])


def test_the_first_word_sees_the_last_only_where_both_directions_are_read() -> None:
    for direction, sees in zip(DIRECTIONS, [False, True], strict=True):
        part = make(direction).eval()
        one, other = (part(batch_of([source])).states[0][0, 0] for source in ([1, 2, 3, 0], [1, 2, 4, 0]))
        assert torch.equal(one, other) != sees
