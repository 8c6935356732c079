"""The table of a campaign: what became of how many cases of each attack, and which went badly."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from pipeline_py.artifact import writing

from benchmarks.faults.cases import BAD, Outcome, Result

Told = tuple[str, int, Result]
"""The name of an attack, the number of the case, and what became of it."""


def rows(told: Iterable[Told]) -> list[dict[str, str | int]]:
    """Count outcomes: a row for each kind of attack, and one for all."""
    counted: dict[tuple[str, str], Counter[Outcome]] = {}
    for name, _, result in sorted(told, key=lambda one: (one[0], one[2].attack)):
        for row in ((name, result.attack), ("together", "")):
            counted.setdefault(row, Counter())[result.outcome] += 1
    last = counted.pop(("together", ""), Counter())
    every = [*counted.items(), (("together", ""), last)]
    return [
        {"attack": name, "on": what, "cases": counts.total(), **{str(outcome): counts[outcome] for outcome in Outcome}}
        for (name, what), counts in every
    ]


def write_tsv(path: Path, table: Sequence[dict[str, str | int]]) -> None:
    """Write the table as TSV."""
    with writing(path) as file:
        for line in (table[0], *(row.values() for row in table)):
            print(*line, sep="\t", file=file)


def markdown(table: Sequence[dict[str, str | int]]) -> str:
    """Give the table as the documentation shows it."""
    head = [*table[0]]
    lines = [
        head,
        ["---", "---", *["---:"] * (len(head) - 2)],
        *([str(cell) for cell in row.values()] for row in table),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_bad(path: Path, told: Iterable[Told], again: Sequence[str]) -> int:
    """Write the cases that went badly, each with the command that repeats it; say how many there are."""
    bad = [one for one in told if one[2].outcome in BAD]
    with writing(path) as file:
        for name, number, result in bad:
            command = shlex.join([*again, "--only", f"{name}:{number}"])
            print(f"{result.outcome}: {result.what}\n  {command}", file=file)
            for line in result.said.splitlines():
                print(f"    {line}", file=file)
    return len(bad)
