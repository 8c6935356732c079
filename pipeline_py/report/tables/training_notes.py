"""What is said below tables of how their systems were trained: cores, precision, device, and no compiled code."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from pipeline_py.usage import ENOUGH

DEVICES = {"cpu": "CPU", "cuda": "GPU"}
"""What people call them."""


def note_on_shared_cores(shares: Mapping[str, Sequence[float]], label: Callable[[str], str]) -> list[str]:
    """Name the systems whose trainings shared their cores; nothing where there are none.

    Args:
        shares: of each system, `core_share` of the facts of each run, where it is known.
        label: what a system is called.
    """
    means = {system: fmean(known) for system, known in shares.items() if known}
    shared = [f"{label(system)} ({mean:.0%})" for system, mean in means.items() if mean < ENOUGH]
    if not shared:
        return []
    return [
        "These trainings shared their cores with other work (in brackets: the share of the requested core time that "
        f"they got): {', '.join(shared)}. Compare CPU time and words per CPU second, not wall-clock time."
    ]


def note_on_kernels(facts: Mapping[str, Sequence[Mapping[str, Any]]], label: Callable[[str], str]) -> list[str]:
    """Name the systems that torch alone computed where compiled code could have been; nothing where there are none.

    Args:
        facts: of each system, the facts.json of each run.
        label: what the table calls a system.
    """
    without = [label(system) for system, runs in facts.items() if any(run.get("kernels") is False for run in runs)]
    if not without:
        return []
    return [
        "Trained without compiled code (see kernels in the facts), which is slower and rounds differently: "
        f"{', '.join(without)}."
    ]


def notes_on_differences(facts: Mapping[str, Sequence[Mapping[str, Any]]], label: Callable[[str], str]) -> list[str]:
    """Say on what and in which precision each system was trained, where that differs between them.

    Args:
        facts: of each system, the facts.json of each run.
        label: what a table calls a system.
    """
    return [
        *_note_on("precision", "Trained in different precisions of matrix products", facts, label),
        *_note_on("device", "Trained on different devices", facts, label),
    ]


def _note_on(
    fact: str, what: str, facts: Mapping[str, Sequence[Mapping[str, Any]]], label: Callable[[str], str]
) -> list[str]:
    """Name the systems for each value of a fact; nothing where all have the same values."""
    values = {system: {run[fact] for run in runs if run.get(fact) is not None} for system, runs in facts.items()}
    known = {system: of_system for system, of_system in values.items() if of_system}
    if len({frozenset(of_system) for of_system in known.values()}) < 2:
        return []
    systems: dict[str, list[str]] = {}
    for system, of_system in known.items():
        for value in sorted(of_system):
            systems.setdefault(DEVICES.get(value, value), []).append(label(system))
    parts = [f"{value}: {', '.join(labels)}" for value, labels in systems.items()]
    return [f"{what}: {'; '.join(parts)}."]
