"""Cards are found in the table of peaks by the names that drivers give them."""

import pytest

from benchmarks.machine import described, peak


@pytest.mark.parametrize(
    ("card", "precision", "expected"),
    [
        ("NVIDIA H200", "bfloat16", 989e12),
        ("NVIDIA H100 80GB HBM3", "bfloat16", 989e12),
        ("NVIDIA H100 PCIe", "bfloat16", 756e12),
        ("NVIDIA A100-SXM4-80GB", "tf32", 156e12),
        ("NVIDIA L4", "float32", 30.3e12),
        ("NVIDIA L40S", "float32", 91.6e12),
        ("Tesla T4", "bfloat16", None),
        ("", "float32", None),
        ("NVIDIA GeForce GT 710", "float32", None),
    ],
)
def test_the_peak_of_a_card(card: str, precision: str, expected: float | None) -> None:
    assert peak(card, precision) == expected


def test_a_machine_without_a_card_is_described() -> None:
    columns = described("cpu", threads=3)
    assert columns["card"] == "" and columns["threads"] == "3"
    assert columns["processor"] and int(columns["cores"]) >= 1
