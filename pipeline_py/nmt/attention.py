"""What all ways of attending share: a weighting makes weights of scores, and weights make a context."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.search.owners import Owners

Carried = tuple[Tensor, ...]
"""What a weighting hands on to its next step: tensors of shape (B, …)."""

Observation = dict[str, tuple[Tensor, Tensor]]
"""Name of a statistic → its sum and its count over the positions of each sentence, (B,) each."""


class Weighting(nn.Module, ABC):
    """Turns the scores of a step into attention weights.

    A weighting is built of its options of `config.decoders` and the size of the query.
    """

    def start(self, memory: Memory) -> Carried:
        """Return what the first step is given as `carried`."""
        return ()

    @abstractmethod
    def forward(self, scores: Tensor, query: Tensor, memory: Memory, carried: Carried) -> tuple[Tensor, Carried]:
        """Weigh the positions of one step.

        Args:
            scores: e (B, N), of words and phrases; padding is not masked yet.
            query: the decoder state that the scores were computed with, s' (B, Q).
            memory: what is attended to.
            carried: what the step before (or `start`) returned.

        Returns:
            Weights α (B, N), zero on padding, and what the next step is given.
        """

    def observe(self, scores: Tensor, query: Tensor, memory: Memory, carried: Carried) -> Observation:
        """Say what is worth counting about the step that `forward` would make of the same arguments."""
        return {}


def masked_softmax(scores: Tensor, allowed: Tensor) -> Tensor:
    """Softmax over a row's allowed columns (at least one), zero elsewhere: (B, N), (B, N) bool → (B, N)."""
    return torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)


def multiplied(values: Tensor, matrices: Tensor, owners: Owners | None = None) -> Tensor:
    """Multiply each row with the matrix of its sentence, in the precision of the matrices.

    Args:
        values: (R, X).
        matrices: (B, X, Y).
        owners: of the rows; None: rows are sentences.

    Returns:
        (R, Y).
    """
    values = values.to(matrices.dtype)
    with torch.autocast(values.device.type, enabled=False):
        if owners is None:
            return torch.bmm(values.unsqueeze(1), matrices).squeeze(1)
        if owners.place is None or owners.width is None:
            return torch.bmm(values.unsqueeze(1), matrices.index_select(0, owners.sentence)).squeeze(1)
        # All rows of a sentence in one product: the matrix is read once for them.
        rows = len(matrices) * owners.width
        spread = values.new_zeros(rows, values.shape[1]).index_copy_(0, owners.place, values)
        products = torch.bmm(spread.view(len(matrices), owners.width, -1), matrices)
        return products.flatten(0, 1).index_select(0, owners.place)


def as_multiplied(matrices: Tensor) -> Tensor:
    """Bring matrices to the precision of `multiplied`: half under autocast, but not on a CPU, where it is no faster."""
    kind = matrices.device.type
    half = not on_cpu(matrices.device) and torch.is_autocast_enabled(kind)
    return matrices.to(torch.get_autocast_dtype(kind)) if half else matrices


def at_least_single(values: Tensor) -> Tensor:
    """Bring half precision to float32, so that sums over many positions stay exact enough."""
    return values.float() if values.dtype in (torch.bfloat16, torch.float16) else values
