"""The conditional GRU: two gated recurrent units around the attention (Nematus; SDAtt eq. 1–14)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.config.systems import ConditionalGRU, Context, GlobalContext, System
from pipeline_py.nmt.attention import Observation, Weighting, at_least_single, context
from pipeline_py.nmt.decoder.recurrence import Masks, State, Step
from pipeline_py.nmt.dropout import SharedDropout, drop
from pipeline_py.nmt.gru import GRU
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.time_loop import LoopLinear, time_loop


class Part(nn.Module):
    """s' = GRU1(E[y_{i−1}], s_{i−1}); scores of s'; contexts c_i; s_i = GRU2(c_i, s').

    Initial state tanh(W · summary); readout tanh(L_w E[y_{i−1}] + L_d s_i + Σ L_c c_i) of the embedding's size, each
    matrix with a bias (Nematus), then a softmax with bias. The embedding before the first word is zero.

    Of S encoders each has its own initial state, pair of GRUs, and L_d; a context has its weights in common for all
    of them, and of each encoder its own vector, which feeds that encoder's GRU2 and has its own L_c (SDRNMT eq. 9–14).
    A score is made of the annotations of one encoder and the s' of its pair. A context's weighting sees one score and
    the s' that made it, or the mixture of all and the s' of the first.

    Dropout, as in Nematus (one mask for all steps): on what enters W, GRU1 (embedding and s), the scores (s' and
    annotations), GRU2 (context and s'), the readout (embedding, s, contexts) and the softmax.
    """

    def __init__(
        self,
        options: ConditionalGRU,
        system: System,
        target_size: int,
        memory_sizes: Sequence[int],
        scores: Sequence[nn.Module],
        weightings: Sequence[Weighting],
    ) -> None:
        """Put together a decoder.

        Args:
            options: the decoder's own options.
            system: the composition: how scores, encoders and contexts belong together, and sizes.
            target_size: V, size of the target vocabulary.
            memory_sizes: of each encoder M, size of an annotation.
            scores: the scores of a step.
            weightings: one for each context.
        """
        super().__init__()
        self.size, embedding = system.model.hidden, system.model.embedding
        self.encoder_of_score = [score.encoder for score in system.scores]
        self.contexts = system.contexts
        self.fed = _fed(options, system.contexts)
        self.memory_sizes = list(memory_sizes)
        self.scores = nn.ModuleList(scores)
        self.weightings = nn.ModuleList(weightings)
        self.embedding = nn.Embedding(target_size, embedding)
        self.initial = nn.ModuleList(nn.Linear(memory, self.size) for memory in memory_sizes)
        self.first = nn.ModuleList(GRU(embedding, self.size) for _ in memory_sizes)
        self.second = nn.ModuleList(GRU(memory * len(self.fed), self.size) for memory in memory_sizes)
        self.readout_word = nn.Linear(embedding, embedding)
        self.readout_states = nn.ModuleList(nn.Linear(self.size, embedding) for _ in memory_sizes)
        self.readout_contexts = nn.ModuleList(
            nn.Linear(memory, embedding) for _ in weightings for memory in memory_sizes
        )
        self.softmax = nn.Linear(embedding, target_size)
        self.dropout = SharedDropout(system.model.dropout)

    def keys(self, states: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Compute for every score what it needs of its encoder's annotations (B, J, M), once for all steps."""
        dropped = [
            drop(annotations.transpose(0, 1), self.dropout.draw(len(annotations), annotations.shape[2], annotations))
            for annotations in states
        ]
        return tuple(
            score.keys(dropped[encoder].transpose(0, 1))  # type: ignore[operator]
            for score, encoder in zip(self.scores, self.encoder_of_score, strict=True)
        )

    def start(self, memory: Memory) -> State:
        """Return the state before the first word."""
        hidden = []
        for linear, summary in zip(self.initial, memory.summary, strict=True):
            dropped = drop(summary, self.dropout.draw(len(summary), summary.shape[1], summary))
            hidden.append(torch.tanh(at_least_single(linear(dropped))))
        carried = tuple(weighting.start(memory) for weighting in self.weightings)  # type: ignore[operator]
        return State(_side_by_side(hidden), carried)

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
        inputs = [at_least_single(gru.input(embedded)) for gru in self.first]  # type: ignore[operator]
        state, step = self._advance(inputs, state, memory, [Masks() for _ in self.first])
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
        hidden = torch.stack([step.hidden for step in steps])  # (I, B, S·H)
        contexts = torch.stack([step.contexts for step in steps])  # (I, B, ·)

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
        dropped = drop(before, mask)
        inputs = [  # (I, B, 3·H) each
            at_least_single(gru.input(dropped))  # type: ignore[operator]
            for gru in self.first
        ]
        state, masks = self.start(memory), self._masks(memory)
        with time_loop(state.hidden, self._maps()) as hidden:
            state = replace(state, hidden=hidden)
            for position in zip(*(values.unbind(0) for values in inputs), strict=True):
                state, step = self._advance(position, state, memory, masks, observe)
                yield step

    def _maps(self) -> Iterator[LoopLinear]:
        """Find the maps of all parts that are applied at each step."""
        return (module for module in self.modules() if isinstance(module, LoopLinear))

    def _advance(
        self, inputs: Sequence[Tensor], state: State, memory: Memory, masks: Sequence[Masks], observe: bool = False
    ) -> tuple[State, Step]:
        """Make the recurrent part of a step; `inputs` (B, 3·H) is what each GRU1 makes of the word before."""
        before = state.hidden.split(self.size, dim=1)
        queries = [  # s'
            gru.step(values, hidden, mask.first)  # type: ignore[operator]
            for gru, values, hidden, mask in zip(self.first, inputs, before, masks, strict=True)
        ]
        asked = [drop(query, mask.query) for query, mask in zip(queries, masks, strict=True)]
        scores = [
            at_least_single(score(asked[encoder], keys))
            for score, encoder, keys in zip(self.scores, self.encoder_of_score, memory.keys, strict=True)
        ]
        weights, carried, contexts, observed = [], [], [], []
        for weighting, options, handed_on in zip(self.weightings, self.contexts, state.carried, strict=True):
            given = _score_of(options, scores), asked[self.encoder_of_score[options.score]], memory, handed_on
            if observe:
                observed.append(weighting.observe(*given))  # type: ignore[operator]
            alpha, hands_on = weighting(*given)
            weights.append(alpha)
            carried.append(hands_on)
            contexts.append([at_least_single(context(alpha, states)) for states in memory.states])
        hidden = []
        for number, (gru, query, mask) in enumerate(zip(self.second, queries, masks, strict=True)):
            fed = _side_by_side([contexts[place][number] for place in self.fed])
            values = gru.input(drop(fed, mask.context))  # type: ignore[operator]
            hidden.append(gru.step(values, query, mask.second))  # type: ignore[operator]
        joined = _side_by_side(hidden)
        vectors = _side_by_side([vector for of_encoders in contexts for vector in of_encoders])
        return State(joined, tuple(carried)), Step(joined, vectors, weights[0], observed)

    def _masks(self, memory: Memory) -> list[Masks]:
        rows, like = len(memory.mask), memory.states[0]
        return [
            Masks(
                first=self.dropout.draw(rows, self.size, like),
                query=self.dropout.draw(rows, self.size, like),
                second=self.dropout.draw(rows, self.size, like),
                context=self.dropout.draw(rows, memory_size * len(self.fed), like),
            )
            for memory_size in self.memory_sizes
        ]

    def _readout(self, before: Tensor, hidden: Tensor, contexts: Tensor) -> Tensor:
        """Join embedding (N, E), states (N, S·H) and contexts (N, ·) into (N, E)."""
        total = self.readout_word(before)
        for linear, vector in zip(self.readout_states, hidden.split(self.size, dim=1), strict=True):
            total = total + linear(vector)
        sizes = self.memory_sizes * len(self.weightings)
        for linear, vector in zip(self.readout_contexts, contexts.split(sizes, dim=1), strict=True):
            total = total + linear(vector)
        return torch.tanh(total)


def _fed(options: ConditionalGRU, contexts: Sequence[Context]) -> list[int]:
    """Say which contexts the second GRU is fed, by number: all, or the global one, or the first if none is global."""
    if options.gru_context == "both":
        return list(range(len(contexts)))
    return [next((number for number, context in enumerate(contexts) if isinstance(context, GlobalContext)), 0)]


def _score_of(options: Context, scores: Sequence[Tensor]) -> Tensor:
    """Choose a context's score (B, J), or mix it from all."""
    if options.mixture is None:
        return scores[options.score]
    total = options.mixture[0] * scores[0]
    for share, score in zip(options.mixture[1:], scores[1:], strict=True):
        total = total + share * score
    return total


def _side_by_side(vectors: Sequence[Tensor]) -> Tensor:
    """Join vectors (B, ·) of each sentence."""
    return vectors[0] if len(vectors) == 1 else torch.cat(list(vectors), dim=1)
