"""Count the operations that start kernels on a GPU."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from pipeline_py.nmt.fast.cuda_graphs import flatten_nested

OPERATIONS_WITHOUT_KERNELS = {"_unsafe_view", "empty", "empty_like", "new_empty", "promote_types"}

SYNCHRONIZING_OPERATIONS = {
    "_local_scalar_dense",
    "_unique2",
    "index with a mask",
    "is_nonzero",
    "lift_fresh",
    "masked_select",
    "nonzero",
    "unique_consecutive",
    "unique_dim",
}
"""Operations that wait for the GPU, or copy numbers to it, and cannot be recorded."""


class OperationCounter(TorchDispatchMode):
    """Counts ATen operations by name, except those that only make views or allocate memory.

    A composite operation, such as a sort, may start several kernels.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """The number of operations."""
        return self.counts.total()

    def __torch_dispatch__(
        self,
        operation: Any,
        types: Sequence[type],
        arguments: tuple[Any, ...] = (),
        options: dict[str, Any] | None = None,
    ) -> Any:
        result = operation(*arguments, **(options or {}))
        name = operation.overloadpacket.__name__
        has_mask = any(isinstance(part, Tensor) and part.dtype == torch.bool for part in flatten_nested(arguments[1:]))
        if name.startswith("index") and has_mask:
            name = "index with a mask"
        if not _is_view(operation) and name not in OPERATIONS_WITHOUT_KERNELS:
            self.counts[name] += 1
        return result


def count_operations(function: Callable[[], Any]) -> int:
    """Return the number of operations of a call."""
    with OperationCounter() as counter:
        function()
    return counter.total


def _is_view(operation: torch._ops.OpOverload) -> bool:
    """Return whether the results share the memory of the inputs without being written; `lift_fresh` is no view here."""
    aliases = [argument.alias_info for argument in operation._schema.arguments]
    is_alias = any(alias is not None and not alias.is_write for alias in aliases)
    return is_alias and operation.overloadpacket.__name__ not in SYNCHRONIZING_OPERATIONS
