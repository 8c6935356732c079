"""Sequential encoders against ones that read a sentence word by word, in float64."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pipeline_py.config.systems.encoders import GRUEncoderConfig as GRUOptions
from pipeline_py.config.systems.encoders import LSTMEncoderConfig as LSTMOptions
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.encoder.gru import GRUEncoder
from pipeline_py.nmt.encoder.lstm import LSTMEncoder
from tests.nmt.encoder.random_encoders import build_encoder, embed_words
from tests.nmt.formulas import NO_DROPOUT, run_gru, run_lstm
from tests.nmt.network_assertions import (
    assert_close_in_half_precision,
    assert_independent_of_batch,
    assert_same_gradients,
    record_masks,
)

HIDDEN = 6
SOURCES = [[3, 1, 4, 1, 5, 0], [2, 0], [0], [6, 5, 3, 0]]
ENCODERS = [
    ("gru", "forward"),
    ("gru", "bidirectional"),
    ("lstm", "forward"),
    ("lstm", "reversed"),
    ("lstm", "bidirectional"),
]


def make(unit: str, direction: str, inputs: tuple[int, ...] = (5,)) -> GRUEncoder | LSTMEncoder:
    encoder, options = (GRUEncoder, GRUOptions) if unit == "gru" else (LSTMEncoder, LSTMOptions)
    return build_encoder(
        encoder, options(direction=direction), ModelConfig(embedding=5, hidden=HIDDEN, dropout=0.5), inputs
    )


def batch_of(sources: list[list[int]]) -> Batch:
    return collate_batch([np.array(source) for source in sources], syntax={})


def annotate_by_gru(
    encoder: GRUEncoder, direction: str, words: list[Tensor], masks: list[Tensor]
) -> tuple[Tensor, Tensor]:
    states = run_gru(encoder.forwards, words, *masks[:2])
    if direction == "bidirectional":
        leftward = run_gru(encoder.backwards, words[::-1], *masks[2:])[::-1]
        states = [torch.cat(pair) for pair in zip(states, leftward, strict=True)]
    return torch.stack(states), sum(states) / len(states)


def annotate_by_lstm(
    encoder: LSTMEncoder, direction: str, words: list[Tensor], masks: list[Tensor]
) -> tuple[Tensor, Tensor]:
    if direction == "forward":
        steps = run_lstm(encoder.forwards, words, *masks[:2])
        return torch.stack([h for h, _ in steps]), torch.cat(steps[-1])
    if direction == "reversed":
        *turned, eos = run_lstm(encoder.forwards, [*reversed(words[:-1]), words[-1]], *masks[:2])
        return torch.stack([*(h for h, _ in reversed(turned)), eos[0]]), torch.cat(eos)
    rightward = run_lstm(encoder.forwards, words, *masks[:2])
    leftward = run_lstm(encoder.backwards, words[::-1], *masks[2:])[::-1]

    def project(linear: nn.Linear, forward_state: Tensor, backward_state: Tensor) -> Tensor:
        return linear.weight @ torch.cat([forward_state, backward_state]) + linear.bias

    states = [project(encoder.annotation, a[0], b[0]) for a, b in zip(rightward, leftward, strict=True)]
    h = project(encoder.last_state, rightward[-1][0], leftward[0][0])
    c = project(encoder.last_cell, rightward[-1][1], leftward[0][1])
    return torch.stack(states), torch.cat([h, c])


ANNOTATE: dict[str, Callable[..., tuple[Tensor, Tensor]]] = {"gru": annotate_by_gru, "lstm": annotate_by_lstm}
"""Annotations (J, H) and summary of a sentence, given the masks of what is read and of h, of each direction in turn."""


@pytest.mark.parametrize("dropping", [False, True])
@pytest.mark.parametrize("inputs", [(5,), (3, 2)], ids=["one input", "two inputs"])
@pytest.mark.parametrize(("unit", "direction"), ENCODERS)
def test_annotations_and_gradients(
    unit: str, direction: str, inputs: tuple[int, ...], dropping: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = make(unit, direction, inputs).train(dropping)
    mask_records = record_masks(part, monkeypatch)
    batch = batch_of(SOURCES)
    memory, row_of = part(batch), batch.source_words.sentence_order.argsort()
    (states,), (summary,) = memory.annotations, memory.summaries
    assert len(mask_records) == (4 if direction == "bidirectional" else 2)
    for mask in mask_records:
        assert (mask is not None) == dropping
        assert not dropping or ((mask == 0).any() and (mask == 2).any())
    assert (memory.position_count, memory.lengths.tolist(), memory.syntax) == (6, [6, 2, 1, 4], {})
    assert states.shape == (4, 6, part.annotation_size) and part.annotation_size == HIDDEN
    assert part.summary_size == summary.shape[1] == (HIDDEN if unit == "gru" else 2 * HIDDEN)

    actual, expected = [], []
    for row, source in enumerate(SOURCES):
        masks = [mask[row_of[row]] if dropping else NO_DROPOUT for mask in mask_records]
        expected += ANNOTATE[unit](part, direction, embed_words(part, source), masks)
        actual += [states[row, : len(source)], summary[row]]
        assert memory.mask[row].tolist() == [True] * len(source) + [False] * (6 - len(source))
    assert_same_gradients(actual, expected, list(part.parameters()), can_vanish=False)


@pytest.mark.parametrize(("unit", "direction"), ENCODERS)
def test_a_sentence_is_the_same_alone(unit: str, direction: str) -> None:
    part = make(unit, direction).eval()
    assert_independent_of_batch(part(batch_of(SOURCES)), [part(batch_of([source])) for source in SOURCES])


@pytest.mark.parametrize(("unit", "direction"), ENCODERS)
def test_half_precision(unit: str, direction: str) -> None:
    assert_close_in_half_precision(make(unit, direction).eval().float(), batch_of(SOURCES))


@pytest.mark.parametrize("unit", ["gru", "lstm"])
def test_syntax_is_handed_on(unit: str) -> None:
    labels = [np.arange(len(source)) for source in SOURCES]
    batch = collate_batch([np.array(source) for source in SOURCES], syntax={"labels": labels})
    assert make(unit, "forward")(batch).syntax["labels"] is batch.syntax["labels"]
