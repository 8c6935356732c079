"""Progress lines on stderr while one of Stanza's training commands runs."""

import logging
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import stanza

REPORT_INTERVAL_SECONDS = 30.0

_FINISHED_STEP_PATTERN = re.compile(r"Finished STEP (\d+)/(\d+)")
_STARTING_EPOCH_PATTERN = re.compile(r"Starting epoch (\d+)")


class _EpochMonitor(logging.Handler):
    """A logging handler that derives the current epoch from Stanza's messages."""

    def __init__(self, epoch_count: int) -> None:
        super().__init__()
        self.epoch_count = epoch_count
        self.epoch = 1

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if match := _FINISHED_STEP_PATTERN.search(message):
            self.epoch = min(1 + int(match[1]) * self.epoch_count // int(match[2]), self.epoch_count)
        elif match := _STARTING_EPOCH_PATTERN.search(message):
            self.epoch = int(match[1])


@contextmanager
def report_training_progress(
    label: str, epoch_count: int, interval_seconds: float = REPORT_INTERVAL_SECONDS
) -> Iterator[None]:
    """Write a line with the epoch and the elapsed time to stderr at regular intervals.

    The lines come from a thread, because Stanza's training loops have no callbacks.
    """
    monitor = _EpochMonitor(epoch_count)
    is_finished = Event()
    start = time.monotonic()

    def report() -> None:
        while not is_finished.wait(interval_seconds):
            minutes, seconds = divmod(int(time.monotonic() - start), 60)
            progress = f"epoch {monitor.epoch} of {epoch_count}, {minutes:02}:{seconds:02} elapsed"
            print(f"train {label}: {progress}", file=sys.stderr, flush=True)

    reporter = Thread(target=report, name="training progress", daemon=True)
    original_levels = stanza.logger.level, stanza.log_handler.level
    # A pipeline may have raised the level of the logger; what Stanza prints does not change.
    stanza.log_handler.setLevel(max(original_levels))
    stanza.logger.setLevel(logging.INFO)
    stanza.logger.addHandler(monitor)
    reporter.start()
    try:
        yield
    finally:
        is_finished.set()
        reporter.join()
        stanza.logger.removeHandler(monitor)
        stanza.logger.setLevel(original_levels[0])
        stanza.log_handler.setLevel(original_levels[1])
