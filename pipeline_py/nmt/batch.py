"""Sentence pairs side by side, padded to rectangles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from pipeline_py.nmt.layout import LAYOUTS


@dataclass(frozen=True)
class Batch:
    """B sentences. There is no padding symbol: what lies behind a sentence's length is 0 and means nothing.

    Attributes:
        source: identifiers (B, J) int64; every sentence ends with EOS, which J counts.
        source_lengths: (B,) int64, EOS included.
        target: identifiers (B, I) int64, EOS included, or None when translating.
        target_lengths: (B,) int64, EOS included, or None.
        syntax: kind → tensor; "distances": (B, J, J) uint8, padded with 255; "labels": identifiers (B, J, 1) int64;
            "units": identifiers (B, J, 10) int64.
    """

    source: Tensor
    source_lengths: Tensor
    target: Tensor | None = None
    target_lengths: Tensor | None = None
    syntax: dict[str, Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.source)

    def to(self, device: torch.device | str) -> "Batch":
        """Copy the tensors to a device."""

        def moved(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device, non_blocking=True)

        return replace(
            self,
            source=self.source.to(device, non_blocking=True),
            source_lengths=self.source_lengths.to(device, non_blocking=True),
            target=moved(self.target),
            target_lengths=moved(self.target_lengths),
            syntax={kind: tensor.to(device, non_blocking=True) for kind, tensor in self.syntax.items()},
        )


def collate(
    source: Sequence[np.ndarray],
    target: Sequence[np.ndarray] | None = None,
    syntax: Mapping[str, Sequence[np.ndarray]] | None = None,
) -> Batch:
    """Pad sentences into one batch.

    Args:
        source: one row of identifiers per sentence, EOS included.
        target: the same of the other side.
        syntax: kind → one row per sentence; its values as `LAYOUTS` says, row-major.
    """
    sources, source_lengths = _pad(source)
    targets, target_lengths = _pad(target) if target is not None else (None, None)
    tensors = {}
    for kind, rows in (syntax or {}).items():
        layout, length = LAYOUTS[kind], sources.shape[1]
        table: np.ndarray = np.full((len(rows), length, layout.width(length)), layout.padding, dtype=layout.dtype)
        for place, (row, sentence) in enumerate(zip(rows, source, strict=True)):
            positions = len(sentence)
            columns = layout.width(positions)
            table[place, :positions, :columns] = row.reshape(positions, columns)
        tensors[kind] = torch.from_numpy(table)
    return Batch(sources, source_lengths, targets, target_lengths, tensors)


def _pad(rows: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
    lengths = [len(row) for row in rows]
    padded = np.zeros((len(rows), max(lengths)), dtype=np.int64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return torch.from_numpy(padded), torch.tensor(lengths)
