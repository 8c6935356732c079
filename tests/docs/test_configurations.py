"""Every configuration on a page is one, and the part that a page teaches does what the page says."""

import re
import sys

import pytest

from tests.docs.pages import blocks
from tests.docs.readers_place import ReadersPlace
from tests.workplace import ROOT


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> ReadersPlace:
    return ReadersPlace(tmp_path_factory.mktemp("reader"))


def test_there_are_configurations():
    assert {block.page for block in blocks("yaml")} >= {"README.md", "docs/index.md", "docs/data.md", "docs/systems.md"}


def test_every_configuration_is_valid(place):
    """Each block by itself, and all blocks of a page together."""
    done = place.validated()
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([*(place.folder / "reader").glob("*.yaml")]) > len(blocks("yaml"))


def test_a_mistake_in_a_configuration_is_found(place):
    wrong = place.folder / "reader" / "wrong.yaml"
    wrong.write_text("systems: {SDAtt: {parsers: gold}}\n")
    done = place.validated()
    wrong.unlink()
    assert done.returncode != 0 and "wrong.yaml" in done.stdout and "did you mean `parser`?" in done.stdout


def test_every_key_and_part_is_explained():
    """What a reader may configure of texts and systems stands on the pages about them."""
    from pipeline_py.config import corpora, evaluation, subword
    from pipeline_py.config.systems import (
        composition,
        decoders,
        decoding,
        encoders,
        neural,
        training,
        transformer,
        translations,
    )

    sections = {
        "docs/data.md": [
            *(
                corpora.Language,
                corpora.Limits,
                corpora.Corpora,
                corpora.HeldOutText,
                corpora.Generated,
                corpora.ContrastiveSet,
            ),
            *(subword.Subword, subword.Vocabulary, training.Training, training.Optimizer),
            *(decoding.Decoding, evaluation.Evaluation),
        ],
        "docs/systems.md": [
            *(
                translations.Translations,
                neural.NeuralSystem,
                composition.Model,
                encoders.LabelInput,
                encoders.UnitInput,
                encoders.GRUEncoder,
            ),
            *(encoders.LSTMEncoder, encoders.TreeLSTM, encoders.TreeGRU, encoders.LatentGraph, decoders.MLPScore),
            *(decoders.LocalContext, decoders.FlexibleContext, decoders.SyntaxContext, decoders.ConditionalGRU),
            *(decoders.GRUDecoder, decoders.BlackOut, decoders.Softmax, transformer.DepsSAN),
            *(encoders.TransformerEncoder, decoders.TransformerDecoder),
        ],
    }
    for page, models in sections.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for model in models:
            missing = [key for key in model.model_fields if not re.search(rf"[`{{ ]{key}[`:]", text)]
            assert missing == [], (page, model.__name__)


@pytest.mark.slow
def test_a_new_context_does_what_the_page_says(place):
    """A softmax of scores over T, by numpy; padding gets nothing."""
    code = """
import numpy, torch
from types import SimpleNamespace
from pipeline_py.config.systems.composition import System
from pipeline_py.nmt.part import part
(context,) = System.model_validate({"contexts": [{"type": "tempered", "temperature": 0.25}]}).contexts
scores = torch.tensor([[1.0, 0.5, -1.0], [0.1, 0.2, 9.0]])
mask = torch.tensor([[True, True, True], [True, True, False]])
weights, carried = part("weighting", "tempered")(context, 4)(scores, None, SimpleNamespace(mask=mask), ())
expected = numpy.where(mask.numpy(), numpy.exp(scores.numpy() / 0.25), 0)
expected = expected / expected.sum(axis=1, keepdims=True)
assert carried == () and numpy.allclose(weights.numpy(), expected, atol=1e-6), weights
"""
    done = place.run(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_new_change_of_scores_does_what_the_page_says(place):
    """Nothing at first or where all distances have one bias; then something, in the layer that is named."""
    code = """
import numpy, torch
from pipeline_py.config.systems.composition import System
from pipeline_py.nmt.data.batch import collate
from pipeline_py.nmt.model import Model

stack = {"type": "transformer", "layers": 2, "heads": 2}
sizes = {"embedding": 8, "hidden": 8, "dropout": 0, "initialization": "glorot"}
distances = numpy.array([0, 1, 2, 1, 0, 1, 2, 1, 0], dtype=numpy.uint8)
batch = collate([numpy.array([3, 4, 0])], [numpy.array([5, 0])], {"distances": [distances]})

def losses(layer, biases):
    attention = [] if layer is None else [{"type": "tree_bias", "layers": [layer], "farthest": 4}]
    encoder = {**stack, "attention": attention}
    system = System.model_validate({"encoders": [encoder], "decoder": stack, "model": sizes})
    assert system.syntax == (["distances"] if attention else [])
    torch.manual_seed(1)
    model = Model(system, {"source": 9, "target": 9})
    loss = model.loss(batch)
    for change in model.encoders[0].changes:
        loss.sum().backward()
        assert change.bias.grad[:3].any() and not change.bias.grad[3:].any()
        change.bias.data[:] = torch.tensor(biases)
    return loss, model.loss(batch)

plain, _ = losses(None, [])
unbiased, alike = losses(0, [3.0, 3.0, 3.0, 0.0, 0.0])
assert torch.allclose(unbiased, plain) and torch.allclose(alike, plain)
(_, lower), (_, upper) = (losses(layer, [3.0, 0.0, -3.0, 0.0, 0.0]) for layer in (0, 1))
assert not torch.allclose(lower, plain) and not torch.allclose(upper, plain) and not torch.allclose(lower, upper)
"""
    done = place.run(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
