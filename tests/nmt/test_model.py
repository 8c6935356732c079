"""Whole networks against a reference that follows the papers' equations word by word, in plain Python and float64."""

import pytest
import torch
from torch import Tensor, nn

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.loss import blackout
from pipeline_py.nmt.model import TranslationModel, find_part_class
from tests.nmt.reference_network import (
    COMPOSITIONS,
    MODEL_OPTIONS,
    SCORE_PER_ENCODER,
    UNIT_ENCODER,
    WORD_ENCODER,
    ReferenceNetwork,
    build_batch,
    build_model,
    build_pairs,
    build_system,
    iterate_pairs,
)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("multiple", [1, 3, 8])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_loss_equals_reference(composition: dict, training: bool, multiple: int) -> None:
    """Rounded up, the longest of the sentences has no padding with 1 and 8, and some with 3."""
    for seed in range(4 if multiple == 1 else 1):
        model = build_model(build_system(composition), seed).train(training)
        losses = model.compute_loss(build_batch(seed, multiple)).tolist()
        reference = ReferenceNetwork(model)
        for loss, pair in zip(losses, iterate_pairs(seed), strict=True):
            expected, _ = reference.compute_loss(*pair)
            assert loss == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_gradients(composition: dict) -> None:
    model = build_model(build_system(composition))
    batch = collate_batch(*build_pairs(pair_lengths=((2, 2), (1, 1), (0, 1))))
    names, parameters = zip(*model.named_parameters(), strict=True)

    def loss(*values: Tensor) -> Tensor:
        return torch.func.functional_call(model, dict(zip(names, values, strict=True)), (batch,)).sum()

    assert torch.autograd.gradcheck(loss, parameters, eps=1e-6, atol=1e-6, fast_mode=True)


def test_parameter_count_of_paper() -> None:
    """Count the parameters of GlobalAtt with embedding 620, hidden 1000 and two vocabularies of 50K."""
    with torch.device("meta"):
        model = TranslationModel(CompositionConfig(), {"source": 50_000, "target": 50_000})
    assert sum(parameter.numel() for parameter in model.parameters()) == 126_893_261


def count_by_hand(composition: dict, labels: int = 50, words: int = 50_000) -> int:
    """Weights and biases at embedding 620 and hidden 1000, from the equations."""
    e, h = 620, 1000
    encoders = composition.get("encoders", [{"inputs": ["words"]}])
    contexts = composition.get("contexts", ["global"])
    total = words * e  # target embedding
    for encoder in encoders:
        for input_options in encoder["inputs"]:
            kind, size = (
                (input_options, None)
                if isinstance(input_options, str)
                else (input_options["type"], input_options["size"])
            )
            size = size or e - sum(sibling["size"] for sibling in encoder["inputs"] if isinstance(sibling, dict))
            table = {"words": words, "labels": labels, "units": words + 1}[kind]
            total += table * size + (2 * (3 * size * size + size) if kind == "units" else 0)
        total += 2 * (3 * h * e + 3 * h * h + 3 * h)  # both directions
        total += 2 * h * h + h  # initial state
        total += 3 * h * e + 3 * h * h + 3 * h  # GRU1
        total += 3 * h * 2 * h + 3 * h * h + 3 * h  # GRU2
        total += h * e + e  # L_d
        total += len(contexts) * (2 * h * e + e)  # L_c
    for _ in composition.get("scores", ["mlp"]):
        total += h * 2 * h + 2 * h * 2 * h + 2 * h + 2 * h + 1
    for context in contexts:
        kind = context if isinstance(context, str) else context.get("position", context["type"])
        total += {"global": 0, "local": h * h + h, "syntax": 0, "interpolate": h * h + h, "flexible": h * h + h + h}[
            kind
        ]
    return total + e * e + e + words * e + words  # L_w and the softmax


UNITS_BESIDE_WORDS = {"encoders": [{"inputs": [{"type": "words", "size": 360}, {"type": "units", "size": 260}]}]}
MIXTURE_OF_TWO = {
    "encoders": [WORD_ENCODER, UNIT_ENCODER],
    "scores": SCORE_PER_ENCODER,
    "contexts": [{"type": "global", "mixture": [0.6, 0.4]}],
}


@pytest.mark.parametrize(
    ("composition", "expected"),
    [
        ({}, 126_893_261),
        ({"contexts": ["local"]}, 127_894_261),
        ({"contexts": ["flexible"]}, 127_895_261),
        ({"contexts": ["syntax"]}, 126_893_261),
        ({"contexts": [{"type": "syntax", "position": "interpolate"}]}, 127_894_261),
        ({"encoders": [{"inputs": ["words", {"type": "labels", "size": 10}]}]}, 126_393_761),
        (UNITS_BESIDE_WORDS, 127_299_641),
        (MIXTURE_OF_TWO, 193_659_762),
        ({"contexts": ["global", "local"]}, 129_134_881),
        ({"contexts": ["global", "flexible"]}, 129_135_881),
        ({"contexts": ["global", "syntax"]}, 128_133_881),
    ],
)
def test_parameter_count_of_compositions(composition: dict, expected: int) -> None:
    """docs/explanation/networks.md gives these numbers, with 50 labels and 50,000 words in units."""
    vocabularies = {"source": 50_000, "target": 50_000, "labels": 50, "units": 50_001}
    with torch.device("meta"):
        model = TranslationModel(CompositionConfig.model_validate(composition), vocabularies)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected == count_by_hand(composition)


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_loss_does_not_depend_on_batch(composition: dict) -> None:
    model = build_model(build_system(composition)).eval()
    batch_losses = model.compute_loss(build_batch())
    for row, (source, target, syntax) in enumerate(iterate_pairs()):
        single_losses = model.compute_loss(
            collate_batch([source], [target], {kind: [values] for kind, values in syntax.items()})
        )
        torch.testing.assert_close(single_losses[0], batch_losses[row], rtol=1e-12, atol=1e-12)


def test_dropout_is_constant_over_steps_and_absent_in_search() -> None:
    system = CompositionConfig.model_validate({"model": MODEL_OPTIONS | {"dropout": 0.5}})
    model = build_model(system)
    batch = build_batch()
    first, second = model.compute_loss(batch), model.compute_loss(batch)
    assert not torch.allclose(first, second)
    torch.manual_seed(3)
    first = model.compute_loss(batch)
    torch.manual_seed(3)
    torch.testing.assert_close(model.compute_loss(batch), first, rtol=0, atol=0)
    model.eval()
    assert [loss.item() for loss in model.compute_loss(batch)] == pytest.approx(
        [ReferenceNetwork(model).compute_loss(*pair)[0] for pair in iterate_pairs()]
    )


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS.keys())
def test_extreme_parameters_give_no_nan(composition: dict) -> None:
    """Saturated positions, huge penalties and huge scores in single precision."""
    for seed in range(3):
        model = build_model(build_system(composition), seed).float()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(40)
        loss = model.compute_loss(build_batch(seed))
        loss.sum().backward()
        assert loss.isfinite().all()
        for name, parameter in model.named_parameters():
            assert parameter.grad is None or parameter.grad.isfinite().all(), name
        model.eval()
        assert model.compute_loss(build_batch(seed)).isfinite().all()


def test_half_precision_stays_close() -> None:
    model = build_model(build_system({"contexts": ["global", "syntax", "local", "flexible"]})).float()
    exact = model.compute_loss(build_batch())
    with torch.autocast("cpu", torch.bfloat16):
        half = model.compute_loss(build_batch())
    half.sum().backward()
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, exact, rtol=0.05, atol=0.2)


def test_part_is_only_network_of_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_part_class("loss", "blackout") is blackout.BlackOutLoss, "not the class that it inherits from"
    other_class = type("OtherLoss", (nn.Module,), {"__module__": blackout.__name__})
    monkeypatch.setattr(blackout, "OtherLoss", other_class, raising=False)
    with pytest.raises(TypeError, match="blackout has 2 public network classes"):
        find_part_class("loss", "blackout")
