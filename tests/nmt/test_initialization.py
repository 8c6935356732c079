"""Tests of parameter initialization, which does not depend on the names of modules and attributes."""

import math
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch import nn

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.training import InitializationName
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.fast.linear import Linear, RecurrentLinear
from pipeline_py.nmt.initialization import initialize_parameters
from pipeline_py.nmt.model import TranslationModel

TRANSFORMER = {"encoders": [{"type": "transformer", "heads": 2}], "decoder": {"type": "transformer", "heads": 2}}


@pytest.mark.parametrize(
    ("rule", "embeddings", "matrices", "vectors"),
    [
        ("nematus", 0.01, lambda reads: 0.01, 0.01),
        ("uniform", 0.1 / 3**0.5, lambda reads: 0.1 / 3**0.5, 0.1 / 3**0.5),
        ("lecun", 1.0, lambda reads: reads**-0.5, 0.1 / 3**0.5),
        ("lecun_small", 0.25, lambda reads: reads**-0.5, 0.1 / 3**0.5),
    ],
)
def test_initial_parameters(
    rule: InitializationName, embeddings: float, matrices: Callable[[int], float], vectors: float
) -> None:
    """Standard deviations by hand: a uniform distribution over ±a has a/√3."""
    torch.manual_seed(0)
    sizes = {"embedding": 30, "hidden": 40, "initialization": rule}
    model = TranslationModel(
        CompositionConfig.model_validate(
            {"model": sizes, "contexts": ["local"], "encoders": [{"inputs": [{"type": "units", "size": 12}, "words"]}]}
        ),
        {"source": 200, "target": 200, "units": 200},
    )
    for name, parameter in model.named_parameters():
        if name.endswith("recurrent.weight") and rule != "uniform":
            for gate in parameter.split(40):
                torch.testing.assert_close(gate @ gate.T, torch.eye(40), atol=1e-5, rtol=0)
        elif "bias" in name or (rule == "uniform" and "softmax" in name):
            assert not parameter.any(), name
        else:
            expected = embeddings if "embedding" in name else vectors
            if "embedding" not in name and parameter.dim() == 2:
                expected = matrices(parameter.shape[1])
            assert parameter.std().item() == pytest.approx(expected, rel=0.25), name


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("nematus", 0.01),
        ("uniform", 0.1 / 3**0.5),
        ("lecun", 30**-0.5),
        ("lecun_small", 30**-0.5),
        ("glorot", 30**-0.5),
    ],
)
def test_tied_embedding_is_scaled(rule: InitializationName, expected: float) -> None:
    """Otherwise words would be guessed with confidence before anything is learnt."""
    torch.manual_seed(0)
    sizes = {"embedding": 30, "hidden": 40, "initialization": rule, "tied_embeddings": "target"}
    model = TranslationModel(CompositionConfig.model_validate({"model": sizes}), {"source": 200, "target": 200})
    assert model.decoder.softmax.weight is model.decoder.embedding.weight
    assert model.decoder.embedding.weight.std().item() == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(
    "parts", [{}, {"decoder": "gru"}, {"scores": ["dot"], "encoders": ["lstm"], "decoder": "lstm"}, TRANSFORMER]
)
def test_unigram_bias_predicts_word_frequencies(parts: dict[str, Any]) -> None:
    """By hand: without what it reads, its first guess of a word is the word's share of the training data."""
    counts = torch.tensor([50, 1, 30, 15, 4])
    sizes = {"source": 9, "target": len(counts)}
    model = {"embedding": 8, "hidden": 8, "softmax_bias": "unigram"}
    network = TranslationModel(CompositionConfig.model_validate({**parts, "model": model}), sizes)
    torch.nn.init.zeros_(network.decoder.softmax.weight)
    network.set_word_frequencies(counts)
    loss = network.compute_loss(collate_batch([np.array([3, 4, 0])], [np.array([2, 0])])).item()
    assert loss == pytest.approx(-math.log(0.3) - math.log(0.5), rel=1e-5)

    unknowing = TranslationModel(
        CompositionConfig.model_validate({**parts, "model": {**model, "softmax_bias": "zero"}}), sizes
    )
    unknowing.set_word_frequencies(counts)
    assert not unknowing.decoder.softmax.bias.any()


@pytest.mark.parametrize("rule", ["uniform", "nematus", "lecun"])
def test_other_initial_parameters(rule: InitializationName) -> None:
    """Tree2seq section 4.2: forget gates 1, other biases and the softmax 0, the rest U(−0.1, 0.1)."""
    torch.manual_seed(0)
    model = TranslationModel(
        CompositionConfig.model_validate(
            {
                "encoders": ["tree_lstm"],
                "scores": ["dot"],
                "decoder": "lstm",
                "model": {"embedding": 30, "hidden": 30, "initialization": rule},
            }
        ),
        {"source": 200, "target": 200},
    )
    parameters = dict(model.named_parameters())
    gate_counts = {"encoders.0.leaves.input.bias": 1, "encoders.0.tree.bias": 2, "encoders.0.summarize.bias": 2}
    gate_counts["decoder.lstm.input.bias"] = 1
    for name, gates in gate_counts.items():
        bias = parameters.pop(name)
        assert bias[30 : 30 * (1 + gates)].eq(1).all() and bias.sum() == 30 * gates, name
    for name, parameter in parameters.items():
        if "bias" in name:
            assert not parameter.any(), name
        elif rule == "uniform" and name == "decoder.softmax.weight":
            assert not parameter.any()
        elif rule == "uniform":
            assert parameter.abs().max() <= 0.1, name
            assert parameter.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.1), name
        elif name == "decoder.lstm.recurrent.weight":  # the rows of a gate read [h; h~]
            for gate in parameter.split(30):
                torch.testing.assert_close(gate @ gate.T, torch.eye(30), atol=1e-5, rtol=0)


class Toy(nn.Module):
    """A part whose names say something else than what they name."""

    def __init__(self) -> None:
        super().__init__()
        self.recurrent = nn.LayerNorm(50)
        self.embedding = nn.Conv1d(3, 4, 5)
        self.bias_of_nothing = nn.Linear(50, 60)
        self.rows = nn.Embedding(70, 50)
        self.through_time = RecurrentLinear(50, 150, bias=False)


@pytest.mark.parametrize("rule", get_args(InitializationName))
def test_initialization_depends_on_module_type(rule: InitializationName) -> None:
    torch.manual_seed(0)
    toy = Toy()
    convolution = toy.embedding.weight.detach().clone()
    initialize_parameters(toy, rule)
    assert toy.recurrent.weight.eq(1).all() and not toy.recurrent.bias.any(), "torch's own beginning"
    assert torch.equal(toy.embedding.weight, convolution)
    assert not toy.bias_of_nothing.bias.any()
    spread = {
        "nematus": (0.01, 0.01),
        "uniform": (0.1 / 3**0.5,) * 2,
        "lecun": (50**-0.5, 1.0),
        "lecun_small": (50**-0.5, 0.25),
        "glorot": (110**-0.5 * 2**0.5, 50**-0.5),
    }[rule]
    for weight, expected in zip((toy.bias_of_nothing.weight, toy.rows.weight), spread, strict=True):
        assert weight.std().item() == pytest.approx(expected, rel=0.1)
    for gate in toy.through_time.weight.split(50):
        orthogonal = torch.allclose(gate @ gate.T, torch.eye(50), atol=1e-5)
        assert orthogonal == (rule != "uniform")


def test_uninitialized_parameters_raise_error() -> None:
    class Scale(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = nn.Parameter(torch.empty(3))

    with pytest.raises(TypeError, match="Scale has parameters; initialize them in a method `initialize"):
        initialize_parameters(nn.Sequential(Linear(2, 3), Scale()), "lecun")


def test_subclass_of_torch_module_is_initialized() -> None:
    class Norm(nn.LayerNorm):
        pass

    norm = Norm(4)
    initialize_parameters(norm, "nematus")
    assert norm.weight.tolist() == [1] * 4
