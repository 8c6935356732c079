"""What is said below tables of how their systems were trained: shared cores, precision, and no compiled code."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from pipeline_py.usage import ENOUGH


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


def note_on_precision(facts: Mapping[str, Sequence[Mapping[str, Any]]], label: Callable[[str], str]) -> list[str]:
    """Say in which precision each system was trained, where not all were trained in the same; else nothing.

    Args:
        facts: of each system, the facts.json of each run.
        label: what the table calls a system.
    """
    systems: dict[str, list[str]] = {}
    for system, runs in facts.items():
        precisions = sorted({run["precision"] for run in runs if run.get("precision") is not None})
        for precision in precisions:
            systems.setdefault(precision, []).append(label(system))
    if len(systems) < 2:
        return []
    parts = [f"{precision}: {', '.join(labels)}" for precision, labels in systems.items()]
    return [f"Trained in different precisions of matrix products: {'; '.join(parts)}."]
