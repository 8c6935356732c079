"""One training run: updates, looks at the development set, checkpoints, the end."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor
from tqdm import tqdm

from pipeline_py.config.systems.training import Training
from pipeline_py.nmt.data.dataset import Dataset
from pipeline_py.nmt.model import Model
from pipeline_py.nmt.training.batch_loader import BatchLoader
from pipeline_py.nmt.training.checkpoint import Checkpoint, Checkpoints, TrainState, mean, moving_average
from pipeline_py.nmt.training.monitoring import Clock, board
from pipeline_py.nmt.training.processes import ALONE, Processes
from pipeline_py.nmt.training.update import (
    Update,
    build,
    check_progress,
    check_weights,
    decay_if_worse,
    follow_schedule,
    learning_rate,
)
from pipeline_py.nmt.training.validation import Validation
from pipeline_py.run.usage import Usage
from pipeline_py.subword.vocabulary import Vocabulary


class Run:
    """Trains a model; `updates` is iterated over to the end, then `model` holds the best weights.

    A run that is resumed from any checkpoint of its own makes the same updates as one that never stopped.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        training: Training,
        data: Dataset,
        validation: Validation,
        vocabulary: Vocabulary,
        checkpoints: Checkpoints,
        device: torch.device,
        seed: int,
        processes: Processes = ALONE,
    ) -> None:
        self.name = name
        self.model = model.to(device).train()
        self.training = training
        self.seed = seed
        self.state = TrainState()
        self._validation = validation
        self._vocabulary = vocabulary
        self._checkpoints = checkpoints
        self.device = device
        self._processes = processes
        self._optimizer = build(training.optimizer, model.parameters())
        self._update = Update(self.model, self.model.loss, self._optimizer, training, device, processes)
        self._loader = BatchLoader(data, training, seed, device, processes, self._update.multiple)
        self._average = moving_average(self.model, training.moving_average) if training.moving_average else None
        self._kept: list[dict[str, Tensor]] = []
        self._show: Callable[[Mapping[str, Any]], None] | None = None
        numbers = processes.numbers()
        self._clock = Clock(Usage(numbers if processes.first else []))
        self._saved = self._clock.ticked

    def watched(self, folder: Path) -> None:
        """Let TensorBoard show the learning curve from here on."""
        self._show = board(folder, self.state.curve)

    def resume(self) -> bool:
        """Go back to the last checkpoint, if there is one."""
        checkpoint = self._processes.in_turn(self._checkpoints.load)
        if checkpoint is None:
            return False
        self._kept = checkpoint.restore(self.model, self._optimizer, self._average, self.device)
        self.state = TrainState(**checkpoint.state)
        return True

    def remaining(self) -> int | None:
        """Estimate how many updates are still to be made; None where only patience ends the run."""
        training, state = self.training, self.state
        limits = []
        if training.updates is not None:
            limits.append(training.updates - state.update)
        if training.epochs is not None:
            epoch = len(self._loader.batches(state.epoch))
            limits.append((training.epochs - state.epoch) * epoch - state.batch)
        return max(min(limits), 0) if limits else None

    def updates(self) -> Iterator[int]:
        """Train to the end, yielding the number of each update.

        Raises:
            InputError: the training diverged.
        """
        state = self.state
        self._tick()
        self._end_epoch_if_done()
        while not self._finished():
            batches = self._loader.batches(state.epoch)
            while state.batch < len(batches) and not self._finished():
                self._make_update()
                state.batch += 1
                self._tick(training=True)
                every = self.training.validate_every
                if every is not None and state.update % every == 0:
                    self._validate()
                elif self._clock.ticked - self._saved > 60 * self.training.checkpoint_minutes:
                    check_weights(self.name, state.update, self.model)
                    self._save()
                yield state.update
            self._end_epoch_if_done()
        if not state.validated:
            self._validate()
        self.model.load_state_dict(mean(self._kept))
        if len(self._kept) > 1:
            self._validate_mean()

    @property
    def epochs(self) -> float:
        """Passes over the training data, the present one by its batches."""
        state = self.state
        return state.epoch + (state.batch / len(self._loader.batches(state.epoch)) if state.batch else 0.0)

    def status(self) -> str:
        """Say in a few words how far the run is."""
        state = self.state
        seen = f"{state.words_per_second:,.0f} words/s"
        if not state.curve:
            return seen
        best = state.best_validation
        bleu = "" if best["dev_bleu"] is None else f", dev BLEU {best['dev_bleu']:.2f}"
        since = state.validations_since_best
        ended = f", stopped: {since} validations without a better one" if since >= self.training.patience else ""
        return f"{seen}, dev loss {best['dev_loss']:.3f}{bleu}{ended}"

    def _end_epoch_if_done(self) -> None:
        state = self.state
        if state.batch == len(self._loader.batches(state.epoch)):
            state.epoch += 1
            state.batch = 0
            if self.training.validate_every is None:
                self._validate()

    def statistics(self) -> list[dict[str, float]]:
        """Average what the weighting of each context counts on the development set."""
        return self._validation.statistics(self.model)

    def _finished(self) -> bool:
        training, state = self.training, self.state
        return (
            (training.epochs is not None and state.epoch >= training.epochs)
            or (training.updates is not None and state.update >= training.updates)
            or state.validations_since_best >= training.patience
        )

    def _done(self) -> float:
        """The part of the longest possible training that is done; 0 where only patience ends it."""
        training, state = self.training, self.state
        of_epochs = self.epochs / training.epochs if training.epochs is not None else 0.0
        return max(of_epochs, state.update / training.updates if training.updates is not None else 0.0)

    def _make_update(self) -> None:
        """Make one update: loss = mean over sentences, or words, of summed log-loss; gradient norm clipped."""
        state = self.state
        epoch, number = state.epoch, state.batch
        pairs, parts = self._loader.batches(epoch)[number], self._loader.take(epoch, number)
        self._processes.seed(self.seed, state.update)
        follow_schedule(self._optimizer, self.training.optimizer, state.update, self._done())
        self._update.begin(parts, self._loader.share(pairs))
        self._loader.prepare(epoch, number + 1)
        result = self._update.finish()
        state.update += 1
        state.words += self._loader.words(pairs)
        if not result.changed:
            state.skipped += 1
            return
        if self._average is not None:
            self._average.update_parameters(self.model)
        state.loss += result.loss * self._loader.size(pairs)
        state.norm += result.gradient_norm
        state.tokens += self._loader.words(pairs) + len(pairs)
        state.updates += 1

    def _validate(self) -> None:
        """Score the model on the development set, keep it if it is the best, decay the rate, and write a checkpoint."""
        state = self.state
        scored = self.model if self._average is None else cast("Model", self._average.module)
        loss, bleu = self._processes.of_first(lambda: self._scores(scored))
        check_weights(self.name, state.update, self.model)
        check_progress(self.name, state.update, loss, state.updates)
        score = -loss if bleu is None else bleu
        better = state.best_score is None or score > state.best_score
        if better or self.training.average > 1:
            weights = {name: tensor.detach().cpu().clone() for name, tensor in scored.state_dict().items()}
            self._kept = [*self._kept, weights][-self.training.average :]
        if better:
            state.best_score = score
            state.best_update = state.update
        state.validations_since_best = 0 if better else state.validations_since_best + 1
        rate = learning_rate(self._optimizer)
        losses = [*(row["dev_loss"] for row in state.curve), loss]
        decay_if_worse(self._optimizer, self.training.optimizer, losses, state.validations_since_best)
        self._tick()
        state.curve.append(
            {
                "update": state.update,
                "epoch": self.epochs,
                "train_loss": state.loss / state.tokens if state.tokens else None,
                "dev_loss": loss,
                "dev_bleu": bleu,
                "best": better,
                "gradient_norm": state.norm / state.updates if state.updates else None,
                "learning_rate": rate,
                "target_words": state.words,
                "seconds": state.seconds,
                "words_per_second": state.words_per_second,
            }
        )
        state.loss, state.norm, state.tokens, state.updates = 0.0, 0.0, 0, 0
        since = state.validations_since_best
        self._tell("best" if better else f"best {since} validation{'s' if since > 1 else ''} ago")
        if self._show is not None:
            self._show(state.curve[-1])
        self._save()

    def _validate_mean(self) -> None:
        """Score the mean of weights as well: these are the ones that remain."""
        state = self.state
        loss, bleu = self._processes.of_first(lambda: self._scores(self.model))
        state.best_score, state.best_update = -loss if bleu is None else bleu, state.update
        self._tick()
        scores = {"dev_loss": loss, "dev_bleu": bleu, "best": True, "train_loss": None, "gradient_norm": None}
        state.curve.append({**state.curve[-1], **scores, "seconds": state.seconds})
        self._tell(f"mean of the last {len(self._kept)} validations")

    def _scores(self, model: Model) -> tuple[float, float | None]:
        """Compute loss and, where it chooses the weights, BLEU on the development set."""
        loss = self._validation.loss(model)
        if self.training.early_stopping != "bleu":
            return loss, None
        try:
            return loss, self._validation.bleu(model, self._vocabulary)
        except FloatingPointError:  # the network predicts something that is not a number
            return math.nan, None

    def _save(self) -> None:
        if not self._processes.first:
            return
        self._tick()
        state = asdict(self.state)
        checkpoint = Checkpoint.of(self.model, self._optimizer, self._average, self.device, self._kept, state)
        self._checkpoints.save(checkpoint)
        self._tick()
        self._saved = self._clock.ticked

    def _tick(self, training: bool = False) -> None:
        self._clock.tick(self.state, training)

    def _tell(self, verdict: str) -> None:
        if not self._processes.first:
            return
        row = self.state.curve[-1]
        bleu = "" if row["dev_bleu"] is None else f", dev BLEU {row['dev_bleu']:.2f}"
        tqdm.write(
            f"{self.name}: epoch {row['epoch']:.2f}, update {row['update']}, dev loss {row['dev_loss']:.4f}{bleu} "
            f"({verdict})",
            file=sys.stderr,
        )
