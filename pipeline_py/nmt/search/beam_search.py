"""Beam search: one for all decoders and ensembles, batched over sentences and hypotheses.

The rules are those of the papers' toolkit (Nematus, `gen_sample`, after dl4mt):

- A sentence starts with one live hypothesis, the empty one, and room for K = `beam` hypotheses.
- Each step prolongs every live hypothesis by every token and takes the best prolongations by the sum of
  log-probabilities: K of them, less the number of hypotheses finished before.
- A hypothesis that predicts the end of sentence is finished. It leaves the beam, which is narrower from then on.
- The search of a sentence ends when K hypotheses are finished, or at the length limit, where those still live are
  cut and count as finished. The limit counts predictions, the end of sentence included.
- Finished hypotheses are ranked by sum / I^α, where I counts their predictions, the end of sentence included;
  α = 0 ranks by plain sum. A cut hypothesis has no end of sentence, neither in its sum nor in I.
- `<unk>` is a token like any other.
- With a length model (tree2seq section 4.3) the sum of a hypothesis that predicts the end of sentence has the term
  log p(length | source length) added before prolongations are compared: an ending at an unlikely length falls out of
  the beam, and those that go on stay. A hypothesis that is cut gets the term of its length as well, though it has no
  end of sentence. The term is part of the sum that I^α divides (eq. 27 is normalised as a whole), so endings rank
  within a step as they do among all that finished.
- Equal sums: the better-ranked parent first, then the lower identifier. Equal scores: first come, first ranked.

One thing is added, and it cannot change the n best: a sentence also ends when no live hypothesis can overtake the
n-th best finished one. Log-probabilities only fall and no term exceeds 0, so sum / limit^α bounds what a live one can
reach.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pipeline_py.nmt.fast.linear import pack_weights
from pipeline_py.nmt.search.beams import (
    BeamHypotheses,
    DecoderInput,
    EndedHypotheses,
    collect_hypotheses,
    compute_log_sum_exp,
)
from pipeline_py.nmt.search.ensemble import StepPredictor, predict_step
from pipeline_py.nmt.search.hypothesis import Backpointers, Hypothesis, LengthModelTerms
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.subword.vocabulary import EOS


class GreedyHypotheses:
    """The hypotheses of B sentences. Scores are those of `Beams`, to the last digit.

    On a CPU those that end leave at once; a GPU goes on with all rows until the last one ends.
    """

    def __init__(self, max_lengths: Tensor, length_normalization: float, backpointers: Backpointers) -> None:
        """Start each sentence with the empty hypothesis.

        Args:
            max_lengths: (B,) the most predictions per sentence.
            length_normalization: α.
            backpointers: an empty one, which takes the prefixes.
        """
        self._max_lengths = max_lengths  # (R,), like all that follows
        self._sentence_indices = torch.arange(len(max_lengths), device=max_lengths.device)
        self._sums = torch.zeros(max_lengths.shape, dtype=torch.float64, device=max_lengths.device)
        self._is_finished = torch.zeros(max_lengths.shape, dtype=torch.bool, device=max_lengths.device)
        self._length_normalization = length_normalization
        self._step = 0
        self._endings: list[EndedHypotheses] = []
        self._backpointers = backpointers
        nothing = torch.full_like(max_lengths, -1)
        self._nodes = backpointers.append(nothing, nothing)

    def extend(self, logits: Tensor, attention: Tensor) -> DecoderInput | None:
        """Prolong the hypotheses by one prediction; None where none is live afterwards.

        The device is waited for once.

        Args:
            logits: (R, V) of the prediction.
            attention: (R, N) that went into it.

        Raises:
            FloatingPointError: where logits are not numbers.
        """
        self._backpointers.append_attention(attention)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        tokens = logits.argmax(dim=1)
        greatest = logits.gather(1, tokens.unsqueeze(1))
        normalizer = compute_log_sum_exp(logits, greatest)
        self._sums = self._sums + (greatest - normalizer).squeeze(1).clamp(max=0)
        self._step += 1
        ended = (tokens == EOS) | (self._max_lengths <= self._step)
        ends = ended & ~self._is_finished
        self._is_finished = self._is_finished | ended
        wrong, some, all_over = torch.stack([self._sums.isnan().any(), ends.any(), self._is_finished.all()]).tolist()
        if wrong:
            raise FloatingPointError("the model predicts something that is not a number")
        if some:
            scores = (self._sums / self._step**self._length_normalization).masked_fill(~ends, -torch.inf)
            self._endings.append(
                EndedHypotheses(self._step, self._sentence_indices, scores, self._sums, self._nodes, tokens)
            )
        if all_over:
            return None
        if some and is_cpu(tokens.device):
            return self._remove_finished_rows(tokens)
        self._nodes = self._backpointers.append(tokens, self._nodes)
        return DecoderInput(None, tokens, is_reallocated=False)

    def _remove_finished_rows(self, tokens: Tensor) -> DecoderInput:
        """Keep the rows of hypotheses that go on."""
        live = self._is_finished.logical_not().nonzero().squeeze(1)
        self._max_lengths, self._sentence_indices, self._sums = (
            self._max_lengths[live],
            self._sentence_indices[live],
            self._sums[live],
        )
        self._is_finished, tokens = self._is_finished[live], tokens[live]
        self._nodes = self._backpointers.append(tokens, self._nodes[live])
        return DecoderInput(live, tokens, is_reallocated=True)

    def collect_best(self, attention_mask: Tensor) -> list[list[Hypothesis]]:
        """The one of each sentence; `attention_mask` (B, N) is the mask of what there is to attend to."""
        return collect_hypotheses(self._endings, self._backpointers, attention_mask, 1)


@torch.no_grad()
def beam_search(
    models: Sequence[Any],
    batches: Sequence[Any],
    *,
    beam_size: int,
    max_lengths: Tensor,
    length_normalization: float = 0.0,
    length_terms: Tensor | None = None,
    n_best: int = 1,
    should_return_attention: bool = False,
    predictor: StepPredictor | None = None,
) -> list[list[Hypothesis]]:
    """Search the best translations of a batch of B sentences.

    Args:
        models: an ensemble whose probabilities are averaged; each has what `nmt.model.Model` calls `encode` and
            `decoder`, is in evaluation mode, on its batch's device, and predicts the same target vocabulary.
        batches: for each model the source sentences as it reads them, padded to the longest.
        beam_size: hypotheses per sentence (K).
        max_lengths: (B,) the most predictions per sentence, at least 1.
        length_normalization: α.
        length_terms: (B, I_max + 1) float64, of a length model: log p of a translation of 0 … I_max tokens, where
            I_max is the greatest of `max_lengths`; None: there is no length model.
        n_best: how many hypotheses per sentence to return, at most `beam_size`.
        should_return_attention: return whole attention weights, those of the first model; memory grows with B · K · I · N.
        predictor: what `searching` made of the models, for the searches of many batches; None: this one stands alone.

    Returns:
        For each sentence `n_best` hypotheses, best first; fewer where fewer are possible.

    Raises:
        FloatingPointError: where a model's output is not a number.
    """
    memories = [model.decoder.prepare_search(model.encode(batch)) for model, batch in zip(models, batches, strict=True)]
    states: Sequence[Any] = [
        model.decoder.build_initial_state(memory) for model, memory in zip(models, memories, strict=True)
    ]
    attended = memories[0].mask
    limits = max_lengths.to(attended.device)
    terms = None if length_terms is None else LengthModelTerms(length_terms.to(attended.device), limits)
    trail = Backpointers(should_return_attention, memories[0].position_count)
    beams = (
        GreedyHypotheses(limits, length_normalization, trail)
        if beam_size == n_best == 1 and terms is None
        else BeamHypotheses(beam_size, limits, length_normalization, n_best, trail, terms)
    )
    step = predictor or partial(predict_step, models)
    previous: Tensor | None = None
    with pack_weights([model.decoder for model in models]):
        while True:
            logits, states, weights = step(previous, states, memories)
            move = beams.extend(logits, weights)
            if move is None:
                return beams.collect_best(attended.cpu())
            previous = move.tokens
            parents = move.parent_rows
            if parents is None:
                continue
            states = [state.select_rows(parents) for state in states]
            if move.is_reallocated:
                memories = [memory.select_rows(parents) for memory in memories]
