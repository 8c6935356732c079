"""A case is one attack; its seed and number say which, so that it can be repeated alone."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from benchmarks.faults.experiment import Experiment
from benchmarks.faults.stages import Done


class Outcome(StrEnum):
    """What became of an attack, from good to bad."""

    RIGHT = "right result"
    CLEAR = "clear error"
    VAGUE = "error without a file"
    TRACEBACK = "traceback or crash"
    WRONG = "silently wrong"
    HANG = "hang"


BAD = (Outcome.VAGUE, Outcome.TRACEBACK, Outcome.WRONG, Outcome.HANG)


@dataclass(frozen=True)
class Result:
    """What became of a case.

    Attributes:
        attack: the row of the table that counts it.
        outcome: of it.
        what: was done, in words.
        said: what the process said that ended it, or in what its results differ.
    """

    attack: str
    outcome: Outcome
    what: str
    said: str = ""


@dataclass(frozen=True)
class Case:
    """Where and with which chance an attack is made.

    Attributes:
        experiment: that is attacked, in a copy.
        folder: for this copy; it is not there yet.
        random: decides everything that is drawn.
        number: of the case, from 0.
    """

    experiment: Experiment
    folder: Path
    random: Random
    number: int


TRACEBACK = re.compile(r'Traceback \(most recent call last\)|File "[^"]*/pipeline_py/[^"]*", line \d+, in ')
"""Python's, or the lines of it that Snakemake shows where the Snakefile fails."""


def failed(done: Done, names: Iterable[str]) -> Outcome | None:
    """Judge a stage by how it ended; None where it did not fail.

    Args:
        done: its process.
        names: files of which its error has to name one.
    """
    sentences = re.findall(r"^error: .*", done.said.replace("\r", "\n"), flags=re.MULTILINE)
    return judged(done, len(sentences) == 1 and any(name in sentences[0] for name in names))


def judged(done: Done, clear: bool) -> Outcome | None:
    """Judge a process by how it ended; None where it did not fail.

    Args:
        done: the process.
        clear: whether what it said is enough for an error.
    """
    if done.code is None:
        return Outcome.HANG
    if done.code < 0 or TRACEBACK.search(done.said):
        return Outcome.TRACEBACK
    if done.code == 0:
        return None
    return Outcome.CLEAR if done.code == 1 and clear else Outcome.VAGUE


def last_words(done: Done) -> str:
    """What a process said in the end, on one line."""
    lines = [line.strip() for line in done.said.replace("\r", "\n").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error: ")]
    return " | ".join((errors or lines)[-2:])[-600:]
