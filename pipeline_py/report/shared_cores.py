"""What is said of trainings that shared their cores with other work."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

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
        "Other work shared the cores of these trainings; in brackets, of the time that they asked for a core, the "
        f"share that they had one: {', '.join(shared)}. Compare CPU seconds, and words per CPU second, not "
        "time on the wall."
    ]
