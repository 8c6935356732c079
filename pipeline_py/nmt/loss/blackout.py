"""BlackOut loss: a softmax over the word and sampled words (Ji et al. 2016; tree2seq eq. 22–25)."""

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
from pipeline_py.nmt.loss.softmax import SoftmaxLoss
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.subword.vocabulary import EOS


def compute_sampled_logits(readout: Tensor, weight: Tensor, sample_biases: Tensor, sample_ids: Tensor) -> Tensor:
    """Compute w_k · r + b_k for the sampled rows k of each sentence.

    Args:
        readout: r at T positions of each sentence (B, T, E).
        weight: (V, E).
        sample_biases: b_k of each sample (B, K).
        sample_ids: rows of the weight (B, K) int64.

    Returns:
        Logits (B, T, K) in the precision of the weight, also under autocast.
    """
    with torch.autocast(readout.device.type, enabled=False):
        outputs: Tensor = _SampledLogitsFunction.apply(readout.to(weight.dtype), weight, sample_biases, sample_ids)
    return outputs


class _SampledLogitsFunction(Function):
    """Logits of sampled rows; the backward pass gathers the B · K rows again instead of storing them."""

    @staticmethod
    def forward(ctx: Any, readout: Tensor, weight: Tensor, sample_biases: Tensor, sample_ids: Tensor) -> Tensor:
        ctx.save_for_backward(readout, weight, sample_ids)
        outputs = readout.new_empty(*readout.shape[:2], sample_ids.shape[1])
        for group in _split_sentences(readout):
            rows = _gather_weight_rows(weight, sample_ids[group])
            torch.baddbmm(sample_biases[group].unsqueeze(1), readout[group], rows.transpose(1, 2), out=outputs[group])
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        readout, weight, samples = ctx.saved_tensors
        grad_readout, grad_weight = torch.empty_like(readout), torch.zeros_like(weight)
        for group in _split_sentences(readout):
            torch.bmm(gradient[group], _gather_weight_rows(weight, samples[group]), out=grad_readout[group])
            grad_rows = torch.bmm(gradient[group].transpose(1, 2), readout[group])
            grad_weight.index_add_(0, samples[group].flatten(), grad_rows.flatten(0, 1))
        return grad_readout, grad_weight, gradient.sum(dim=1), None


def _gather_weight_rows(weight: Tensor, sample_ids: Tensor) -> Tensor:
    """Gather rows: (V, E), (G, K) → (G, K, E)."""
    return weight.index_select(0, sample_ids.flatten()).view(*sample_ids.shape, -1)


def _split_sentences(readout: Tensor) -> Iterator[slice]:
    """Divide the sentences (B, …) into groups that are computed at once."""
    # On a CPU the rows of one sentence stay in the cache (0.6 of the time of one large product).
    size = 1 if is_cpu(readout.device) else len(readout)
    return (slice(start, start + size) for start in range(0, len(readout), size))


class BlackOutLoss(SoftmaxLoss):
    """−log p̃(y) − Σ_k log(1 − p̃(y^k)) in training; the loss of the full softmax otherwise.

    p̃ is the softmax over y and K drawn words y^k of log q + s, with the logits s of the output layer and q = 1/Q.
    The y^k are sampled from Q ∝ count^power with replacement, once for each sentence; samples equal to y are ignored.
    (Eq. 22 of tree2seq omits the log of 1 − p̃, see Ji et al.)

    Words that do not occur in the training data have a count of 1.
    """

    def __init__(self, options: BlackOutLossConfig, target_vocabulary_size: int) -> None:
        super().__init__(options, target_vocabulary_size)
        self.sample_count, self.frequency_power, self.target_vocabulary_size = (
            options.samples,
            options.power,
            target_vocabulary_size,
        )
        self.cumulative_distribution: Tensor
        self.log_weights: Tensor
        for name in ("cumulative_distribution", "log_weights"):  # of Q, and log q, (V,) each
            self.register_buffer(name, torch.zeros(0, dtype=torch.float64), persistent=False)

    def set_word_frequencies(self, word_counts: Tensor) -> None:
        """Set the counts of words in the training data (V,), EOS and the unknown word included.

        Raises:
            ValueError: the counts do not fit the target vocabulary, or that of EOS is 0.
        """
        if word_counts.shape != (self.target_vocabulary_size,):
            raise ValueError(
                f"counts of shape {tuple(word_counts.shape)} for a vocabulary of {self.target_vocabulary_size}"
            )
        if not word_counts[EOS] > 0:
            raise ValueError("the end of sentence has no count; count the identifiers of the training data")
        raised = word_counts.to(torch.float64).clamp(min=1) ** self.frequency_power
        cumulative = raised.cumsum(0)
        device = self.cumulative_distribution.device
        self.cumulative_distribution = (cumulative / cumulative[-1]).to(device)
        self.log_weights = (cumulative[-1].log() - raised.log()).to(device)

    def forward(self, output_layer: nn.Linear, readout: Tensor, targets: Tensor, packed_words: PackedWords) -> Tensor:
        """Compute the BlackOut losses of N words in training, otherwise their softmax losses; see `SoftmaxLoss`.

        Raises:
            RuntimeError: in training, before `set_word_frequencies`.
        """
        if not self.training:
            return super().forward(output_layer, readout, targets, packed_words)
        if not len(self.cumulative_distribution):
            raise RuntimeError("BlackOut draws words by their frequency; call `set_word_frequencies` before training")
        draws = self._draw_samples(packed_words.sentence_count)
        bias = output_layer.bias + self.log_weights.to(output_layer.bias.dtype)  # (V,)
        rows = functional.embedding(targets, output_layer.weight)
        target_logits = (upcast_half_precision(readout) * rows).sum(dim=1) + _gather_values(bias, targets)

        # A rectangle (B, I) of sentences, since samples differ between sentences.
        indices, shape = packed_words.rectangle_indices, (packed_words.sentence_count, packed_words.position_count)
        count = packed_words.sentence_count * packed_words.position_count
        grouped_readout = readout.new_zeros(count, readout.shape[1]).index_copy(0, indices, readout)
        sample_logits = compute_sampled_logits(
            grouped_readout.view(*shape, -1), output_layer.weight, _gather_values(bias, draws), draws
        )
        sentence_targets = targets.new_zeros(count).index_copy(0, indices, targets).view(shape)
        target_mask = draws.unsqueeze(1) == sentence_targets.unsqueeze(2)
        sample_logits = sample_logits.masked_fill(target_mask, torch.finfo(sample_logits.dtype).min)
        word_logits = target_logits.new_zeros(count).index_copy(0, indices, target_logits).view(shape)
        return _compute_losses(word_logits, sample_logits).flatten().index_select(0, indices)

    def _draw_samples(self, sentence_count: int) -> Tensor:
        """Draw words for each sentence (B, K) from torch's global generator."""
        # Inverse transform sampling: on CUDA, torch.multinomial is not reproducible.
        uniform = torch.rand(
            sentence_count,
            self.sample_count,
            dtype=self.cumulative_distribution.dtype,
            device=self.cumulative_distribution.device,
        )
        return torch.searchsorted(self.cumulative_distribution, uniform, right=True)


def _gather_values(values: Tensor, indices: Tensor) -> Tensor:
    """Gather values (V,) at indices (…): (…). An embedding has a fast gradient."""
    return functional.embedding(indices, values.unsqueeze(1)).squeeze(-1)


def _compute_losses(word_logits: Tensor, sample_logits: Tensor) -> Tensor:
    """Compute −log p̃(y) − Σ_k log(1 − p̃(y^k)) of logits (…) and (…, K).

    For the most probable sample, 1 − p̃ is computed as the sum of all other probabilities, which is never 0; the other
    samples have p̃ ≤ ½.
    """
    largest, largest_index = sample_logits.max(dim=-1, keepdim=True)
    other_logits = sample_logits.scatter(-1, largest_index, torch.finfo(sample_logits.dtype).min)
    rest = torch.logaddexp(word_logits, other_logits.logsumexp(dim=-1))
    total = torch.logaddexp(rest, largest.squeeze(-1))
    other_terms = torch.log1p(-torch.exp(other_logits - total.unsqueeze(-1))).sum(dim=-1)
    return (total - word_logits) + (total - rest) - other_terms
