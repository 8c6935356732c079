"""Updates of a network's parameters, and the end of trainings that diverge.

A single batch without a finite loss or gradient is skipped and counted (tree2seq section 4.2).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.training import EPSILONS, LEARNING_RATES, Optimizer, Training
from pipeline_py.kinds.kind import BinaryTrees, kind_of
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.fast.graphs import MULTIPLE, Graphs, on_cuda
from pipeline_py.nmt.training.processes import ALONE, Processes
from pipeline_py.run.errors import InputError


def check_weights(name: str, update: int, network: nn.Module) -> None:
    """Raise `InputError` where a weight is not finite.

    Args:
        name: of the system, in the message.
        update: number of the last update, in the message.
        network: what is trained.
    """
    for part, values in network.named_parameters():
        if not values.isfinite().all():
            raise _diverged(name, update, f"`{part}` has values that are not finite")


def check_progress(name: str, update: int, loss: float, made: int) -> None:
    """Raise `InputError` where a look at the development set shows that a training cannot go on.

    Args:
        name: of the system, in the message.
        update: number of the last update, in the message.
        loss: on the development set.
        made: updates since the last look that changed the weights.
    """
    if not math.isfinite(loss):
        raise _diverged(name, update, f"the loss on the development set is {loss}")
    if not made:
        raise _diverged(
            name, update, "no batch since the last look at the development set had a finite loss and gradient"
        )


def _diverged(name: str, update: int, what: str) -> InputError:
    return InputError(
        f"the training of {name} diverged by update {update}: {what}; lower `optimizer.learning_rate` or `clip` of "
        "`training`, or choose another `model.initialization`"
    )


def build(options: Optimizer, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Make the update rule that the options name: ADADELTA (Zeiler 2012), Adam (Kingma and Ba 2015) or plain SGD."""
    common: Any = {"lr": options.learning_rate or LEARNING_RATES[options.name], "weight_decay": options.l2}
    if options.name == "adadelta":
        return torch.optim.Adadelta(
            parameters, rho=options.rho, eps=options.epsilon or EPSILONS[options.name], **common
        )
    if options.name == "adam":
        epsilon = options.epsilon or EPSILONS[options.name]
        return torch.optim.Adam(parameters, betas=options.betas, eps=epsilon, fused=True, **common)
    return torch.optim.SGD(parameters, **common)


def learning_rate(optimizer: torch.optim.Optimizer) -> float:
    """Read the rate, which all parameters share."""
    return float(optimizer.param_groups[0]["lr"])


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Use the rate from the next update on."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def follow_schedule(optimizer: torch.optim.Optimizer, options: Optimizer, update: int, done: float) -> None:
    """Set the rate of the next update, which is that of `scheduled`; a constant one without warm-up is left alone."""
    if options.schedule != "constant" or update <= options.warmup:
        set_learning_rate(optimizer, scheduled(options, update, done))


def scheduled(options: Optimizer, update: int, done: float) -> float:
    """Say the rate of an update.

    Args:
        options: their schedule and their warm-up multiply the rate.
        update: how many were made before.
        done: the part of the training that is done, from 0 to 1.
    """
    height = options.learning_rate or LEARNING_RATES[options.name]
    risen = (update + 1) / (options.warmup + 1)
    fallen = 1.0
    if options.schedule == "linear":
        fallen = 1 - done
    elif options.schedule == "inverse_square_root":
        fallen = min(1.0, risen**-0.5)
    return height * min(1.0, risen) * fallen


def decay_if_worse(
    optimizer: torch.optim.Optimizer, options: Optimizer, losses: Sequence[float], since_best: int
) -> None:
    """Lower the rate, if it is to decay, where dev has become worse (tree2seq section 4.2) or no better for long.

    Args:
        optimizer: what is used from the next update on.
        options: say by which factor, if at all, and when.
        losses: on the development set, of all validations.
        since_best: how many of the last ones had no better score.
    """
    if options.decay is None:
        return
    if options.decay_patience is None:
        decays = len(losses) > 1 and losses[-1] > losses[-2]
    else:
        decays = since_best > 0 and since_best % options.decay_patience == 0
    if decays:
        set_learning_rate(optimizer, learning_rate(optimizer) * options.decay)


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
