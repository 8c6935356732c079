"""Hashes of code: what changes them and what does not."""

import sys
from importlib import invalidate_caches
from pathlib import Path

import pytest

from pipeline_py import provenance


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules: `stage` imports `used`; `other` stands beside them."""
    room = tmp_path / "somewhere_py" / "room"
    room.mkdir(parents=True)
    (room.parent / "__init__.py").write_text("")
    (room / "__init__.py").write_text("")
    (room / "stage.py").write_text(
        '"""A stage."""\nfrom somewhere_py.room.used import double\n\n'
        'def run(x):\n    """Run."""\n    return double(x)\n'
    )
    (room / "used.py").write_text("def double(x):\n    return 2 * x\n")
    (room / "other.py").write_text("def nothing():\n    return None\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(provenance, "PACKAGE", "somewhere_py")
    yield room
    for name in [name for name in sys.modules if name.startswith("somewhere_py")]:
        del sys.modules[name]


def code() -> str:
    invalidate_caches()
    provenance.code_of.cache_clear()
    provenance._read.cache_clear()
    return provenance.code_of("room.stage")


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_comments_docstrings_and_layout_do_not_count(package):
    before = code()
    edit(package / "stage.py", '"""Run."""', '"""Run it, as the paper says."""  # a comment')
    edit(package / "used.py", "2 * x", "(2 *\n            x)  # twice")
    assert code() == before


def test_code_counts_also_of_what_is_imported(package):
    before = code()
    edit(package / "used.py", "2 * x", "3 * x")
    assert code() != before


def test_code_in_c_counts_with_the_module_of_its_name(package):
    before = code()
    (package / "other.c").write_text("int nothing(void) { return 0; }\n")
    assert code() == before
    (package / "used.c").write_text("int twice(int x) { return 2 * x; }\n")
    with_c = code()
    assert with_c != before
    edit(package / "used.c", "{ return", "{  /* doubles\n   x */\n   return")
    assert code() == with_c
    edit(package / "used.c", "2", "3")
    assert code() != with_c


def test_modules_that_are_not_imported_do_not_count(package):
    before = code()
    edit(package / "other.py", "None", "1")
    assert code() == before


def test_parts_found_by_name_count_when_they_are_told_of(package):
    def with_part() -> str:
        code()
        return provenance.code_of("room.stage", "room.other")

    before = with_part()
    edit(package / "other.py", "None", "1")
    assert with_part() != before


def test_a_function_of_a_docstring_only_is_still_code(package):
    edit(package / "other.py", "return None", '"""Nothing."""')
    code()
    assert provenance.code_of("room.other")


def test_versions_stand_beside_the_code():
    made_by = provenance.made_by("subword.learn_bpe", "subword-nmt")
    assert set(made_by) == {"code", "subword-nmt"}
