"""The training of a parser inside an encoder, before it is trained to translate."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.parsing_encoder import ParsingEncoder, count_parsed_words
from pipeline_py.nmt.training.update import (
    MicroBatch,
    Updater,
    apply_learning_rate_schedule,
    build_optimizer,
    check_divergence,
    check_weights_finite,
    decay_learning_rate_if_worse,
    get_learning_rate,
)


@dataclass
class ParserTrainingRun:
    """Trains a parser; `run_updates` is iterated over to the end, then it holds the weights with the best dev loss.

    Batches, update rule, clipping, precision and the decay of the rate are those of training to translate; the loss is
    the mean over sentences of −log p(head) − log p(label), summed over words. A batch whose loss or gradient is not
    finite changes nothing.

    Attributes:
        system_name: of the system, in messages.
        parser: what is trained, on the device.
        epochs: passes over the training data, after each of which the development data are looked at.
        training: settings; those that say when to look, and when to stop, do not count.
        train_dataset: sentences with "heads" and "labels".
        dev_dataset: the same to choose the weights by; at least one word has a head.
        device: where the parser is.
        seed: decides the order of the batches.
        learning_curve: a row for each look: "epoch", "train_loss" and "dev_loss" in nats per word, the shares of dev words with
            the right head ("dev_unlabelled_attachment") and with the right label too ("dev_labelled_attachment"), and
            the "learning_rate" until then.
        skipped_batches: batches that were not finite.
    """

    system_name: str
    parser: ParsingEncoder
    epochs: int
    training: TrainingConfig
    train_dataset: ParallelDataset
    dev_dataset: ParallelDataset
    device: torch.device
    seed: int
    learning_curve: list[dict[str, Any]] = field(default_factory=list)
    skipped_batches: int = 0

    @property
    def total_updates(self) -> int:
        """How many updates there are; with batches of so many tokens an estimate."""
        return self.epochs * len(self._get_batches(0))

    @property
    def best_validation(self) -> dict[str, Any]:
        """The row of the weights that are kept: that of the lowest dev loss."""
        return min(self.learning_curve, key=lambda row: row["dev_loss"])

    def run_updates(self) -> Iterator[int]:
        """Train to the end, yielding the number of each update.

        Raises:
            InputError: the training diverged.
        """
        optimizer = build_optimizer(self.training.optimizer, self.parser.parameters())
        change = Updater(self.parser, self.parser.compute_parsing_loss, optimizer, self.training, self.device)
        kept: dict[str, Tensor] = {}
        update = 0
        for epoch in range(self.epochs):
            loss, words, changed = 0.0, 0, 0
            batches = self._get_batches(epoch)
            for number, sentences in enumerate(batches):
                done = (epoch + number / len(batches)) / self.epochs
                apply_learning_rate_schedule(optimizer, self.training.optimizer, update, done)
                skipped = self.skipped_batches
                batch_loss, batch_words = self._make_update(change, sentences)
                loss, words, update = loss + batch_loss, words + batch_words, update + 1
                changed += self.skipped_batches == skipped
                yield update
            self._validate(epoch + 1, loss / words if words else None, optimizer)
            check_weights_finite(self.system_name, update, self.parser)
            check_divergence(self.system_name, update, self.learning_curve[-1]["dev_loss"], changed)
            if self.best_validation is self.learning_curve[-1]:
                kept = {name: tensor.detach().clone() for name, tensor in self.parser.state_dict().items()}
        self.parser.load_state_dict(kept)

    def _get_batches(self, epoch: int) -> list[np.ndarray]:
        return self.train_dataset.build_epoch_batches(
            self.seed, epoch, self.training.batch_size, self.training.batch_unit
        )

    def _make_update(self, updater: Updater, sentence_indices: np.ndarray) -> tuple[float, int]:
        """Make one update; return the summed loss and the number of words, 0 where nothing was changed."""
        self.parser.train()
        batch = self.train_dataset.build_batch(sentence_indices, updater.length_multiple).to(self.device)
        updater.compute_gradients([MicroBatch(batch)])
        result = updater.apply_gradients()
        if not result.is_applied:
            self.skipped_batches += 1
            return 0.0, 0
        return result.loss * len(sentence_indices), int(count_parsed_words(batch))

    @torch.no_grad()
    def _validate(self, epoch: int, train_loss: float | None, optimizer: torch.optim.Optimizer) -> None:
        """Add a row to the curve, and decay the rate where the development data say so."""
        self.parser.eval()
        loss, words, right, both = 0.0, 0, 0, 0
        for sentences in self.dev_dataset.build_sorted_batches(self.training.batch_size, self.training.batch_unit):
            batch = self.dev_dataset.build_batch(sentences).to(self.device)
            with self._create_autocast():
                parse = self.parser.predict_parse(batch)
            loss += float(parse.compute_loss(batch).double().sum())
            words += int(count_parsed_words(batch))
            attached, labelled = parse.count_attachments(batch)
            right, both = right + attached, both + labelled
        rate = get_learning_rate(optimizer)
        losses = [*(row["dev_loss"] for row in self.learning_curve), loss / words]
        since_best = len(losses) - 1 - losses.index(min(losses))
        decay_learning_rate_if_worse(optimizer, self.training.optimizer, losses, since_best)
        self.learning_curve.append(
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
            f"{self.system_name}: parsing, epoch {epoch}, dev loss {loss / words:.4f}, "
            f"unlabelled attachment {right / words:.4f}, labelled {both / words:.4f}",
            file=sys.stderr,
        )

    def _create_autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.training.precision == "bfloat16")
