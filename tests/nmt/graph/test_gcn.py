"""The graph convolution against one that goes from edge to edge of a sentence, in float64."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.encoders import GCNConfig
from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.graph.gcn import SyntacticGraphConvolution
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.subword.pack_heads import find_piece_heads
from tests.nmt.network_assertions import draw_parameters

SIZE, LABELS = 3, 4
SOURCES = [[3, 1, 4, 1, 5, 0], [2, 0], [0], [6, 5, 3, 0], [1, 2, 0]]
HEADS = [[1, 1, 1, 2, 2, 5], [0, 1], [0], [-1, -1, -1, -1], [0, 1, 2]]
"""A tree, one word, no word, a failed parse, two roots."""
LABELS_OF = [[0, 2, 1, 1, 0, 3], [2, 3], [3], [1, 1, 1, 3], [2, 0, 3]]


def make(layers: int = 1) -> SyntacticGraphConvolution:
    torch.manual_seed(0)
    return draw_parameters(SyntacticGraphConvolution(GCNConfig(layers=layers), SIZE, 0.0, {"labels": LABELS}).double())


def batch_of(*selected: int, multiple: int = 1, labels: list[list[int]] = LABELS_OF) -> Batch:
    def rows(table: list[list[int]]) -> list[np.ndarray]:
        return [np.array(table[number]) for number in selected or range(len(table))]

    return collate_batch(rows(SOURCES), syntax={"heads": rows(HEADS), "labels": rows(labels)}, length_multiple=multiple)


def annotated(batch: Batch, seed: int = 1) -> EncoderMemory:
    states = torch.rand(*batch.source.shape, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return EncoderMemory.from_words(batch, states - 0.5, torch.zeros(len(batch), 1))


def by_hand(part: SyntacticGraphConvolution, states: list[Tensor], heads: list[int], labels: list[int]) -> list[Tensor]:
    for layer in part.layers:
        maps = {edge: layer.maps[edge].weight for edge in ("in", "out", "self")}
        gates = dict(zip(("in", "out", "self"), layer.gates, strict=True))

        def message(edge: str, h: Tensor, bias: Tensor, maps=maps, gates=gates) -> Tensor:
            gate = 1 / (1 + math.exp(-float(h @ gates[edge] + bias[-1])))
            return gate * (maps[edge] @ h + bias[:-1])

        sums = [message("self", h, layer.new_word_bias) for h in states]
        for word, head in enumerate(heads):
            if head in (-1, word):
                continue
            sums[word] = sums[word] + message("in", states[head], layer.biases["in"][labels[word]])
            sums[head] = sums[head] + message("out", states[word], layer.biases["out"][labels[word]])
        states = [total.clamp(min=0) for total in sums]
    return states


@pytest.mark.parametrize("multiple", [1, 4])
@pytest.mark.parametrize("layers", [1, 2])
@torch.no_grad()
def test_annotations_are_those_of_the_edges(layers: int, multiple: int) -> None:
    part, batch = make(layers), batch_of(multiple=multiple)
    memory = annotated(batch)
    (result,) = part(memory, batch).annotations
    (states,) = memory.annotations
    for row, source in enumerate(SOURCES):
        expected = by_hand(part, list(states[row, : len(source)]), HEADS[row], LABELS_OF[row])
        torch.testing.assert_close(result[row, : len(source)], torch.stack(expected), rtol=1e-10, atol=1e-12)
        assert not result[row, len(source) :].any()
    assert part(memory, batch).summaries is memory.summaries


def test_pieces_hang_under_the_first_one_of_their_word_or_of_its_head() -> None:
    """So the first piece of a root sees its other pieces, and the first pieces of its dependents, and no other."""
    heads = find_piece_heads([2, 0, 2], [0, 0, 1, 1, 1, 2])
    labels = [2, 2, 1, 1, 1, 0, 3]
    batch = collate_batch([np.array([1] * 6 + [0])], syntax={"heads": [np.array(heads)], "labels": [np.array(labels)]})
    memory = annotated(batch)
    states = memory.annotations[0].clone().requires_grad_()
    (result,) = make()(replace(memory, annotations=(states,)), batch).annotations
    (gradient,) = torch.autograd.grad(result[0, 2].sum(), states)
    assert gradient[0].ne(0).any(dim=1).tolist() == [True, False, True, True, True, True, False]


def test_gradients() -> None:
    part, batch = make(2), batch_of(0, 3)
    parameters = [*part.parameters()]

    def summed(*values: Tensor) -> Tensor:
        named = dict(zip(dict(part.named_parameters()), values, strict=True))
        memory = torch.func.functional_call(part, named, (annotated(batch), batch))
        return (memory.annotations[0] ** 2).sum()

    assert torch.autograd.gradcheck(summed, tuple(p.detach().clone().requires_grad_() for p in parameters))


@torch.no_grad()
def test_dropout_of_the_input_of_each_layer_leaves_only_biases() -> None:
    batch = batch_of(0)
    part = SyntacticGraphConvolution(GCNConfig(layers=2), SIZE, 1 - 1e-12, {"labels": LABELS}).double()
    draw_parameters(part)
    torch.manual_seed(0)
    results = [part.train()(annotated(batch, seed), batch).annotations[0] for seed in (1, 2)]
    assert torch.equal(*results) and results[0].any()
    assert not torch.equal(part.eval()(annotated(batch, 1), batch).annotations[0], results[0])


@torch.no_grad()
def test_labels_and_gates_matter() -> None:
    part, batch = make(), batch_of(0)
    (before,) = part(annotated(batch), batch).annotations
    other_labels = [[1, *LABELS_OF[0][1:]], *LABELS_OF[1:]]
    relabelled = batch_of(0, labels=other_labels)
    (after,) = part(annotated(batch), relabelled).annotations
    changed = (before != after).any(dim=2)[0].tolist()
    assert changed[:2] == [True, True] and not any(changed[2:]), "an edge is seen at both its ends alone"
    part.layers[0].gates.zero_()
    assert not torch.equal(part(annotated(batch), batch).annotations[0], before)


@pytest.mark.parametrize("encoder", ["bidirectional_gru", "lstm", "transformer"])
def test_a_system_with_it_learns(encoder: str) -> None:
    sizes = {"embedding": 8, "hidden": 8, "dropout": 0.0, "initialization": "lecun"}
    system = CompositionConfig.model_validate({"encoders": [{"type": encoder, "graph": "gcn"}], "model": sizes})
    assert system.required_syntax_names == ["heads", "labels"] and "nmt.graph.gcn" in system.module_names
    torch.manual_seed(0)
    model = TranslationModel(system, {"source": 8, "target": 8, "labels": LABELS})
    sources = [np.array(source) for source in SOURCES]
    syntax = {kind: [np.array(row) for row in rows] for kind, rows in (("heads", HEADS), ("labels", LABELS_OF))}
    batch = collate_batch(sources, sources, syntax)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = model.compute_loss(batch).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
    unused = [name for name, parameter in model.named_parameters() if parameter.grad is None]
    assert not unused
