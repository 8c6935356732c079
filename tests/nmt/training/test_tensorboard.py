"""Tests of the learning curve in TensorBoard."""

import builtins
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.nmt.training.monitoring import start_tensorboard_writer
from pipeline_py.run.errors import InputError


def row(update: int, loss: float, bleu: float | None = None) -> dict[str, Any]:
    return {
        **{"update": update, "train_loss": None if update == 1 else 2 * loss, "dev_loss": loss, "dev_bleu": bleu},
        **{"gradient_norm": 0.5, "learning_rate": 0.1, "words_per_second": 1000.0},
    }


def shown(folder: Path) -> dict[str, list[tuple[int, float]]]:
    loading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = loading.EventAccumulator(str(folder))
    events.Reload()
    return {name: [(event.step, event.value) for event in events.Scalars(name)] for name in events.Tags()["scalars"]}


def test_rows_are_shown(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    show = start_tensorboard_writer(tmp_path, [])
    show(row(1, 4.0))
    show(row(2, 3.0, 12.5))
    result = shown(tmp_path)
    assert result["loss/dev"] == [(1, 4.0), (2, 3.0)]
    assert result["loss/train"] == [(2, 6.0)]
    assert result["BLEU/dev"] == [(2, 12.5)]
    assert result["speed/target words per second"] == [(1, 1000.0), (2, 1000.0)]


def test_what_was_shown_of_lost_updates_is_not_shown(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    show = start_tensorboard_writer(tmp_path, [])
    for update in (1, 2, 3):
        show(row(update, 9.0))
    show = start_tensorboard_writer(tmp_path, [row(1, 9.0)])
    show(row(2, 5.0))
    assert shown(tmp_path)["loss/dev"] == [(1, 9.0), (2, 5.0)]


def test_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def import_without(name: str, *arguments: Any, **named: Any) -> Any:
        if "tensorboard" in name:
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", import_without)
    with pytest.raises(InputError, match="pip install tensorboard, or set it to false"):
        start_tensorboard_writer(tmp_path, [])
