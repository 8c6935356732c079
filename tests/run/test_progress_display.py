"""Progress lines in a log file."""

import re
from collections.abc import Iterator

import pytest

from pipeline_py.run import progress_display as module
from pipeline_py.run.progress_display import show_progress


@pytest.fixture(autouse=True)
def close_other_bars() -> None:
    """Discard bars that earlier tests left open."""
    module.tqdm._instances.clear()


@pytest.mark.parametrize("total", [None, 3])
def test_progress_in_a_log_is_written_as_lines(
    total: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(module, "SECONDS_BETWEEN_LOG_LINES", 0.0)
    items = []
    for item in show_progress(iter("abc"), "train A", total, "updates", get_status=lambda: f"epoch {len(items) / 2}"):
        items.append(item)
    assert items == [*"abc"]
    last = capsys.readouterr().err.splitlines()[-1]
    if total is None:
        assert re.fullmatch(r"train A: 3 updates, .* updates/s, 00:00 elapsed, epoch 1\.5", last)
    else:
        assert re.fullmatch(r"train A: 3/3, 00:00 left, epoch 1\.5", last)


def test_log_lines_are_rare(capsys: pytest.CaptureFixture) -> None:
    assert [*show_progress(range(10_000), "count")] == [*range(10_000)]
    first, *rest = capsys.readouterr().err.splitlines()
    assert first == "count: starting" and len(rest) <= 1


def test_the_last_line_shows_the_final_status(capsys: pytest.CaptureFixture) -> None:
    status = ["under way"]

    def items() -> Iterator[int]:
        yield 1
        status.append("at the end")

    assert [*show_progress(items(), "train A", 1, get_status=lambda: status[-1])] == [1]
    assert capsys.readouterr().err.splitlines()[-1].endswith("left, at the end")
