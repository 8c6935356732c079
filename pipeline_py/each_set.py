"""Run a stage on several sets in one process, which imports libraries and loads networks once.

    python -m pipeline_py.each_set nmt.translate --model M … --set=dev --source A --output B --set=test --source C …

Options in front of the first `--set` are those of all sets. Behind a `--set` stand those of that set alone. For each
the stage does what its own command does, in the order that is given; the first that fails ends the process.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

from pipeline_py import stage
from pipeline_py.one_process import OneProcess

SET = "--set="


def of_each(words: Sequence[str]) -> dict[str, list[str]]:
    """Give the command line of each set, by its name."""
    common: list[str] = []
    sets: dict[str, list[str]] = {}
    own = common
    for word in words:
        if word.startswith(SET):
            own = sets[word.removeprefix(SET)] = [*common]
        else:
            own.append(word)
    return sets


def each_set(name: str, words: Sequence[str]) -> None:
    """Run a stage on each set.

    Args:
        name: of the stage, `nmt.translate`.
        words: the command line behind it.

    Raises:
        InputError: what the stage says of its input.
    """
    function = getattr(import_module(f"pipeline_py.{name}"), name.rpartition(".")[2])
    process = OneProcess()
    for arguments in of_each(words).values():
        with process.stage(name):
            stage.call(function, f"python -m pipeline_py.{name}", arguments)


if __name__ == "__main__":
    stage.end_after(lambda: each_set(sys.argv[1], sys.argv[2:]))
