"""Energy, from counters made up here as Linux and NVIDIA's driver have them."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from pipeline_py import energy

RANGE = 262143328850
"""What a present processor says, in microjoules."""


class Zones:
    """A tree of powercap; like the real one it lists subzones beside the zones that they lie in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def set(self, zone: str, count: int, name: str | None = None) -> None:
        (self.folder / zone).mkdir(exist_ok=True)
        if name is not None:
            (self.folder / zone / "name").write_text(f"{name}\n")
            (self.folder / zone / "max_energy_range_uj").write_text(f"{RANGE}\n")
        (self.folder / zone / "energy_uj").write_text(f"{count}\n")


@pytest.fixture
def zones(tmp_path, monkeypatch):
    monkeypatch.setattr(energy, "POWERCAP", tmp_path)
    return Zones(tmp_path)


class Driver(SimpleNamespace):
    """NVIDIA's driver as its Python bindings show it; it counts millijoules."""

    class NVMLError(Exception):
        """What each of its functions raises."""

    def __init__(self, **millijoules: int) -> None:
        super().__init__(millijoules=millijoules)

    def nvmlInit(self) -> None:
        if not self.millijoules:
            raise self.NVMLError("Driver Not Loaded")

    def nvmlDeviceGetHandleByUUID(self, name: str) -> str:
        if name not in self.millijoules:
            raise self.NVMLError("Not Found")
        return name

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: str) -> int:
        if self.millijoules[handle] < 0:
            raise self.NVMLError("Not Supported")
        return self.millijoules[handle]


@pytest.fixture
def driver(monkeypatch):
    def load(**millijoules: int) -> Driver:
        monkeypatch.setitem(sys.modules, "pynvml", driver := Driver(**millijoules))
        return driver

    return load


def test_packages_are_added_up_and_what_lies_within_them_is_not(zones):
    names = {
        "intel-rapl:0": "package-0",
        "intel-rapl:0:0": "core",
        "intel-rapl:0:1": "uncore",
        "intel-rapl:0:2": "dram",
        "intel-rapl:1": "package-1-die-0",
        "intel-rapl:2": "psys",
        "intel-rapl-mmio:0": "package-0",
    }
    for zone, name in names.items():
        zones.set(zone, 7_000_000, name)
    meter = energy.meter([])
    assert meter.nothing == {"processor": 0.0}
    for number, zone in enumerate(names):
        zones.set(zone, 7_000_000 + 10**number * 1_000_000)
    assert meter.added_to({"processor": 0.5}) == pytest.approx({"processor": 0.5 + 1 + 10_000})


def test_a_counter_begins_again_when_it_is_full(zones):
    zones.set("intel-rapl:0", RANGE - 2_000_000, "package-0")
    meter = energy.meter([])
    zones.set("intel-rapl:0", 3_000_000)
    joules = meter.added_to(meter.nothing)
    assert joules == pytest.approx({"processor": 5.0})
    zones.set("intel-rapl:0", 4_500_000)
    assert meter.added_to(joules) == pytest.approx({"processor": 6.5})


@pytest.mark.parametrize("fails", ["energy_uj", "max_energy_range_uj"])
def test_a_processor_that_may_not_be_read_is_not_measured(zones, monkeypatch, fails):
    zones.set("intel-rapl:0", 1, "package-0")
    zones.set("intel-rapl:1", 1, "package-1")
    read = Path.read_text

    def refuse(path: Path, **how: str) -> str:  # root may read whatever the mode of a file says
        if path == zones.folder / "intel-rapl:1" / fails:
            raise PermissionError(13, "Permission denied")
        return read(path, **how)

    monkeypatch.setattr(Path, "read_text", refuse)
    meter = energy.meter([])
    assert meter.nothing == {} and meter.added_to({}) == {}


def test_a_machine_that_counts_nothing_is_not_measured(zones, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)  # as where it is not installed
    assert energy.meter(["GPU-0"]).nothing == {}


def test_cards_in_use_are_added_up_beside_the_processor(zones, driver):
    zones.set("intel-rapl:0", 0, "package-0")
    cards = driver(first=1000, second=2000, other=5000)
    meter = energy.meter(["first", "second"])
    cards.millijoules.update(first=3500, second=2250, other=99000)
    zones.set("intel-rapl:0", 8_000_000)
    assert meter.added_to(meter.nothing) == pytest.approx({"processor": 8.0, "card": 2.75})


@pytest.mark.parametrize("cards", [{}, {"first": 1}, {"first": 1, "second": -1}], ids=["none", "one", "old"])
def test_cards_that_do_not_all_count_are_not_measured(zones, driver, cards):
    zones.set("intel-rapl:0", 0, "package-0")
    driver(**cards)
    assert energy.meter(["first", "second"]).nothing == {"processor": 0.0}


def test_a_part_that_was_not_measured_all_along_is_left_out(zones, driver):
    zones.set("intel-rapl:0", 0, "package-0")
    cards = driver(first=0)
    meter = energy.meter(["first"])
    assert meter.added_to({"card": 1.0}) == {"card": 1.0}, "another machine did not measure its processor"
    cards.millijoules["first"] = -1
    assert meter.added_to(meter.nothing) == {"processor": 0.0}
    cards.millijoules["first"] = 5000
    assert meter.added_to({"processor": 1.0, "card": 1.0}) == {"processor": 1.0}


def test_cards_are_named_as_the_driver_names_them(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda card: SimpleNamespace(uuid=f"0-{card}"))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    assert energy.cards_of(1) == ["GPU-0-3"]
    assert energy.cards_of(2) == ["GPU-0-0", "GPU-0-1"]


def test_a_counts_says_what_was_measured():
    assert energy.facts_of({"processor": 1.25, "card": 3.0}) == {
        "energy_joules": 4.2,
        "energy_of": "processor and card",
    }
    assert energy.facts_of({}) == {"energy_joules": None, "energy_of": None}
