"""Options of all commands, and what they say of mistakes."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.setting import Architecture, Setting, Shape, command
from pipeline_py.run.errors import InputError

ROOT = Path(__file__).parents[2]


def test_sizes_come_in_pairs() -> None:
    assert Setting(embedding=[1, 2], hidden=[3, 4]).shapes == [Shape(1, 3), Shape(2, 4)]
    with pytest.raises(InputError, match="--embedding is given 2 times and --hidden 1"):
        Setting(embedding=[1, 2], hidden=[3])


@pytest.mark.parametrize(
    ("given", "message"),
    [({"rounds": 0}, "--rounds must be"), ({"batch_size": 0}, "--batch-size must"), ({"precision": ["half"]}, "half")],
)
def test_mistakes_are_named(given: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Setting(**given)


def test_a_command_takes_what_a_setting_has() -> None:
    asked: list[Setting] = []
    made = command(asked.append)
    assert inspect.signature(made).parameters["rounds"].default == Setting().rounds
    made(rounds=3, threads=1)
    assert asked == [Setting(rounds=3, threads=1)]


def test_systems_are_named_or_those_of_the_architecture() -> None:
    assert Setting().systems == ["GlobalAtt"] and Setting(system=["SDAtt"]).systems == ["SDAtt"]
    transformer = Setting(architecture=Architecture.TRANSFORMER, embedding=[8], hidden=[8])
    assert transformer.systems == ["Transformer-base"]


def test_every_option_is_explained() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "training and translation" in done.stdout
    for name in ("embedding", "batch-size", "peers", "corpus"):
        assert f"--{name}" in done.stdout
    assert "Beam size." in done.stdout
