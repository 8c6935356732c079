"""The state of a training run on disk, from which it goes on as if it had never stopped.

A checkpoint is one safetensors file; its metadata holds a JSON object with the checksum of the file. Nothing in it is
pickled.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from pipeline_py import checksum
from pipeline_py.artifact import whole
from pipeline_py.nmt.training.optimizer import learning_rate, set_learning_rate

NAME = "rolling.safetensors"
RATE = "learning_rate"
KEPT = "kept."


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
    def of(
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        average: nn.Module | None,
        device: torch.device,
        kept: list[dict[str, Tensor]],
        state: dict[str, Any],
    ) -> "Checkpoint":
        """Take what a run depends on, the moving average of weights included, and the weights of validations."""
        random = {"cpu": torch.get_rng_state()}
        if device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(device)
        tensors = {"model": _weights(network), "optimizer": flatten_optimizer(optimizer), "random": random}
        if average is not None:
            tensors["average"] = _weights(average)
        return Checkpoint(tensors | {f"{KEPT}{number}": one for number, one in enumerate(kept)}, state)

    def restore(
        self, network: nn.Module, optimizer: torch.optim.Optimizer, average: nn.Module | None, device: torch.device
    ) -> list[dict[str, Tensor]]:
        """Bring all that a run depends on to where it was; return the weights of validations that were kept."""
        network.load_state_dict(self.tensors["model"])
        restore_optimizer(optimizer, self.tensors["optimizer"])
        if average is not None:
            average.load_state_dict(self.tensors["average"])
        torch.set_rng_state(self.tensors["random"]["cpu"])
        if device.type == "cuda":
            torch.cuda.set_rng_state(self.tensors["random"]["cuda"], device)
        kept = [name for name in self.tensors if name.startswith(KEPT)]
        return [self.tensors[name] for name in sorted(kept, key=lambda name: int(name.removeprefix(KEPT)))]


class Checkpoints:
    """The rolling checkpoint of one run in a directory of its own."""

    def __init__(self, directory: Path, rounding: str) -> None:
        """Name the directory.

        Args:
            directory: of trainings with the same inputs, settings and code.
            rounding: what else decides the last digits; a checkpoint with another description is not resumed.
        """
        self.path = directory / NAME
        self._rounding = rounding

    def save(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint by a newer one; a kill in between leaves the older one whole."""
        flat = {
            f"{group}/{name}": tensor.contiguous()
            for group, tensors in checkpoint.tensors.items()
            for name, tensor in tensors.items()
        }
        content = json.dumps({"checksum": checksum.PLACE, "rounding": self._rounding, "state": checkpoint.state})
        with whole(self.path) as temporary:
            save_file(flat, temporary, metadata={"checkpoint": content})
            checksum.seal(temporary)

    def load(self) -> Checkpoint | None:
        """Read the checkpoint; None if there is none that can be resumed.

        A checkpoint whose rounding differs, or a damaged one, is renamed, and a message says so.
        """
        for remains in self.path.parent.glob(".*"):  # ours, and what safetensors writes to before it has a name
            remains.unlink()  # of a run that was killed while it wrote
        if not self.path.exists():
            return None
        if not checksum.is_sealed(self.path):
            self._set_aside("it is damaged, so the training starts from the beginning", "damaged")
            return None
        with safe_open(self.path, framework="pt") as file:
            content = json.loads(file.metadata()["checkpoint"])
            if content["rounding"] != self._rounding:
                reason = f"it was computed with {content['rounding']}, and this training computes with {self._rounding}"
                self._set_aside(reason, "other")
                return None
            tensors: dict[str, dict[str, Tensor]] = {}
            for key in file.keys():  # noqa: SIM118 (not a mapping)
                group, _, name = key.partition("/")
                # A copy: the file's own memory is aligned differently, which can change the last bit of a sum.
                tensors.setdefault(group, {})[name] = file.get_tensor(key).clone()
        return Checkpoint(tensors, content["state"])

    def _set_aside(self, reason: str, mark: str) -> None:
        other = self.path.with_name(f"{self.path.stem}.{mark}{self.path.suffix}")
        self.path.replace(other)
        print(f"checkpoint {self.path} is not resumed: {reason}; renamed to {other.name}", file=sys.stderr)


def _weights(network: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu() for name, tensor in network.state_dict().items()}


def flatten_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Name the tensors of an optimizer's state `<number of parameter>.<name>`; all of our rules keep only tensors.

    The rate, which may have changed since the rule was built, is added as `learning_rate`.
    """
    state = {
        f"{number}.{name}": value.detach().cpu()
        for number, values in optimizer.state_dict()["state"].items()
        for name, value in values.items()
        if isinstance(value, Tensor)
    }
    return {RATE: torch.tensor(learning_rate(optimizer), dtype=torch.float64), **state}


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Give an optimizer the state that `flatten_optimizer` took."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key != RATE:
            number, _, name = key.partition(".")
            state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    set_learning_rate(optimizer, tensors[RATE].item())
