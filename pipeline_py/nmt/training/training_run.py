"""The training loop: updates, validations and checkpoints."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor
from tqdm import tqdm

from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.training.batch_loader import BatchLoader
from pipeline_py.nmt.training.checkpoint import (
    Checkpoint,
    CheckpointStore,
    TrainingState,
    average_weights,
    build_moving_average,
)
from pipeline_py.nmt.training.monitoring import TrainingClock, start_tensorboard_writer
from pipeline_py.nmt.training.process_group import SINGLE_PROCESS, ProcessGroup
from pipeline_py.nmt.training.update import (
    Updater,
    apply_learning_rate_schedule,
    build_optimizer,
    check_divergence,
    check_weights_finite,
    decay_learning_rate_if_worse,
    get_learning_rate,
)
from pipeline_py.nmt.training.validation import Validator
from pipeline_py.run.cpu_usage import CpuUsage
from pipeline_py.subword.vocabulary import Vocabulary


class TrainingRun:
    """A training of a model; after the last item of `run_updates`, `model` holds the best weights.

    Resuming from a checkpoint reproduces an uninterrupted run exactly.
    """

    def __init__(
        self,
        system_name: str,
        model: TranslationModel,
        training: TrainingConfig,
        train_dataset: ParallelDataset,
        validator: Validator,
        target_vocabulary: Vocabulary,
        checkpoint_store: CheckpointStore,
        device: torch.device,
        seed: int,
        process_group: ProcessGroup = SINGLE_PROCESS,
    ) -> None:
        self.system_name = system_name
        self.model = model.to(device).train()
        self.training = training
        self.seed = seed
        self.state = TrainingState()
        self._validator = validator
        self._target_vocabulary = target_vocabulary
        self._checkpoint_store = checkpoint_store
        self.device = device
        self._process_group = process_group
        self._optimizer = build_optimizer(training.optimizer, model.parameters())
        self._updater = Updater(self.model, self.model.compute_loss, self._optimizer, training, device, process_group)
        self._batch_loader = BatchLoader(
            train_dataset, training, seed, device, process_group, self._updater.length_multiple
        )
        self._averaged_network = (
            build_moving_average(self.model, training.moving_average) if training.moving_average else None
        )
        self._validation_weights: list[dict[str, Tensor]] = []
        self._write_tensorboard_row: Callable[[Mapping[str, Any]], None] | None = None
        process_ids = process_group.collect_process_ids()
        self._clock = TrainingClock(CpuUsage(process_ids if process_group.is_first else []))
        self._last_save_time = self._clock.last_tick

    def start_tensorboard(self, folder: Path) -> None:
        """Write the learning curve for TensorBoard from now on."""
        self._write_tensorboard_row = start_tensorboard_writer(folder, self.state.learning_curve)

    def resume(self) -> bool:
        """Restore the last checkpoint; return whether there is one."""
        checkpoint = self._process_group.read_after_first(self._checkpoint_store.load)
        if checkpoint is None:
            return False
        self._validation_weights = checkpoint.restore(self.model, self._optimizer, self._averaged_network, self.device)
        self.state = TrainingState(**checkpoint.state)
        return True

    def estimate_remaining_updates(self) -> int | None:
        """Estimate the number of remaining updates; None if only patience ends the run."""
        training, state = self.training, self.state
        limits = []
        if training.updates is not None:
            limits.append(training.updates - state.update)
        if training.epochs is not None:
            epoch = len(self._batch_loader.get_batches(state.epoch))
            limits.append((training.epochs - state.epoch) * epoch - state.batch_index)
        return max(min(limits), 0) if limits else None

    def run_updates(self) -> Iterator[int]:
        """Train to the end, yielding the number of each update.

        Raises:
            InputError: the training diverged.
        """
        state = self.state
        self._update_clock()
        self._end_epoch_if_done()
        while not self._is_finished():
            batches = self._batch_loader.get_batches(state.epoch)
            while state.batch_index < len(batches) and not self._is_finished():
                self._make_update()
                state.batch_index += 1
                self._update_clock(is_training=True)
                interval = self.training.validate_every
                if interval is not None and state.update % interval == 0:
                    self._validate()
                elif self._is_checkpoint_due():
                    check_weights_finite(self.system_name, state.update, self.model)
                    self._save_checkpoint()
                yield state.update
            self._end_epoch_if_done()
        if not state.is_validated:
            self._validate()
        self.model.load_state_dict(average_weights(self._validation_weights))
        if len(self._validation_weights) > 1:
            self._validate_averaged_weights()

    def _is_checkpoint_due(self) -> bool:
        seconds = self._clock.last_tick - self._last_save_time
        return self._process_group.is_first and seconds > 60 * self.training.checkpoint_minutes

    @property
    def completed_epochs(self) -> float:
        """Number of passes over the training data, including the completed part of the current one."""
        state = self.state
        return state.epoch + (
            state.batch_index / len(self._batch_loader.get_batches(state.epoch)) if state.batch_index else 0.0
        )

    def format_status(self) -> str:
        """Format speed and best validation for the progress bar."""
        state = self.state
        speed = f"{state.words_per_second:,.0f} words/s"
        if not state.learning_curve:
            return speed
        best = state.best_validation
        bleu = "" if best["dev_bleu"] is None else f", dev BLEU {best['dev_bleu']:.2f}"
        validations = state.validations_since_best
        ending = (
            f", stopped: {validations} validations without a better one"
            if validations >= self.training.patience
            else ""
        )
        return f"{speed}, dev loss {best['dev_loss']:.3f}{bleu}{ending}"

    def _end_epoch_if_done(self) -> None:
        state = self.state
        if state.batch_index == len(self._batch_loader.get_batches(state.epoch)):
            state.epoch += 1
            state.batch_index = 0
            if self.training.validate_every is None:
                self._validate()

    def compute_context_statistics(self) -> list[dict[str, float]]:
        """Average the attention statistics of each context over the development set."""
        return self._validator.compute_context_statistics(self.model)

    def _is_finished(self) -> bool:
        training, state = self.training, self.state
        return (
            (training.epochs is not None and state.epoch >= training.epochs)
            or (training.updates is not None and state.update >= training.updates)
            or state.validations_since_best >= training.patience
        )

    def _compute_progress(self) -> float:
        """Return the completed fraction of the maximum training length; 0 if only patience ends the training."""
        training, state = self.training, self.state
        epoch_progress = self.completed_epochs / training.epochs if training.epochs is not None else 0.0
        return max(epoch_progress, state.update / training.updates if training.updates is not None else 0.0)

    def _make_update(self) -> None:
        """Update the parameters: loss is the mean over sentences or words, gradients are clipped by norm."""
        state = self.state
        epoch, number = state.epoch, state.batch_index
        pairs, parts = (
            self._batch_loader.get_batches(epoch)[number],
            self._batch_loader.take_micro_batches(epoch, number),
        )
        self._process_group.set_random_seed(self.seed, state.update)
        apply_learning_rate_schedule(self._optimizer, self.training.optimizer, state.update, self._compute_progress())
        has_empty_share = len(pairs) < self._process_group.world_size
        self._updater.compute_gradients(parts, self._batch_loader.compute_process_share(pairs), has_empty_share)
        self._batch_loader.prefetch_batch(epoch, number + 1)
        result = self._updater.apply_gradients()
        state.update += 1
        state.target_words += self._batch_loader.count_target_words(pairs)
        if not result.is_applied:
            state.skipped_updates += 1
            return
        if self._averaged_network is not None:
            self._averaged_network.update_parameters(self.model)
        state.loss_since_validation += result.loss * self._batch_loader.compute_loss_divisor(pairs)
        state.gradient_norm_since_validation += result.gradient_norm
        state.tokens_since_validation += self._batch_loader.count_target_words(pairs) + len(pairs)
        state.updates_since_validation += 1

    def _validate(self) -> None:
        """Score the model on the development set, store the best weights, decay the rate, and write a checkpoint."""
        state = self.state
        network = (
            self.model if self._averaged_network is None else cast("TranslationModel", self._averaged_network.module)
        )
        loss, bleu = self._process_group.broadcast_from_first(lambda: self._compute_dev_scores(network))
        check_weights_finite(self.system_name, state.update, self.model)
        check_divergence(self.system_name, state.update, loss, state.updates_since_validation)
        score = -loss if bleu is None else bleu
        is_best = state.best_score is None or score > state.best_score
        if is_best or self.training.average > 1:
            weights = {name: tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}
            self._validation_weights = [*self._validation_weights, weights][-self.training.average :]
        if is_best:
            state.best_score = score
            state.best_update = state.update
        state.validations_since_best = 0 if is_best else state.validations_since_best + 1
        rate = get_learning_rate(self._optimizer)
        losses = [*(row["dev_loss"] for row in state.learning_curve), loss]
        decay_learning_rate_if_worse(self._optimizer, self.training.optimizer, losses, state.validations_since_best)
        self._update_clock()
        state.learning_curve.append(
            {
                "update": state.update,
                "epoch": self.completed_epochs,
                "train_loss": state.loss_since_validation / state.tokens_since_validation
                if state.tokens_since_validation
                else None,
                "dev_loss": loss,
                "dev_bleu": bleu,
                "best": is_best,
                "gradient_norm": state.gradient_norm_since_validation / state.updates_since_validation
                if state.updates_since_validation
                else None,
                "learning_rate": rate,
                "target_words": state.target_words,
                "seconds": state.elapsed_seconds,
                "words_per_second": state.words_per_second,
            }
        )
        (
            state.loss_since_validation,
            state.gradient_norm_since_validation,
            state.tokens_since_validation,
            state.updates_since_validation,
        ) = 0.0, 0.0, 0, 0
        validations = state.validations_since_best
        self._print_validation(
            "best" if is_best else f"best {validations} validation{'s' if validations > 1 else ''} ago"
        )
        if self._write_tensorboard_row is not None:
            self._write_tensorboard_row(state.learning_curve[-1])
        self._save_checkpoint()

    def _validate_averaged_weights(self) -> None:
        """Score the averaged weights, which are the result of the training."""
        state = self.state
        loss, bleu = self._process_group.broadcast_from_first(lambda: self._compute_dev_scores(self.model))
        state.best_score, state.best_update = -loss if bleu is None else bleu, state.update
        self._update_clock()
        scores = {"dev_loss": loss, "dev_bleu": bleu, "best": True, "train_loss": None, "gradient_norm": None}
        state.learning_curve.append({**state.learning_curve[-1], **scores, "seconds": state.elapsed_seconds})
        self._print_validation(f"mean of the last {len(self._validation_weights)} validations")

    def _compute_dev_scores(self, model: TranslationModel) -> tuple[float, float | None]:
        """Compute the development loss and, if early stopping uses it, BLEU."""
        loss = self._validator.compute_loss(model)
        if self.training.early_stopping != "bleu":
            return loss, None
        try:
            return loss, self._validator.compute_bleu(model, self._target_vocabulary)
        except FloatingPointError:  # the network predicts NaN
            return math.nan, None

    def _save_checkpoint(self) -> None:
        if not self._process_group.is_first:
            return
        self._update_clock()
        state = asdict(self.state)
        checkpoint = Checkpoint.from_training(
            self.model, self._optimizer, self._averaged_network, self.device, self._validation_weights, state
        )
        self._checkpoint_store.save(checkpoint)
        self._update_clock()
        self._last_save_time = self._clock.last_tick

    def _update_clock(self, is_training: bool = False) -> None:
        self._clock.tick(self.state, is_training)

    def _print_validation(self, comment: str) -> None:
        if not self._process_group.is_first:
            return
        row = self.state.learning_curve[-1]
        bleu = "" if row["dev_bleu"] is None else f", dev BLEU {row['dev_bleu']:.2f}"
        tqdm.write(
            f"{self.system_name}: epoch {row['epoch']:.2f}, update {row['update']}, "
            f"dev loss {row['dev_loss']:.4f}{bleu} ({comment})",
            file=sys.stderr,
        )
