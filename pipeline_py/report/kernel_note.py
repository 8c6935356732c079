"""What a table says of trainings on a processor that did without compiled code."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any


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
        "Trained without compiled code (see kernels in the facts), which is slower and rounds otherwise: "
        f"{', '.join(without)}."
    ]
