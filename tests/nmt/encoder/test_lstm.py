"""The sequential LSTM encoder against one that reads a sentence word by word, in float64."""

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.encoders import LSTMEncoder as Options
from pipeline_py.config.systems.encoders import WordInput
from pipeline_py.config.systems.training import Model
from pipeline_py.nmt.data.batch import Batch, collate
from pipeline_py.nmt.encoder.lstm import LSTMEncoder
from pipeline_py.nmt.input.words import WordEmbedding as Words
from pipeline_py.nmt.recurrence.lstm import LSTM

HIDDEN = 4
SIZES = Model(embedding=5, hidden=HIDDEN, dropout=0.5)
SOURCES = [[3, 1, 4, 1, 5, 0], [2, 0], [0], [6, 5, 3, 0]]
DIRECTIONS = ["forward", "reversed", "bidirectional"]


def make(direction: str, inputs: tuple[int, ...] = (5,)) -> LSTMEncoder:
    torch.manual_seed(0)
    words = [Words(WordInput(), size, {"source": 7}) for size in inputs]
    part = LSTMEncoder(Options.model_validate({"direction": direction}), SIZES, words, {}).double()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.normal_(std=0.8)
    return part


def batch_of(sources: list[list[int]]) -> Batch:
    return collate([np.array(source) for source in sources], syntax={})


def run(lstm: LSTM, read: list[Tensor], kept: tuple[Tensor, Tensor] | None) -> list[tuple[Tensor, Tensor]]:
    """Read and return h and c of each step; `kept` are the factors that dropout gives what is read, and h within U."""
    h = c = torch.zeros(HIDDEN, dtype=torch.float64)
    kept_x, kept_h = kept or (1, 1)
    steps = []
    for x in read:
        products = lstm.input.weight @ (kept_x * x) + lstm.input.bias + lstm.recurrent.weight @ (kept_h * h)
        i, f, o, candidate = products.chunk(4)
        c = torch.sigmoid(i) * torch.tanh(candidate) + torch.sigmoid(f) * c
        h = torch.sigmoid(o) * torch.tanh(c)
        steps.append((h, c))
    return steps


def reference(
    part: LSTMEncoder, direction: str, source: list[int], masks: list[Tensor] | None
) -> tuple[Tensor, Tensor]:
    """Annotations (J, H) and summary (2·H,) of one sentence; `masks` in the order of their drawing."""
    words = [torch.cat([one.embedding.weight[token] for one in part.inputs]) for token in source]
    rightward_masks = None if masks is None else (masks[0], masks[1])
    if direction == "forward":
        steps = run(part.forwards, words, rightward_masks)
        return torch.stack([h for h, _ in steps]), torch.cat(steps[-1])
    if direction == "reversed":
        *turned, eos = run(part.forwards, [*reversed(words[:-1]), words[-1]], rightward_masks)
        return torch.stack([*(h for h, _ in reversed(turned)), eos[0]]), torch.cat(eos)
    rightward = run(part.forwards, words, rightward_masks)
    leftward = run(part.backwards, words[::-1], None if masks is None else (masks[2], masks[3]))[::-1]

    def project(linear: torch.nn.Linear, one: Tensor, other: Tensor) -> Tensor:
        return linear.weight @ torch.cat([one, other]) + linear.bias

    states = [project(part.annotation, a[0], b[0]) for a, b in zip(rightward, leftward, strict=True)]
    h = project(part.last_state, rightward[-1][0], leftward[0][0])
    c = project(part.last_cell, rightward[-1][1], leftward[0][1])
    return torch.stack(states), torch.cat([h, c])


@pytest.mark.parametrize("dropping", [False, True])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_annotations_and_gradients(direction: str, dropping: bool, monkeypatch) -> None:
    part = make(direction).train(dropping)
    drawn: list[Tensor] = []
    draw = part.dropout.draw
    monkeypatch.setattr(part.dropout, "draw", lambda *size: drawn.append(draw(*size)) or drawn[-1])
    batch = batch_of(SOURCES)
    memory, row_of = part(batch), batch.source_words.order.argsort()
    assert memory.words == 6 and memory.lengths.tolist() == [6, 2, 1, 4]
    assert part.size == memory.states[0].shape[2] == HIDDEN
    assert part.summary_size == memory.summary[0].shape[1] == 2 * HIDDEN
    if dropping:
        assert len(drawn) == (4 if direction == "bidirectional" else 2)
        assert all((mask == 0).any() and (mask == 2).any() for mask in drawn)

    ours = theirs = torch.zeros((), dtype=torch.float64)
    for row, source in enumerate(SOURCES):
        states, summary = reference(
            part, direction, source, [mask[row_of[row]] for mask in drawn] if dropping else None
        )
        torch.testing.assert_close(memory.states[0][row, : len(source)], states)
        torch.testing.assert_close(memory.summary[0][row], summary)
        assert memory.mask[row].tolist() == [True] * len(source) + [False] * (6 - len(source))
        ways = torch.randn_like(states), torch.randn_like(summary)
        ours = ours + (memory.states[0][row, : len(source)] * ways[0]).sum() + (memory.summary[0][row] * ways[1]).sum()
        theirs = theirs + (states * ways[0]).sum() + (summary * ways[1]).sum()
    parameters = list(part.parameters())
    got, want = torch.autograd.grad(ours, parameters), torch.autograd.grad(theirs, parameters)
    for one, other in zip(got, want, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_several_inputs(direction: str) -> None:
    part = make(direction, (2, 3)).eval()
    memory = part(batch_of(SOURCES))
    for row, source in enumerate(SOURCES):
        states, _ = reference(part, direction, source, None)
        torch.testing.assert_close(memory.states[0][row, : len(source)], states)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_padding_never_matters(direction: str) -> None:
    part = make(direction).eval()
    together = part(batch_of(SOURCES))
    for row, source in enumerate(SOURCES):
        alone = part(batch_of([source]))
        torch.testing.assert_close(together.states[0][row, : len(source)], alone.states[0][0])
        torch.testing.assert_close(together.summary[0][row], alone.summary[0][0])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_half_precision(direction: str) -> None:
    part = make(direction).eval().float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        memory = part(batch_of(SOURCES))
    exact = part(batch_of(SOURCES))
    for one, other in ((memory.states, exact.states), (memory.summary, exact.summary)):
        assert one[0].dtype == torch.float32
        torch.testing.assert_close(one[0], other[0], rtol=0, atol=0.1)


def test_syntax_is_handed_on() -> None:
    labels = [np.arange(len(source)) for source in SOURCES]
    batch = collate([np.array(source) for source in SOURCES], syntax={"labels": labels})
    assert make("forward")(batch).syntax["labels"] is batch.syntax["labels"]
