"""Trainings that have left the finite numbers: they end with one sentence, and write nothing more.

A single batch without a finite loss or gradient is skipped and counted (tree2seq section 4.2).
"""

import math

from torch import nn

from pipeline_py.input_error import InputError


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
