"""A group of processes that train one network, each on its share of every batch."""

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
"""Environment variable in which torchrun passes the rank of a process on its machine."""

PR_SET_PDEATHSIG = 1
"""Operation of prctl(2) that sets the signal at the death of the parent."""

PROCESS_TIMEOUT = timedelta(hours=2)
"""Time limit for waiting, for example while the first process validates."""


@dataclass(frozen=True)
class ProcessGroup:
    """The group of training processes as seen from this process; by default a single process.

    Attributes:
        rank: number of this process, from 0.
        world_size: number of processes.
    """

    rank: int = 0
    world_size: int = 1

    @staticmethod
    def from_torchrun(device: torch.device) -> "ProcessGroup":
        """Join the processes started by torchrun, with NCCL on GPUs (one GPU per process) or Gloo on CPUs."""
        _terminate_with_parent()
        if device.type == "cuda":
            torch.cuda.set_device(int(os.environ[LOCAL_RANK_VARIABLE]))
        distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=PROCESS_TIMEOUT)
        return ProcessGroup(distributed.get_rank(), distributed.get_world_size())

    @property
    def is_first(self) -> bool:
        """True for the process that writes files and prints progress."""
        return self.rank == 0

    def select_share(self, pair_indices: np.ndarray) -> np.ndarray:
        """Select the pairs of a batch for this process, a mix of long and short ones."""
        return pair_indices[self.rank :: self.world_size]

    def set_random_seed(self, seed: int, update: int) -> None:
        """Seed torch differently in each process, independently of interruptions."""
        if self.world_size > 1:
            torch.manual_seed(int(np.random.SeedSequence([seed, update, self.rank]).generate_state(1, np.uint64)[0]))

    def average_tensors(self, tensors: Sequence[Tensor], share: float) -> None:
        """Replace tensors by their sum over all processes, weighted by shares."""
        if self.world_size == 1:
            return
        flat_tensors = torch.cat([tensor.flatten() for tensor in tensors]).mul_(share)
        distributed.all_reduce(flat_tensors)
        for tensor, mean in zip(tensors, flat_tensors.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(mean.view_as(tensor))

    def combine_flags(self, flags: Sequence[bool], device: torch.device) -> list[bool]:
        """Return for each flag whether it is set in any process."""
        if self.world_size == 1:
            return [*flags]
        counts = torch.tensor(flags, dtype=torch.int32, device=device)
        distributed.all_reduce(counts)
        return [count > 0 for count in counts.tolist()]

    def broadcast_from_first(self, compute: Callable[[], Value]) -> Value:
        """Compute a value in the first process, and send it to the others."""
        if self.world_size == 1:
            return compute()
        values: list[Any] = [compute() if self.is_first else None]
        distributed.broadcast_object_list(values)
        return values[0]

    def read_after_first(self, reader: Callable[[], Value]) -> Value:
        """Read something after the first process has read, and possibly repaired, it."""
        if self.world_size > 1 and not self.is_first:
            distributed.barrier()
            return reader()
        result = reader()
        if self.world_size > 1:
            distributed.barrier()
        return result

    def collect_process_ids(self) -> list[int]:
        """Return the process ids of the group, 0 for processes on other machines."""
        node_and_process = (platform.node(), os.getpid())
        if self.world_size == 1:
            return [node_and_process[1]]
        nodes_and_processes: list[Any] = [None] * self.world_size
        distributed.all_gather_object(nodes_and_processes, node_and_process)
        return [number if node == node_and_process[0] else 0 for node, number in nodes_and_processes]

    def leave_group(self) -> None:
        """Wait for the other processes, and leave the group."""
        if self.world_size > 1:
            distributed.barrier()
            distributed.destroy_process_group()


SINGLE_PROCESS = ProcessGroup()


def _terminate_with_parent() -> None:
    """Let the kernel kill this process when torchrun ends for any reason."""
    if platform.system() == "Linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
