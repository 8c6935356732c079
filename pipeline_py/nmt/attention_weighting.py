"""What all ways of attending share: a weighting makes weights of scores, and weights make a context."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.search.row_sentences import RowSentences
from pipeline_py.nmt.torch_setup import is_cpu

WeightingState = tuple[Tensor, ...]
"""What a weighting hands on to its next step: tensors of shape (B, …)."""

AttentionStatistics = dict[str, tuple[Tensor, Tensor]]
"""Name of a statistic → its sum and its count over the positions of each sentence, (B,) each."""


class Weighting(nn.Module, ABC):
    """Turns the scores of a step into attention weights.

    A weighting is built of its options of `config.decoders` and the size of the query.
    """

    def build_initial_state(self, memory: EncoderMemory) -> WeightingState:
        """Return what the first step is given as `carried`."""
        return ()

    @abstractmethod
    def forward(
        self, scores: Tensor, query: Tensor, memory: EncoderMemory, state: WeightingState
    ) -> tuple[Tensor, WeightingState]:
        """Weigh the positions of one step.

        Args:
            scores: e (B, N), of words and phrases; padding is not masked yet.
            query: the decoder state that the scores were computed with, s' (B, Q).
            memory: what is attended to.
            carried: what the step before (or `start`) returned.

        Returns:
            Weights α (B, N), zero on padding, and what the next step is given.
        """

    def collect_statistics(
        self, scores: Tensor, query: Tensor, memory: EncoderMemory, state: WeightingState
    ) -> AttentionStatistics:
        """Say what is worth counting about the step that `forward` would make of the same arguments."""
        return {}


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over a row's allowed columns (at least one), zero elsewhere: (B, N), (B, N) bool → (B, N)."""
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)


def multiply_sentence_matrices(values: Tensor, matrices: Tensor, row_sentences: RowSentences | None = None) -> Tensor:
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
        if row_sentences is None:
            return torch.bmm(values.unsqueeze(1), matrices).squeeze(1)
        if row_sentences.padded_indices is None or row_sentences.max_rows is None:
            return torch.bmm(values.unsqueeze(1), matrices.index_select(0, row_sentences.sentence_indices)).squeeze(1)
        # All rows of a sentence in one product: the matrix is read once for them.
        rows = len(matrices) * row_sentences.max_rows
        spread = values.new_zeros(rows, values.shape[1]).index_copy_(0, row_sentences.padded_indices, values)
        products = torch.bmm(spread.view(len(matrices), row_sentences.max_rows, -1), matrices)
        return products.flatten(0, 1).index_select(0, row_sentences.padded_indices)


def cast_to_product_dtype(matrices: Tensor) -> Tensor:
    """Bring matrices to the precision of `multiplied`: half under autocast, but not on a CPU, where it is no faster."""
    kind = matrices.device.type
    half = not is_cpu(matrices.device) and torch.is_autocast_enabled(kind)
    return matrices.to(torch.get_autocast_dtype(kind)) if half else matrices


def upcast_half_precision(values: Tensor) -> Tensor:
    """Bring half precision to float32, so that sums over many positions stay exact enough."""
    return values.float() if values.dtype in (torch.bfloat16, torch.float16) else values
