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
    """Attention weights that are the distribution over syntactic heads of a deep biaffine scorer.

    With x_i the input of the attention, d_i = LeakyReLU(W_d x_i + b) and h_j = LeakyReLU(W_h x_j + b), both of the size
    of one attention head, s_ij = d_iᵀ W h_j + uᵀ h_j is the score of position j as the head of i. −log p of the true
    heads is added to the loss in training; translation needs no trees.

    The head of a piece is the first piece of its head word. The head of a root is the first
    piece of its own word; that of EOS is EOS.
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
        """Replace the scores by those of the parse (B, heads, J, J)."""
        return self._score_heads(states).unsqueeze(1).expand_as(scores)

    def compute_auxiliary_loss(self, states: Tensor, batch: Batch) -> AuxiliaryLoss | None:
        """Compare the parse with the trees of the batch, if any; the accuracy does not include EOS."""
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
        """Score all positions as the head of each position (B, J, J)."""
        dependent, head = (functional.leaky_relu(part(states)) for part in (self.dependent, self.head))
        return upcast_half_precision(self.biaffine(dependent) @ head.transpose(1, 2))
