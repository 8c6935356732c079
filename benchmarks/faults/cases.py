"""A case is one attack; its seed and number say which, so that it can be repeated alone."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from benchmarks.faults.experiment import FaultExperiment
from benchmarks.faults.stage_processes import ProcessResult


class AttackOutcome(StrEnum):
    """The outcome of an attack, from good to bad."""

    RIGHT_RESULT = "right result"
    CLEAR_ERROR = "clear error"
    VAGUE_ERROR = "error without a file"
    TRACEBACK = "traceback or crash"
    WRONG_RESULT = "silently wrong"
    HANG = "hang"


BAD_OUTCOMES = (AttackOutcome.VAGUE_ERROR, AttackOutcome.TRACEBACK, AttackOutcome.WRONG_RESULT, AttackOutcome.HANG)


@dataclass(frozen=True)
class AttackResult:
    """The result of one attack.

    Attributes:
        attack_kind: the row of the table that counts it.
        outcome: of it.
        description: was done, in words.
        message: what the process said that ended it, or in what its results differ.
    """

    attack_kind: str
    outcome: AttackOutcome
    description: str
    message: str = ""


@dataclass(frozen=True)
class AttackCase:
    """The experiment, folder and random numbers of one attack.

    Attributes:
        experiment: that is attacked, in a copy.
        folder: for this copy; it is not there yet.
        random: decides everything that is drawn.
        case_number: of the case, from 0.
    """

    experiment: FaultExperiment
    folder: Path
    random: Random
    case_number: int


TRACEBACK_PATTERN = re.compile(r'Traceback \(most recent call last\)|File "[^"]*/pipeline_py/[^"]*", line \d+, in ')
"""Python's, or the lines of it that Snakemake shows where the Snakefile fails."""


def classify_stage_failure(process_result: ProcessResult, file_names: Iterable[str]) -> AttackOutcome | None:
    """Judge a stage by how it ended; None where it did not fail.

    Args:
        process_result: its process.
        file_names: files of which its error has to name one.
    """
    sentences = re.findall(r"^error: .*", process_result.output.replace("\r", "\n"), flags=re.MULTILINE)
    return classify_failure(process_result, len(sentences) == 1 and any(name in sentences[0] for name in file_names))


def classify_failure(process_result: ProcessResult, is_error_clear: bool) -> AttackOutcome | None:
    """Judge a process by how it ended; None where it did not fail.

    Args:
        process_result: the process.
        is_error_clear: whether what it said is enough for an error.
    """
    if process_result.exit_code is None:
        return AttackOutcome.HANG
    if process_result.exit_code < 0 or TRACEBACK_PATTERN.search(process_result.output):
        return AttackOutcome.TRACEBACK
    if process_result.exit_code == 0:
        return None
    return AttackOutcome.CLEAR_ERROR if process_result.exit_code == 1 and is_error_clear else AttackOutcome.VAGUE_ERROR


def extract_last_message(process_result: ProcessResult) -> str:
    """Return the last message of a process, on one line."""
    lines = [line.strip() for line in process_result.output.replace("\r", "\n").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error: ")]
    return " | ".join((errors or lines)[-2:])[-600:]
