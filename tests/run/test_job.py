"""Jobs as values: order of files, and outputs as parameters of the stage."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.run.job import (
    Job,
    assign_outputs,
    get_output_parameter,
    hash_json,
    iterate_nested_paths,
    replace_nested_paths,
    serialize_json,
)

NAMES = st.text("abc", min_size=1, max_size=3)
FILES = st.recursive(
    st.text("xyz", min_size=1, max_size=4) | st.none(),
    lambda files: st.lists(files, max_size=3) | st.dictionaries(NAMES, files, max_size=3),
    max_leaves=8,
)


@given(FILES)
def test_paths_are_replaced_in_the_order_in_which_they_are_listed(files) -> None:
    paths = [*iterate_nested_paths(files)]
    assert replace_nested_paths(files, iter(paths)) == files
    assert [*iterate_nested_paths(replace_nested_paths(files, map(str.upper, paths)))] == [
        path.upper() for path in paths
    ]
    assert {*iterate_nested_paths(replace_nested_paths(files, iter(())))} <= {""}


@given(st.dictionaries(NAMES, FILES, max_size=4))
def test_files_are_located_in_their_structure(files) -> None:
    job = Job("a.b", files=files)
    assert job.locate_files(job.rule_inputs) == (files, {})
    located, _ = job.locate_files({name: _move_paths(paths) for name, paths in job.rule_inputs.items()})
    assert [*iterate_nested_paths(located)] == [f"local/{path}" for path in iterate_nested_paths(files)]


def _move_paths(paths: str | list[str]) -> str | list[str]:
    return f"local/{paths}" if isinstance(paths, str) else [f"local/{path}" for path in paths]


def test_rule_inputs_include_files_of_all_sets() -> None:
    sets = {"dev": {"text": "a", "trees": ["b", "c"]}, "test": {"text": "d", "trees": [], "gold": None}}
    job = Job("a.b", files={"model": "m", "nothing": {}, "absent": None}, files_by_set=sets)
    assert job.rule_inputs == {"model": "m", "text": ["a", "d"], "trees": ["b", "c"]}
    files, located = job.locate_files(job.rule_inputs)
    assert files == {"model": "m", "nothing": {}, "absent": None} and located == sets


def test_the_input_structure_hides_user_paths() -> None:
    job = Job("a.b", files={"model": "m", "runs": {"A": ["x", "y"]}}, files_by_set={"dev": {"text": "a"}})
    again = Job("a.b", files={"model": "n", "runs": {"A": ["u", "v"]}}, files_by_set={"dev": {"text": "b"}})
    assert (
        job.input_structure
        == again.input_structure
        == {
            "files": {"model": "", "runs": {"A": ["", ""]}},
            "sets": {"dev": {"text": ""}},
        }
    )
    assert (
        job.input_structure
        != Job("a.b", files={"model": "m", "runs": {"B": ["x", "y"]}}, files_by_set=job.files_by_set).input_structure
    )


def test_a_parameter_is_for_the_job_or_for_sets() -> None:
    with pytest.raises(AssertionError, match="text is a file of the job and of a set"):
        _ = Job("a.b", files={"text": "a"}, files_by_set={"dev": {"text": "b"}}).rule_inputs


def test_outputs_are_parameters_of_the_stage() -> None:
    assert [get_output_parameter(name) for name in ("output", "counts")] == ["output", "counts_output"]
    outputs = {"output": "o", "scores": ["a", "b"]}
    assert assign_outputs(outputs, [], {}, {}) == [{"output": "o", "scores_output": ["a", "b"]}]
    assert assign_outputs({"model": "r/m"}, [], {"log": "{model}.log"}, {"checkpoints": "kept"}) == [
        {"model_output": "r/m", "log_output": "r/m.log", "checkpoints": "r/kept"}
    ]


def test_each_set_has_its_outputs() -> None:
    outputs = {"output": ["dev.txt", "test.txt"], "counts": ["dev.json", "test.json"]}
    assert assign_outputs(outputs, ["dev", "test"], {"facts": "{counts}.facts"}, {}) == [
        {"output": f"{name}.txt", "counts_output": f"{name}.json", "facts_output": f"{name}.json.facts"}
        for name in ("dev", "test")
    ]
    assert assign_outputs({"output": ["dev.txt"]}, ["dev"], {}, {}) == [{"output": "dev.txt"}]


def test_json_keeps_the_order_and_all_characters() -> None:
    value = {"b": 1, "a": ["é", None, 0.5, {"句": True}]}
    assert json.loads(serialize_json(value)) == value and serialize_json(value).startswith('{"b":1,"a":["é"')
    assert hash_json({"a": 1, "b": 2}) != hash_json({"b": 2, "a": 1}), "the order of systems decides results"
    assert len(hash_json(value)) == 16 and hash_json(value) == hash_json(json.loads(serialize_json(value)))
