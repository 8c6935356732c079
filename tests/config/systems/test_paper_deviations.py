"""Deviations of systems from published equations, and notes about them."""

import pytest

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.systems.setting_differences import describe_paper_deviations


def test_note_names_rows_that_deviate_from_equations(config):
    experiment = load_experiment(config)
    assert describe_paper_deviations(experiment, experiment.tables["table1"]) == [
        "Not as printed in the paper (SDAtt): distances are averaged under the attention weights, and the "
        "predicted position of eq. 5 is not used; the logarithm of the Gaussian is added to the score, where eq. 10 "
        "multiplies them. See docs/explanation/readings.md."
    ]
    assert describe_paper_deviations(experiment, experiment.tables["sdrnmt"]) == []


@pytest.mark.parametrize(
    ("context", "expected_texts"),
    [
        ({"type": "syntax", "position": "interpolate", "gaussian": "score"}, []),
        ({"type": "syntax", "position": "round", "gaussian": "weight"}, ["where eq. 10 scales the score"]),
        ({"type": "local", "window": 3}, []),
        ({"type": "local", "window": 3, "normalized": "window"}, ["eq. 6 runs over the window alone"]),
    ],
)
def test_published_form_is_no_deviation(config, context, expected_texts):
    config["systems"]["SDAtt"] = {"contexts": [context]}
    deviations = load_experiment(config).systems["SDAtt"].paper_deviations
    assert len(deviations) == len(expected_texts) and all(
        text in deviation for text, deviation in zip(expected_texts, deviations, strict=True)
    )
