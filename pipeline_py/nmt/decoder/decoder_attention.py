"""Attention of a decoder: scores of its queries, weightings of the scores, and context vectors."""

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor, nn

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.decoders import ContextConfig
from pipeline_py.nmt.attention_weighting import Weighting, WeightingState, upcast_half_precision
from pipeline_py.nmt.decoder.base import AttentionResult
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.sentence_products import SentenceProduct
from pipeline_py.nmt.fast.time_loop import LoopTrace, TracedScore


class DecoderAttention(nn.Module):
    """The scores and weightings of a decoder.

    A score compares the annotations of one encoder with the query of that encoder. The weighting of a context reads one
    score and its query, or a mixture of all scores and the query of the first. Its weights sum the annotations of every
    encoder to one vector each.
    """

    def __init__(
        self,
        system: CompositionConfig,
        scores: Sequence[nn.Module],
        weightings: Sequence[Weighting],
        encoder_count: int,
    ) -> None:
        super().__init__()
        self.score_encoders = [score.encoder for score in system.scores]
        self.contexts = system.contexts
        self.scores = nn.ModuleList(scores)
        self.weightings = nn.ModuleList(weightings)
        self.context_sums = [[SentenceProduct() for _ in range(encoder_count)] for _ in weightings]

    def compute_keys(self, memory: EncoderMemory) -> tuple[Tensor, ...]:
        """Compute the keys of every score from its encoder's annotations (B, N, M), once for all steps."""
        return tuple(
            score.compute_keys(memory.annotations[encoder], memory.unpadded_indices)  # type: ignore[operator]
            for score, encoder in zip(self.scores, self.score_encoders, strict=True)
        )

    def build_weighting_states(self, memory: EncoderMemory) -> tuple[WeightingState, ...]:
        """Build the state of each weighting before the first step."""
        return tuple(weighting.build_initial_state(memory) for weighting in self.weightings)  # type: ignore[operator]

    def build_trace_factories(self, memory: EncoderMemory, step_count: int) -> list[Callable[[], LoopTrace]]:
        """Return functions that begin tracing the scores and context vectors in a loop of `step_count` steps."""
        scores = [
            partial(score.begin_trace, keys, step_count, memory.column_counts)
            for score, keys in zip(self.scores, memory.keys, strict=True)
            if isinstance(score, TracedScore)
        ]
        sums = [
            partial(context_sum.begin_trace, annotations, step_count)
            for context_sums in self.context_sums
            for context_sum, annotations in zip(context_sums, memory.annotations, strict=True)
        ]
        return [*scores, *sums]

    def compute_attention_step(
        self,
        queries: Sequence[Tensor],
        weighting_states: Sequence[WeightingState],
        memory: EncoderMemory,
        weight_factors: Tensor | None = None,
        should_collect: bool = False,
    ) -> AttentionResult:
        """Compute the attention of one step.

        Args:
            queries: for each encoder the query (B, Q) of the scores of its annotations.
            weighting_states: states of the weightings after the previous step.
            memory: the encoder memory with keys.
            weight_factors: factors (B, N) of the weights in the sums; None: 1.
            should_collect: whether the weightings collect statistics.
        """
        scores = [
            upcast_half_precision(score(queries[encoder], keys, memory.row_sentences))
            for score, encoder, keys in zip(self.scores, self.score_encoders, memory.keys, strict=True)
        ]
        weights, new_states, vectors, statistics = [], [], [], []
        summed_annotations = memory.projections or [memory.annotations] * len(self.contexts)
        parts = zip(
            self.weightings, self.contexts, weighting_states, self.context_sums, summed_annotations, strict=True
        )
        for weighting, options, state, context_sums, annotations in parts:
            inputs = _select_score(options, scores), queries[self.score_encoders[options.score]], memory, state
            if should_collect:
                statistics.append(weighting.collect_statistics(*inputs))  # type: ignore[operator]
            alpha, state = weighting(*inputs)
            weights.append(alpha)
            new_states.append(state)
            scaled = alpha if weight_factors is None else alpha * weight_factors
            vectors.append(  # c = Σ_j α_j h_j
                [
                    upcast_half_precision(context_sum(scaled, matrix, memory.row_sentences))
                    for context_sum, matrix in zip(context_sums, annotations, strict=True)
                ]
            )
        return AttentionResult(vectors, weights[0], tuple(new_states), statistics)


def _select_score(options: ContextConfig, scores: Sequence[Tensor]) -> Tensor:
    """Return the score of a context (B, N), or the mixture of all scores."""
    if options.mixture is None:
        return scores[options.score]
    total = options.mixture[0] * scores[0]
    for share, score in zip(options.mixture[1:], scores[1:], strict=True):
        total = total + share * score
    return total
