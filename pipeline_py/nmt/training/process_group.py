"""Several processes that train one network, each on its share of every batch."""

import ctypes
import os
import platform
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, distributed

Value = TypeVar("Value")

LOCAL_RANK_VARIABLE = "LOCAL_RANK"
"""A variable of the environment in which torchrun tells a process which one it is on its machine."""

PR_SET_PDEATHSIG = 1
"""A number of prctl(2)."""

PROCESS_TIMEOUT = timedelta(hours=2)
"""How long a process waits for the others; the first one may look at the development set meanwhile."""


@dataclass(frozen=True)
class ProcessGroup:
    """This process among those that train together; by default it is the only one.

    Attributes:
        rank: its number, from 0 on.
        world_size: how many there are.
    """

    rank: int = 0
    world_size: int = 1

    @staticmethod
    def from_torchrun(device: torch.device) -> "ProcessGroup":
        """Join the others that torchrun has started, through NCCL on GPUs, each with its own, through Gloo on CPUs."""
        _terminate_with_parent()
        if device.type == "cuda":
            torch.cuda.set_device(int(os.environ[LOCAL_RANK_VARIABLE]))
        distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=PROCESS_TIMEOUT)
        return ProcessGroup(distributed.get_rank(), distributed.get_world_size())

    @property
    def is_first(self) -> bool:
        """Whether this is the one that writes files and tells how far it is."""
        return self.rank == 0

    def select_share(self, pair_indices: np.ndarray) -> np.ndarray:
        """Choose from the pairs of a batch those of this process; long and short ones for each."""
        return pair_indices[self.rank :: self.world_size]

    def set_random_seed(self, seed: int, update: int) -> None:
        """Let each process drop out other units than the others, whether or not the run was interrupted before."""
        if self.world_size > 1:
            torch.manual_seed(int(np.random.SeedSequence([seed, update, self.rank]).generate_state(1, np.uint64)[0]))

    def average_tensors(self, tensors: Sequence[Tensor], share: float) -> None:
        """Replace tensors by the sum of all processes' ones, each times its share."""
        if self.world_size == 1:
            return
        joined = torch.cat([tensor.flatten() for tensor in tensors]).mul_(share)
        distributed.all_reduce(joined)
        for tensor, mean in zip(tensors, joined.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(mean.view_as(tensor))

    def broadcast_from_first(self, compute: Callable[[], Value]) -> Value:
        """Let the first process compute something, and tell the others."""
        if self.world_size == 1:
            return compute()
        held: list[Any] = [compute() if self.is_first else None]
        distributed.broadcast_object_list(held)
        return held[0]

    def read_after_first(self, reader: Callable[[], Value]) -> Value:
        """Read something after the first process has, which may put it in order."""
        if self.world_size > 1 and not self.is_first:
            distributed.barrier()
            return reader()
        found = reader()
        if self.world_size > 1:
            distributed.barrier()
        return found

    def collect_process_ids(self) -> list[int]:
        """The numbers by which this machine knows the processes; that of one elsewhere is of none here, so 0."""
        own = (platform.node(), os.getpid())
        if self.world_size == 1:
            return [own[1]]
        held: list[Any] = [None] * self.world_size
        distributed.all_gather_object(held, own)
        return [number if node == own[0] else 0 for node, number in held]

    def leave_group(self) -> None:
        """Wait for the others, and leave."""
        if self.world_size > 1:
            distributed.barrier()
            distributed.destroy_process_group()


SINGLE_PROCESS = ProcessGroup()


def _terminate_with_parent() -> None:
    """Let the system end this process when torchrun ends, however it does, instead of training on without it."""
    if platform.system() == "Linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
