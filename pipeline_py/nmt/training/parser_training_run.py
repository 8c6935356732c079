"""The pretraining of the parser in an encoder."""

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
    """A training of a parser; after `run_updates`, the parser holds the weights with the best dev loss.

    Batches, optimizer, clipping, precision and decay are those of translation training. The loss is the mean over
    sentences of −log p(head) − log p(label), summed over words. Batches with a non-finite loss or gradient are skipped.

    Attributes:
        system_name: name of the system in messages.
        parser: the encoder to train, on the device.
        epochs: passes over the training data, each followed by a validation.
        training: settings; those of validation intervals and stopping are ignored.
        train_dataset: sentences with "heads" and "labels".
        dev_dataset: development sentences with at least one head.
        device: device of the parser.
        seed: determines the order of the batches.
        learning_curve: a row for each validation: "epoch", "train_loss" and "dev_loss" in nats per word, the fractions
            of dev words with the correct head ("dev_unlabelled_attachment") and with the correct head and
            label ("dev_labelled_attachment"), and the "learning_rate" before.
        skipped_batches: number of batches with a non-finite loss or gradient.
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
        """Number of updates; an estimate if the batch size is in tokens."""
        return self.epochs * len(self._get_batches(0))

    @property
    def best_validation(self) -> dict[str, Any]:
        """Row of the learning curve with the lowest dev loss."""
        return min(self.learning_curve, key=lambda row: row["dev_loss"])

    def run_updates(self) -> Iterator[int]:
        """Train to the end, yielding the number of each update.

        Raises:
            InputError: the training diverged.
        """
        optimizer = build_optimizer(self.training.optimizer, self.parser.parameters())
        updater = Updater(self.parser, self.parser.compute_parsing_loss, optimizer, self.training, self.device)
        best_weights: dict[str, Tensor] = {}
        update = 0
        for epoch in range(self.epochs):
            loss, words, applied_updates = 0.0, 0, 0
            batches = self._get_batches(epoch)
            for number, sentences in enumerate(batches):
                progress = (epoch + number / len(batches)) / self.epochs
                apply_learning_rate_schedule(optimizer, self.training.optimizer, update, progress)
                skipped_before = self.skipped_batches
                batch_loss, batch_words = self._make_update(updater, sentences)
                loss, words, update = loss + batch_loss, words + batch_words, update + 1
                applied_updates += self.skipped_batches == skipped_before
                yield update
            self._validate(epoch + 1, loss / words if words else None, optimizer)
            check_weights_finite(self.system_name, update, self.parser)
            check_divergence(self.system_name, update, self.learning_curve[-1]["dev_loss"], applied_updates)
            if self.best_validation is self.learning_curve[-1]:
                best_weights = {name: tensor.detach().clone() for name, tensor in self.parser.state_dict().items()}
        self.parser.load_state_dict(best_weights)

    def _get_batches(self, epoch: int) -> list[np.ndarray]:
        return self.train_dataset.build_epoch_batches(
            self.seed, epoch, self.training.batch_size, self.training.batch_unit
        )

    def _make_update(self, updater: Updater, sentence_indices: np.ndarray) -> tuple[float, int]:
        """Update the parameters; return the summed loss and the number of words, 0 for a skipped batch."""
        self.parser.train()
        parts = [sentence_indices[start :: self.training.accumulate] for start in range(self.training.accumulate)]
        micro_batches = [
            MicroBatch(
                self.train_dataset.build_batch(part, updater.length_multiple).to(self.device),
                len(part) / len(sentence_indices),
            )
            for part in parts
            if len(part)
        ]
        updater.compute_gradients(micro_batches)
        result = updater.apply_gradients()
        if not result.is_applied:
            self.skipped_batches += 1
            return 0.0, 0
        words = sum(int(count_parsed_words(micro_batch.batch)) for micro_batch in micro_batches)
        return result.loss * len(sentence_indices), words

    @torch.no_grad()
    def _validate(self, epoch: int, train_loss: float | None, optimizer: torch.optim.Optimizer) -> None:
        """Add a row to the learning curve, and decay the rate if the development loss requires it."""
        self.parser.eval()
        loss, words, attached_correct, labelled_correct = 0.0, 0, 0, 0
        for sentences in self.dev_dataset.build_sorted_batches(self.training.batch_size, self.training.batch_unit):
            batch = self.dev_dataset.build_batch(sentences).to(self.device)
            with self._create_autocast():
                parse = self.parser.predict_parse(batch)
            loss += float(parse.compute_loss(batch).double().sum())
            words += int(count_parsed_words(batch))
            attached, labelled = parse.count_attachments(batch)
            attached_correct, labelled_correct = attached_correct + attached, labelled_correct + labelled
        rate = get_learning_rate(optimizer)
        losses = [*(row["dev_loss"] for row in self.learning_curve), loss / words]
        since_best = len(losses) - 1 - losses.index(min(losses))
        decay_learning_rate_if_worse(optimizer, self.training.optimizer, losses, since_best)
        self.learning_curve.append(
            {
                "epoch": epoch,
                "train_loss": train_loss,
                "dev_loss": loss / words,
                "dev_unlabelled_attachment": attached_correct / words,
                "dev_labelled_attachment": labelled_correct / words,
                "learning_rate": rate,
            }
        )
        tqdm.write(
            f"{self.system_name}: parsing, epoch {epoch}, dev loss {loss / words:.4f}, "
            f"unlabelled attachment {attached_correct / words:.4f}, labelled {labelled_correct / words:.4f}",
            file=sys.stderr,
        )

    def _create_autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.training.precision == "bfloat16")
