"""The parsing encoder against one that reads a sentence word by word and weighs heads one by one, in float64."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.encoders import LatentGraph, WordInput
from pipeline_py.config.systems.training import Model
from pipeline_py.nmt.data.batch import Batch, collate
from pipeline_py.nmt.encoder.latent_graph import LatentGraphEncoder
from pipeline_py.nmt.input.words import WordEmbedding as Words
from pipeline_py.nmt.model import Model as Network
from pipeline_py.nmt.recurrence.lstm import LSTM

HIDDEN, LABELS = 4, 3
SIZES = Model(embedding=5, hidden=HIDDEN, dropout=0.5)
SOURCES = [[3, 1, 4, 1, 5, 0], [2, 0], [0], [6, 5, 3, 0], [1, 2, 0]]
HEADS = [[1, 1, 1, 2, 0, 5], [0, 1], [0], [-1, -1, -1, -1], [0, 1, 2]]
"""A tree, one word, no word, a failed parse, two roots."""
LABELS_OF = [[0, 2, 1, 1, 0, 0], [2, 0], [0], [1, 1, 1, 0], [2, 0, 0]]


def make(inputs: tuple[int, ...] = (5,)) -> LatentGraphEncoder:
    torch.manual_seed(0)
    words = [Words(WordInput(), size, {"source": 7}) for size in inputs]
    part = LatentGraphEncoder(LatentGraph(), SIZES, words, {"source": 7, "labels": LABELS}).double()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.normal_(std=0.8)
    return part


def batch_of(*chosen: int) -> Batch:
    def rows(table: list[list[int]]) -> list[np.ndarray]:
        return [np.array(table[number]) for number in chosen or range(len(table))]

    return collate(rows(SOURCES), syntax={"heads": rows(HEADS), "labels": rows(LABELS_OF)})


def read(lstm: LSTM, words: list[Tensor], kept: tuple[Tensor, Tensor] | None) -> list[tuple[Tensor, Tensor]]:
    """States and cells of each step; `kept` are the factors that dropout gives what is read, and h within U."""
    h = c = torch.zeros(HIDDEN, dtype=torch.float64)
    kept_x, kept_h = kept or (1, 1)
    steps = []
    for x in words:
        products = lstm.input.weight @ (kept_x * x) + lstm.input.bias + lstm.recurrent.weight @ (kept_h * h)
        i, f, o, candidate = products.chunk(4)
        c = torch.sigmoid(i) * torch.tanh(candidate) + torch.sigmoid(f) * c
        h = torch.sigmoid(o) * torch.tanh(c)
        steps.append((h, c))
    return steps


class Reference:
    """One sentence; `masks` in the order of their drawing: of x and h rightward, of x and h leftward."""

    def __init__(self, part: LatentGraphEncoder, source: list[int], masks: list[Tensor] | None = None) -> None:
        words = [torch.cat([one.embedding.weight[token] for one in part.inputs]) for token in source]
        rightward = read(part.forwards, words, masks and (masks[0], masks[1]))
        leftward = read(part.backwards, words[::-1], masks and (masks[2], masks[3]))[::-1]
        h = [torch.cat([one, other]) for (one, _), (other, _) in zip(rightward, leftward, strict=True)]
        self.head_scores, self.label_scores, annotations = [], [], []
        for i in range(len(h)):
            candidates = [part.root if j == i else h[j] for j in range(len(h))]
            scores = [
                sum(part.head.weight[b] @ h[i] * candidate[b] for b in range(2 * HIDDEN)) for candidate in candidates
            ]
            total = sum(score.exp() for score in scores)
            z = sum(score.exp() / total * candidate for score, candidate in zip(scores, candidates, strict=True))
            labels = part.label.weight @ torch.cat([h[i], z]) + part.label.bias
            shares = labels.exp() / labels.exp().sum()
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
                    loss = loss - torch.log(scores[right].exp() / scores.exp().sum())
        return loss


def catch_masks(part: LatentGraphEncoder, monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    drawn: list[Tensor] = []
    draw = part.dropout.draw
    monkeypatch.setattr(part.dropout, "draw", lambda *size: drawn.append(draw(*size)) or drawn[-1])
    return drawn


def check_gradients(part: LatentGraphEncoder, ours: Tensor, theirs: Tensor, without: tuple[str, ...] = ()) -> None:
    parameters = {name: one for name, one in part.named_parameters() if not name.startswith(without or "-")}
    got, want = (torch.autograd.grad(one, [*parameters.values()]) for one in (ours, theirs))
    for name, one, other in zip(parameters, got, want, strict=True):
        assert other.abs().max() > 1e-6, name
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("dropping", [False, True])
def test_annotations_and_gradients(dropping: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    part = make().train(dropping)
    drawn = catch_masks(part, monkeypatch)
    batch = batch_of()
    memory, row_of = part(batch), batch.source_words.order.argsort()
    assert memory.words == 6 and memory.lengths.tolist() == [6, 2, 1, 4, 3]
    assert part.size == memory.states[0].shape[2] == HIDDEN
    assert part.summary_size == memory.summary[0].shape[1] == 2 * HIDDEN
    if dropping:
        assert len(drawn) == 4 and all((mask == 0).any() and (mask == 2).any() for mask in drawn)

    ours = theirs = torch.zeros((), dtype=torch.float64)
    for row, source in enumerate(SOURCES):
        expected = Reference(part, source, [mask[row_of[row]] for mask in drawn] if dropping else None)
        got = memory.states[0][row, : len(source)], memory.summary[0][row]
        assert memory.mask[row].tolist() == [True] * len(source) + [False] * (6 - len(source))
        for one, other in zip(got, (expected.annotations, expected.summary), strict=True):
            torch.testing.assert_close(one, other)
            way = torch.randn_like(other)
            ours, theirs = ours + (one * way).sum(), theirs + (other * way).sum()
    check_gradients(part, ours, theirs)


@pytest.mark.parametrize("dropping", [False, True])
def test_parsing_loss_and_gradients(dropping: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    part = make().train(dropping)
    drawn = catch_masks(part, monkeypatch)
    batch = batch_of()
    ours, row_of = part.parsing_loss(batch), batch.source_words.order.argsort()
    theirs = torch.stack(
        [
            Reference(part, source, [mask[row_of[row]] for mask in drawn] if dropping else None).parsing_loss(
                HEADS[row], LABELS_OF[row]
            )
            for row, source in enumerate(SOURCES)
        ]
    )
    torch.testing.assert_close(ours, theirs)
    assert ours[2] == ours[3] == 0 < ours[1]
    factors = torch.rand(len(SOURCES), dtype=torch.float64)
    # What only translation uses learns nothing here.
    check_gradients(part, (ours * factors).sum(), (theirs * factors).sum(), without=("annotation", "last_"))


def test_several_inputs() -> None:
    part = make((2, 3)).eval()
    memory = part(batch_of())
    for row, source in enumerate(SOURCES):
        torch.testing.assert_close(memory.states[0][row, : len(source)], Reference(part, source).annotations)


def test_padding_never_matters() -> None:
    part = make().eval()
    together, loss, parse = part(batch_of()), part.parsing_loss(batch_of()), part.parse(batch_of())
    for row, source in enumerate(SOURCES):
        alone, J = part(batch_of(row)), len(source)
        torch.testing.assert_close(together.states[0][row, :J], alone.states[0][0])
        torch.testing.assert_close(together.summary[0][row], alone.summary[0][0])
        torch.testing.assert_close(loss[row], part.parsing_loss(batch_of(row))[0])
        assert parse.heads[row, :, J:].isneginf().all()


def test_failed_parses_alone_have_no_gradient() -> None:
    part = make().eval()
    part.parsing_loss(batch_of(3, 2)).sum().backward()
    for name, parameter in part.named_parameters():
        assert parameter.grad is None or parameter.grad.eq(0).all(), name


def test_gold_heads_are_never_read() -> None:
    part = make().eval()
    source = [np.array(SOURCES[0])]
    bare = part(collate(source, syntax={}))
    given = part(batch_of(0))
    assert torch.equal(bare.states[0], given.states[0])
    assert bare.syntax == {} and given.syntax.keys() == {"heads", "labels"}


def test_a_word_alone_hangs_under_root_or_the_end() -> None:
    parse = make().eval().parse(batch_of(1, 2))
    assert parse.heads[0].isfinite().all()
    assert parse.heads[1, 0].softmax(0).tolist() == [1, 0]
    assert parse.labels.shape == (2, 2, LABELS)


def test_half_precision() -> None:
    part = make().eval().float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        memory, loss = part(batch_of()), part.parsing_loss(batch_of())
        loss.sum().backward()
    exact = part(batch_of())
    assert memory.states[0].dtype == memory.summary[0].dtype == loss.dtype == torch.float32
    torch.testing.assert_close(memory.states[0], exact.states[0], rtol=0, atol=0.1)
    torch.testing.assert_close(memory.summary[0], exact.summary[0], rtol=0, atol=0.1)
    torch.testing.assert_close(loss, part.parsing_loss(batch_of()), rtol=0.05, atol=0.1)
    assert part.root.grad is not None and part.root.grad.isfinite().all()


@pytest.mark.parametrize("decoder", [{"decoder": "lstm", "scores": ["dot"]}, {}], ids=["lstm", "conditional_gru"])
def test_the_translation_trains_the_parser(decoder: dict) -> None:
    torch.manual_seed(1)
    system = System.model_validate({"encoders": ["latent_graph"], "model": SIZES.model_dump(), **decoder})
    model = Network(system, {"source": 7, "target": 9, "labels": LABELS}).double()
    targets = [np.array([2, 5, 0]) for _ in SOURCES]
    model.loss(collate([np.array(source) for source in SOURCES], targets)).sum().backward()
    for name, parameter in model.encoders.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, name


def test_the_number_of_parameters() -> None:
    """At the sizes of tree2seq: each direction 4·256·(256 + 256 + 1), and the maps one by one."""
    part = LatentGraphEncoder(LatentGraph(), Model(embedding=256, hidden=256), [], {"labels": 40})
    maps = 512 * 512 + 512 + 40 * (1024 + 1) + 256 * (1024 + 40 + 1) + 2 * 256 * (512 + 1)
    assert sum(parameter.numel() for parameter in part.parameters()) == 2 * 4 * 256 * 513 + maps


def test_where_scores_begin_equal_every_head_does() -> None:
    part = make().eval()
    with torch.no_grad():
        part.head.weight.zero_()
        part.label.weight.zero_()
        part.label.bias.zero_()
    loss = part.parsing_loss(batch_of(0))
    assert loss.item() == pytest.approx(5 * (math.log(6) + math.log(LABELS)))
