"""Configurations on pages are valid, and the parts on a page work as it says."""

import re
import sys

import pytest

from tests.docs.page_blocks import find_blocks
from tests.docs.reader_project import PART_TEST_PATH, ReaderProject, find_parts
from tests.project_copy import ROOT


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> ReaderProject:
    return ReaderProject(tmp_path_factory.mktemp("reader"))


def test_there_are_configurations():
    assert {block.page for block in find_blocks("yaml")} >= {
        "README.md",
        "docs/tutorials/first_run.md",
        "docs/how_to/data.md",
        "docs/how_to/systems.md",
    }


@pytest.mark.slow
def test_every_configuration_is_valid(project):
    """Each block by itself, and all blocks of a page together."""
    result = project.validate_configurations()
    assert result.returncode == 0, result.stdout + result.stderr
    assert len([*(project.folder / "reader").glob("*.yaml")]) > len(find_blocks("yaml"))


@pytest.mark.slow
def test_a_mistake_in_a_configuration_is_found(project):
    invalid_file = project.folder / "reader" / "wrong.yaml"
    invalid_file.write_text("systems: {SDAtt: {parsers: gold}}\n")
    result = project.validate_configurations()
    invalid_file.unlink()
    assert result.returncode != 0 and "wrong.yaml" in result.stdout and "did you mean `parser`?" in result.stdout


def test_every_part_is_listed():
    """The table of parts has each type that a system can be composed of, and no other."""
    from pipeline_py.config.systems import decoders, encoders, network_parts

    options = {
        part
        for module in (decoders, encoders, network_parts)
        for part in vars(module).values()
        if isinstance(part, type) and issubclass(part, network_parts.PartConfig)
    }
    types = {part.model_fields["type"].default for part in options if "type" in part.model_fields}
    text = (ROOT / "docs/how_to/systems.md").read_text(encoding="utf-8")
    rows = re.search(r"^## Parts\n+(?:\|.*\n){2}((?:\|.*\n)+)", text, re.MULTILINE)[1].splitlines()
    cells = [cell for row in rows for cell in row.split("|")[2:]]
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == types


def test_the_metric_of_the_page_does_what_the_page_says(project):
    """It scores as sacrebleu's command does, and the score of a set follows from the sum of its statistics."""
    code = """
import numpy
from sacrebleu.metrics.chrf import CHRF
from pipeline_py.evaluation.metric import get_metric_class
outputs, reference = ["Das Haus brannte.", "Eine Katze schläft."], ["Das Haus brennt.", "Die Katze schläft hier."]
metric = get_metric_class("chrf_plus_plus")("13a", True, [reference], "de")
sums = numpy.sum(metric.compute_sentence_statistics(outputs), axis=0)[None]
expected = CHRF(word_order=2, lowercase=True).corpus_score(outputs, [reference]).score
assert 0 < expected < 100 and numpy.allclose(metric.score_corpora(sums), expected)
assert metric.label == "chrF++" and "nw:2" in metric.signature
"""
    result = project.run_command(sys.executable, "-c", code)
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_the_context_of_the_page_does_what_the_page_says(project):
    """A softmax of scores over T, by numpy; padding gets nothing."""
    code = """
import numpy, torch
from types import SimpleNamespace
from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.model import find_part_class
(context,) = CompositionConfig.model_validate({"contexts": [{"type": "tempered", "temperature": 0.25}]}).contexts
scores = torch.tensor([[1.0, 0.5, -1.0], [0.1, 0.2, 9.0]])
mask = torch.tensor([[True, True, True], [True, True, False]])
weights, carried = find_part_class("weighting", "tempered")(context, 4)(scores, None, SimpleNamespace(mask=mask), ())
expected = numpy.where(mask.numpy(), numpy.exp(scores.numpy() / 0.25), 0)
expected = expected / expected.sum(axis=1, keepdims=True)
assert carried == () and numpy.allclose(weights.numpy(), expected, atol=1e-6), weights
"""
    result = project.run_command(sys.executable, "-c", code)
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_the_attention_part_of_the_page_passes_its_test(project):
    """An implementation that does something else fails it."""
    module_path, command = (
        project.folder / find_parts()[1][2],
        (sys.executable, "-m", "pytest", "-q", "-n", "0", PART_TEST_PATH),
    )
    result = project.run_command(*command)
    assert result.returncode == 0, result.stdout
    original_code = module_path.read_text(encoding="utf-8")
    for right, wrong in ((".clamp(max=len(self.bias) - 1)", ".clamp(max=1)"), ("scores + self", "scores - self")):
        assert right in original_code
        module_path.write_text(original_code.replace(right, wrong), encoding="utf-8")
        assert "1 failed" in project.run_command(*command).stdout
    module_path.write_text(original_code, encoding="utf-8")
