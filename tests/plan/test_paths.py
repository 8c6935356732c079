"""Regular expressions for names."""

import re

from pipeline_py.plan.paths import build_name_pattern


def test_a_name_pattern_matches_only_its_names():
    assert re.fullmatch(build_name_pattern(["a.b", "+SDAtt"]), "+SDAtt")
    assert not re.fullmatch(build_name_pattern(["a.b"]), "axb")
    assert not any(re.fullmatch(build_name_pattern([]), text) for text in ("", "a", "None"))
