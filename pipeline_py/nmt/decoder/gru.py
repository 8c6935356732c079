"""A GRU with input feeding, and a weight of phrases against words (hierarchical sections 2.2 and 3.4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pipeline_py.config.systems.decoders import GRUDecoderConfig as Options
from pipeline_py.nmt.attention import at_least_single
from pipeline_py.nmt.decoder.base import Parts, State, Step
from pipeline_py.nmt.decoder.recurrent import RecurrentDecoder
from pipeline_py.nmt.fast.linear import Linear, LoopLinear, OutputLayer
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.recurrence.original_gru import OriginalGRU


@dataclass(frozen=True)
class Masks:
    """Dropout masks of the recurrence, the same at every step (B, H); None where nothing is dropped."""

    state: Tensor | None = None
    fed: Tensor | None = None


class GRUDecoder(RecurrentDecoder):
    """s_j = GRU([E[y_{j−1}]; c_{j−1}], s_{j−1}); c_j = tanh(W [s_j; d_j] + b); softmax of tanh(L c_j + b).

    s_0 = tanh(W · summary + b); c_0 and the embedding before the first word are zero. The query of the score is s_j;
    d_j are the vectors of all contexts. The paper goes from c_j to the softmax; its numbers of parameters need a layer
    of the embedding's size between them, which has a tanh here, as the readout of dl4mt, on which the paper builds.

    A context's vector is Σ α h over words and phrases (eq. 2), or with a `phrase_weight` (1 − β) Σ α h over the words
    + β Σ α h over the phrases (eq. 4), with α from one softmax over both. β is given, or β_j = σ(W_β c_{j−1} + b_β).

    Dropout, which the paper does not have (one mask for all steps): on the embedding, on s_{j−1} on its way into the
    recurrent products, on c_{j−1} as it is fed, and on what enters the softmax.
    """

    def __init__(self, options: Options, parts: Parts) -> None:
        super().__init__(parts)
        model = parts.system.model
        (memory_size,), (summary_size,) = parts.memory_sizes, parts.summary_sizes
        self.size, self.phrase_weight = model.hidden, options.phrase_weight
        self.initial = Linear(summary_size, self.size)
        self.gru = OriginalGRU(model.embedding, self.size)
        self.feed = LoopLinear(self.size, 3 * self.size, bias=False)  # the columns of W x that read c
        self.combine = LoopLinear(self.size + memory_size * len(parts.weightings), self.size, bias=True)
        self.gate = LoopLinear(self.size, 1, bias=True) if options.phrase_weight == "learned" else None
        self.readout = Linear(self.size, model.embedding)
        self.softmax = OutputLayer(model.embedding, parts.target_size)

    def _first_hidden(self, memory: Memory) -> Tensor:
        state = torch.tanh(at_least_single(self.initial(memory.summary[0])))
        return torch.cat([state, torch.zeros_like(state)], dim=1)

    def _inputs(self, embedded: Tensor) -> list[Tensor]:
        return [at_least_single(self.gru.input(embedded))]

    def _masks(self, memory: Memory) -> Masks:
        rows, like = len(memory.mask), memory.states[0]
        return Masks(
            self.dropout.draw("states", rows, self.size, like), self.dropout.draw("states", rows, self.size, like)
        )

    def _advance(
        self,
        inputs: Sequence[Tensor],
        state: State,
        memory: Memory,
        masks: Masks | None = None,
        observe: bool = False,
    ) -> tuple[State, Step]:
        masks = masks or Masks()
        before, fed = state.hidden.chunk(2, dim=1)
        phrase_weight = self._phrase_weight(fed)
        values = inputs[0] + self.feed(fed, masks.fed)
        hidden = self.gru.step(values, before, masks.state)
        shares = None if phrase_weight is None else _shares(phrase_weight, memory)
        attended = self.attention_step([hidden], state.carried, memory, shares, observe)
        vectors = [vector for (vector,) in attended.vectors]
        combined = torch.tanh(at_least_single(self.combine(torch.cat([hidden, *vectors], dim=1))))
        step = Step((combined,), attended, phrase_weight)
        return State(torch.cat([hidden, combined], dim=1), attended.carried), step

    def _phrase_weight(self, fed: Tensor) -> Tensor | None:
        """Return β_j (B,), given c_{j−1} (B, H)."""
        if self.gate is not None:
            return torch.sigmoid(at_least_single(self.gate(fed))).squeeze(1)
        return None if self.phrase_weight is None else fed.new_full((len(fed),), float(self.phrase_weight))

    def _readout(self, vectors: Sequence[Tensor], projected: bool = False) -> Tensor:
        """Make a vector of the embedding's size of c (N, H)."""
        return torch.tanh(self.readout(vectors[0]))


def _shares(phrase_weight: Tensor, memory: Memory) -> Tensor:
    """Say what each column of the memory counts in the sum (B, N): words 1 − β, phrases β (B,)."""
    of_words = torch.arange(memory.mask.shape[1], device=phrase_weight.device) < memory.words
    of_phrases = phrase_weight.unsqueeze(1)
    return torch.where(of_words, 1 - of_phrases, of_phrases)
