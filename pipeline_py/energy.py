"""Energy that a machine takes while something runs on it, where it counts that itself.

Processors count it by package (Linux powercap, the running average power limit of Intel and AMD), memory left out;
cards by themselves (NVML, from Volta on). Both count all that runs on them, whosever it is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

POWERCAP = Path("/sys/class/powercap")
ZONES = "intel-rapl:*"
"""Zones of AMD's processors are called so too; `intel-rapl-mmio` counts the same packages a second time."""

PACKAGE = "package"
"""How the names of packages begin; other zones lie within one (core, uncore), beside it (dram) or around all (psys)."""

MICROJOULES, MILLIJOULES = 1e-6, 1e-3
CARD_RANGE = 2**64
"""At how many millijoules NVML, which counts them in 64 bits since the driver was loaded, would begin again."""


@dataclass(frozen=True)
class Counter:
    """A counter of energy, which begins again at zero when it is full.

    Attributes:
        read: gives the count; OSError or ValueError where it cannot be read.
        unit: of the count, in joules.
        full: at which count it begins again.
    """

    read: Callable[[], int]
    unit: float
    full: int

    def joules(self, before: int, now: int) -> float:
        """Energy between two counts, the later one less than a full counter away."""
        return (now - before) % self.full * self.unit


class Meter:
    """Adds up the energy of a machine's parts from the time it is made.

    A part whose counters cannot all be read is left out, from the beginning or from then on, since a share of its
    energy would look like a saving.
    """

    def __init__(self, parts: Mapping[str, Sequence[Counter]]) -> None:
        self._counters = parts
        self._counts = self._read(parts)

    @property
    def nothing(self) -> dict[str, float]:
        """No joule of each part that is measured."""
        return dict.fromkeys(self._counts, 0.0)

    def added_to(self, joules: Mapping[str, float]) -> dict[str, float]:
        """Add the energy since the last call to that of before, of the parts that were measured all along.

        Between two calls, less than fills a counter may be spent.
        """
        before, self._counts = self._counts, self._read(self._counts)
        return {
            part: joules[part] + sum(map(Counter.joules, self._counters[part], before[part], now))
            for part, now in self._counts.items()
            if part in joules
        }

    def _read(self, parts: Iterable[str]) -> dict[str, list[int]]:
        counts = {}
        for part in parts:
            try:
                counts[part] = [counter.read() for counter in self._counters[part]]
            except (OSError, ValueError):
                continue
        return counts


def cards_of(processes: int) -> list[str]:
    """Name the cards that a training in so many processes of this machine computes on, as NVIDIA's driver does.

    This process, if it is the only one, has taken its card; several have the first cards of the machine.
    """
    import torch

    numbers = [torch.cuda.current_device()] if processes == 1 else range(processes)
    return [f"GPU-{torch.cuda.get_device_properties(card).uuid}" for card in numbers]


def facts_of(joules: Mapping[str, float]) -> dict[str, Any]:
    """What counts say: the sum over the parts, and which those are; None where nothing was measured."""
    return {
        "energy_joules": round(sum(joules.values()), 1) if joules else None,
        "energy_of": " and ".join(joules) or None,
    }


def meter(cards: Sequence[str]) -> Meter:
    """A meter of this machine's processors (`processor`) and of some of its cards (`card`), where they can be measured.

    Args:
        cards: as `cards_of` names them; none where nothing is computed on a card.
    """
    parts = {"processor": _packages(), "card": _cards(cards) if cards else []}
    return Meter({part: counters for part, counters in parts.items() if counters})


def _packages() -> list[Counter]:
    """Counters of the processor packages; none where one of them cannot be read, as without the right to."""
    try:
        zones = [zone for zone in sorted(POWERCAP.glob(ZONES)) if _text(zone / "name").startswith(PACKAGE)]
        return [
            Counter(partial(_number, zone / "energy_uj"), MICROJOULES, _number(zone / "max_energy_range_uj"))
            for zone in zones
        ]
    except (OSError, ValueError):
        return []


def _cards(cards: Sequence[str]) -> list[Counter]:
    """Counters of cards; none where one of them, NVIDIA's driver or its Python bindings are not there."""
    try:
        import pynvml
    except ImportError:
        return []

    def count(handle: Any) -> int:
        try:
            return pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)
        except pynvml.NVMLError as error:
            raise OSError(str(error)) from None

    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByUUID(card) for card in cards]
    except pynvml.NVMLError:
        return []
    return [Counter(partial(count, handle), MILLIJOULES, CARD_RANGE) for handle in handles]


def _text(file: Path) -> str:
    return file.read_text(encoding="ascii").strip()


def _number(file: Path) -> int:
    return int(_text(file))
