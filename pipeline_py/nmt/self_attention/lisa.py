"""Linguistically-informed self-attention (Strubell et al. 2018, as Bugliarello and Okazaki 2020 adapted it)."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from pipeline_py.config.systems.network_parts import LISAConfig
from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.encoder_memory import AuxiliaryLoss
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.parsing_encoder import compute_log_loss
from pipeline_py.nmt.transformer.multi_head_attention import SelfAttentionChange


class PredictedParentAttention(SelfAttentionChange):
    """The weights of a head are the distribution over the heads of words, of a deep biaffine scorer.

    With x_i what the attention reads, d_i = LeakyReLU(W_d x_i + b) and h_j = LeakyReLU(W_h x_j + b), both of the size
    of one head of the attention: s_ij = d_iᵀ W h_j + uᵀ h_j says how well position j fits as the head of i. −log p of
    the true heads is added to the loss in training; no tree is needed for translation.

    The head of a piece is the first piece of its head word. A root has the first piece of its own word, EOS itself.
    """

    def __init__(
        self, options: LISAConfig, hidden_size: int, head_count: int, vocabulary_sizes: Mapping[str, int]
    ) -> None:
        super().__init__()
        self.loss_weight = options.weight
        self.dependent = Linear(hidden_size, hidden_size // head_count)
        self.head = Linear(hidden_size, hidden_size // head_count)
        self.biaffine = Linear(hidden_size // head_count, hidden_size // head_count)

    def forward(self, scores: Tensor, states: Tensor, batch: Batch) -> Tensor:
        """Put the scores of the parse in their place (B, heads, J, J)."""
        return self._score_heads(states).unsqueeze(1).expand_as(scores)

    def compute_auxiliary_loss(self, states: Tensor, batch: Batch) -> AuxiliaryLoss | None:
        """Compare the parse with the trees of the batch, if it has some; EOS does not count for the accuracy."""
        if "parents" not in batch.syntax_tensors:
            return None
        heads = batch.get_syntax("parents")[:, :, 0]
        scores = self._score_heads(states).masked_fill(~batch.source_mask.unsqueeze(1), -torch.inf)
        last = batch.source_lengths.unsqueeze(1) - 1
        counted = (heads != NO_HEAD) & (torch.arange(heads.shape[1], device=heads.device) < last)
        right = counted & (scores.argmax(dim=2) == heads)
        observed = {"unlabelled_attachment": (right.sum(dim=1), counted.sum(dim=1))}
        return AuxiliaryLoss(self.loss_weight * compute_log_loss(scores, heads), observed)

    def _score_heads(self, states: Tensor) -> Tensor:
        """Score for each position the others as its head (B, J, J)."""
        dependent, head = (functional.leaky_relu(part(states)) for part in (self.dependent, self.head))
        return upcast_half_precision(self.biaffine(dependent) @ head.transpose(1, 2))
