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
    """How far a run has come; with the tensors of a checkpoint, all that its future depends on.

    Attributes:
        epoch: passes over the training data that are complete.
        batch_index: batches of the present epoch that are done.
        update: batches that were done in all, skipped ones included.
        skipped_updates: of these, how many changed nothing, since their loss or gradient was not finite.
        best_score: best score on the development set (higher is better; a loss counts negatively).
        best_update: when it was reached.
        validations_since_best: looks at the development set since then.
        loss_since_validation: summed over the target tokens since the last look, in nats.
        gradient_norm_since_validation: summed gradient norm of the updates since the last look.
        tokens_since_validation: target tokens since the last look, EOS included.
        updates_since_validation: updates since the last look that were not skipped.
        target_words: target words in all, EOS not included.
        training_seconds: time spent on updates.
        elapsed_seconds: time spent in all.
        training_cpu_seconds: time that processors worked on updates, of all threads and processes; None: not known.
        cpu_seconds: the same, in all.
        cpu_wait_seconds: time that threads could have worked and had no core, in all.
        load_weighted_seconds: time spent in all, each second times the machine's load.
        learning_curve: one row a look.
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
        """The same per second of a processor; None where that is not known."""
        return self.target_words / self.training_cpu_seconds if self.training_cpu_seconds else None

    @property
    def best_validation(self) -> dict[str, Any]:
        """The look at the development set whose weights are kept, the best."""
        return next(row for row in reversed(self.learning_curve) if row["best"])

    @property
    def is_validated(self) -> bool:
        """Whether the development set was looked at since the last update."""
        return bool(self.learning_curve) and self.learning_curve[-1]["update"] == self.update


TensorSequence = tuple[Tensor, ...] | list[Tensor]


def average_weights(state_dicts: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Average tensors of the same names and shapes, in double precision; one alone stays as it is.

    Vaswani et al. (2017), section 6.1.
    """
    return {
        name: torch.stack([one[name].double() for one in state_dicts]).mean(dim=0).to(first.dtype)
        for name, first in state_dicts[0].items()
    }


def build_moving_average(network: nn.Module, decay: float) -> AveragedModel:
    """Copy a network, to follow its weights from update to update (Polyak and Juditsky 1992).

    Update t, from 0 on, moves the average by 1 - min(decay, (1 + t) / (10 + t)) of the way to the network's weights, so
    that it soon forgets the first ones.

    Args:
        network: whose `update_parameters` are called for after each update.
        decay: of the average, once there were many updates.
    """

    def update_average(averages: TensorSequence, current_weights: TensorSequence, average_count: Tensor | int) -> None:
        updates = int(average.n_averaged)  # `followed` may be on a GPU, which would be waited for
        get_ema_multi_avg_fn(min(decay, (1 + updates) / (10 + updates)))(averages, current_weights, average_count)

    average = AveragedModel(network, multi_avg_fn=update_average)
    return average.eval()


CHECKPOINT_FILE_NAME = "rolling.safetensors"
LEARNING_RATE_KEY = "learning_rate"
VALIDATION_GROUP_PREFIX = "kept."


@dataclass(frozen=True)
class Checkpoint:
    """What a run resumes from.

    Attributes:
        tensors: named groups of named tensors, on the CPU.
        state: plain values, as JSON.
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
        """Take what a run depends on, the moving average of weights included, and the weights of validations."""
        random = {"cpu": torch.get_rng_state()}
        if device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(device)
        tensors = {
            "model": _copy_weights_to_cpu(network),
            "optimizer": flatten_optimizer_state(optimizer),
            "random": random,
        }
        if averaged_network is not None:
            tensors["average"] = _copy_weights_to_cpu(averaged_network)
        return Checkpoint(
            tensors | {f"{VALIDATION_GROUP_PREFIX}{number}": one for number, one in enumerate(validation_weights)},
            state,
        )

    def restore(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        averaged_network: nn.Module | None,
        device: torch.device,
    ) -> list[dict[str, Tensor]]:
        """Bring all that a run depends on to where it was; return the weights of validations that were kept."""
        network.load_state_dict(self.tensors["model"])
        restore_optimizer_state(optimizer, self.tensors["optimizer"])
        if averaged_network is not None:
            averaged_network.load_state_dict(self.tensors["average"])
        torch.set_rng_state(self.tensors["random"]["cpu"])
        if device.type == "cuda":
            torch.cuda.set_rng_state(self.tensors["random"]["cuda"], device)
        kept = [name for name in self.tensors if name.startswith(VALIDATION_GROUP_PREFIX)]
        return [
            self.tensors[name]
            for name in sorted(kept, key=lambda name: int(name.removeprefix(VALIDATION_GROUP_PREFIX)))
        ]


class CheckpointStore:
    """The rolling checkpoint of one run in a directory of its own."""

    def __init__(self, directory: Path, rounding_description: str) -> None:
        """Name the directory.

        Args:
            directory: of trainings with the same inputs, settings and code.
            rounding_description: what else decides the last digits; a checkpoint with another description is not resumed.
        """
        self.path = directory / CHECKPOINT_FILE_NAME
        self._rounding_description = rounding_description

    def save(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint by a newer one; a kill in between leaves the older one whole."""
        flat = {
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
            save_file(flat, temporary, metadata={"checkpoint": content})
            artifacts.write_checksum(temporary)

    def load(self) -> Checkpoint | None:
        """Read the checkpoint; None if there is none that can be resumed.

        A checkpoint whose rounding differs, or a damaged one, is renamed, and a message says so.
        """
        for remains in self.path.parent.glob(".*"):  # ours, and what safetensors writes to before it has a name
            remains.unlink()  # of a run that was killed while it wrote
        if not self.path.exists():
            return None
        if not artifacts.has_valid_checksum(self.path):
            self._rename_rejected_checkpoint("it is damaged, so the training starts from the beginning", "damaged")
            return None
        with safe_open(self.path, framework="pt") as file:
            content = json.loads(file.metadata()["checkpoint"])
            if content["rounding"] != self._rounding_description:
                reason = f"it was computed with {content['rounding']}, and this training computes with {self._rounding_description}"
                self._rename_rejected_checkpoint(reason, "other")
                return None
            tensors: dict[str, dict[str, Tensor]] = {}
            for key in file.keys():  # noqa: SIM118 (not a mapping)
                group, _, name = key.partition("/")
                # A copy: the file's own memory is aligned differently, which can change the last bit of a sum.
                tensors.setdefault(group, {})[name] = file.get_tensor(key).clone()
        return Checkpoint(tensors, content["state"])

    def _rename_rejected_checkpoint(self, reason: str, name_suffix: str) -> None:
        other = self.path.with_name(f"{self.path.stem}.{name_suffix}{self.path.suffix}")
        self.path.replace(other)
        print(f"checkpoint {self.path} is not resumed: {reason}; renamed to {other.name}", file=sys.stderr)


def _copy_weights_to_cpu(network: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu() for name, tensor in network.state_dict().items()}


def flatten_optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Name the tensors of an optimizer's state `<number of parameter>.<name>`; all of our rules keep only tensors.

    The rate, which may have changed since the rule was built, is added as `learning_rate`.
    """
    state = {
        f"{number}.{name}": value.detach().cpu()
        for number, values in optimizer.state_dict()["state"].items()
        for name, value in values.items()
        if isinstance(value, Tensor)
    }
    return {LEARNING_RATE_KEY: torch.tensor(get_learning_rate(optimizer), dtype=torch.float64), **state}


def restore_optimizer_state(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Give an optimizer the state that `flatten_optimizer_state` took."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key != LEARNING_RATE_KEY:
            number, _, name = key.partition(".")
            state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    set_learning_rate(optimizer, tensors[LEARNING_RATE_KEY].item())
