"""What all recurrent decoders share: words before, the loop over time, whole sentences, and steps of a search."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.nmt.attention import Observation, as_multiplied, at_least_single
from pipeline_py.nmt.data.batch import Words
from pipeline_py.nmt.decoder.attending import Attending
from pipeline_py.nmt.decoder.base import Attention, Decoder, Parts, State, Step, at_places, distinct, real_words
from pipeline_py.nmt.dropout import SharedDropout
from pipeline_py.nmt.fast.linear import LoopLinear
from pipeline_py.nmt.fast.time_loop import open_time_loop
from pipeline_py.nmt.memory import Memory


class RecurrentDecoder(Attending, Decoder):
    """A recurrence that attends, a readout, and an output layer.

    Attributes:
        reads_word: whether the readout reads the embedding of the word before too, as the first of its vectors.
    """

    reads_word = False

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.system, parts.scores, parts.weightings)
        self.embedding = nn.Embedding(parts.target_size, parts.system.model.embedding)
        self.dropout = SharedDropout(parts.system.model.dropout_rates)
        self.criterion = parts.loss

    @abstractmethod
    def _first_hidden(self, memory: Memory) -> Tensor:
        """Return what the recurrence starts from (B, ·)."""

    @abstractmethod
    def _inputs(self, embedded: Tensor) -> Sequence[Tensor]:
        """Compute what the recurrence reads of the words before (N, E): (N, ·) each; no step changes it."""

    @abstractmethod
    def _masks(self, memory: Memory) -> Any:
        """Draw the dropout masks of the recurrence."""

    @abstractmethod
    def _advance(
        self, inputs: Sequence[Tensor], state: State, memory: Memory, masks: Any = None, observe: bool = False
    ) -> tuple[State, Step]:
        """Make the recurrent part of a step.

        Args:
            inputs: what `_inputs` made of the word before (B, ·) each.
            state: of the step before.
            memory: what is attended to, with keys.
            masks: of `_masks`; None where nothing is dropped.
            observe: whether the weightings count.
        """

    @abstractmethod
    def _readout(self, vectors: Sequence[Tensor], projected: bool = False) -> Tensor:
        """Make what the output layer reads (N, ·) of a step's vectors (N, ·), as `Step` describes them."""

    def _readout_masks(self, vectors: Sequence[Tensor], sentences: int) -> list[Tensor | None]:
        """Draw dropout masks (B, ·) of what the readout reads (N, ·)."""
        return [None for _ in vectors]

    def start(self, memory: Memory) -> State:
        """Return the state before the first word."""
        return State(self._first_hidden(memory), self.carried(memory), first=True)

    def step(self, previous: Tensor | None, state: State, memory: Memory) -> tuple[Tensor, State, Tensor]:
        """Predict one word of each sentence; see `Decoder`."""
        place = None
        if previous is None:
            embedded = state.different.new_zeros(len(state.different), self.embedding.embedding_dim)
        else:
            words, place = distinct(previous)
            embedded = self.embedding(words)
        inputs = [at_places(values, place) for values in self._inputs(embedded)]
        embedded = at_places(embedded, place)
        state, step = self._advance(inputs, state, memory)
        vectors = [embedded, *step.vectors] if self.reads_word else step.vectors
        logits = self.softmax(self._readout(vectors, step.projected))
        return at_least_single(logits), state, step.attended.weights

    def word_losses(self, memory: Memory, target: Tensor, words: Words) -> Tensor:
        """Compute the loss of each word; see `Decoder`."""
        if not words.in_order:
            memory = memory.gather(words.order)
        before = self._words_before(target, words)
        steps = list(self._steps(before, words, memory))
        vectors = [torch.cat(of_steps) for of_steps in zip(*(step.vectors for step in steps), strict=True)]
        if self.reads_word:
            vectors.insert(0, before)

        drawn = self._readout_masks(vectors, words.sentences)
        after = self.dropout.draw("readout", words.sentences, self.softmax.in_features, like=before)
        readout = self._readout([words.drop(values, mask) for values, mask in zip(vectors, drawn, strict=True)])
        losses = self.criterion(self.softmax, words.drop(readout, after), words.pack(target.T), words)
        return words.unpack(losses)

    @torch.no_grad()
    def observe(self, memory: Memory, target: Tensor, target_lengths: Tensor) -> list[Observation]:
        """Sum up the statistics of the weightings; see `Decoder`."""
        totals: list[Observation] = [{} for _ in self.weightings]
        words = Words.rectangle(*target.shape).to(target.device)
        for number, step in enumerate(self._steps(self._words_before(target, words), words, memory, observe=True)):
            real = target_lengths > number
            for total, observed in zip(totals, step.attended.observed, strict=True):
                for name, (value, count) in observed.items():
                    value_before, count_before = total.get(name, (0, 0))
                    total[name] = (value_before + value * real, count_before + count * real)
        return totals

    @torch.no_grad()
    def attend(self, memory: Memory, target: Tensor, target_lengths: Tensor) -> Attention:
        """Say what is attended to at each word; see `Decoder`."""
        weights, shares, words = [], [], Words.rectangle(*target.shape).to(target.device)
        for step in self._steps(self._words_before(target, words), words, memory):
            weights.append(step.attended.weights)
            shares.append(step.phrase_weight)
        real = real_words(target.shape[1], target_lengths)
        of_phrases = [share for share in shares if share is not None]
        return Attention(
            torch.stack(weights) * real.unsqueeze(2), torch.stack(of_phrases) * real if of_phrases else None
        )

    def _words_before(self, target: Tensor, words: Words) -> Tensor:
        """Embed the word before each word, zero before the first: (B, I) → (N, E)."""
        place = words.place[words.sentences :] - words.sentences
        return functional.pad(self.embedding(target.T.flatten().index_select(0, place)), (0, 0, words.sentences, 0))

    def _steps(self, before: Tensor, words: Words, memory: Memory, observe: bool = False) -> Iterator[Step]:
        """Run the recurrence over whole sentences, in the order of their words.

        Args:
            before: the word before each word (N, E).
            words: where they stand.
            memory: what is attended to, with keys, in the same order.
            observe: whether the weightings count.

        Yields:
            At each position what it leaves of the sentences that are so long.
        """
        mask = self.dropout.draw("embeddings", words.sentences, before.shape[1], before)
        inputs = self._inputs(words.drop(before, mask))
        state, masks = self.start(memory), self._masks(memory)
        memory = replace(memory, states=tuple(map(as_multiplied, memory.states)))
        # All whose gradient may wait, since all they are applied to comes from the state.
        maps = [partial(module.begin_trace, len(before)) for module in self.modules() if isinstance(module, LoopLinear)]
        with open_time_loop(state.different, [*maps, *self.traced(memory)]) as hidden:
            state = replace(state, different=hidden)
            positions = zip(*(values.split([*words.steps]) for values in inputs), strict=True)
            for rows, position in zip(words.steps, positions, strict=True):
                if rows < len(state.different):
                    state, memory = state.leading(rows), memory.leading(rows)
                state, step = self._advance(position, state, memory, masks, observe)
                yield step
