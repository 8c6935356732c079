"""The predictions of an ensemble, a step of all hypotheses at a time."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.graphs import MULTIPLE, Graphs, on_cuda
from pipeline_py.nmt.kernels.half_products import half_products, rounding_float32
from pipeline_py.nmt.recurrence.linear import laid_out

KEPT = 8
"""The most recorded steps: the results of each, logits above all, stay on the GPU, and batches have similar lengths."""


class Steps:
    """Predicts with all models.

    On a GPU steps are recorded as graphs, whatever their batch, where no state grows from step to step.

    Attributes:
        multiple: what lengths of sources should be rounded up to, for few shapes.
    """

    def __init__(self, models: Sequence[Any]) -> None:
        """Take the models, all on one device; what their decoders have says `nmt.decoder.base`."""
        device = next(models[0].parameters()).device
        recorded = not on_cpu(device) and not any(model.decoder.grows for model in models)
        compute = partial(predict, models)
        self._compute = Graphs(compute, on_cuda(), KEPT) if recorded else compute
        self.multiple = MULTIPLE if recorded else 1

    def __call__(
        self, previous: Tensor | None, states: Sequence[Any], memories: Sequence[Any]
    ) -> tuple[Tensor, Sequence[Any], Tensor]:
        """Predict one word of each hypothesis; see `predict`. The next call may overwrite all but the weights."""
        logits, states, weights = self._compute(previous, states, memories)
        return logits, states, weights.clone() if isinstance(self._compute, Graphs) else weights


@contextmanager
def searching(models: Sequence[Any], half: bool = False) -> Iterator[Steps]:
    """Make models ready for the searches of many batches; meanwhile no weight may change.

    Args:
        models: as in `beam_search`.
        half: whether matrix products on a CPU read bfloat16, in the way that this processor has
            (`precision.half_products`); they are summed in float32, and logits are float32.
    """
    way = half_products() if half else None
    rounding = rounding_float32() if way == "implicit" else nullcontext()
    with rounding, laid_out([model.decoder for model in models], is_rounded=way == "explicit"):
        yield Steps(models)


def predict(
    models: Sequence[Any], previous: Tensor | None, states: Sequence[Any], memories: Sequence[Any]
) -> tuple[Tensor, Sequence[Any], Tensor]:
    """Make one step of all models: logits (R, V) of their mean probability, states, the first one's attention (R, N).

    Args:
        models: as in `beam_search`.
        previous: words before (R,); None at the first position.
        states: of each model's decoder.
        memories: of each model, what its decoder attends to.
    """
    steps = [
        model.decoder.step(previous, state, memory)
        for model, state, memory in zip(models, states, memories, strict=True)
    ]
    states = [state for _, state, _ in steps]
    logits, _, weights = steps[0]
    if len(models) > 1:
        logits = torch.stack([logits.log_softmax(1) for logits, _, _ in steps]).logsumexp(0) - math.log(len(models))
    return logits, states, weights
