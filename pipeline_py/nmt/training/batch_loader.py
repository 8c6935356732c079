"""The batches that a training run is fed with."""

from collections.abc import Sequence
from typing import Any

import torch

from pipeline_py.config.systems.training import Training
from pipeline_py.nmt.data.dataset import Dataset
from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.training.processes import Processes
from pipeline_py.nmt.training.update import Part


class BatchLoader:
    """Batches in the order of their epoch, of each the share of this process, in parts, on a device."""

    def __init__(
        self,
        data: Dataset,
        training: Training,
        seed: int,
        device: torch.device,
        processes: Processes,
        multiple: int,
    ) -> None:
        """Take what batches are made of.

        Args:
            data: the training pairs.
            training: says how large batches are.
            seed: decides, with the epoch, which pairs are in a batch, and the order of batches.
            device: where batches go.
            processes: those that share every batch.
            multiple: lengths are rounded up to it.
        """
        self._data = data
        self._training = training
        self._seed = seed
        self._device = device
        self._processes = processes
        self._multiple = multiple
        self._epoch = -1
        self._batches: Sequence[Any] = []
        self._ahead: dict[int, list[Part]] = {}

    def batches(self, epoch: int) -> Sequence[Any]:
        """The pairs of each batch of an epoch, from 0."""
        if self._epoch != epoch:
            training = self._training
            self._batches = self._data.epoch(self._seed, epoch, training.batch_size, training.batch_unit)
            self._epoch, self._ahead = epoch, {}
        return self._batches

    def words(self, pairs: Any) -> int:
        """How many target words a batch has, EOS not included."""
        return self._data.words(pairs)

    def size(self, pairs: Any) -> int:
        """What the loss of a batch is divided by: its sentences, or its target words, EOS included."""
        return len(pairs) + (self.words(pairs) if self._training.loss_per == "word" else 0)

    def share(self, pairs: Any) -> float:
        """The share of a batch's size that is this process'."""
        return self.size(self._processes.share(pairs)) / self.size(pairs)

    def take(self, epoch: int, number: int) -> list[Part]:
        """Give the parts of a batch that are this process'."""
        pairs = self.batches(epoch)[number]
        return self._ahead.pop(number) if number in self._ahead else self._read(pairs)

    def prepare(self, epoch: int, number: int) -> None:
        """Read a batch, if there is one and a device that is busy meanwhile."""
        if not on_cpu(self._device) and number < len(self.batches(epoch)):
            self._ahead = {number: self._read(self.batches(epoch)[number])}

    def _read(self, pairs: Any) -> list[Part]:
        share = self._processes.share(pairs)
        parts = (share[start :: self._training.accumulate] for start in range(self._training.accumulate))
        return [
            Part(self._data.batch(part, self._multiple).to(self._device), len(part) / self.size(share))
            for part in parts
            if len(part)
        ]
