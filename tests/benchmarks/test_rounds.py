"""Sides have their turns one after the other, and what they tell while warming up does not count."""

from collections.abc import Callable
from itertools import count
from typing import Any

from benchmarks.rounds import alternate


def test_every_side_has_a_turn_in_every_round_and_the_order_is_turned_round() -> None:
    told: list[str] = []
    clock = count()

    def side(name: str) -> Callable[[], dict[str, Any]]:
        def turn() -> dict[str, Any]:
            told.append(name)
            return {"seconds": next(clock)}

        return turn

    measured = alternate({name: side(name) for name in "abc"}, rounds=2, warm_up=1, what="test")
    assert "".join(told) == "abc" + "cba" + "abc"
    assert {name: [turn["seconds"] for turn in done.turns] for name, done in measured.items()} == {
        "a": [5, 6],
        "b": [4, 7],
        "c": [3, 8],
    }
