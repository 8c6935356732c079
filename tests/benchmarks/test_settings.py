"""Options of all commands, and messages for invalid ones."""

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
    ("options", "message"),
    [({"rounds": 0}, "--rounds must be"), ({"batch_size": 0}, "--batch-size must"), ({"precision": ["half"]}, "half")],
)
def test_invalid_options_are_named(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BenchmarkSettings(**options)


def test_a_command_has_the_options_of_its_settings() -> None:
    received_settings: list[BenchmarkSettings] = []
    command = build_command(received_settings.append)
    assert inspect.signature(command).parameters["rounds"].default == BenchmarkSettings().rounds
    command(rounds=3, threads=1)
    assert received_settings == [BenchmarkSettings(rounds=3, threads=1)]


def test_systems_are_named_or_those_of_the_architecture() -> None:
    assert BenchmarkSettings().system_names == ["GlobalAtt"] and BenchmarkSettings(system=["SDAtt"]).system_names == [
        "SDAtt"
    ]
    transformer = BenchmarkSettings(architecture=Architecture.TRANSFORMER, embedding=[8], hidden=[8])
    assert transformer.system_names == ["Transformer-base"]


def test_every_option_is_explained() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "training and translation" in result.stdout
    for name in ("embedding", "batch-size", "peers", "corpus"):
        assert f"--{name}" in result.stdout
    assert "Beam size." in result.stdout
