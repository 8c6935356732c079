"""One training run: updates, looks at the development set, checkpoints, the end."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from pipeline_py.config.systems.training import Training
from pipeline_py.energy import Meter
from pipeline_py.nmt.data.dataset import Dataset
from pipeline_py.nmt.model import Model
from pipeline_py.nmt.training.batch_loader import Feed
from pipeline_py.nmt.training.checkpoint import (
    Checkpoint,
    Checkpoints,
    flatten_optimizer,
    random_states,
    restore_optimizer,
    restore_random_states,
)
from pipeline_py.nmt.training.clock import Clock
from pipeline_py.nmt.training.divergence import check_progress, check_weights
from pipeline_py.nmt.training.optimizer import build, decay_if_worse, learning_rate
from pipeline_py.nmt.training.processes import ALONE, Processes
from pipeline_py.nmt.training.tensorboard import board
from pipeline_py.nmt.training.train_state import Standing
from pipeline_py.nmt.training.update import Update
from pipeline_py.nmt.training.validation import Validation
from pipeline_py.subword.vocabulary import Vocabulary
from pipeline_py.usage import Usage


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
        meter: Meter,
        processes: Processes = ALONE,
    ) -> None:
        self.name = name
        self.model = model.to(device).train()
        self.training = training
        self.seed = seed
        self.standing = Standing(joules=meter.nothing)
        self._validation = validation
        self._vocabulary = vocabulary
        self._checkpoints = checkpoints
        self._device = device
        self._processes = processes
        self._optimizer = build(training.optimizer, model.parameters())
        self._update = Update(self.model, self.model.loss, self._optimizer, training, device, processes)
        self._feed = Feed(data, training, seed, device, processes, self._update.multiple)
        self._best: dict[str, Tensor] = {}
        self._show: Callable[[Mapping[str, Any]], None] | None = None
        numbers = processes.numbers()
        self._clock = Clock(meter, Usage(numbers if processes.first else []))
        self._saved = self._clock.ticked

    def watched(self, folder: Path) -> None:
        """Let TensorBoard show the learning curve from here on."""
        self._show = board(folder, self.standing.curve)

    def resume(self) -> bool:
        """Go back to the last checkpoint, if there is one."""
        checkpoint = self._processes.in_turn(self._checkpoints.load)
        if checkpoint is None:
            return False
        self.model.load_state_dict(checkpoint.tensors["model"])
        restore_optimizer(self._optimizer, checkpoint.tensors["optimizer"])
        restore_random_states(checkpoint.tensors["random"], self._device)
        self._best = checkpoint.tensors.get("best", {})
        self.standing = Standing(**checkpoint.state)
        return True

    def remaining(self) -> int | None:
        """Estimate how many updates are still to be made; None where only patience ends the run."""
        training, standing = self.training, self.standing
        limits = []
        if training.updates is not None:
            limits.append(training.updates - standing.update)
        if training.epochs is not None:
            epoch = len(self._feed.batches(standing.epoch))
            limits.append((training.epochs - standing.epoch) * epoch - standing.batch)
        return max(min(limits), 0) if limits else None

    def updates(self) -> Iterator[int]:
        """Train to the end, yielding the number of each update.

        Raises:
            InputError: the training diverged.
        """
        standing = self.standing
        self._tick()
        self._end_epoch_if_done()
        while not self._finished():
            batches = self._feed.batches(standing.epoch)
            while standing.batch < len(batches) and not self._finished():
                self._make_update()
                standing.batch += 1
                self._tick(training=True)
                every = self.training.validate_every
                if every is not None and standing.update % every == 0:
                    self._look()
                elif self._clock.ticked - self._saved > 60 * self.training.checkpoint_minutes:
                    check_weights(self.name, standing.update, self.model)
                    self._save()
                yield standing.update
            self._end_epoch_if_done()
        if not standing.looked:
            self._look()
        self.model.load_state_dict(self._best)

    @property
    def epochs(self) -> float:
        """Passes over the training data, the present one by its batches."""
        standing = self.standing
        return standing.epoch + (standing.batch / len(self._feed.batches(standing.epoch)) if standing.batch else 0.0)

    def status(self) -> str:
        """Say in a few words how far the run is."""
        standing = self.standing
        seen = f"epoch {self.epochs:.2f}, {standing.words_per_second:,.0f} words/s"
        if not standing.curve:
            return seen
        best = standing.kept
        bleu = "" if best["dev_bleu"] is None else f", dev BLEU {best['dev_bleu']:.2f}"
        looks = standing.looks_since_best
        ended = f", ended after {looks} looks without a better one" if looks >= self.training.patience else ""
        return f"{seen}, dev loss {best['dev_loss']:.3f}{bleu}{ended}"

    def _end_epoch_if_done(self) -> None:
        standing = self.standing
        if standing.batch == len(self._feed.batches(standing.epoch)):
            standing.epoch += 1
            standing.batch = 0
            if self.training.validate_every is None:
                self._look()

    def statistics(self) -> list[dict[str, float]]:
        """Average what the weighting of each context counts on the development set."""
        return self._validation.statistics(self.model)

    def _finished(self) -> bool:
        training, standing = self.training, self.standing
        return (
            (training.epochs is not None and standing.epoch >= training.epochs)
            or (training.updates is not None and standing.update >= training.updates)
            or standing.looks_since_best >= training.patience
        )

    def _make_update(self) -> None:
        """Make one update: loss = mean over sentences of summed log-loss, gradient norm clipped."""
        standing = self.standing
        epoch, number = standing.epoch, standing.batch
        pairs, batch = self._feed.batches(epoch)[number], self._feed.take(epoch, number)
        self._processes.seed(self.seed, standing.update)
        self._update.begin(batch, self._feed.share(pairs))
        self._feed.prepare(epoch, number + 1)
        made = self._update.finish()
        standing.update += 1
        standing.words += self._feed.words(pairs)
        if not made.changed:
            standing.skipped += 1
            return
        standing.loss += made.loss * len(pairs)
        standing.norm += made.gradient_norm
        standing.tokens += self._feed.words(pairs) + len(pairs)
        standing.updates += 1

    def _look(self) -> None:
        """Score the model on the development set, keep it if it is the best, decay the rate, and write a checkpoint."""
        standing = self.standing
        loss, bleu = self._processes.of_first(self._scores)
        check_weights(self.name, standing.update, self.model)
        check_progress(self.name, standing.update, loss, standing.updates)
        score = -loss if bleu is None else bleu
        better = standing.best_score is None or score > standing.best_score
        if better:
            self._best = {name: tensor.detach().cpu().clone() for name, tensor in self.model.state_dict().items()}
            standing.best_score = score
            standing.best_update = standing.update
        standing.looks_since_best = 0 if better else standing.looks_since_best + 1
        rate = learning_rate(self._optimizer)
        decay_if_worse(self._optimizer, self.training.optimizer, loss, standing.curve)
        self._tick()
        standing.curve.append(
            {
                "update": standing.update,
                "epoch": self.epochs,
                "train_loss": standing.loss / standing.tokens if standing.tokens else None,
                "dev_loss": loss,
                "dev_bleu": bleu,
                "best": better,
                "gradient_norm": standing.norm / standing.updates if standing.updates else None,
                "learning_rate": rate,
                "target_words": standing.words,
                "seconds": standing.seconds,
                "words_per_second": standing.words_per_second,
            }
        )
        standing.loss, standing.norm, standing.tokens, standing.updates = 0.0, 0.0, 0, 0
        self._tell()
        if self._show is not None:
            self._show(standing.curve[-1])
        self._save()

    def _scores(self) -> tuple[float, float | None]:
        """Compute loss and, where it chooses the weights, BLEU on the development set."""
        loss = self._validation.loss(self.model)
        if self.training.early_stopping != "bleu":
            return loss, None
        try:
            return loss, self._validation.bleu(self.model, self._vocabulary)
        except FloatingPointError:  # the network predicts something that is not a number
            return math.nan, None

    def _save(self) -> None:
        if not self._processes.first:
            return
        self._tick()
        self._checkpoints.save(
            Checkpoint(
                {
                    "model": {name: tensor.detach().cpu() for name, tensor in self.model.state_dict().items()},
                    "optimizer": flatten_optimizer(self._optimizer),
                    "random": random_states(self._device),
                    "best": self._best,
                },
                asdict(self.standing),
            )
        )
        self._tick()
        self._saved = self._clock.ticked

    def _tick(self, training: bool = False) -> None:
        self._clock.tick(self.standing, training)

    def _tell(self) -> None:
        if not self._processes.first:
            return
        row = self.standing.curve[-1]
        bleu = "" if row["dev_bleu"] is None else f", dev BLEU {row['dev_bleu']:.2f}"
        verdict = "the best so far" if row["best"] else f"{self.standing.looks_since_best} looks since the best"
        tqdm.write(
            f"{self.name}: epoch {row['epoch']:.2f}, update {row['update']}, {row['words_per_second']:.0f} words/s, "
            f"dev loss {row['dev_loss']:.4f}{bleu} ({verdict})",
            file=sys.stderr,
        )
