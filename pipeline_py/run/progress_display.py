"""Progress on stderr: a bar with rate and remaining time on a terminal, a line per minute in a log file."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from tqdm import tqdm

Item = TypeVar("Item")

SECONDS_BETWEEN_LOG_LINES = 60.0

_is_silent = ContextVar("is_silent", default=False)


@contextmanager
def silence_progress() -> Iterator[None]:
    """Show no progress within this context, except on a terminal."""
    token = _is_silent.set(not sys.stderr.isatty())
    try:
        yield
    finally:
        _is_silent.reset(token)


def show_progress(
    items: Iterable[Item],
    label: str,
    total: int | None = None,
    unit: str = "sentences",
    get_status: Callable[[], str] | None = None,
) -> Iterator[Item]:
    """Yield `items` and show the progress, the remaining time, and the rate or the result of `get_status`."""
    if _is_silent.get():
        yield from items
        return
    if total is None and isinstance(items, Sized):
        total = len(items)
    bar: tqdm[Any]
    if sys.stderr.isatty():
        bar = tqdm(desc=label, total=total, unit=f" {unit}", miniters=1, dynamic_ncols=True)
    else:
        bar = _LogLineBar(
            desc=label,
            total=total,
            unit=f" {unit}",
            miniters=1,  # otherwise a line may show an outdated number of items
            mininterval=SECONDS_BETWEEN_LOG_LINES,
            maxinterval=SECONDS_BETWEEN_LOG_LINES,
            file=_LogLineWriter(),
            bar_format="{desc}: {n_fmt}{unit}, {rate_fmt}, {elapsed} elapsed{postfix}"
            if total is None
            else "{desc}: {n_fmt}/{total_fmt}, " + ("" if get_status else "{rate_fmt}, ") + "{remaining} left{postfix}",
        )
    with bar:
        for item in items:
            yield item
            if get_status is not None:
                bar.set_postfix_str(get_status(), refresh=False)
            bar.update()
        if get_status is not None:  # the status may have changed after the last item
            bar.set_postfix_str(get_status(), refresh=False)


class _LogLineBar(tqdm):
    """A progress bar for log files, which has no rate to report before its first item."""

    def __str__(self) -> str:
        return super().__str__() if self.n else f"{self.desc}: starting"


class _LogLineWriter:
    """A file for tqdm that ends lines instead of redrawing one."""

    def write(self, text: str) -> int:
        text = text.strip()
        return sys.stderr.write(text + "\n") if text else 0

    def flush(self) -> None:
        sys.stderr.flush()
