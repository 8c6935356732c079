"""Every configuration on a page is one, and the part that a page teaches does what the page says."""

import re
import sys

import pytest

from tests.docs.page_blocks import find_blocks
from tests.docs.reader_project import PART_TEST_PATH, ReaderProject, find_parts
from tests.project_copy import ROOT


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> ReaderProject:
    return ReaderProject(tmp_path_factory.mktemp("reader"))


def test_there_are_configurations():
    assert {block.page for block in find_blocks("yaml")} >= {
        "README.md",
        "docs/tutorials/first_run.md",
        "docs/how_to/data.md",
        "docs/how_to/systems.md",
    }


def test_every_configuration_is_valid(place):
    """Each block by itself, and all blocks of a page together."""
    done = place.validate_configurations()
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([*(place.folder / "reader").glob("*.yaml")]) > len(find_blocks("yaml"))


def test_a_mistake_in_a_configuration_is_found(place):
    wrong = place.folder / "reader" / "wrong.yaml"
    wrong.write_text("systems: {SDAtt: {parsers: gold}}\n")
    done = place.validate_configurations()
    wrong.unlink()
    assert done.returncode != 0 and "wrong.yaml" in done.stdout and "did you mean `parser`?" in done.stdout


def test_every_key_and_part_is_explained():
    """The page about systems explains every key of a system; the generated reference lists all other keys."""
    from pipeline_py.config.systems import composition, decoders, encoders, network_parts, system_types

    sections = {
        "docs/how_to/systems.md": [
            *(
                system_types.ExternalSystemConfig,
                system_types.NeuralSystemConfig,
                composition.ModelConfig,
                encoders.LabelInputConfig,
                encoders.UnitInputConfig,
                encoders.GRUEncoderConfig,
            ),
            *(
                encoders.LSTMEncoderConfig,
                encoders.TreeLSTMEncoderConfig,
                encoders.TreeGRUEncoderConfig,
                encoders.LatentGraphEncoderConfig,
                decoders.MLPScoreConfig,
            ),
            *(
                decoders.LocalContextConfig,
                decoders.FlexibleContextConfig,
                decoders.SyntaxContextConfig,
                decoders.ConditionalGRUDecoderConfig,
            ),
            *(
                decoders.GRUDecoderConfig,
                decoders.BlackOutLossConfig,
                decoders.SoftmaxLossConfig,
                network_parts.DepsSANConfig,
            ),
            *(encoders.TransformerEncoderConfig, decoders.TransformerDecoderConfig),
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
from pipeline_py.config.systems.composition import SystemConfig
from pipeline_py.nmt.model import find_part_class
(context,) = SystemConfig.model_validate({"contexts": [{"type": "tempered", "temperature": 0.25}]}).contexts
scores = torch.tensor([[1.0, 0.5, -1.0], [0.1, 0.2, 9.0]])
mask = torch.tensor([[True, True, True], [True, True, False]])
weights, carried = find_part_class("weighting", "tempered")(context, 4)(scores, None, SimpleNamespace(mask=mask), ())
expected = numpy.where(mask.numpy(), numpy.exp(scores.numpy() / 0.25), 0)
expected = expected / expected.sum(axis=1, keepdims=True)
assert carried == () and numpy.allclose(weights.numpy(), expected, atol=1e-6), weights
"""
    done = place.run_command(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_new_change_of_scores_passes_the_test_of_the_page(place):
    """And one that does something else fails it."""
    module, command = (
        place.folder / find_parts()[1][2],
        (sys.executable, "-m", "pytest", "-q", "-n", "0", PART_TEST_PATH),
    )
    done = place.run_command(*command)
    assert done.returncode == 0, done.stdout
    as_taught = module.read_text(encoding="utf-8")
    for right, wrong in ((".clamp(max=len(self.bias) - 1)", ".clamp(max=1)"), ("scores + self", "scores - self")):
        assert right in as_taught
        module.write_text(as_taught.replace(right, wrong), encoding="utf-8")
        assert "1 failed" in place.run_command(*command).stdout
    module.write_text(as_taught, encoding="utf-8")
