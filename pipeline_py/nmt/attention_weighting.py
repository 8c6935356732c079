"""The base class of attention weightings, and products of weights and annotations."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.search.row_sentences import RowSentences
from pipeline_py.nmt.torch_setup import is_cpu

WeightingState = tuple[Tensor, ...]
"""State of a weighting between decoder steps: tensors of shape (B, …)."""

AttentionStatistics = dict[str, tuple[Tensor, Tensor]]
"""Name of a statistic → its sum and its count over the positions of each sentence, (B,) each."""


class Weighting(nn.Module, ABC):
    """A function from the scores of a decoder step to attention weights.

    The constructor of a subclass takes its options (`config.systems.decoders`) and the size of the query.
    """

    def build_initial_state(self, memory: EncoderMemory) -> WeightingState:
        """Build the state before the first step."""
        return ()

    @abstractmethod
    def forward(
        self, scores: Tensor, query: Tensor, memory: EncoderMemory, state: WeightingState
    ) -> tuple[Tensor, WeightingState]:
        """Compute the attention weights of one step.

        Args:
            scores: e (B, N), of words and phrases; padding is not masked yet.
            query: s' (B, Q), the decoder state from which the scores were computed.
            memory: the encoder memory.
            state: what the step before (or `build_initial_state`) returned.

        Returns:
            Weights α (B, N), zero on padding, and the new state.
        """

    def collect_statistics(
        self, scores: Tensor, query: Tensor, memory: EncoderMemory, state: WeightingState
    ) -> AttentionStatistics:
        """Collect statistics of the step that `forward` computes from the same arguments."""
        return {}


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Compute the softmax over the columns of each row in the mask, zero elsewhere: (B, N), (B, N) bool → (B, N)."""
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)


def multiply_sentence_matrices(values: Tensor, matrices: Tensor, row_sentences: RowSentences | None = None) -> Tensor:
    """Multiply each row with the matrix of its sentence, in the precision of the matrices.

    Args:
        values: (R, X).
        matrices: (B, X, Y).
        row_sentences: sentence of each row; None: rows are sentences.

    Returns:
        (R, Y).
    """
    values = values.to(matrices.dtype)
    with torch.autocast(values.device.type, enabled=False):
        if row_sentences is None:
            return torch.bmm(values.unsqueeze(1), matrices).squeeze(1)
        return row_sentences.ungroup_rows(torch.bmm(row_sentences.group_rows(values, len(matrices)), matrices))


def cast_to_product_dtype(matrices: Tensor) -> Tensor:
    """Cast matrices to the autocast precision, except on a CPU, where products are no faster."""
    device_type = matrices.device.type
    is_half = not is_cpu(matrices.device) and torch.is_autocast_enabled(device_type)
    return matrices.to(torch.get_autocast_dtype(device_type)) if is_half else matrices


def upcast_half_precision(values: Tensor) -> Tensor:
    """Convert half precision to float32, so that sums over many positions stay accurate."""
    return values.float() if values.dtype in (torch.bfloat16, torch.float16) else values
