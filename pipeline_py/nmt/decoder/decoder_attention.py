"""How a decoder attends: scores of its queries, weightings of the scores, and the contexts that they make."""

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor, nn

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.decoders import ContextConfig
from pipeline_py.nmt.attention_weighting import (
    Weighting,
    WeightingState,
    multiply_sentence_matrices,
    upcast_half_precision,
)
from pipeline_py.nmt.decoder.base import AttentionResult
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.time_loop import LoopTrace
from pipeline_py.nmt.score.mlp import PerceptronScore


class DecoderAttention(nn.Module):
    """The scores and weightings of a decoder.

    A score is made of the annotations of one encoder and the query that belongs to it. A context's weighting sees one
    score and the query that made it, or the mixture of all and the query of the first; its weights make a vector of
    the annotations of every encoder.
    """

    def __init__(self, system: CompositionConfig, scores: Sequence[nn.Module], weightings: Sequence[Weighting]) -> None:
        super().__init__()
        self.score_encoders = [score.encoder for score in system.scores]
        self.contexts = system.contexts
        self.scores = nn.ModuleList(scores)
        self.weightings = nn.ModuleList(weightings)

    def compute_keys(self, memory: EncoderMemory) -> tuple[Tensor, ...]:
        """Compute for every score what it needs of its encoder's annotations (B, N, M), once for all steps."""
        return tuple(
            score.compute_keys(memory.annotations[encoder], memory.unpadded_indices)  # type: ignore[operator]
            for score, encoder in zip(self.scores, self.score_encoders, strict=True)
        )

    def build_weighting_states(self, memory: EncoderMemory) -> tuple[WeightingState, ...]:
        """Return what the weightings are given at the first step."""
        return tuple(weighting.build_initial_state(memory) for weighting in self.weightings)  # type: ignore[operator]

    def build_trace_factories(self, memory: EncoderMemory) -> list[Callable[[], LoopTrace]]:
        """Say how to trace the scores in a loop."""
        return [
            partial(score.begin_trace, keys, memory.column_counts)
            for score, keys in zip(self.scores, memory.keys, strict=True)
            if isinstance(score, PerceptronScore)
        ]

    def compute_attention_step(
        self,
        queries: Sequence[Tensor],
        weighting_states: Sequence[WeightingState],
        memory: EncoderMemory,
        weight_factors: Tensor | None = None,
        should_collect: bool = False,
    ) -> AttentionResult:
        """Attend with the queries of a step.

        Args:
            queries: for each encoder the query (B, Q) of the scores of its annotations.
            carried: what the weightings carried on from the step before.
            memory: what is attended to, with keys.
            shares: factors of the weights in the sums (B, N); None: 1.
            observe: whether the weightings count.
        """
        scores = [
            upcast_half_precision(score(queries[encoder], keys, memory.row_sentences))
            for score, encoder, keys in zip(self.scores, self.score_encoders, memory.keys, strict=True)
        ]
        weights, hands_on, vectors, observed = [], [], [], []
        summed_up = memory.projections or [memory.annotations] * len(self.contexts)
        parts = zip(self.weightings, self.contexts, weighting_states, summed_up, strict=True)
        for weighting, options, handed_on, annotations in parts:
            given = _select_score(options, scores), queries[self.score_encoders[options.score]], memory, handed_on
            if should_collect:
                observed.append(weighting.collect_statistics(*given))  # type: ignore[operator]
            alpha, handed = weighting(*given)
            weights.append(alpha)
            hands_on.append(handed)
            shared = alpha if weight_factors is None else alpha * weight_factors
            vectors.append(
                [
                    upcast_half_precision(multiply_sentence_matrices(shared, states, memory.row_sentences))
                    for states in annotations
                ]  # c = Σ_j α_j h_j
            )
        return AttentionResult(vectors, weights[0], tuple(hands_on), observed)


def _select_score(options: ContextConfig, scores: Sequence[Tensor]) -> Tensor:
    """Choose a context's score (B, N), or mix it from all."""
    if options.mixture is None:
        return scores[options.score]
    total = options.mixture[0] * scores[0]
    for share, score in zip(options.mixture[1:], scores[1:], strict=True):
        total = total + share * score
    return total
