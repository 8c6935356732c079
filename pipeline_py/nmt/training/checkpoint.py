"""The state of a training run: its progress, averages of weights, and checkpoints on disk.

A checkpoint is one safetensors file; its metadata holds a JSON object with the checksum of the file. Nothing in it is
pickled.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from pipeline_py.files import artifacts
from pipeline_py.files.artifacts import write_atomically
from pipeline_py.nmt.training.update import get_learning_rate, set_learning_rate


@dataclass
class TrainingState:
    """The progress of a run; together with the tensors of a checkpoint, its complete state.

    Attributes:
        epoch: completed passes over the training data.
        batch_index: completed batches of the current epoch.
        update: total number of updates, skipped ones included.
        skipped_updates: number of updates skipped because of a non-finite loss or gradient.
        best_score: best score on the development set (higher is better; a loss counts negatively).
        best_update: update of the best score.
        validations_since_best: validations since the best score.
        loss_since_validation: loss summed over the target tokens since the last validation, in nats.
        gradient_norm_since_validation: summed gradient norms since the last validation.
        tokens_since_validation: target tokens since the last validation, EOS included.
        updates_since_validation: applied updates since the last validation.
        target_words: total number of target words, EOS not included.
        training_seconds: wall-clock time of updates.
        elapsed_seconds: total wall-clock time.
        training_cpu_seconds: CPU time of updates, over all threads and processes; None: unknown.
        cpu_seconds: total CPU time; None: unknown.
        cpu_wait_seconds: total time in which runnable threads waited for a core; None: unknown.
        load_weighted_seconds: total wall-clock time, weighted by the machine's load.
        learning_curve: one row for each validation.
    """

    epoch: int = 0
    batch_index: int = 0
    update: int = 0
    skipped_updates: int = 0
    best_score: float | None = None
    best_update: int = 0
    validations_since_best: int = 0
    loss_since_validation: float = 0.0
    gradient_norm_since_validation: float = 0.0
    tokens_since_validation: int = 0
    updates_since_validation: int = 0
    target_words: int = 0
    training_seconds: float = 0.0
    elapsed_seconds: float = 0.0
    training_cpu_seconds: float | None = 0.0
    cpu_seconds: float | None = 0.0
    cpu_wait_seconds: float | None = 0.0
    load_weighted_seconds: float = 0.0
    learning_curve: list[dict[str, Any]] = field(default_factory=list)

    @property
    def words_per_second(self) -> float:
        """Target words (EOS not included) per second of training."""
        return self.target_words / self.training_seconds if self.training_seconds else 0.0

    @property
    def words_per_cpu_second(self) -> float | None:
        """Target words (EOS not included) per CPU second of training; None if unknown."""
        return self.target_words / self.training_cpu_seconds if self.training_cpu_seconds else None

    @property
    def best_validation(self) -> dict[str, Any]:
        """Row of the learning curve with the best score."""
        return next(row for row in reversed(self.learning_curve) if row["best"])

    @property
    def is_validated(self) -> bool:
        """True if there was a validation after the last update."""
        return bool(self.learning_curve) and self.learning_curve[-1]["update"] == self.update


TensorSequence = tuple[Tensor, ...] | list[Tensor]


def average_weights(state_dicts: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Average tensors of the same names and shapes, in double precision.

    Vaswani et al. (2017), section 6.1.
    """
    return {
        name: torch.stack([state_dict[name].double() for state_dict in state_dicts]).mean(dim=0).to(first.dtype)
        for name, first in state_dicts[0].items()
    }


def build_moving_average(network: nn.Module, decay: float) -> AveragedModel:
    """Build a moving average of a network's weights (Polyak and Juditsky 1992).

    Update 0 copies the network's weights. Update t > 0 moves the average by 1 - min(decay, (1 + t) / (10 + t)) of the
    way to them, which soon forgets the first weights.

    Args:
        network: the network; call `update_parameters` of the result after each update.
        decay: decay of the average after many updates.
    """

    def update_average(averages: TensorSequence, current_weights: TensorSequence, average_count: Tensor | int) -> None:
        updates = int(average.n_averaged)  # `average_count` may be on a GPU, and reading it would synchronize
        get_ema_multi_avg_fn(min(decay, (1 + updates) / (10 + updates)))(averages, current_weights, average_count)

    average = AveragedModel(network, multi_avg_fn=update_average)
    return average.eval()


CHECKPOINT_FILE_NAME = "rolling.safetensors"
LEARNING_RATE_KEY = "learning_rate"
VALIDATION_GROUP_PREFIX = "kept."


@dataclass(frozen=True)
class Checkpoint:
    """A snapshot that a run can resume from.

    Attributes:
        tensors: named groups of named tensors, on the CPU.
        state: JSON values.
    """

    tensors: dict[str, dict[str, Tensor]]
    state: dict[str, Any]

    @staticmethod
    def from_training(
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        averaged_network: nn.Module | None,
        device: torch.device,
        validation_weights: list[dict[str, Tensor]],
        state: dict[str, Any],
    ) -> "Checkpoint":
        """Collect the state of a run, including the moving average and the weights of validations."""
        random_states = {"cpu": torch.get_rng_state()}
        if device.type == "cuda":
            random_states["cuda"] = torch.cuda.get_rng_state(device)
        tensors = {
            "model": _copy_weights_to_cpu(network),
            "optimizer": flatten_optimizer_state(optimizer),
            "random": random_states,
        }
        if averaged_network is not None:
            tensors["average"] = _copy_weights_to_cpu(averaged_network)
        return Checkpoint(
            tensors
            | {f"{VALIDATION_GROUP_PREFIX}{number}": weights for number, weights in enumerate(validation_weights)},
            state,
        )

    def restore(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        averaged_network: nn.Module | None,
        device: torch.device,
    ) -> list[dict[str, Tensor]]:
        """Restore the state of a run; return the weights of validations."""
        network.load_state_dict(self.tensors["model"])
        restore_optimizer_state(optimizer, self.tensors["optimizer"])
        if averaged_network is not None:
            averaged_network.load_state_dict(self.tensors["average"])
        torch.set_rng_state(self.tensors["random"]["cpu"])
        if device.type == "cuda":
            torch.cuda.set_rng_state(self.tensors["random"]["cuda"], device)
        validation_groups = [name for name in self.tensors if name.startswith(VALIDATION_GROUP_PREFIX)]
        return [
            self.tensors[name]
            for name in sorted(validation_groups, key=lambda name: int(name.removeprefix(VALIDATION_GROUP_PREFIX)))
        ]


class CheckpointStore:
    """The rolling checkpoint of a run in its directory."""

    def __init__(self, directory: Path, rounding_description: str) -> None:
        """Create a store.

        Args:
            directory: directory for trainings with the same inputs, settings and code.
            rounding_description: other properties that affect rounding, such as threads; a checkpoint
                with another description is not resumed.
        """
        self.path = directory / CHECKPOINT_FILE_NAME
        self._rounding_description = rounding_description

    def save(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint atomically."""
        tensors_by_key = {
            f"{group}/{name}": tensor.contiguous()
            for group, tensors in checkpoint.tensors.items()
            for name, tensor in tensors.items()
        }
        content = json.dumps(
            {
                "checksum": artifacts.CHECKSUM_PLACEHOLDER,
                "rounding": self._rounding_description,
                "state": checkpoint.state,
            }
        )
        with write_atomically(self.path) as temporary:
            save_file(tensors_by_key, temporary, metadata={"checkpoint": content})
            artifacts.write_checksum(temporary)

    def load(self) -> Checkpoint | None:
        """Read the checkpoint; None if there is no usable one.

        A damaged checkpoint, or one with different rounding, is renamed with a message.
        """
        for remains in self.path.parent.glob(".*"):  # temporary files of ours and of safetensors
            remains.unlink()  # left by a killed run
        if not self.path.exists():
            return None
        if not artifacts.has_valid_checksum(self.path):
            self._rename_rejected_checkpoint("it is damaged, so the training starts from the beginning", "damaged")
            return None
        with safe_open(self.path, framework="pt") as file:
            content = json.loads(file.metadata()["checkpoint"])
            if content["rounding"] != self._rounding_description:
                reason = (
                    f"it was computed with {content['rounding']}, "
                    f"and this training computes with {self._rounding_description}"
                )
                self._rename_rejected_checkpoint(reason, "other")
                return None
            tensors: dict[str, dict[str, Tensor]] = {}
            for key in file.keys():  # noqa: SIM118 (not a mapping)
                group, _, name = key.partition("/")
                # A copy, since the alignment of the file's memory can change the last bit of a sum.
                tensors.setdefault(group, {})[name] = file.get_tensor(key).clone()
        return Checkpoint(tensors, content["state"])

    def _rename_rejected_checkpoint(self, reason: str, name_suffix: str) -> None:
        renamed_path = self.path.with_name(f"{self.path.stem}.{name_suffix}{self.path.suffix}")
        self.path.replace(renamed_path)
        print(f"checkpoint {self.path} is not resumed: {reason}; renamed to {renamed_path.name}", file=sys.stderr)


def _copy_weights_to_cpu(network: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu() for name, tensor in network.state_dict().items()}


def flatten_optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Flatten an optimizer's state to tensors named `<parameter number>.<name>`.

    The current learning rate is added as `learning_rate`.
    """
    state = {
        f"{number}.{name}": value.detach().cpu()
        for number, values in optimizer.state_dict()["state"].items()
        for name, value in values.items()
        if isinstance(value, Tensor)
    }
    return {LEARNING_RATE_KEY: torch.tensor(get_learning_rate(optimizer), dtype=torch.float64), **state}


def restore_optimizer_state(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Restore the state returned by `flatten_optimizer_state`."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key != LEARNING_RATE_KEY:
            number, _, name = key.partition(".")
            state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    set_learning_rate(optimizer, tensors[LEARNING_RATE_KEY].item())
