"""The parsing encoder against one that reads a sentence word by word and weighs heads one by one, in float64."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.encoders import LatentGraphEncoderConfig
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.encoder.latent_graph import LatentGraphEncoder
from pipeline_py.nmt.model import TranslationModel as Network
from tests.nmt.encoder.random_encoders import build_encoder, embed_words
from tests.nmt.formulas import NO_DROPOUT, compute_log_loss, compute_weighted_sum, run_lstm, softmax_tensors
from tests.nmt.network_assertions import (
    assert_close_in_half_precision,
    assert_independent_of_batch,
    assert_same_gradients,
    record_masks,
)

HIDDEN, LABELS = 4, 3
SIZES = ModelConfig(embedding=5, hidden=HIDDEN, dropout=0.5)
SOURCES = [[3, 1, 4, 1, 5, 0], [2, 0], [0], [6, 5, 3, 0], [1, 2, 0]]
HEADS = [[1, 1, 1, 2, 0, 5], [0, 1], [0], [-1, -1, -1, -1], [0, 1, 2]]
"""A tree, one word, no word, a failed parse, two roots."""
LABELS_OF = [[0, 2, 1, 1, 0, 0], [2, 0], [0], [1, 1, 1, 0], [2, 0, 0]]


def make(inputs: tuple[int, ...] = (5,)) -> LatentGraphEncoder:
    return build_encoder(LatentGraphEncoder, LatentGraphEncoderConfig(), SIZES, inputs, {"labels": LABELS})


def batch_of(*selected: int) -> Batch:
    def rows(table: list[list[int]]) -> list[np.ndarray]:
        return [np.array(table[number]) for number in selected or range(len(table))]

    return collate_batch(rows(SOURCES), syntax={"heads": rows(HEADS), "labels": rows(LABELS_OF)})


class Reference:
    """One sentence; `masks` in the order of their drawing: of x and h rightward, of x and h leftward."""

    def __init__(
        self, part: LatentGraphEncoder, source: list[int], masks: Sequence[Tensor] = (NO_DROPOUT,) * 4
    ) -> None:
        words = embed_words(part, source)
        rightward = run_lstm(part.forwards, words, *masks[:2])
        leftward = run_lstm(part.backwards, words[::-1], *masks[2:])[::-1]
        h = [
            torch.cat([forward_state, backward_state])
            for (forward_state, _), (backward_state, _) in zip(rightward, leftward, strict=True)
        ]
        self.head_scores, self.label_scores, annotations = [], [], []
        for i in range(len(h)):
            candidates = [part.root if j == i else h[j] for j in range(len(h))]
            scores = [
                sum(part.head.weight[b] @ h[i] * candidate[b] for b in range(2 * HIDDEN)) for candidate in candidates
            ]
            z = compute_weighted_sum(softmax_tensors(scores), candidates, 2 * HIDDEN)
            labels = part.label.weight @ torch.cat([h[i], z]) + part.label.bias
            shares = torch.stack(softmax_tensors(list(labels)))
            annotations.append(torch.tanh(part.annotation.weight @ torch.cat([h[i], z, shares]) + part.annotation.bias))
            self.head_scores.append(torch.stack(scores))
            self.label_scores.append(labels)
        self.annotations = torch.stack(annotations)
        last, cells = (torch.cat([rightward[-1][k], leftward[0][k]]) for k in (0, 1))
        self.summary = torch.cat(
            [
                part.last_state.weight @ last + part.last_state.bias,
                part.last_cell.weight @ cells + part.last_cell.bias,
            ]
        )

    def parsing_loss(self, heads: list[int], labels: list[int]) -> Tensor:
        loss = torch.zeros((), dtype=torch.float64)
        for i, (head, label) in enumerate(zip(heads[:-1], labels[:-1], strict=True)):
            if head >= 0:
                for scores, right in ((self.head_scores[i], head), (self.label_scores[i], label)):
                    loss = loss + compute_log_loss(scores, right)
        return loss


def references(part: LatentGraphEncoder, batch: Batch, mask_records: list[Tensor | None]) -> list[Reference]:
    """Return the references of all sentences, given the masks that were drawn for the batch."""
    row_of = batch.source_words.sentence_order.argsort()
    return [
        Reference(part, source, [NO_DROPOUT if mask is None else mask[row_of[row]] for mask in mask_records])
        for row, source in enumerate(SOURCES)
    ]


@pytest.mark.parametrize("dropping", [False, True])
def test_annotations_and_gradients(dropping: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    part = make().train(dropping)
    mask_records = record_masks(part, monkeypatch)
    batch = batch_of()
    memory = part(batch)
    assert memory.position_count == 6 and memory.lengths.tolist() == [6, 2, 1, 4, 3]
    assert part.annotation_size == memory.annotations[0].shape[2] == HIDDEN
    assert part.summary_size == memory.summaries[0].shape[1] == 2 * HIDDEN
    assert len(mask_records) == 4
    assert all((mask == 0).any() and (mask == 2).any() if dropping else mask is None for mask in mask_records)

    actual, expected = [], []
    for row, reference in enumerate(references(part, batch, mask_records)):
        length = len(SOURCES[row])
        assert memory.mask[row].tolist() == [True] * length + [False] * (6 - length)
        actual += [memory.annotations[0][row, :length], memory.summaries[0][row]]
        expected += [reference.annotations, reference.summary]
    assert_same_gradients(actual, expected, list(part.parameters()), can_vanish=False)


@pytest.mark.parametrize("dropping", [False, True])
def test_parsing_loss_and_gradients(dropping: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    part = make().train(dropping)
    mask_records = record_masks(part, monkeypatch)
    batch = batch_of()
    losses = part.compute_parsing_loss(batch)
    expected = [
        reference.parsing_loss(HEADS[row], LABELS_OF[row])
        for row, reference in enumerate(references(part, batch, mask_records))
    ]
    assert losses[2] == losses[3] == 0 < losses[1]
    # What only translation uses learns nothing here.
    learning = [value for name, value in part.named_parameters() if not name.startswith(("annotation", "last_"))]
    assert_same_gradients(list(losses), expected, learning, can_vanish=False)


def test_several_inputs() -> None:
    part = make((2, 3)).eval()
    memory = part(batch_of())
    for row, source in enumerate(SOURCES):
        torch.testing.assert_close(memory.annotations[0][row, : len(source)], Reference(part, source).annotations)


def test_padding_never_matters() -> None:
    part = make().eval()
    assert_independent_of_batch(part(batch_of()), [part(batch_of(row)) for row in range(len(SOURCES))])
    loss, parse = part.compute_parsing_loss(batch_of()), part.predict_parse(batch_of())
    for row, source in enumerate(SOURCES):
        torch.testing.assert_close(loss[row], part.compute_parsing_loss(batch_of(row))[0])
        assert parse.head_scores[row, :, len(source) :].isneginf().all()


def test_failed_parses_alone_have_no_gradient() -> None:
    part = make().eval()
    part.compute_parsing_loss(batch_of(3, 2)).sum().backward()
    for name, parameter in part.named_parameters():
        assert parameter.grad is None or parameter.grad.eq(0).all(), name


def test_gold_heads_are_never_read() -> None:
    part = make().eval()
    source = [np.array(SOURCES[0])]
    bare = part(collate_batch(source, syntax={}))
    memory = part(batch_of(0))
    assert torch.equal(bare.annotations[0], memory.annotations[0])
    assert bare.syntax == {} and memory.syntax.keys() == {"heads", "labels"}


def test_a_word_alone_hangs_under_root_or_the_end() -> None:
    parse = make().eval().predict_parse(batch_of(1, 2))
    assert parse.head_scores[0].isfinite().all()
    assert parse.head_scores[1, 0].softmax(0).tolist() == [1, 0]
    assert parse.label_scores.shape == (2, 2, LABELS)


def test_half_precision() -> None:
    part = make().eval().float()
    assert_close_in_half_precision(part, batch_of())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = part.compute_parsing_loss(batch_of())
        loss.sum().backward()
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, part.compute_parsing_loss(batch_of()), rtol=0.05, atol=0.1)
    assert part.root.grad is not None and part.root.grad.isfinite().all()


@pytest.mark.parametrize("decoder", [{"decoder": "lstm", "scores": ["dot"]}, {}], ids=["lstm", "conditional_gru"])
def test_the_translation_trains_the_parser(decoder: dict) -> None:
    torch.manual_seed(1)
    system = CompositionConfig.model_validate({"encoders": ["latent_graph"], "model": SIZES.model_dump(), **decoder})
    model = Network(system, {"source": 7, "target": 9, "labels": LABELS}).double()
    targets = [np.array([2, 5, 0]) for _ in SOURCES]
    model.compute_loss(collate_batch([np.array(source) for source in SOURCES], targets)).sum().backward()
    for name, parameter in model.encoders.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, name


def test_the_number_of_parameters() -> None:
    """At the sizes of tree2seq: each direction 4·256·(256 + 256 + 1), and the maps one by one."""
    part = LatentGraphEncoder(LatentGraphEncoderConfig(), ModelConfig(embedding=256, hidden=256), [], {"labels": 40})
    maps = 512 * 512 + 512 + 40 * (1024 + 1) + 256 * (1024 + 40 + 1) + 2 * 256 * (512 + 1)
    assert sum(parameter.numel() for parameter in part.parameters()) == 2 * 4 * 256 * 513 + maps


def test_where_scores_begin_equal_every_head_does() -> None:
    part = make().eval()
    with torch.no_grad():
        part.head.weight.zero_()
        part.label.weight.zero_()
        part.label.bias.zero_()
    loss = part.compute_parsing_loss(batch_of(0))
    assert loss.item() == pytest.approx(5 * (math.log(6) + math.log(LABELS)))
