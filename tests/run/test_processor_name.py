"""The name of the CPU in facts."""

import platform
from pathlib import Path

from pipeline_py.run.processor_name import get_cpu_name


def test_name_has_the_numbers_of_the_first_core(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    core = "processor\t: {}\ncpu family\t: 25\nmodel\t\t: {}\nmodel name\t: AMD EPYC\nstepping\t: 1\n\n"
    file.write_text(core.format(0, 17) + core.format(1, 18), encoding="utf-8")
    assert get_cpu_name(file) == "AMD EPYC (25, 17, 1)"


def test_without_a_description_the_name_is_that_of_python(tmp_path: Path) -> None:
    assert get_cpu_name(tmp_path / "missing") == (platform.processor() or platform.machine()) != ""


def test_other_architectures_have_no_name_in_the_description(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nCPU part\t: 0xd0c\n", encoding="utf-8")
    assert get_cpu_name(file) == get_cpu_name(tmp_path / "missing")
