"""How a decoder attends: scores of its queries, weightings of the scores, and the contexts that they make."""

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor, nn

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.decoders import ContextConfig
from pipeline_py.nmt.attention import Carried, Weighting, at_least_single, multiplied
from pipeline_py.nmt.decoder.base import Attended
from pipeline_py.nmt.fast.time_loop import LoopTrace
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.score.mlp import PerceptronScore


class Attending(nn.Module):
    """The scores and weightings of a decoder.

    A score is made of the annotations of one encoder and the query that belongs to it. A context's weighting sees one
    score and the query that made it, or the mixture of all and the query of the first; its weights make a vector of
    the annotations of every encoder.
    """

    def __init__(self, system: CompositionConfig, scores: Sequence[nn.Module], weightings: Sequence[Weighting]) -> None:
        super().__init__()
        self.encoder_of_score = [score.encoder for score in system.scores]
        self.contexts = system.contexts
        self.scores = nn.ModuleList(scores)
        self.weightings = nn.ModuleList(weightings)

    def keys(self, memory: Memory) -> tuple[Tensor, ...]:
        """Compute for every score what it needs of its encoder's annotations (B, N, M), once for all steps."""
        return tuple(
            score.keys(memory.states[encoder], memory.there)  # type: ignore[operator]
            for score, encoder in zip(self.scores, self.encoder_of_score, strict=True)
        )

    def carried(self, memory: Memory) -> tuple[Carried, ...]:
        """Return what the weightings are given at the first step."""
        return tuple(weighting.start(memory) for weighting in self.weightings)  # type: ignore[operator]

    def traced(self, memory: Memory) -> list[Callable[[], LoopTrace]]:
        """Say how to trace the scores in a loop."""
        return [
            partial(score.traced, keys, memory.reach)
            for score, keys in zip(self.scores, memory.keys, strict=True)
            if isinstance(score, PerceptronScore)
        ]

    def attention_step(
        self,
        queries: Sequence[Tensor],
        carried: Sequence[Carried],
        memory: Memory,
        shares: Tensor | None = None,
        observe: bool = False,
    ) -> Attended:
        """Attend with the queries of a step.

        Args:
            queries: for each encoder the query (B, Q) of the scores of its annotations.
            carried: what the weightings carried on from the step before.
            memory: what is attended to, with keys.
            shares: factors of the weights in the sums (B, N); None: 1.
            observe: whether the weightings count.
        """
        scores = [
            at_least_single(score(queries[encoder], keys, memory.owners))
            for score, encoder, keys in zip(self.scores, self.encoder_of_score, memory.keys, strict=True)
        ]
        weights, hands_on, vectors, observed = [], [], [], []
        summed_up = memory.projections or [memory.states] * len(self.contexts)
        parts = zip(self.weightings, self.contexts, carried, summed_up, strict=True)
        for weighting, options, handed_on, annotations in parts:
            given = _score_of(options, scores), queries[self.encoder_of_score[options.score]], memory, handed_on
            if observe:
                observed.append(weighting.observe(*given))  # type: ignore[operator]
            alpha, handed = weighting(*given)
            weights.append(alpha)
            hands_on.append(handed)
            shared = alpha if shares is None else alpha * shares
            vectors.append(
                [
                    at_least_single(multiplied(shared, states, memory.owners)) for states in annotations
                ]  # c = Σ_j α_j h_j
            )
        return Attended(vectors, weights[0], tuple(hands_on), observed)


def _score_of(options: ContextConfig, scores: Sequence[Tensor]) -> Tensor:
    """Choose a context's score (B, N), or mix it from all."""
    if options.mixture is None:
        return scores[options.score]
    total = options.mixture[0] * scores[0]
    for share, score in zip(options.mixture[1:], scores[1:], strict=True):
        total = total + share * score
    return total
