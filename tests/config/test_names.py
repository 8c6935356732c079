"""Names that collide on other file systems or look like spreadsheet formulas are rejected."""

import shlex
from typing import Any

import pytest

from pipeline_py.config.base import check_name_collisions, format_folder_name
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError
from tests.plan.conftest import DEFAULT_CONFIG

REMEDY = "which are the same on some file systems; rename one"


def build_test_set(name: str) -> dict[str, Any]:
    return {"name": name, "generate": {"sentences": 20}}


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({"systems": {"Mine": {}, "mine": {}}}, "systems 'Mine' and 'mine'"),
        ({"systems": {"Caf\u00e9": {}, "Cafe\u0301": {}}}, "systems 'Caf\u00e9' and 'Cafe\u0301'"),
        ({"systems": {"CAF\u00c9": {}, "cafe\u0301": {}}}, "systems 'CAF\u00c9' and 'cafe\u0301'"),
        ({"systems": {"sdatt": {}}}, "systems 'SDAtt' and 'sdatt'"),
        ({"parsers": {"Random": DEFAULT_CONFIG["parsers"]["random"]}}, "parsers 'random' and 'Random'"),
        ({"subwords": {"Default": {}}}, "subwords 'default' and 'Default'"),
        ({"tables": {"Table1": DEFAULT_CONFIG["tables"]["table1"]}}, "tables 'table1' and 'Table1'"),
        ({"corpora": {"tests": [build_test_set("Dev")]}}, "test sets and files 'dev' and 'Dev'"),
        ({"corpora": {"tests": [build_test_set("one"), build_test_set("ONE")]}}, "test sets and files 'one' and 'ONE'"),
    ],
)
def test_colliding_names_are_rejected(config: dict[str, Any], names: str) -> None:
    with pytest.raises(InputError) as caught:
        load_experiment(DEFAULT_CONFIG, config, should_check_files=False)
    assert f"{names} would have files named" in str(caught.value) and REMEDY in str(caught.value)


def test_different_names_are_accepted() -> None:
    check_name_collisions("systems", ["one", "two", "Eins", "\u00e9", "e", "one [a]", "one[a]"])


@pytest.mark.parametrize("name", ["=cmd()", "@SUM(A1)", "-1+1", "x!#$%&(),;[]^`~!#$%&("])
def test_system_name_like_a_formula_is_rejected(name: str) -> None:
    with pytest.raises(InputError, match=r"the name is part of paths; leave out / = .* do not begin it with"):
        load_experiment(DEFAULT_CONFIG, {"systems": {name: {}}}, should_check_files=False)


def test_system_name_may_begin_with_a_plus_sign() -> None:
    assert "+SDAtt" in load_experiment(DEFAULT_CONFIG, {"systems": {"+SDAtt": {}}}, should_check_files=False).systems


@pytest.mark.parametrize("name", ["export", "Export"])
def test_an_experiment_cannot_have_the_folder_of_exported_results(name: str) -> None:
    with pytest.raises(InputError, match=f"name: results/{name} is the folder of exported results; choose another"):
        load_experiment(DEFAULT_CONFIG, {"name": name}, should_check_files=False)
    assert load_experiment(DEFAULT_CONFIG, {"name": "exported"}, should_check_files=False).name == "exported"


@pytest.mark.parametrize(
    ("system", "folder"),
    [
        ("SDAtt", "SDAtt"),
        ("+SDAtt [right-branching]", "+SDAtt@right-branching"),
        ("Transformer (base), 6 layers [ewt]", "Transformer__base___6_layers@ewt"),
        ("Cafe\u0301 [ewt]", "Cafe\u0301@ewt"),
        ("SDAtt@gold", "SDAtt@gold"),
    ],
)
def test_folder_names_need_no_quotes_in_a_shell(system: str, folder: str) -> None:
    assert format_folder_name(system) == folder
    assert shlex.quote(folder) == folder or not folder.isascii()


def test_systems_with_the_same_folder_are_rejected() -> None:
    tables = {"table1": {"systems": ["GlobalAtt", "SDAtt [random]"], "proposed": ["SDAtt [random]"]}}
    with pytest.raises(InputError) as caught:
        load_experiment(
            DEFAULT_CONFIG,
            {"systems": {"SDAtt@random": {}}, "tables": tables},
            should_check_files=False,
        )
    error = (
        "systems 'SDAtt@random' and 'SDAtt [random]' would have files named 'SDAtt@random' and 'SDAtt@random', which"
    )
    assert error in str(caught.value)
