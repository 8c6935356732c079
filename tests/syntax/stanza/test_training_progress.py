"""Tests of the progress lines during training."""

import logging
import time

import pytest
import stanza

from pipeline_py.syntax.stanza.training_progress import report_training_progress


@pytest.mark.parametrize(
    ("message", "epoch"),
    [("Reading data", 1), ("Finished STEP 40/100, loss = 1", 3), ("Finished STEP 100/100", 5), ("Starting epoch 4", 4)],
)
def test_line_has_the_epoch_and_the_elapsed_time(message: str, epoch: int, capsys: pytest.CaptureFixture[str]) -> None:
    with report_training_progress("tagger", 5, interval_seconds=0.01):
        logging.getLogger("stanza.constituency.trainer").info(message)
        time.sleep(0.1)
    assert f"train tagger: epoch {epoch} of 5, 00:00 elapsed" in capsys.readouterr().err.splitlines()


def test_levels_and_handlers_of_stanzas_logger_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stanza.logger, "level", logging.ERROR)
    expected = stanza.logger.handlers[:], stanza.log_handler.level
    with report_training_progress("tagger", 5):
        assert stanza.logger.level == logging.INFO and stanza.log_handler.level == logging.ERROR
    assert (stanza.logger.handlers, stanza.log_handler.level) == expected
    assert stanza.logger.level == logging.ERROR
