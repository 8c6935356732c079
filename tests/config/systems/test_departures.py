"""Which systems depart from printed equations, and what their tables say of it."""

import pytest

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.config.systems.setting_differences import describe_paper_deviations


def test_rows_that_are_not_as_printed_are_named_with_the_equation(config):
    experiment = load_experiment(config)
    assert describe_paper_deviations(experiment, experiment.tables["table1"]) == [
        "Not as printed in the paper (SDAtt): distances are those that the attention expects, without the predicted "
        "position of eq. 5; the logarithm of the Gaussian is added to the score, where eq. 10 multiplies them. See "
        "docs/explanation/readings.md."
    ]
    assert describe_paper_deviations(experiment, experiment.tables["sdrnmt"]) == []


@pytest.mark.parametrize(
    ("context", "texts"),
    [
        ({"type": "syntax", "position": "interpolate", "gaussian": "score"}, []),
        ({"type": "syntax", "position": "round", "gaussian": "weight"}, ["where eq. 10 scales the score"]),
        ({"type": "local", "window": 3}, []),
        ({"type": "local", "window": 3, "normalized": "window"}, ["eq. 6 runs over the window alone"]),
    ],
)
def test_the_printed_form_is_no_departure(config, context, texts):
    config["systems"]["SDAtt"] = {"contexts": [context]}
    departures = load_experiment(config).systems["SDAtt"].paper_deviations
    assert len(departures) == len(texts) and all(text in found for text, found in zip(texts, departures, strict=True))
