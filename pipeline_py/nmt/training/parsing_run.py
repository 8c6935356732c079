"""The training of a parser inside an encoder, before it is trained to translate."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from pipeline_py.config.systems.training import Training
from pipeline_py.nmt.data.dataset import Dataset
from pipeline_py.nmt.parsing import Parser, parsed_words
from pipeline_py.nmt.training.update import (
    Part,
    Update,
    build,
    check_progress,
    check_weights,
    decay_if_worse,
    follow_schedule,
    learning_rate,
)


@dataclass
class ParsingRun:
    """Trains a parser; `updates` is iterated over to the end, then it holds the weights with the best dev loss.

    Batches, update rule, clipping, precision and the decay of the rate are those of training to translate; the loss is
    the mean over sentences of −log p(head) − log p(label), summed over words. A batch whose loss or gradient is not
    finite changes nothing.

    Attributes:
        name: of the system, in messages.
        parser: what is trained, on the device.
        epochs: passes over the training data, after each of which the development data are looked at.
        training: settings; those that say when to look, and when to stop, do not count.
        data: sentences with "heads" and "labels".
        dev: the same to choose the weights by; at least one word has a head.
        device: where the parser is.
        seed: decides the order of the batches.
        curve: a row for each look: "epoch", "train_loss" and "dev_loss" in nats per word, the shares of dev words with
            the right head ("dev_unlabelled_attachment") and with the right label too ("dev_labelled_attachment"), and
            the "learning_rate" until then.
        skipped: batches that were not finite.
    """

    name: str
    parser: Parser
    epochs: int
    training: Training
    data: Dataset
    dev: Dataset
    device: torch.device
    seed: int
    curve: list[dict[str, Any]] = field(default_factory=list)
    skipped: int = 0

    @property
    def total(self) -> int:
        """How many updates there are; with batches of so many tokens an estimate."""
        return self.epochs * len(self._batches(0))

    @property
    def best(self) -> dict[str, Any]:
        """The row of the weights that are kept: that of the lowest dev loss."""
        return min(self.curve, key=lambda row: row["dev_loss"])

    def updates(self) -> Iterator[int]:
        """Train to the end, yielding the number of each update.

        Raises:
            InputError: the training diverged.
        """
        optimizer = build(self.training.optimizer, self.parser.parameters())
        change = Update(self.parser, self.parser.parsing_loss, optimizer, self.training, self.device)
        kept: dict[str, Tensor] = {}
        update = 0
        for epoch in range(self.epochs):
            loss, words, changed = 0.0, 0, 0
            batches = self._batches(epoch)
            for number, sentences in enumerate(batches):
                done = (epoch + number / len(batches)) / self.epochs
                follow_schedule(optimizer, self.training.optimizer, update, done)
                skipped = self.skipped
                batch_loss, batch_words = self._update(change, sentences)
                loss, words, update = loss + batch_loss, words + batch_words, update + 1
                changed += self.skipped == skipped
                yield update
            self._validate(epoch + 1, loss / words if words else None, optimizer)
            check_weights(self.name, update, self.parser)
            check_progress(self.name, update, self.curve[-1]["dev_loss"], changed)
            if self.best is self.curve[-1]:
                kept = {name: tensor.detach().clone() for name, tensor in self.parser.state_dict().items()}
        self.parser.load_state_dict(kept)

    def _batches(self, epoch: int) -> list[np.ndarray]:
        return self.data.epoch(self.seed, epoch, self.training.batch_size, self.training.batch_unit)

    def _update(self, change: Update, sentences: np.ndarray) -> tuple[float, int]:
        """Make one update; return the summed loss and the number of words, 0 where nothing was changed."""
        self.parser.train()
        batch = self.data.batch(sentences, change.multiple).to(self.device)
        change.begin([Part(batch)])
        result = change.finish()
        if not result.changed:
            self.skipped += 1
            return 0.0, 0
        return result.loss * len(sentences), int(parsed_words(batch))

    @torch.no_grad()
    def _validate(self, epoch: int, train_loss: float | None, optimizer: torch.optim.Optimizer) -> None:
        """Add a row to the curve, and decay the rate where the development data say so."""
        self.parser.eval()
        loss, words, right, both = 0.0, 0, 0, 0
        for sentences in self.dev.in_order_of_length(self.training.batch_size, self.training.batch_unit):
            batch = self.dev.batch(sentences).to(self.device)
            with self._precision():
                parse = self.parser.parse(batch)
            loss += float(parse.loss(batch).double().sum())
            words += int(parsed_words(batch))
            attached, labelled = parse.attached(batch)
            right, both = right + attached, both + labelled
        rate = learning_rate(optimizer)
        losses = [*(row["dev_loss"] for row in self.curve), loss / words]
        since_best = len(losses) - 1 - losses.index(min(losses))
        decay_if_worse(optimizer, self.training.optimizer, losses, since_best)
        self.curve.append(
            {
                "epoch": epoch,
                "train_loss": train_loss,
                "dev_loss": loss / words,
                "dev_unlabelled_attachment": right / words,
                "dev_labelled_attachment": both / words,
                "learning_rate": rate,
            }
        )
        tqdm.write(
            f"{self.name}: parsing, epoch {epoch}, dev loss {loss / words:.4f}, "
            f"unlabelled attachment {right / words:.4f}, labelled {both / words:.4f}",
            file=sys.stderr,
        )

    def _precision(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.training.precision == "bfloat16")
