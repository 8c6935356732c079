"""Updates of a network's parameters, and checks for divergence.

A batch with a non-finite loss or gradient is skipped and counted (tree2seq section 4.2).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.training import (
    DEFAULT_EPSILONS,
    DEFAULT_LEARNING_RATES,
    OptimizerConfig,
    TrainingConfig,
)
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.fast.cuda_graphs import LENGTH_MULTIPLE, GraphedFunction, build_cuda_recorder
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.nmt.training.process_group import SINGLE_PROCESS, ProcessGroup
from pipeline_py.run.errors import InputError


def check_weights_finite(system_name: str, update: int, network: nn.Module) -> None:
    """Raise `InputError` if a weight is not finite.

    Args:
        system_name: name of the system in the message.
        update: number of the last update, in the message.
        network: the trained network.
    """
    for part, values in network.named_parameters():
        if not values.isfinite().all():
            raise _create_divergence_error(system_name, update, f"`{part}` has values that are not finite")


def check_divergence(system_name: str, update: int, loss: float, applied_updates: int) -> None:
    """Raise `InputError` if a validation shows that the training has diverged.

    Args:
        system_name: name of the system in the message.
        update: number of the last update, in the message.
        loss: loss on the development set.
        applied_updates: applied updates since the last validation.
    """
    if not math.isfinite(loss):
        raise _create_divergence_error(system_name, update, f"the loss on the development set is {loss}")
    if not applied_updates:
        raise _create_divergence_error(
            system_name, update, "no batch since the last look at the development set had a finite loss and gradient"
        )


def _create_divergence_error(system_name: str, update: int, reason: str) -> InputError:
    return InputError(
        f"the training of {system_name} diverged by update {update}: {reason}; lower `optimizer.learning_rate` or "
        "`clip` of `training`, or choose another `model.initialization`"
    )


def build_optimizer(options: OptimizerConfig, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Build the optimizer that the options name: ADADELTA (Zeiler 2012), Adam (Kingma and Ba 2015) or plain SGD."""
    common: Any = {"lr": options.learning_rate or DEFAULT_LEARNING_RATES[options.name], "weight_decay": options.l2}
    if options.name == "adadelta":
        return torch.optim.Adadelta(
            parameters, rho=options.rho, eps=options.epsilon or DEFAULT_EPSILONS[options.name], **common
        )
    if options.name == "adam":
        epsilon = options.epsilon or DEFAULT_EPSILONS[options.name]
        return torch.optim.Adam(parameters, betas=options.betas, eps=epsilon, fused=True, **common)
    return torch.optim.SGD(parameters, **common)


def get_learning_rate(optimizer: torch.optim.Optimizer) -> float:
    """Return the learning rate, which all parameters share."""
    return float(optimizer.param_groups[0]["lr"])


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of all parameters."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def apply_learning_rate_schedule(
    optimizer: torch.optim.Optimizer, options: OptimizerConfig, update: int, progress: float
) -> None:
    """Set the rate of the next update by `compute_learning_rate`, except for a constant rate after warm-up."""
    if options.schedule != "constant" or update <= options.warmup:
        set_learning_rate(optimizer, compute_learning_rate(options, update, progress))


def compute_learning_rate(options: OptimizerConfig, update: int, progress: float) -> float:
    """Compute the learning rate of an update.

    Args:
        options: initial rate, schedule and warm-up.
        update: number of previous updates.
        progress: completed fraction of the training, from 0 to 1.
    """
    height = options.learning_rate or DEFAULT_LEARNING_RATES[options.name]
    risen = (update + 1) / (options.warmup + 1)
    fallen = 1.0
    if options.schedule == "linear":
        fallen = 1 - progress
    elif options.schedule == "inverse_square_root":
        fallen = min(1.0, risen**-0.5)
    return height * min(1.0, risen) * fallen


def decay_learning_rate_if_worse(
    optimizer: torch.optim.Optimizer, options: OptimizerConfig, dev_losses: Sequence[float], validations_since_best: int
) -> None:
    """Decay the rate if the dev loss increased (tree2seq section 4.2) or patience is exhausted.

    Args:
        optimizer: its rate is changed.
        options: factor and patience of the decay.
        dev_losses: development losses of all validations.
        validations_since_best: number of validations since the best score.
    """
    if options.decay is None:
        return
    if options.decay_patience is None:
        decays = len(dev_losses) > 1 and dev_losses[-1] > dev_losses[-2]
    else:
        decays = validations_since_best > 0 and validations_since_best % options.decay_patience == 0
    if decays:
        set_learning_rate(optimizer, get_learning_rate(optimizer) * options.decay)


def disable_unsupported_graphs(training: TrainingConfig) -> TrainingConfig:
    """Turn `graphs` off with accumulated gradients and for losses divided by words.

    Their computation does not follow from the shape of a batch.
    """
    can = training.accumulate == 1 and training.loss_per == "sentence"
    return training.model_copy(update={"graphs": training.graphs and can})


class MicroBatch(NamedTuple):
    """A part of a batch whose gradients are accumulated.

    Attributes:
        batch: the sentences, on the device.
        loss_weight: weight of the mean loss of its sentences in the sum.
    """

    batch: Batch
    loss_weight: float = 1.0


@dataclass(frozen=True)
class UpdateResult:
    """The result of an update.

    Attributes:
        loss: loss of the batch, per sentence or word.
        gradient_norm: gradient norm before clipping.
        is_applied: whether the parameters were changed; false for a non-finite loss or gradient.
    """

    loss: float
    gradient_norm: float
    is_applied: bool


class Updater:
    """An updater that computes gradients, clips them, and updates the parameters.

    Only `apply_gradients` waits for the device; other work can be done between it and `compute_gradients`. On a GPU
    with `training.graphs`, gradients are recorded as CUDA graphs, which avoids the launch time of small kernels.
    """

    def __init__(
        self,
        network: nn.Module,
        compute_loss: Callable[[Batch], Tensor],
        optimizer: torch.optim.Optimizer,
        training: TrainingConfig,
        device: torch.device,
        process_group: ProcessGroup = SINGLE_PROCESS,
    ) -> None:
        """Create an updater.

        Args:
            network: the network to train.
            compute_loss: returns the loss of each sentence of a batch (B,).
            optimizer: optimizer of the network's parameters.
            training: precision, gradient clipping, and use of graphs (see `disable_unsupported_graphs`).
            device: device of the network.
            process_group: processes that train the same network.
        """
        self._parameters = list(network.parameters())
        self._compute_loss = compute_loss
        self._optimizer = optimizer
        self._max_gradient_norm = math.inf if training.clip is None else training.clip
        self._is_bfloat16 = training.precision == "bfloat16"
        self._device = device
        self._process_group = process_group
        self._graphed_gradients: GraphedFunction | None = None
        if not is_cpu(device):
            torch.backends.cuda.matmul.allow_tf32 = training.precision == "tf32"
        if training.graphs and not is_cpu(device):
            self._graphed_gradients = GraphedFunction(self._compute_graphed_gradients, build_cuda_recorder())
        self.length_multiple = LENGTH_MULTIPLE if self._graphed_gradients else 1
        self._loss_and_norm = torch.zeros(2)

    def compute_gradients(
        self, micro_batches: Sequence[MicroBatch], process_share: float = 1.0, has_empty_share: bool = False
    ) -> None:
        """Compute the clipped gradients of a batch.

        Args:
            micro_batches: this process's share of the batch; may be empty.
            process_share: this process's fraction of the loss divisor.
            has_empty_share: whether a process has no sentence of the batch; then the processes wait for each other.
        """
        if not micro_batches:
            self._optimizer.zero_grad(set_to_none=self._graphed_gradients is None)
            loss = torch.zeros((), device=self._device)
        elif self._graphed_gradients is not None:
            loss = self._graphed_gradients(micro_batches[0].batch)
        else:
            self._optimizer.zero_grad()
            loss = torch.stack([self._accumulate_gradients(*part) for part in micro_batches]).sum()
        if has_empty_share:
            self._add_missing_gradients()
        gradients = [parameter.grad for parameter in self._parameters if parameter.grad is not None]
        self._process_group.average_tensors([loss, *gradients], process_share)
        norm = nn.utils.clip_grad_norm_(self._parameters, self._max_gradient_norm)
        self._loss_and_norm = torch.stack([loss, norm])

    def apply_gradients(self) -> UpdateResult:
        """Wait for the gradients, and update the parameters if loss and norm are finite."""
        loss, norm = self._loss_and_norm.tolist()
        finite = math.isfinite(loss) and math.isfinite(norm)
        if finite:
            self._optimizer.step()
        return UpdateResult(loss, norm, finite)

    def _compute_graphed_gradients(self, batch: Batch) -> Tensor:
        self._optimizer.zero_grad(set_to_none=False)
        return self._accumulate_gradients(batch, 1.0)

    def _accumulate_gradients(self, batch: Batch, loss_weight: float) -> Tensor:
        """Add the gradients of a micro-batch to those of the parameters; return its weighted loss."""
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._is_bfloat16):
            loss = self._compute_loss(batch).mean() * loss_weight
        loss.backward()
        return loss.detach()

    def _add_missing_gradients(self) -> None:
        """Give a gradient of zeros to each parameter that has one in another process only."""
        flags = self._process_group.combine_flags(
            [parameter.grad is not None for parameter in self._parameters], self._device
        )
        for parameter, has_gradient in zip(self._parameters, flags, strict=True):
            if has_gradient and parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
