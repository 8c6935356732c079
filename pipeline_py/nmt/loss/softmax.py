"""The loss of the full softmax."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.config.systems.decoders import BlackOutLossConfig, SoftmaxLossConfig
from pipeline_py.nmt.data.batch import PackedWords
from pipeline_py.nmt.fast.matrix_products import compute_weight_gradient, multiply_matrices, pad_to_block, split_rows


class SoftmaxLoss(nn.Module):
    """−log p(y) with p the softmax over the whole target vocabulary.

    With label smoothing ε it is −(1 − ε) log p(y) − ε/V Σ_k log p(k) in training (Szegedy et al. 2016).
    """

    def __init__(self, options: SoftmaxLossConfig | BlackOutLossConfig, target_vocabulary_size: int) -> None:
        """Read the options; V is the size of the target vocabulary."""
        super().__init__()
        self.label_smoothing = options.label_smoothing if isinstance(options, SoftmaxLossConfig) else 0.0

    def forward(self, output_layer: nn.Linear, readout: Tensor, targets: Tensor, packed_words: PackedWords) -> Tensor:
        """Compute the softmax losses of N words.

        Args:
            output_layer: the output layer, (N, E) → (N, V).
            readout: its input (N, E).
            targets: identifiers of the words (N,) int64.
            packed_words: positions of the words.

        Returns:
            (N,) losses in nats, at least float32.
        """
        smoothing = self.label_smoothing if self.training else 0.0
        losses: Tensor = _SoftmaxLossFunction.apply(readout, output_layer.weight, output_layer.bias, targets, smoothing)
        return losses

    def set_word_frequencies(self, word_counts: Tensor) -> None:
        """Ignore the word counts of the training data (V,); sampled losses use them."""


class _SoftmaxLossFunction(Function):
    """logsumexp(W r + b) − (1 − ε) (W r + b)_y − ε/V Σ (W r + b); the backward pass overwrites W r by its gradient.

    W r is in half precision under autocast, results are at least float32.
    """

    @staticmethod
    def forward(
        ctx: Any, readout: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, label_smoothing: float
    ) -> Tensor:
        ctx.smoothing = label_smoothing
        ctx.dtypes = readout.dtype, weight.dtype
        device = readout.device.type
        if torch.is_autocast_enabled(device):
            half = torch.get_autocast_dtype(device)
            readout, weight = pad_to_block(readout, half), weight.to(half)
        products = multiply_matrices(readout, weight.T)
        normalizers = torch.empty(len(targets), dtype=bias.dtype, device=bias.device)
        means = torch.empty_like(normalizers) if label_smoothing else None
        for rows in split_rows(len(targets), products.shape[1], products.device):
            logits = products[rows] + bias
            torch.logsumexp(logits, dim=1, out=normalizers[rows])
            if means is not None:
                means[rows] = logits.mean(dim=1)
        ctx.save_for_backward(readout, weight, bias, targets, normalizers)
        ctx.products = products
        target_logits = products[: len(targets)].gather(1, targets.unsqueeze(1)).squeeze(1) + bias.index_select(
            0, targets
        )
        return normalizers - (target_logits if means is None else torch.lerp(target_logits, means, label_smoothing))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        readout, weight, bias, targets, normalizers = ctx.saved_tensors
        products, ctx.products = ctx.products, None
        if products is None:  # overwritten by an earlier backward pass
            products = multiply_matrices(readout, weight.T)
        grad_bias = torch.zeros_like(bias)
        for rows in split_rows(len(targets), products.shape[1], products.device):
            scale, target_columns = gradient[rows].unsqueeze(1), targets[rows].unsqueeze(1)
            grad_logits = (products[rows] + bias).sub_(normalizers[rows].unsqueeze(1)).exp_().mul_(scale)
            if ctx.smoothing:
                grad_logits -= scale * (ctx.smoothing / products.shape[1])
            grad_logits.scatter_(1, target_columns, grad_logits.gather(1, target_columns) - scale * (1 - ctx.smoothing))
            grad_bias += grad_logits.sum(dim=0)
            products[rows] = grad_logits
        grad_readout, grad_weight = multiply_matrices(products, weight), compute_weight_gradient(products, readout)
        grad_readout = grad_readout[: len(targets)]
        return grad_readout.to(ctx.dtypes[0]), grad_weight.to(ctx.dtypes[1]), grad_bias, None, None
