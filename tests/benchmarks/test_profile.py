"""Operations are counted among their kinds."""

import pytest

from benchmarks.profile import KINDS, REST, by_kind


def test_times_are_added_up_by_kind() -> None:
    times = {"aten::mm": 30.0, "mkldnn::_linear_pointwise": 20.0, "aten::tanh_": 10.0, "_Step": 25.0, "aten::t": 15.0}
    shares = {"matrix products": 0.5, "exponents": 0.1, "gates and scores": 0.25, REST: 0.15}
    assert by_kind(times) == pytest.approx(shares)


def test_no_operation_is_of_two_kinds() -> None:
    names = [name for of_kind in KINDS.values() for name in of_kind]
    assert len(names) == len({*names})
