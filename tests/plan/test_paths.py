"""Patterns of names."""

import re

from pipeline_py.plan.paths import one_of


def test_a_pattern_stands_for_its_names_and_for_nothing_without_any():
    assert re.fullmatch(one_of(["a.b", "+SDAtt"]), "+SDAtt") and not re.fullmatch(one_of(["a.b"]), "axb")
    assert not any(re.fullmatch(one_of([]), text) for text in ("", "a", "None"))
