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
- Equal sums: the better-ranked parent first, then the lower identifier. Equal scores: first come, first ranked.

One thing is added, and it cannot change the n best: a sentence also ends when no live hypothesis can overtake the
n-th best finished one. Log-probabilities only fall, so sum / limit^α bounds what a live one can reach.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pipeline_py.nmt.beams import Beams
from pipeline_py.nmt.hypothesis import Hypothesis


@torch.no_grad()
def beam_search(
    models: Sequence[Any],
    batch: Any,
    *,
    beam: int,
    max_lengths: Tensor,
    length_normalization: float = 0.0,
    n_best: int = 1,
    attention: bool = False,
) -> list[list[Hypothesis]]:
    """Search the best translations of a batch of B sentences.

    Args:
        models: an ensemble whose probabilities are averaged; each has what `nmt.model.Model` calls `encode` and
            `decoder`, is in evaluation mode and on the batch's device.
        batch: the source sentences, padded to the longest.
        beam: hypotheses per sentence (K).
        max_lengths: (B,) the most predictions per sentence, at least 1.
        length_normalization: α.
        n_best: how many hypotheses per sentence to return, at most `beam`.
        attention: return whole attention weights, averaged over the models; memory grows with B · K · I · J.

    Returns:
        For each sentence `n_best` hypotheses, best first; fewer where fewer are possible.

    Raises:
        FloatingPointError: where a model's output is not a number.
    """
    memories = [model.encode(batch) for model in models]
    states = [model.decoder.start(memory) for model, memory in zip(models, memories, strict=True)]
    limits = max_lengths.to(batch.source.device)
    beams = Beams(beam, limits, length_normalization, n_best, whole_attention=attention)
    previous: Tensor | None = None
    while True:
        logits, states, weights = _predict(models, previous, states, memories)
        move = beams.advance(logits, weights)
        if move is None:
            return beams.hypotheses(batch.source_lengths.tolist())
        previous = move.tokens
        states = [state.select(move.parents) for state in states]
        if move.anew:
            memories = [memory.select(move.parents) for memory in memories]


def _predict(
    models: Sequence[Any], previous: Tensor | None, states: Sequence[Any], memories: Sequence[Any]
) -> tuple[Tensor, list[Any], Tensor]:
    """One step of all models: logits (R, V) of their mean probability, states, mean attention (R, J)."""
    steps = [
        model.decoder.step(previous, state, memory)
        for model, state, memory in zip(models, states, memories, strict=True)
    ]
    states = [state for _, state, _ in steps]
    if len(models) == 1:
        return steps[0][0], states, steps[0][2]
    logits = torch.stack([logits.log_softmax(1) for logits, _, _ in steps]).logsumexp(0) - math.log(len(models))
    return logits, states, torch.stack([weights for _, _, weights in steps]).mean(0)
