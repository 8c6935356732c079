"""Options of all commands, and what they say of mistakes."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.settings import Architecture, BenchmarkSettings, NetworkSize, build_command
from pipeline_py.run.errors import InputError

ROOT = Path(__file__).parents[2]


def test_sizes_come_in_pairs() -> None:
    assert BenchmarkSettings(embedding=[1, 2], hidden=[3, 4]).network_sizes == [NetworkSize(1, 3), NetworkSize(2, 4)]
    with pytest.raises(InputError, match="--embedding is given 2 times and --hidden 1"):
        BenchmarkSettings(embedding=[1, 2], hidden=[3])


@pytest.mark.parametrize(
    ("given", "message"),
    [({"rounds": 0}, "--rounds must be"), ({"batch_size": 0}, "--batch-size must"), ({"precision": ["half"]}, "half")],
)
def test_mistakes_are_named(given: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BenchmarkSettings(**given)


def test_a_command_takes_what_a_setting_has() -> None:
    asked: list[BenchmarkSettings] = []
    made = build_command(asked.append)
    assert inspect.signature(made).parameters["rounds"].default == BenchmarkSettings().rounds
    made(rounds=3, threads=1)
    assert asked == [BenchmarkSettings(rounds=3, threads=1)]


def test_systems_are_named_or_those_of_the_architecture() -> None:
    assert BenchmarkSettings().system_names == ["GlobalAtt"] and BenchmarkSettings(system=["SDAtt"]).system_names == [
        "SDAtt"
    ]
    transformer = BenchmarkSettings(architecture=Architecture.TRANSFORMER, embedding=[8], hidden=[8])
    assert transformer.system_names == ["Transformer-base"]


def test_every_option_is_explained() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "training and translation" in done.stdout
    for name in ("embedding", "batch-size", "peers", "corpus"):
        assert f"--{name}" in done.stdout
    assert "Beam size." in done.stdout
