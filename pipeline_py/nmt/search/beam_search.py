"""Beam search for all decoders and ensembles, batched over sentences and hypotheses.

The rules are those of the papers' toolkit (Nematus, `gen_sample`, after dl4mt):

- A sentence starts with the empty hypothesis and a beam of K = `beam_size` hypotheses.
- Each step extends every live hypothesis by every token and keeps the best extensions by the sum of
  log-probabilities: K minus the number of finished hypotheses.
- A hypothesis that predicts EOS is finished. It leaves the beam, which becomes narrower.
- The search of a sentence ends when K hypotheses are finished, or at the length limit, where live hypotheses are
  cut and count as finished. The limit counts predictions, including EOS.
- Finished hypotheses are ranked by sum / I^α, where I is the number of predictions, including EOS; α = 0 ranks by the
  sum. A cut hypothesis has no EOS, neither in its sum nor in I.
- `<unk>` is a token like any other.
- A length model (tree2seq section 4.3) adds log p(length | source length) to the sum of a hypothesis that predicts EOS,
  before extensions are compared. An ending at an unlikely length therefore falls out of the beam. A cut hypothesis gets
  the term of its length as well. The term is part of the sum that I^α divides (eq. 27 normalises the whole sum).
- Ties between sums go to the better-ranked parent, then to the lower identifier; ties between scores to the hypothesis
  that finished first.

In addition, a sentence ends when no live hypothesis can overtake the n-th best finished one, which cannot change the n
best: log-probabilities only decrease and no term exceeds 0, so that sum / limit^α bounds the score of a live
hypothesis.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pipeline_py.nmt.fast.cuda_graphs import Computation, GraphedLoop
from pipeline_py.nmt.fast.linear import pack_weights
from pipeline_py.nmt.search.beams import (
    BeamHypotheses,
    DecoderInput,
    EndedHypotheses,
    collect_hypotheses,
    compute_log_sum_exp,
)
from pipeline_py.nmt.search.ensemble import StepPredictor, advance_beams, predict_step
from pipeline_py.nmt.search.hypothesis import Backpointers, Hypothesis, LengthModelTerms
from pipeline_py.nmt.search.recorded_beams import RecordedBeams
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.subword.vocabulary import EOS

STEPS_BETWEEN_CHECKS = 4
"""Steps on a GPU between two checks of whether a hypothesis is live, each of which waits for the GPU."""

MAX_RECORDED_BEAM = 32
"""Greatest beam width of recorded searches; the memory of fixed states of Transformers grows with its square."""

STEP_MULTIPLE = 32
"""Multiple to which the maximum number of steps of a batch is rounded up, for few recordings."""


class GreedyHypotheses:
    """The hypotheses of a greedy search for B sentences on a CPU, with exactly the scores of `BeamHypotheses`.

    The rows of finished hypotheses are removed at once.
    """

    def __init__(self, max_lengths: Tensor, length_normalization: float, backpointers: Backpointers) -> None:
        """Start each sentence with the empty hypothesis.

        Args:
            max_lengths: (B,) maximum number of predictions per sentence.
            length_normalization: α.
            backpointers: an empty tree, to which the search adds its prefixes.
        """
        self._max_lengths = max_lengths  # (R,), like all that follows
        self._sentence_indices = torch.arange(len(max_lengths), device=max_lengths.device)
        self._sums = torch.zeros(max_lengths.shape, dtype=torch.float64, device=max_lengths.device)
        self._is_finished = torch.zeros(max_lengths.shape, dtype=torch.bool, device=max_lengths.device)
        self._length_normalization = length_normalization
        self._step = 0
        self._endings: list[EndedHypotheses] = []
        self._backpointers = backpointers
        no_parents = torch.full_like(max_lengths, -1)
        self._nodes = backpointers.append(no_parents, no_parents)

    def extend(self, logits: Tensor, attention: Tensor) -> DecoderInput | None:
        """Extend the hypotheses by one prediction; return None if no hypothesis stays live.

        Args:
            logits: (R, V) of the prediction.
            attention: (R, N) of the prediction.

        Raises:
            FloatingPointError: a logit is not a number.
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
        has_nan, has_ends, is_complete = torch.stack(
            [self._sums.isnan().any(), ends.any(), self._is_finished.all()]
        ).tolist()
        if has_nan:
            raise FloatingPointError("the model predicts something that is not a number")
        if has_ends:
            scores = (self._sums / self._step**self._length_normalization).masked_fill(~ends, -torch.inf)
            self._endings.append(
                EndedHypotheses(
                    torch.full_like(tokens, self._step), self._sentence_indices, scores, self._sums, self._nodes, tokens
                )
            )
        if is_complete:
            return None
        if has_ends:
            return self._remove_finished_rows(tokens)
        self._nodes = self._backpointers.append(tokens, self._nodes)
        return DecoderInput(None, tokens, is_reallocated=False)

    def _remove_finished_rows(self, tokens: Tensor) -> DecoderInput:
        """Keep the rows of live hypotheses."""
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
        """Return the only hypothesis of each sentence, given the attention mask (B, N)."""
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
    """Search for the best translations of a batch of B sentences.

    Args:
        models: networks (`nmt.model.TranslationModel`) whose probabilities are averaged. They are in evaluation mode,
            on the device of their batches, and have the same target vocabulary.
        batches: source sentences for each model.
        beam_size: hypotheses per sentence (K).
        max_lengths: (B,) maximum number of predictions per sentence, at least 1.
        length_normalization: α.
        length_terms: (B, I_max + 1) float64, log p of a translation of 0 … I_max tokens under a length model, where
            I_max is the maximum of `max_lengths`; None: no length model.
        n_best: number of hypotheses per sentence to return, at most `beam_size`.
        should_return_attention: return the attention weights of the first model; memory grows with B · K · I · N.
        predictor: predictor of the models from `open_predictor`, for the searches of many batches; without it, steps
            on a GPU are not recorded.

    Returns:
        For each sentence at most `n_best` hypotheses, best first.

    Raises:
        FloatingPointError: the output of a model is not a number.
        ValueError: `n_best` is not between 1 and `beam_size`.
    """
    if not 1 <= n_best <= beam_size:
        raise ValueError(f"n_best {n_best} is not between 1 and the beam {beam_size}")
    memories = [model.decoder.prepare_search(model.encode(batch)) for model, batch in zip(models, batches, strict=True)]
    attention_mask = memories[0].mask
    step_limit, limits = int(max_lengths.max()), max_lengths.to(attention_mask.device)
    terms = None if length_terms is None else LengthModelTerms(length_terms.to(attention_mask.device), limits)
    packed_weights = pack_weights([model.decoder for model in models])
    if is_cpu(attention_mask.device):
        backpointers = Backpointers(should_return_attention, memories[0].position_count)
        beams = (
            GreedyHypotheses(limits, length_normalization, backpointers)
            if beam_size == n_best == 1 and terms is None
            else BeamHypotheses(beam_size, limits, length_normalization, n_best, backpointers, terms)
        )
        states = _build_states(models, memories)
        with packed_weights:
            return _search_on_cpu(models, memories, states, beams)
    max_steps = -(-step_limit // STEP_MULTIPLE) * STEP_MULTIPLE
    build_beams = partial(
        RecordedBeams.build_initial,
        beam_size=beam_size,
        max_lengths=limits,
        max_steps=max_steps,
        length_normalization=length_normalization,
        n_best=n_best,
        terms=terms,
        has_full_attention=should_return_attention,
        position_count=memories[0].position_count,
    )
    rows = torch.arange(len(limits), device=limits.device).repeat_interleave(beam_size)
    memories = [memory.select_rows(rows) for memory in memories]
    graphs = None if predictor is None or beam_size > MAX_RECORDED_BEAM else predictor.graphs
    with packed_weights:
        return _search_on_gpu(
            models, memories, build_beams, step_limit, attention_mask, max_steps if graphs else None, graphs
        )


def _search_on_cpu(
    models: Sequence[Any],
    memories: Sequence[Any],
    states: Sequence[Any],
    beams: GreedyHypotheses | BeamHypotheses,
) -> list[list[Hypothesis]]:
    """Search from empty hypotheses, given memories and initial states with one row for each sentence."""
    attention_mask, previous = memories[0].mask, None
    while True:
        logits, states, weights = predict_step(models, previous, states, memories)
        decoder_input = beams.extend(logits, weights)
        if decoder_input is None:
            return beams.collect_best(attention_mask)
        previous = decoder_input.tokens
        parents = decoder_input.parent_rows
        if parents is None:
            continue
        states = [state.select_rows(parents) for state in states]
        if decoder_input.is_reallocated:
            memories = [memory.select_rows(parents) for memory in memories]


def _search_on_gpu(
    models: Sequence[Any],
    memories: Sequence[Any],
    build_beams: Callable[..., RecordedBeams],
    step_limit: int,
    attention_mask: Tensor,
    max_steps: int | None,
    graphs: GraphedLoop | None,
) -> list[list[Hypothesis]]:
    """Search with K rows for each sentence.

    Args:
        models: as in `beam_search`.
        memories: memory of each model.
        build_beams: builds the empty hypotheses, given the attention (R, N) of the first prediction.
        step_limit: maximum number of predictions of all sentences.
        attention_mask: (B, N), mask of the first memory without the rows.
        max_steps: T, the number of words for which states of fixed size have room; None: states grow.
        graphs: recordings of `advance_recorded_beams`; None: steps are not recorded.
    """
    # The first step has no previous words, and is not recorded.
    logits, states, weights = predict_step(models, None, _build_states(models, memories, max_steps), memories)
    beams = build_beams(attention=weights)
    beams.extend(logits, weights)
    states = [state.select_rows(beams.parent_rows) for state in states]
    replay: Computation | None = None
    if graphs is not None:
        (beams, states, memories), replay = graphs.load(beams, states, memories)
    step_count = 1
    while step_count < step_limit and (step_count % STEPS_BETWEEN_CHECKS or not beams.is_complete()):
        if replay is None:
            states = advance_beams(models, beams, states, memories)
        else:
            replay()
        step_count += 1
    beams.is_complete()
    return beams.collect_best(step_count, attention_mask.cpu())


def _build_states(models: Sequence[Any], memories: Sequence[Any], max_steps: int | None = None) -> Sequence[Any]:
    parts = zip(models, memories, strict=True)
    return [model.decoder.build_initial_state(memory, max_steps) for model, memory in parts]
