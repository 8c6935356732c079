"""The base class of recurrent decoders: the loop over time, losses of sentences, and steps of a search."""

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
    """A decoder with an attentive recurrence, a readout, and an output layer.

    Attributes:
        reads_previous_word: whether the first input of the readout is the embedding of the previous word.
    """

    reads_previous_word = False

    def __init__(self, parts: DecoderParts) -> None:
        super().__init__(parts.composition, parts.scores, parts.weightings, len(parts.annotation_sizes))
        self.embedding = nn.Embedding(parts.target_vocabulary_size, parts.composition.model.embedding)
        self.dropout = SharedDropout(parts.composition.model.dropout_rates)
        self.criterion = parts.loss

    @abstractmethod
    def _compute_initial_state(self, memory: EncoderMemory) -> Tensor:
        """Compute the initial recurrent state (B, ·)."""

    @abstractmethod
    def _compute_inputs(self, embedded: Tensor) -> Sequence[Tensor]:
        """Compute the inputs (N, ·) of the recurrence from the embeddings of the previous words (N, E)."""

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
        """Compute the recurrent part of a step.

        Args:
            inputs: what `_compute_inputs` made of the previous word, (B, ·) each.
            state: of the step before.
            memory: the encoder memory with keys.
            masks: of `_draw_masks`; None without dropout.
            should_collect: whether the weightings collect statistics.
        """

    @abstractmethod
    def _compute_readout(self, readout_inputs: Sequence[Tensor], is_projected: bool = False) -> Tensor:
        """Compute the input (N, ·) of the output layer from `RecurrentStep.readout_inputs` (N, ·)."""

    def _draw_readout_masks(self, readout_inputs: Sequence[Tensor], sentence_count: int) -> list[Tensor | None]:
        """Draw dropout masks (B, ·) of the readout inputs (N, ·)."""
        return [None for _ in readout_inputs]

    def build_initial_state(self, memory: EncoderMemory, max_steps: int | None = None) -> RecurrentState:
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
        """Compute each target word's loss from the memory; see `Decoder`."""
        if not words.is_sorted:
            memory = memory.reorder(words.sentence_order)
        before = self._embed_previous_words(target, words)
        steps = list(self._iterate_steps(before, words, memory))
        vectors = [
            torch.cat(step_vectors) for step_vectors in zip(*(step.readout_inputs for step in steps), strict=True)
        ]
        if self.reads_previous_word:
            vectors.insert(0, before)

        masks = self._draw_readout_masks(vectors, words.sentence_count)
        output_mask = self.dropout.draw_mask("readout", words.sentence_count, self.softmax.in_features, like=before)
        readout = self._compute_readout(
            [words.apply_dropout_mask(values, mask) for values, mask in zip(vectors, masks, strict=True)]
        )
        losses = self.criterion(
            self.softmax, words.apply_dropout_mask(readout, output_mask), words.pack(target.T), words
        )
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
        """Compute the attention of each word; see `Decoder`."""
        weights, step_phrase_weights, words = [], [], PackedWords.build_rectangle(*target.shape).to(target.device)
        for step in self._iterate_steps(self._embed_previous_words(target, words), words, memory):
            weights.append(step.attention.weights)
            step_phrase_weights.append(step.phrase_weight)
        real = build_word_mask(target.shape[1], target_lengths)
        phrase_weights = [weight for weight in step_phrase_weights if weight is not None]
        return AttentionWeights(
            torch.stack(weights) * real.unsqueeze(2), torch.stack(phrase_weights) * real if phrase_weights else None
        )

    def _embed_previous_words(self, target: Tensor, words: PackedWords) -> Tensor:
        """Embed the previous word of each word, zero for the first: (B, I) → (N, E)."""
        place = words.flat_indices[words.sentence_count :] - words.sentence_count
        return functional.pad(
            self.embedding(target.T.flatten().index_select(0, place)), (0, 0, words.sentence_count, 0)
        )

    def _iterate_steps(
        self, previous_embeddings: Tensor, words: PackedWords, memory: EncoderMemory, should_collect: bool = False
    ) -> Iterator[RecurrentStep]:
        """Run the recurrence over the words of complete sentences.

        Args:
            previous_embeddings: embeddings of the previous words (N, E).
            words: the packing of the words.
            memory: what is attended to, with keys, in the order of `words`.
            should_collect: whether the weightings collect statistics.

        Yields:
            The step of each position, for the sentences that are long enough.
        """
        mask = self.dropout.draw_mask(
            "embeddings", words.sentence_count, previous_embeddings.shape[1], previous_embeddings
        )
        inputs = self._compute_inputs(words.apply_dropout_mask(previous_embeddings, mask))
        state, masks = self.build_initial_state(memory), self._draw_masks(memory)
        memory = replace(memory, annotations=tuple(map(cast_to_product_dtype, memory.annotations)))
        # Gradients of these layers can wait until the end of the loop, because their inputs all depend on the state.
        maps = [
            partial(module.begin_trace, len(previous_embeddings))
            for module in self.modules()
            if isinstance(module, LoopLinear)
        ]
        attention_traces = self.build_trace_factories(memory, len(words.batch_sizes))
        with open_time_loop(state.distinct_states, [*maps, *attention_traces]) as hidden:
            state = replace(state, distinct_states=hidden)
            positions = zip(*(values.split([*words.batch_sizes]) for values in inputs), strict=True)
            for rows, position in zip(words.batch_sizes, positions, strict=True):
                if rows < len(state.distinct_states):
                    state, memory = state.keep_first(rows), memory.keep_first(rows)
                state, step = self._compute_step(position, state, memory, masks, should_collect)
                yield step
