"""The conditional GRU: two gated recurrent units around the attention (Nematus; SDAtt eq. 1–14)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.config.systems import ConditionalGRU, Model
from pipeline_py.nmt.attention import Carried, Observation, Weighting, at_least_single, context
from pipeline_py.nmt.dropout import SharedDropout, drop
from pipeline_py.nmt.gru import GRU
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.time_loop import LoopLinear, time_loop


@dataclass(frozen=True)
class State:
    """Where the decoder stands in B sentences.

    Attributes:
        hidden: s_i (B, H).
        carried: for each context what its weighting carries from step to step.
    """

    hidden: Tensor
    carried: tuple[Carried, ...]

    def select(self, index: Tensor) -> "State":
        """Gather rows, as `Memory.select` does."""
        return State(
            self.hidden.index_select(0, index),
            tuple(tuple(part.index_select(0, index) for part in carried) for carried in self.carried),
        )


@dataclass(frozen=True)
class Masks:
    """Dropout masks of the recurrence, the same at every step (B, ·); None where nothing is dropped."""

    first: Tensor | None = None
    query: Tensor | None = None
    second: Tensor | None = None
    context: Tensor | None = None


@dataclass(frozen=True)
class Step:
    """What one step of the recurrence leaves.

    Attributes:
        hidden: s_i (B, H).
        contexts: the context vectors side by side (B, C·M), with M the size of an annotation.
        attention: weights of the first context (B, J).
        observed: what each context's weighting counted, if it was asked.
    """

    hidden: Tensor
    contexts: Tensor
    attention: Tensor
    observed: list[Observation]


class Part(nn.Module):
    """s' = GRU1(E[y_{i−1}], s_{i−1}); scores of s'; contexts c_i; s_i = GRU2(c_i, s').

    Initial state tanh(W · summary); readout tanh(L_w E[y_{i−1}] + L_d s_i + Σ L_c c_i) of the embedding's size, each
    matrix with a bias (Nematus), then a softmax with bias. The embedding before the first word is zero.

    Dropout, as in Nematus (one mask for all steps): on what enters W, GRU1 (embedding and s), the scores (s' and
    annotations), GRU2 (context and s'), the readout (embedding, s, contexts) and the softmax.
    """

    def __init__(
        self,
        options: ConditionalGRU,
        sizes: Model,
        memory_size: int,
        target_size: int,
        scores: Sequence[nn.Module],
        weightings: Sequence[Weighting],
        score_of: Sequence[int],
    ) -> None:
        """Put together a decoder.

        Args:
            options: the decoder's own options.
            sizes: of the network.
            memory_size: M, size of an annotation.
            target_size: V, size of the target vocabulary.
            scores: the scores of a step.
            weightings: one for each context.
            score_of: for each context, which of the scores it weighs.
        """
        super().__init__()
        hidden, embedding = sizes.hidden, sizes.embedding
        self.fed = memory_size * (len(weightings) if options.gru_context == "both" else 1)
        self.score_of = list(score_of)
        self.scores = nn.ModuleList(scores)
        self.weightings = nn.ModuleList(weightings)
        self.embedding = nn.Embedding(target_size, embedding)
        self.initial = nn.Linear(memory_size, hidden)
        self.first = GRU(embedding, hidden)
        self.second = GRU(self.fed, hidden)
        self.readout_word = nn.Linear(embedding, embedding)
        self.readout_state = nn.Linear(hidden, embedding)
        self.readout_contexts = nn.ModuleList(nn.Linear(memory_size, embedding) for _ in weightings)
        self.softmax = nn.Linear(embedding, target_size)
        self.dropout = SharedDropout(sizes.dropout)

    def keys(self, states: Tensor) -> tuple[Tensor, ...]:
        """Compute for every score what it needs of the annotations (B, J, M), once for all steps."""
        dropped = drop(states.transpose(0, 1), self.dropout.draw(len(states), states.shape[2], like=states))
        return tuple(score.keys(dropped.transpose(0, 1)) for score in self.scores)  # type: ignore[operator]

    def start(self, memory: Memory) -> State:
        """Return the state before the first word."""
        summary = drop(memory.summary, self.dropout.draw(len(memory.summary), memory.summary.shape[1], memory.summary))
        hidden = torch.tanh(at_least_single(self.initial(summary)))
        return State(hidden, tuple(weighting.start(memory) for weighting in self.weightings))  # type: ignore[operator]

    def step(self, previous: Tensor | None, state: State, memory: Memory) -> tuple[Tensor, State, Tensor]:
        """Predict one word of each sentence.

        Args:
            previous: the words before (B,) int64; None at the first position.
            state: of `start`, or of the step before.
            memory: what is attended to, with keys.

        Returns:
            Logits (B, V), the new state, and the weights of the first context (B, J).
        """
        if previous is None:
            embedded = state.hidden.new_zeros(len(state.hidden), self.embedding.embedding_dim)
        else:
            embedded = self.embedding(previous)
        state, step = self._advance(at_least_single(self.first.input(embedded)), state, memory, Masks())
        logits = self.softmax(self._readout(embedded, step.hidden, step.contexts))
        return at_least_single(logits), state, step.attention

    def loss(self, memory: Memory, target: Tensor, target_lengths: Tensor) -> Tensor:
        """Compute −log p of whole sentences.

        Args:
            memory: what is attended to, with keys.
            target: identifiers (B, I), EOS included.
            target_lengths: (B,), EOS included.

        Returns:
            The sum over each sentence's words (B,), EOS included.
        """
        sentences, length = target.shape
        before = self._words_before(target)
        steps = list(self._steps(before, memory))
        hidden = torch.stack([step.hidden for step in steps])  # (I, B, H)
        contexts = torch.stack([step.contexts for step in steps])  # (I, B, C·M)

        drawn = [self.dropout.draw(sentences, values.shape[2], like=values) for values in (before, hidden, contexts)]
        after = self.dropout.draw(sentences, before.shape[2], like=before)
        # Padding is left out of the largest products: what follows sees the real words only, N of them.
        real = torch.arange(length, device=target.device).unsqueeze(1) < target_lengths  # (I, B)
        place = real.flatten().nonzero().squeeze(1)
        before, hidden, contexts = (
            drop(values, mask).flatten(0, 1).index_select(0, place)
            for values, mask in zip((before, hidden, contexts), drawn, strict=True)
        )
        readout = self._readout(before, hidden, contexts)  # (N, E)
        if after is not None:
            readout = readout * after.index_select(0, place % sentences)
        logits = at_least_single(self.softmax(readout))
        losses = functional.cross_entropy(logits, target.T.flatten().index_select(0, place), reduction="none")
        spread = losses.new_zeros(length * sentences).index_copy(0, place, losses)
        return spread.view(length, sentences).sum(dim=0)

    def observe(self, memory: Memory, target: Tensor, target_lengths: Tensor) -> list[Observation]:
        """Count what the weightings of the contexts find worth counting, when `target` is what is said.

        Returns:
            For each context the sums and counts of its statistics (B,), over each sentence's words, EOS included.
        """
        totals: list[Observation] = [{} for _ in self.weightings]
        for number, step in enumerate(self._steps(self._words_before(target), memory, observe=True)):
            real = target_lengths > number
            for total, observed in zip(totals, step.observed, strict=True):
                for name, (value, count) in observed.items():
                    value_before, count_before = total.get(name, (0, 0))
                    total[name] = (value_before + value * real, count_before + count * real)
        return totals

    def _words_before(self, target: Tensor) -> Tensor:
        """Embed the word before each word, zero before the first: (B, I) → (I, B, E)."""
        return functional.pad(self.embedding(target.T[:-1]), (0, 0, 0, 0, 1, 0))

    def _steps(self, before: Tensor, memory: Memory, observe: bool = False) -> Iterator[Step]:
        """Run the recurrence over whole sentences, given the words before each word (I, B, E)."""
        mask = self.dropout.draw(before.shape[1], before.shape[2], before)
        inputs = self.first.input(drop(before, mask))
        state, masks = self.start(memory), self._masks(memory)
        with time_loop(state.hidden, self._maps()) as hidden:
            state = replace(state, hidden=hidden)
            for position in at_least_single(inputs).unbind(0):
                state, step = self._advance(position, state, memory, masks, observe)
                yield step

    def _maps(self) -> Iterator[LoopLinear]:
        """Find the maps of all parts that are applied at each step."""
        return (module for module in self.modules() if isinstance(module, LoopLinear))

    def _advance(
        self, inputs: Tensor, state: State, memory: Memory, masks: Masks, observe: bool = False
    ) -> tuple[State, Step]:
        """Make the recurrent part of a step; `inputs` (B, 3·H) is what GRU1 makes of the word before."""
        query = self.first.step(inputs, state.hidden, masks.first)  # s'
        asked = drop(query, masks.query)
        scores = [at_least_single(score(asked, keys)) for score, keys in zip(self.scores, memory.keys, strict=True)]
        weights, carried, contexts, observed = [], [], [], []
        for weighting, score, before in zip(self.weightings, self.score_of, state.carried, strict=True):
            if observe:
                observed.append(weighting.observe(scores[score], asked, memory, before))  # type: ignore[operator]
            alpha, after = weighting(scores[score], asked, memory, before)
            weights.append(alpha)
            carried.append(after)
            contexts.append(at_least_single(context(alpha, memory.states)))
        joined = contexts[0] if len(contexts) == 1 else torch.cat(contexts, dim=1)
        fed = self.second.input(drop(joined[:, : self.fed], masks.context))
        hidden = self.second.step(fed, query, masks.second)
        return State(hidden, tuple(carried)), Step(hidden, joined, weights[0], observed)

    def _masks(self, memory: Memory) -> Masks:
        rows, hidden, like = len(memory.states), self.first.hidden, memory.summary
        return Masks(
            first=self.dropout.draw(rows, hidden, like),
            query=self.dropout.draw(rows, hidden, like),
            second=self.dropout.draw(rows, hidden, like),
            context=self.dropout.draw(rows, self.fed, like),
        )

    def _readout(self, before: Tensor, hidden: Tensor, contexts: Tensor) -> Tensor:
        """Join embedding (N, E), state (N, H) and contexts (N, C·M) into (N, E)."""
        total = self.readout_word(before) + self.readout_state(hidden)
        size = contexts.shape[1] // len(self.readout_contexts)
        for linear, vector in zip(self.readout_contexts, contexts.split(size, dim=1), strict=True):
            total = total + linear(vector)
        return torch.tanh(total)
