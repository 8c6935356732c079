"""Train a phrase-based system."""

import os
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline_py import stage
from pipeline_py.artifact import whole, write_json
from pipeline_py.config.base import from_json
from pipeline_py.config.phrase_based import PhraseBased, Tuning
from pipeline_py.progress import SECONDS_BETWEEN_LOG_LINES
from pipeline_py.stage import InputError
from pipeline_py.text import read_parallel, tokens_of

if TYPE_CHECKING:
    import numpy as np
    from machine.utils.progress_status import ProgressStatus

    from pipeline_py.smt.thot import Translator

# The simplex begins where all features weigh the same, as in the library, but in these units. A jump costs
# ln 0.001 = 6.9 nats for each word that it skips: with the library's unit of 1 all translations are monotone, and so
# are those at the corners around it, which tells the simplex nothing. A tenth is about what a jump costs in Moses.
UNITS = (1.0, 1.0, 1.0, 0.1, 1.0, 1.0, 1.0)
# The last weight, of the sentence length, is not tuned.
SENTENCE_LENGTH_WEIGHT = 0.0
SIMPLEX_SCALE = 1.0
CONVERGED = 0.001
"""Standard deviation of BLEU (between 0 and 1) over the corners of the simplex, below which they are one point."""
MAY_BE_NEGATIVE = (0, 2)
"""Features whose weight may have either sign: word penalty and length of target phrases."""


def train(
    *,
    name: str = "system",
    options: str,
    train_source: Path,
    train_target: Path,
    dev_source: Path,
    dev_target: Path,
    model_output: Path,
    facts_output: Path,
) -> None:
    """Train a phrase-based system and tune its weights on the development set.

    Word alignments by HMMs in both directions, symmetrised; a phrase table; an interpolated n-gram model, whose
    weights are those with the least perplexity on dev; and the weights of the log-linear model with the best BLEU on
    dev that a downhill simplex finds. Nothing is trained on dev. Equal inputs give equal bytes, but for the seconds.

    Pairs without words on one side or with more than 200 on one are not trained on, and counted.

    Args:
        name: What to call the system in messages.
        options: The system, one of `systems` of the configuration as JSON.
        train_source: Tokenized sentences, words separated by a space.
        train_target: Their translations.
        dev_source: Tokenized sentences to tune on.
        dev_target: Their translations.
        model_output: Directory for the models; it can be moved.
        facts_output: Size, score, time and versions as JSON.

    Raises:
        InputError: options or files are not what they should be, or do not belong together.
    """
    system = from_json(PhraseBased, options, "--options")
    log = Log(f"train {name}")
    # Thot's OpenMP reads it when it is loaded; the rule asks for one thread, and more hardly help.
    os.environ["OMP_NUM_THREADS"] = "1"

    from pipeline_py.smt.thot import Pairs, Trainer, Translator, save_config

    pairs = Pairs(train_source, train_target)
    sources, targets = _tuning_sentences(dev_source, dev_target, system.tuning.sentences)
    trainer = Trainer(pairs, system.iterations, system.language_model_order)
    with whole(model_output) as directory, trainer:
        directory.mkdir()
        phrase_pairs = trainer.learn(directory, targets, log.status)
        log.line("tuning weights")
        tuner = Tuner(Translator(directory, system.reordering), sources, targets, system.tuning, log)
        tuner.tune()
        save_config(directory, system.reordering, tuner.best_weights)

    write_json(
        facts_output,
        {
            "parameters": None,
            "updates": None,
            "epochs": None,
            "best_update": None,
            "early_stopping": "bleu",
            "best_dev": tuner.best,
            "target_words": None,
            "target_words_per_second": None,
            "seconds": round(log.elapsed, 1),
            "seed": None,
            "device": "cpu",
            "threads": 1,
            "precision": None,
            "skipped": pairs.skipped,
            "statistics": [{"phrase_pairs": phrase_pairs, "tuning_evaluations": tuner.evaluations}],
            "versions": {package: metadata.version(package) for package in ("sil-machine", "sil-thot")},
        },
    )


def _tuning_sentences(source: Path, target: Path, limit: int | None) -> tuple[list[list[str]], list[list[str]]]:
    pairs = [(tokens_of(one), tokens_of(other)) for one, other in read_parallel(source, target)][:limit]
    if not any(one and other for one, other in pairs):
        of_these = "" if len(pairs) != limit else f" among the first {limit}, which are tuned on"
        raise InputError(f"no sentence pair with words on both sides{of_these}; give a development set", source)
    return [one for one, _ in pairs], [other for _, other in pairs]


class Log:
    """Lines on stderr that say what is going on, not more often than is useful in a log file."""

    def __init__(self, what: str) -> None:
        """Start the clock.

        Args:
            what: how every line begins.
        """
        self.what = what
        self.started = self.written = time.monotonic()
        self.phase: str | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.started

    def line(self, text: str) -> None:
        """Write a line now."""
        self.written = time.monotonic()
        print(f"{self.what}: {text}, {self.elapsed:.0f} s elapsed", file=sys.stderr, flush=True)

    def now_and_then(self, text: str) -> None:
        """Write a line unless there was one a moment ago."""
        if time.monotonic() - self.written >= SECONDS_BETWEEN_LOG_LINES:
            self.line(text)

    def status(self, status: "ProgressStatus") -> None:
        """Write the phases of the library's training, and now and then how far a long one is."""
        phase = (status.message or "training").lower()
        if phase != self.phase:
            self.phase = phase
            self.line(phase)
        elif status.step_count:
            self.now_and_then(f"{phase}, step {getattr(status, 'phase_step', status.step)} of {status.step_count}")


class OutOfBudget(Exception):
    """The evaluations or the minutes are used up."""


class Tuner:
    """The library's search for weights, a downhill simplex, kept to a budget; the best weights so far are never lost.

    BLEU is case-insensitive and over words, as in `nmt.validation`.
    """

    def __init__(
        self,
        translator: "Translator",
        sources: list[list[str]],
        targets: list[list[str]],
        tuning: Tuning,
        log: Log,
    ) -> None:
        """Prepare the search.

        Args:
            translator: what is tuned.
            sources: sentences to translate.
            targets: their references.
            tuning: the budget.
            log: where to say how it goes.
        """
        self.translator = translator
        self.sources = sources
        self.references = [" ".join(words) for words in targets]
        self.tuning = tuning
        self.log = log
        self.deadline: float | None = None
        self.evaluations = 0
        """Points at which the simplex asked for BLEU, those cut short by the clock included."""
        self.best: float | None = None
        """BLEU of the best weights in percent."""
        self.best_weights: list[float] = []
        """In the order of `thot.WEIGHTS`."""

    def tune(self) -> None:
        """Search until the simplex is small enough or the budget is used up; there is at least one evaluation."""
        from machine.optimization import NelderMeadSimplex

        if self.tuning.minutes is not None:
            self.deadline = time.monotonic() + 60 * self.tuning.minutes
        # The library does not count the first corners; `_error` counts all.
        simplex = NelderMeadSimplex(CONVERGED, self.tuning.evaluations, SIMPLEX_SCALE)
        try:
            simplex.find_minimum(self._error, [1.0] * len(UNITS))
            why = "the simplex has converged"
        except OutOfBudget as reason:
            why = str(reason)
        self.log.line(f"tuned weights: {self._standing()}; {why}")

    def _error(self, point: "np.ndarray", _: int) -> float:
        """1 − BLEU (between 0 and 1); above 1 for weights that reward what is improbable, which are not tried."""
        self._check_budget(self.evaluations >= self.tuning.evaluations)
        self.evaluations += 1
        weights = [float(value) * unit for value, unit in zip(point, UNITS, strict=True)]
        wrong = -sum(weight for number, weight in enumerate(weights) if weight < 0 and number not in MAY_BE_NEGATIVE)
        if wrong:
            return 1 + 1000 * wrong
        all_weights = [*weights, SENTENCE_LENGTH_WEIGHT]
        bleu = self._bleu(all_weights)
        if self.best is None or bleu > self.best:
            self.best, self.best_weights = bleu, all_weights
        self.log.now_and_then(f"tuning weights: {self._standing()}")
        return 1 - bleu / 100

    def _bleu(self, weights: list[float]) -> float:
        from sacrebleu import corpus_bleu

        self.translator.set_weights(weights)
        translations = []
        for source in self.sources:
            self._check_budget()
            translations.append(" ".join(self.translator.translate(source).words))
        found = corpus_bleu(translations, [self.references], tokenize="none", lowercase=True, force=True)
        return float(found.score)

    def _check_budget(self, no_evaluations_left: bool = False) -> None:
        if no_evaluations_left:
            raise OutOfBudget("the evaluations are used up")
        # The first weights are evaluated whatever it takes: without them there is no model.
        if self.best is not None and self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfBudget("the time is used up")

    def _standing(self) -> str:
        best = "none yet" if self.best is None else f"{self.best:.2f}"
        return f"evaluation {self.evaluations} of {self.tuning.evaluations}, best BLEU {best}"


if __name__ == "__main__":
    stage.run(train)
