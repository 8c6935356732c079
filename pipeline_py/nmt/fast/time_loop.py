"""Loops over time that compute the gradients of constant tensors once, after the loop.

Autograd would compute and accumulate a gradient per step and weight. One product over all steps takes less than half
the time.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class TracedModule(nn.Module):
    """A module applied at each step of a loop; with a trace, its gradients are computed after the loop."""

    trace: Any = None


class TracedScore(TracedModule, ABC):
    """An attention score that is traced in the loop of a decoder."""

    @abstractmethod
    def begin_trace(self, keys: Tensor, step_count: int, column_counts: Sequence[int] | None = None) -> "LoopTrace":
        """Begin the trace of a loop of `step_count` steps that scores the same keys (B, N, A) in each.

        The scores of each sentence after its first `column_counts` (B,) columns are not read.
        """


class LoopTrace(ABC):
    """A record of a module's applications in one loop, with its accumulated gradients.

    Attributes:
        module: module that holds this trace during the loop.
        tensors: tensors whose gradient is computed after the loop.
    """

    def __init__(self, module: TracedModule, *tensors: Tensor | None) -> None:
        self.module = module
        self.tensors = tensors

    @abstractmethod
    def sum_gradients(self) -> Sequence[Tensor | None]:
        """Sum the gradients of `tensors` over all steps, and reset them."""


@contextmanager
def open_time_loop(initial_state: Tensor, trace_factories: Iterable[Callable[[], LoopTrace]]) -> Iterator[Tensor]:
    """Open a loop over time.

    Args:
        initial_state: state before the first step. Traced modules may be applied only to values that depend on the
            yielded state, whose gradient is computed last.
        trace_factories: functions that begin the traces; not called without autograd.

    Yields:
        The state to start from.
    """
    if not torch.is_grad_enabled():
        yield initial_state
        return
    traces = [begin_trace() for begin_trace in trace_factories]
    for trace in traces:
        trace.module.trace = trace
    try:
        yield _LoopEntryFunction.apply(initial_state, traces, *(tensor for trace in traces for tensor in trace.tensors))
    finally:
        for trace in traces:
            trace.module.trace = None


class _LoopEntryFunction(Function):
    """The entry of a loop; its backward pass returns the gradients of the traced tensors."""

    @staticmethod
    def forward(ctx: Any, state: Tensor, traces: list[LoopTrace], *tensors: Tensor | None) -> Tensor:
        ctx.traces = traces
        return state.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return gradient, None, *(grad for trace in ctx.traces for grad in trace.sum_gradients())
