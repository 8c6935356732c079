"""What all recurrent decoders share: words before, the loop over time, whole sentences, and steps of a search."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.nmt.attention_weighting import AttentionStatistics, cast_to_product_dtype, upcast_half_precision
from pipeline_py.nmt.data.batch import PackedWords
from pipeline_py.nmt.decoder.base import (
    AttentionWeights,
    Decoder,
    DecoderParts,
    RecurrentState,
    RecurrentStep,
    build_word_mask,
    expand_distinct,
    find_distinct,
)
from pipeline_py.nmt.decoder.decoder_attention import DecoderAttention
from pipeline_py.nmt.dropout import SharedDropout
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import LoopLinear
from pipeline_py.nmt.fast.time_loop import open_time_loop


class RecurrentDecoder(DecoderAttention, Decoder):
    """A recurrence that attends, a readout, and an output layer.

    Attributes:
        reads_previous_word: whether the readout reads the embedding of the word before too, as the first of its vectors.
    """

    reads_previous_word = False

    def __init__(self, parts: DecoderParts) -> None:
        super().__init__(parts.composition, parts.scores, parts.weightings)
        self.embedding = nn.Embedding(parts.target_vocabulary_size, parts.composition.model.embedding)
        self.dropout = SharedDropout(parts.composition.model.dropout_rates)
        self.criterion = parts.loss

    @abstractmethod
    def _compute_initial_state(self, memory: EncoderMemory) -> Tensor:
        """Return what the recurrence starts from (B, ·)."""

    @abstractmethod
    def _compute_inputs(self, embedded: Tensor) -> Sequence[Tensor]:
        """Compute what the recurrence reads of the words before (N, E): (N, ·) each; no step changes it."""

    @abstractmethod
    def _draw_masks(self, memory: EncoderMemory) -> Any:
        """Draw the dropout masks of the recurrence."""

    @abstractmethod
    def _compute_step(
        self,
        inputs: Sequence[Tensor],
        state: RecurrentState,
        memory: EncoderMemory,
        masks: Any = None,
        should_collect: bool = False,
    ) -> tuple[RecurrentState, RecurrentStep]:
        """Make the recurrent part of a step.

        Args:
            inputs: what `_compute_inputs` made of the word before (B, ·) each.
            state: of the step before.
            memory: what is attended to, with keys.
            masks: of `_draw_masks`; None where nothing is dropped.
            should_collect: whether the weightings count.
        """

    @abstractmethod
    def _compute_readout(self, readout_inputs: Sequence[Tensor], is_projected: bool = False) -> Tensor:
        """Make what the output layer reads (N, ·) of a step's vectors (N, ·), as `Step` describes them."""

    def _draw_readout_masks(self, readout_inputs: Sequence[Tensor], sentence_count: int) -> list[Tensor | None]:
        """Draw dropout masks (B, ·) of what the readout reads (N, ·)."""
        return [None for _ in readout_inputs]

    def build_initial_state(self, memory: EncoderMemory) -> RecurrentState:
        """Return the state before the first word."""
        return RecurrentState(self._compute_initial_state(memory), self.build_weighting_states(memory), is_first=True)

    def step(
        self, previous: Tensor | None, state: RecurrentState, memory: EncoderMemory
    ) -> tuple[Tensor, RecurrentState, Tensor]:
        """Predict one word of each sentence; see `Decoder`."""
        place = None
        if previous is None:
            embedded = state.distinct_states.new_zeros(len(state.distinct_states), self.embedding.embedding_dim)
        else:
            words, place = find_distinct(previous)
            embedded = self.embedding(words)
        inputs = [expand_distinct(values, place) for values in self._compute_inputs(embedded)]
        embedded = expand_distinct(embedded, place)
        state, step = self._compute_step(inputs, state, memory)
        vectors = [embedded, *step.readout_inputs] if self.reads_previous_word else step.readout_inputs
        logits = self.softmax(self._compute_readout(vectors, step.is_projected))
        return upcast_half_precision(logits), state, step.attention.weights

    def compute_word_losses(self, memory: EncoderMemory, target: Tensor, words: PackedWords) -> Tensor:
        """Compute the loss of each word; see `Decoder`."""
        if not words.is_sorted:
            memory = memory.reorder(words.sentence_order)
        before = self._embed_previous_words(target, words)
        steps = list(self._iterate_steps(before, words, memory))
        vectors = [torch.cat(of_steps) for of_steps in zip(*(step.readout_inputs for step in steps), strict=True)]
        if self.reads_previous_word:
            vectors.insert(0, before)

        drawn = self._draw_readout_masks(vectors, words.sentence_count)
        after = self.dropout.draw_mask("readout", words.sentence_count, self.softmax.in_features, like=before)
        readout = self._compute_readout(
            [words.apply_dropout_mask(values, mask) for values, mask in zip(vectors, drawn, strict=True)]
        )
        losses = self.criterion(self.softmax, words.apply_dropout_mask(readout, after), words.pack(target.T), words)
        return words.unpack(losses)

    @torch.no_grad()
    def collect_statistics(
        self, memory: EncoderMemory, target: Tensor, target_lengths: Tensor
    ) -> list[AttentionStatistics]:
        """Sum up the statistics of the weightings; see `Decoder`."""
        totals: list[AttentionStatistics] = [{} for _ in self.weightings]
        words = PackedWords.build_rectangle(*target.shape).to(target.device)
        for number, step in enumerate(
            self._iterate_steps(self._embed_previous_words(target, words), words, memory, should_collect=True)
        ):
            real = target_lengths > number
            for total, observed in zip(totals, step.attention.statistics, strict=True):
                for name, (value, count) in observed.items():
                    value_before, count_before = total.get(name, (0, 0))
                    total[name] = (value_before + value * real, count_before + count * real)
        return totals

    @torch.no_grad()
    def compute_attention(self, memory: EncoderMemory, target: Tensor, target_lengths: Tensor) -> AttentionWeights:
        """Say what is attended to at each word; see `Decoder`."""
        weights, shares, words = [], [], PackedWords.build_rectangle(*target.shape).to(target.device)
        for step in self._iterate_steps(self._embed_previous_words(target, words), words, memory):
            weights.append(step.attention.weights)
            shares.append(step.phrase_weight)
        real = build_word_mask(target.shape[1], target_lengths)
        of_phrases = [share for share in shares if share is not None]
        return AttentionWeights(
            torch.stack(weights) * real.unsqueeze(2), torch.stack(of_phrases) * real if of_phrases else None
        )

    def _embed_previous_words(self, target: Tensor, words: PackedWords) -> Tensor:
        """Embed the word before each word, zero before the first: (B, I) → (N, E)."""
        place = words.flat_indices[words.sentence_count :] - words.sentence_count
        return functional.pad(
            self.embedding(target.T.flatten().index_select(0, place)), (0, 0, words.sentence_count, 0)
        )

    def _iterate_steps(
        self, previous_embeddings: Tensor, words: PackedWords, memory: EncoderMemory, should_collect: bool = False
    ) -> Iterator[RecurrentStep]:
        """Run the recurrence over whole sentences, in the order of their words.

        Args:
            previous_embeddings: the word before each word (N, E).
            words: where they stand.
            memory: what is attended to, with keys, in the same order.
            should_collect: whether the weightings count.

        Yields:
            At each position what it leaves of the sentences that are so long.
        """
        mask = self.dropout.draw_mask(
            "embeddings", words.sentence_count, previous_embeddings.shape[1], previous_embeddings
        )
        inputs = self._compute_inputs(words.apply_dropout_mask(previous_embeddings, mask))
        state, masks = self.build_initial_state(memory), self._draw_masks(memory)
        memory = replace(memory, annotations=tuple(map(cast_to_product_dtype, memory.annotations)))
        # All whose gradient may wait, since all they are applied to comes from the state.
        maps = [
            partial(module.begin_trace, len(previous_embeddings))
            for module in self.modules()
            if isinstance(module, LoopLinear)
        ]
        with open_time_loop(state.distinct_states, [*maps, *self.build_trace_factories(memory)]) as hidden:
            state = replace(state, distinct_states=hidden)
            positions = zip(*(values.split([*words.batch_sizes]) for values in inputs), strict=True)
            for rows, position in zip(words.batch_sizes, positions, strict=True):
                if rows < len(state.distinct_states):
                    state, memory = state.keep_first(rows), memory.keep_first(rows)
                state, step = self._compute_step(position, state, memory, masks, should_collect)
                yield step
