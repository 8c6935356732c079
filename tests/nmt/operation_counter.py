"""A counter of the operations of torch that start kernels on a GPU."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

OPERATIONS_WITHOUT_KERNEL = {"_local_scalar_dense", "_unsafe_view", "empty", "empty_like", "lift_fresh", "new_empty"}
"""Operations, in addition to views, that compute nothing."""


class OperationCounter(TorchDispatchMode):
    """Counts the operations within its context by name, without views and allocations.

    One operation is about one kernel; some start several, for example those of an optimizer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """The number of all operations."""
        return self.counts.total()

    def __torch_dispatch__(
        self, function: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = function._schema.name.removeprefix("aten::")
        if not function.is_view and name not in OPERATIONS_WITHOUT_KERNEL:
            self.counts[name] += 1
        return function(*args, **(kwargs or {}))


def count_operations(function: Callable[[], Any]) -> int:
    """Return the number of operations of a call."""
    with OperationCounter() as counter:
        function()
    return counter.total
