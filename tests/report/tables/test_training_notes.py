"""Which trainings are told to have shared their cores."""

from pipeline_py.report.tables.system_measures import describe_shared_cores


def test_trainings_that_had_their_cores_for_themselves_are_not_named():
    assert describe_shared_cores({"A": [0.99, 0.9], "B": []}, str) == []


def test_those_that_shared_them_are_named_with_their_share():
    (note,) = describe_shared_cores({"A": [0.3, 0.4], "B": [0.95], "C": [0.89]}, str.lower)
    assert note.startswith("These trainings shared their cores with") and ": a (35%), c (89%). Compare" in note
