"""Patterns and options."""

import re

import pytest

from pipeline_py.plan.paths import cache_of, lists_of, named_files, one_of, options_of


def test_a_pattern_stands_for_its_names_and_for_nothing_without_any():
    assert re.fullmatch(one_of(["a.b", "+SDAtt"]), "+SDAtt") and not re.fullmatch(one_of(["a.b"]), "axb")
    assert not any(re.fullmatch(one_of([]), text) for text in ("", "a", "None"))


def test_what_is_kept_lies_beside_what_it_is_kept_of():
    assert cache_of("results/nmt/A/seed1/model.safetensors") == "results/nmt/A/seed1/cache/model.safetensors"


def test_files_are_options_with_their_names():
    assert named_files("score", ["a", ("b", "dev")], ["x", "y"]) == ["--score=a=x", "--score=b:dev=y"]
    with pytest.raises(ValueError, match="shorter"):
        named_files("score", ["a", "b"], ["x"])


def test_files_by_option_go_through_the_inputs_of_a_job():
    files = {"sentence_scores": {"one": "<results>/a", "two": "<results>/b"}, "none": {}}
    inputs = {"sentence_scores": ["results/a", "results/b"]}
    assert lists_of(files) == {"sentence_scores": ["<results>/a", "<results>/b"], "none": []}
    assert options_of(files, inputs) == ["--sentence-scores=one=results/a", "--sentence-scores=two=results/b"]
