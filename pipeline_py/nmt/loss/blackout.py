"""BlackOut: a softmax over the word and sampled words (Ji et al. 2016; tree2seq eq. 22–25)."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from pipeline_py.config.systems.decoders import BlackOutLossConfig
from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.data.batch import PackedWords
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.nmt.loss.softmax import SoftmaxLoss
from pipeline_py.subword.vocabulary import EOS


def sampled_outputs(readout: Tensor, weight: Tensor, bias: Tensor, samples: Tensor) -> Tensor:
    """Compute w_k · r + b_k of the rows k that are sampled for a sentence.

    Args:
        readout: r at T positions of each sentence (B, T, E).
        weight: (V, E).
        bias: b_k of each sample (B, K).
        samples: rows of the weight (B, K) int64.

    Returns:
        (B, T, K), in the precision of the weight, also where autocast is on.
    """
    with torch.autocast(readout.device.type, enabled=False):
        outputs: Tensor = _Outputs.apply(readout.to(weight.dtype), weight, bias, samples)
    return outputs


class _Outputs(Function):
    """Gathers the rows in both directions instead of keeping them, since B · K rows are more than the weight has."""

    @staticmethod
    def forward(ctx: Any, readout: Tensor, weight: Tensor, bias: Tensor, samples: Tensor) -> Tensor:
        ctx.save_for_backward(readout, weight, samples)
        outputs = readout.new_empty(*readout.shape[:2], samples.shape[1])
        for group in _groups(readout):
            rows = _gathered(weight, samples[group])
            torch.baddbmm(bias[group].unsqueeze(1), readout[group], rows.transpose(1, 2), out=outputs[group])
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        readout, weight, samples = ctx.saved_tensors
        grad_readout, grad_weight = torch.empty_like(readout), torch.zeros_like(weight)
        for group in _groups(readout):
            torch.bmm(gradient[group], _gathered(weight, samples[group]), out=grad_readout[group])
            grad_rows = torch.bmm(gradient[group].transpose(1, 2), readout[group])
            grad_weight.index_add_(0, samples[group].flatten(), grad_rows.flatten(0, 1))
        return grad_readout, grad_weight, gradient.sum(dim=1), None


def _gathered(weight: Tensor, samples: Tensor) -> Tensor:
    """Gather rows: (V, E), (G, K) → (G, K, E)."""
    return weight.index_select(0, samples.flatten()).view(*samples.shape, -1)


def _groups(readout: Tensor) -> Iterator[slice]:
    """Divide the sentences (B, …) into groups that are computed at once."""
    # The rows of one sentence stay in a CPU's cache: 0.6 of the time of all at once. A GPU wants large products.
    size = 1 if is_cpu(readout.device) else len(readout)
    return (slice(start, start + size) for start in range(0, len(readout), size))


class BlackOutLoss(SoftmaxLoss):
    """−log p̃(y) − Σ_k log(1 − p̃(y^k)) in training; the loss of the full softmax otherwise.

    p̃ is the softmax over y and K drawn words y^k of log q + s, with s what the output layer gives and q = 1/Q. The y^k
    are drawn from Q ∝ count^power, with replacement, once for each sentence; those that are y itself are left out at y.
    (Eq. 22 of tree2seq has lost the log of 1 − p̃; it stands so in Ji et al.)

    A word that does not occur in the training data counts as if it occurred once, so that every q is finite.
    """

    def __init__(self, options: BlackOutLossConfig, target_size: int) -> None:
        super().__init__(options, target_size)
        self.samples, self.power, self.target_size = options.samples, options.power, target_size
        self.cumulative: Tensor
        self.log_weights: Tensor
        for name in ("cumulative", "log_weights"):  # of Q, and log q, (V,) each
            self.register_buffer(name, torch.zeros(0, dtype=torch.float64), persistent=False)

    def learn_frequencies(self, counts: Tensor) -> None:
        """Take how often each word occurs in the training data (V,), EOS and the unknown word included.

        Raises:
            ValueError: the counts are not of the target vocabulary, or of sentences without an end.
        """
        if counts.shape != (self.target_size,):
            raise ValueError(f"counts of shape {tuple(counts.shape)} for a vocabulary of {self.target_size}")
        if not counts[EOS] > 0:
            raise ValueError("the end of sentence has no count; count the identifiers of the training data")
        raised = counts.to(torch.float64).clamp(min=1) ** self.power
        cumulative = raised.cumsum(0)
        device = self.cumulative.device
        self.cumulative = (cumulative / cumulative[-1]).to(device)
        self.log_weights = (cumulative[-1].log() - raised.log()).to(device)

    def forward(self, linear: nn.Linear, readout: Tensor, targets: Tensor, words: PackedWords) -> Tensor:
        """Compute the losses of N words; see `SoftmaxLoss`.

        Raises:
            RuntimeError: in training, before `learn_frequencies`.
        """
        if not self.training:
            return super().forward(linear, readout, targets, words)
        if not len(self.cumulative):
            raise RuntimeError("BlackOut draws words by their frequency; call `learn_frequencies` before training")
        draws = self._draw(words.sentence_count)
        bias = linear.bias + self.log_weights.to(linear.bias.dtype)  # (V,)
        rows = functional.embedding(targets, linear.weight)
        of_targets = (upcast_half_precision(readout) * rows).sum(dim=1) + _taken(bias, targets)

        # Sentences side by side in a rectangle (B, I), since each has draws of its own.
        place, shape = words.rectangle_indices, (words.sentence_count, words.position_count)
        count = words.sentence_count * words.position_count
        side_by_side = readout.new_zeros(count, readout.shape[1]).index_copy(0, place, readout)
        of_draws = sampled_outputs(side_by_side.view(*shape, -1), linear.weight, _taken(bias, draws), draws)
        said = targets.new_zeros(count).index_copy(0, place, targets).view(shape)
        left_out = draws.unsqueeze(1) == said.unsqueeze(2)
        of_draws = of_draws.masked_fill(left_out, torch.finfo(of_draws.dtype).min)
        of_words = of_targets.new_zeros(count).index_copy(0, place, of_targets).view(shape)
        return _losses(of_words, of_draws).flatten().index_select(0, place)

    def _draw(self, count: int) -> Tensor:
        """Draw words for each sentence (B, K) from torch's global generator."""
        # By inverting Q's distribution function: on CUDA, torch.multinomial does not repeat its draws.
        uniform = torch.rand(count, self.samples, dtype=self.cumulative.dtype, device=self.cumulative.device)
        return torch.searchsorted(self.cumulative, uniform, right=True)


def _taken(values: Tensor, index: Tensor) -> Tensor:
    """Take values (V,) by their numbers (…) → (…); as an embedding, whose gradient is fast."""
    return functional.embedding(index, values.unsqueeze(1)).squeeze(-1)


def _losses(of_word: Tensor, of_draws: Tensor) -> Tensor:
    """Compute −log p̃(y) − Σ_k log(1 − p̃(y^k)) of logits (…) and (…, K); a draw that is left out has the least one.

    1 − p̃ of the likeliest draw is the share of all others, which is never 0; those others have p̃ ≤ ½.
    """
    largest, where = of_draws.max(dim=-1, keepdim=True)
    others = of_draws.scatter(-1, where, torch.finfo(of_draws.dtype).min)
    rest = torch.logaddexp(of_word, others.logsumexp(dim=-1))
    total = torch.logaddexp(rest, largest.squeeze(-1))
    of_others = torch.log1p(-torch.exp(others - total.unsqueeze(-1))).sum(dim=-1)
    return (total - of_word) + (total - rest) - of_others
