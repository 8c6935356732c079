"""One update of a network's parameters."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.training import Training
from pipeline_py.kinds.kind import BinaryTrees, kind_of
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.graphs import MULTIPLE, Graphs, on_cuda
from pipeline_py.nmt.training.processes import ALONE, Processes


def recorded(training: Training, system: System) -> Training:
    """Leave `graphs` on only where the shape of a batch says what is computed of it.

    So it is where no binary trees are read, batches are not computed in parts, and losses are not divided by words.
    """
    trees = any(isinstance(kind_of(kind).values, BinaryTrees) for kind in system.trained_on)
    can = not trees and training.accumulate == 1 and training.loss_per == "sentence"
    return training.model_copy(update={"graphs": training.graphs and can})


class Part(NamedTuple):
    """A part of a batch, for gradients that are summed up.

    Attributes:
        batch: on the device.
        share: a factor of the mean loss of its sentences in the sum.
    """

    batch: Batch
    share: float = 1.0


@dataclass(frozen=True)
class UpdateResult:
    """What an update came to.

    Attributes:
        loss: of the whole batch, per sentence or word.
        gradient_norm: before clipping.
        changed: whether the parameters were changed; not where loss or gradient is no finite number.
    """

    loss: float
    gradient_norm: float
    changed: bool


class Update:
    """Computes the gradients of a batch, clips them, and moves the parameters.

    Nothing waits for the device until `finish`; what is put between it and `begin` is done meanwhile. On a GPU, where
    `training.graphs` asks for it, gradients are recorded as graphs, since launching the many small kernels of a
    recurrence one by one takes longer than they do.
    """

    def __init__(
        self,
        network: nn.Module,
        loss: Callable[[Batch], Tensor],
        optimizer: torch.optim.Optimizer,
        training: Training,
        device: torch.device,
        processes: Processes = ALONE,
    ) -> None:
        """Take what an update needs.

        Args:
            network: whose parameters are moved.
            loss: of each sentence of a batch (B,).
            optimizer: of the same parameters.
            training: says the precision, the largest norm of a gradient, and whether graphs are recorded (`recorded`).
            device: where the network is.
            processes: those that train the same network, each on its share of a batch.
        """
        self._parameters = list(network.parameters())
        self._loss = loss
        self._optimizer = optimizer
        self._clip = math.inf if training.clip is None else training.clip
        self._half = training.precision == "bfloat16"
        self._device = device
        self._processes = processes
        self._graphs: Graphs | None = None
        if not on_cpu(device):
            torch.backends.cuda.matmul.allow_tf32 = training.precision == "tf32"
        if training.graphs and not on_cpu(device):
            self._graphs = Graphs(self._recorded, on_cuda())
        self.multiple = MULTIPLE if self._graphs else 1
        self._found = torch.zeros(2)

    def begin(self, parts: Sequence[Part], share: float = 1.0) -> None:
        """Compute the clipped gradients of a batch.

        Args:
            parts: of this process' share of the batch; none where it has none.
            share: of the whole batch, by what its loss is divided by.
        """
        if not parts:
            loss = self._no_gradients()
        elif self._graphs is not None:
            loss = self._graphs(parts[0].batch)
        else:
            self._optimizer.zero_grad()
            loss = torch.stack([self._add_gradients(*part) for part in parts]).sum()
        gradients = [parameter.grad for parameter in self._parameters if parameter.grad is not None]
        self._processes.average([loss, *gradients], share)
        norm = nn.utils.clip_grad_norm_(self._parameters, self._clip)
        self._found = torch.stack([loss, norm])

    def finish(self) -> UpdateResult:
        """Wait for the gradients, and move the parameters if all is finite."""
        loss, norm = self._found.tolist()
        finite = math.isfinite(loss) and math.isfinite(norm)
        if finite:
            self._optimizer.step()
        return UpdateResult(loss, norm, finite)

    def _recorded(self, batch: Batch) -> Tensor:
        self._optimizer.zero_grad(set_to_none=False)
        return self._add_gradients(batch, 1.0)

    def _add_gradients(self, batch: Batch, share: float) -> Tensor:
        """Add the gradients of a part to those of the parameters; return its share of the loss."""
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._half):
            loss = self._loss(batch).mean() * share
        loss.backward()
        return loss.detach()

    def _no_gradients(self) -> Tensor:
        for parameter in self._parameters:
            parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.zero_()
        return torch.zeros((), device=self._device)
