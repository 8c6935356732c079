"""Tuning of the weights of the log-linear model on the development set."""

import time
from typing import TYPE_CHECKING

from pipeline_py.config.systems.phrase_based import TuningConfig
from pipeline_py.smt.progress_log import ProgressLog

if TYPE_CHECKING:
    import numpy as np

    from pipeline_py.smt.thot import ThotTranslator

# The simplex starts from equal weights, as in the library, but in these units. A jump costs ln 0.001 = 6.9 nats for
# each skipped word: with the library's unit of 1, all translations at the first corners are monotone, and the simplex
# learns nothing from them. A tenth is about the cost of a jump in Moses.
WEIGHT_UNITS = (1.0, 1.0, 1.0, 0.1, 1.0, 1.0, 1.0)
# The last weight, of the sentence length, is not tuned.
SENTENCE_LENGTH_WEIGHT = 0.0
SIMPLEX_SCALE = 1.0
CONVERGENCE_TOLERANCE = 0.001
"""Standard deviation of BLEU (between 0 and 1) over the corners of the simplex at which the search has converged."""
SIGNED_FEATURES = (0, 2)
"""Features whose weight may have either sign: word penalty and length of target phrases."""


class TuningBudgetExhausted(Exception):
    """The exception that ends the search when evaluations or time are used up."""


class WeightTuner:
    """A tuner that runs the library's downhill simplex within a budget and keeps the best weights.

    BLEU is case-insensitive and on tokens, as in `nmt.training.validation`.
    """

    def __init__(
        self,
        translator: "ThotTranslator",
        sources: list[list[str]],
        targets: list[list[str]],
        tuning: TuningConfig,
        log: ProgressLog,
    ) -> None:
        """Prepare the search.

        Args:
            translator: the translator whose weights are tuned.
            sources: sentences to translate.
            targets: their references.
            tuning: the budget.
            log: the log of progress.
        """
        self.translator = translator
        self.sources = sources
        self.references = [" ".join(words) for words in targets]
        self.tuning = tuning
        self.log = log
        self.deadline: float | None = None
        self.evaluation_count = 0
        """Number of points that the simplex evaluated, including those that the deadline interrupted."""
        self.best_bleu: float | None = None
        """BLEU of the best weights in percent."""
        self.best_weights: list[float] = []
        """The weights with the best BLEU, in the order of `thot.FEATURE_NAMES`."""

    def tune_weights(self) -> None:
        """Search until the simplex is small enough or the budget is used up; there is at least one evaluation."""
        from machine.optimization import NelderMeadSimplex

        if self.tuning.minutes is not None:
            self.deadline = time.monotonic() + 60 * self.tuning.minutes
        # The library does not count the first corners; `_compute_error` counts all.
        simplex = NelderMeadSimplex(CONVERGENCE_TOLERANCE, self.tuning.evaluations, SIMPLEX_SCALE)
        try:
            simplex.find_minimum(self._compute_error, [1.0] * len(WEIGHT_UNITS))
            stop_reason = "the simplex has converged"
        except TuningBudgetExhausted as reason:
            stop_reason = str(reason)
        self.log.write_line(f"tuned weights: {self._format_progress()}; {stop_reason}")

    def _compute_error(self, point: "np.ndarray", _: int) -> float:
        """Return 1 − BLEU (between 0 and 1), or more than 1 for weights with a wrong sign, without a translation."""
        self._check_budget(self.evaluation_count >= self.tuning.evaluations)
        self.evaluation_count += 1
        weights = [float(value) * unit for value, unit in zip(point, WEIGHT_UNITS, strict=True)]
        violation = -sum(
            weight for number, weight in enumerate(weights) if weight < 0 and number not in SIGNED_FEATURES
        )
        if violation:
            return 1 + 1000 * violation
        all_weights = [*weights, SENTENCE_LENGTH_WEIGHT]
        bleu = self._compute_bleu(all_weights)
        if self.best_bleu is None or bleu > self.best_bleu:
            self.best_bleu, self.best_weights = bleu, all_weights
        self.log.write_line_if_due(f"tuning weights: {self._format_progress()}")
        return 1 - bleu / 100

    def _compute_bleu(self, weights: list[float]) -> float:
        from sacrebleu import corpus_bleu

        self.translator.set_weights(weights)
        translations = []
        for source in self.sources:
            self._check_budget()
            translations.append(" ".join(self.translator.translate(source).words))
        bleu = corpus_bleu(translations, [self.references], tokenize="none", lowercase=True, force=True)
        return float(bleu.score)

    def _check_budget(self, has_no_evaluations_left: bool = False) -> None:
        if has_no_evaluations_left:
            raise TuningBudgetExhausted("the evaluations are used up")
        # The first weights are always evaluated: without them there is no model.
        if self.best_bleu is not None and self.deadline is not None and time.monotonic() > self.deadline:
            raise TuningBudgetExhausted("the time is used up")

    def _format_progress(self) -> str:
        best = "none yet" if self.best_bleu is None else f"{self.best_bleu:.2f}"
        return f"evaluation {self.evaluation_count} of {self.tuning.evaluations}, best BLEU {best}"
