"""Several sets in one process: the command line of each."""

from pipeline_py.each_set import of_each


def test_options_in_front_are_those_of_all_sets() -> None:
    assert of_each(["--a", "1", "--set=x", "--b", "2", "--set=y", "--b", "--set"]) == {
        "x": ["--a", "1", "--b", "2"],
        "y": ["--a", "1", "--b", "--set"],
    }
    assert of_each(["--a", "1"]) == {}
