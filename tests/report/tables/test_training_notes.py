"""Tests of the note on trainings that shared their cores."""

from pipeline_py.report.tables.system_measures import describe_shared_cores


def test_trainings_with_own_cores_have_no_note():
    assert describe_shared_cores({"A": [0.99, 0.9], "B": []}, str) == []


def test_note_states_share_of_core_time():
    (note,) = describe_shared_cores({"A": [0.3, 0.4], "B": [0.95], "C": [0.89]}, str.lower)
    assert note.startswith("Some trainings had their CPU cores only part of the time: a 35 %, c 89 %. Compare")
