"""Recurrent decoders with input feeding, one sentence and one step at a time, in float64."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import NamedTuple

import torch
from torch import Tensor

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.decoder.gru import GRUDecoder
from pipeline_py.nmt.decoder.lstm import LSTMDecoder
from pipeline_py.nmt.encoder_memory import EncoderMemory
from tests.nmt.formulas import (
    NO_DROPOUT,
    compute_log_loss,
    compute_mlp_score,
    compute_weighted_sum,
    softmax_tensors,
    step_gru,
    step_lstm,
)

DecoderState = tuple[Tensor, ...]
"""The query of the attention first, what is fed to the next step last."""


class ReferenceDecoding(NamedTuple):
    """−log p of a sentence, and of each step the weights of the first context and the weight of phrases."""

    loss: Tensor
    attention: list[list[float]]
    phrase_weights: list[float | None]


class ReferenceDecoder(ABC):
    """Base of both reference decoders; the first dropout mask is of the word, the last of the softmax."""

    def __init__(self, decoder: LSTMDecoder | GRUDecoder, system: CompositionConfig) -> None:
        self.decoder = decoder
        self.parameters = dict(decoder.named_parameters())
        self.system = system

    @abstractmethod
    def compute_initial_state(self, summary: Tensor) -> DecoderState:
        """Return the state before the first word."""

    @abstractmethod
    def compute_next_state(self, word: Tensor | None, state: DecoderState, masks: Sequence[Tensor]) -> DecoderState:
        """Return the state after a word, None before the first one."""

    def compute_phrase_weight(self, input_feed: Tensor) -> Tensor | float | None:
        return None

    def compute_readout(self, combined: Tensor) -> Tensor:
        return combined

    def apply_linear(self, layer_name: str, x: Tensor) -> Tensor:
        return self.parameters[f"{layer_name}.weight"] @ x + self.parameters[f"{layer_name}.bias"]

    def compute_score(self, query: Tensor, annotation: Tensor) -> Tensor:
        if self.system.scores[0].type == "dot":
            return sum(a * b for a, b in zip(query, annotation, strict=True))
        return compute_mlp_score(self.select_parameters("scores.0."), query, annotation)

    def select_parameters(self, prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): value for name, value in self.parameters.items()}

    def compute_weights(
        self, context_number: int, scores: list[Tensor], query: Tensor, centre: Tensor | float
    ) -> list[Tensor]:
        """Return the weights of a context, whose last weights had a centre."""
        options, parameters = (
            self.system.contexts[context_number],
            self.select_parameters(f"weightings.{context_number}."),
        )
        if options.type == "flexible":
            hidden = torch.tanh(parameters["query.weight"] @ query + parameters["query.bias"])
            factor = torch.exp(parameters["vector"] @ hidden) / (2 * options.sigma**2)
            scores = [score - factor * (j - centre) ** 2 for j, score in enumerate(scores)]
        weights = softmax_tensors(scores)
        if options.type != "local":
            return weights
        share = torch.sigmoid(parameters["position.vector"] @ torch.tanh(parameters["position.query.weight"] @ query))
        position, sigma = len(scores) * share, options.window / 2
        return [
            weight * torch.exp(-((j - position) ** 2) / (2 * sigma**2)) * (abs(j - position.item()) <= options.window)
            for j, weight in enumerate(weights)
        ]

    def decode_sentence(
        self,
        word_annotations: list[Tensor],
        phrase_annotations: list[Tensor],
        summary: Tensor,
        target: list[int],
        masks: Sequence[Tensor],
    ) -> ReferenceDecoding:
        size = len(word_annotations[0])
        state, word = self.compute_initial_state(summary), None
        centres: list[Tensor | float] = [0.0 for _ in self.system.contexts]
        loss, attention, phrase_weights = torch.zeros((), dtype=torch.float64), [], []
        for label in target:
            phrase_weight = self.compute_phrase_weight(state[-1])
            state = self.compute_next_state(word, state, masks)
            query, *_ = state
            scores = [self.compute_score(query, annotation) for annotation in word_annotations + phrase_annotations]
            vectors = []
            for number, centre in enumerate(centres):
                weights = self.compute_weights(number, scores, query, centre)
                centres[number] = sum(j * weight for j, weight in enumerate(weights))
                of_words = compute_weighted_sum(weights[: len(word_annotations)], word_annotations, size)
                of_phrases = compute_weighted_sum(weights[len(word_annotations) :], phrase_annotations, size)
                if phrase_weight is not None:
                    of_words, of_phrases = (1 - phrase_weight) * of_words, phrase_weight * of_phrases
                vectors.append(of_words + of_phrases)
                if number == 0:
                    attention.append([weight.item() for weight in weights])
            combined = torch.tanh(self.apply_linear("combine", torch.cat([query, *vectors])))
            state = (*state[:-1], combined)
            loss = loss + compute_log_loss(
                self.apply_linear("softmax", self.compute_readout(combined) * masks[-1]), label
            )
            phrase_weights.append(phrase_weight.item() if isinstance(phrase_weight, Tensor) else phrase_weight)
            word = self.parameters["embedding.weight"][label]
        return ReferenceDecoding(loss, attention, phrase_weights)

    def decode_batch(
        self, memory: EncoderMemory, target: Tensor, lengths: Tensor, masks: Sequence[Tensor] = ()
    ) -> Iterator[ReferenceDecoding]:
        """Decode each row; masks have one row for each."""
        for row, length in enumerate(lengths.tolist()):
            columns = memory.mask[row].nonzero().flatten().tolist()
            words = [memory.annotations[0][row, column] for column in columns if column < memory.position_count]
            phrases = [memory.annotations[0][row, column] for column in columns if column >= memory.position_count]
            row_masks = [mask[row] for mask in masks] or [NO_DROPOUT] * 4
            yield self.decode_sentence(
                words, phrases, memory.summaries[0][row], target[row, :length].tolist(), row_masks
            )


class ReferenceLSTMDecoder(ReferenceDecoder):
    """Tree2seq eq. 3–8 and 20–21; masks of the word, of what enters the recurrent product, and of the softmax."""

    def compute_initial_state(self, summary: Tensor) -> DecoderState:
        hidden, cell = summary.chunk(2)
        return hidden, cell, torch.zeros_like(hidden)

    def compute_next_state(self, word: Tensor | None, state: DecoderState, masks: Sequence[Tensor]) -> DecoderState:
        if word is None:  # h_1 and c_1 are the encoder's
            return state
        hidden, cell, fed = state
        return *step_lstm(self.decoder.lstm, word, torch.cat([hidden, fed]), cell, *masks[:2]), fed


class ReferenceGRUDecoder(ReferenceDecoder):
    """Hierarchical sections 2.2 and 3.4; masks of the word, of the state, of what is fed, and of the softmax."""

    def compute_initial_state(self, summary: Tensor) -> DecoderState:
        hidden = torch.tanh(self.apply_linear("initial", summary))
        return hidden, torch.zeros_like(hidden)

    def compute_next_state(self, word: Tensor | None, state: DecoderState, masks: Sequence[Tensor]) -> DecoderState:
        hidden, fed = state
        if word is None:
            word = torch.zeros_like(self.parameters["embedding.weight"][0])
        of_word, of_state, of_fed, _ = masks
        gru = self.decoder.gru
        W = torch.cat([gru.input.weight, self.decoder.feed.weight], dim=1)  # (3·H, E + H)
        cell = SimpleNamespace(
            input=SimpleNamespace(weight=W, bias=gru.input.bias),
            gates_recurrent=gru.gates_recurrent,
            candidate_recurrent=gru.candidate_recurrent,
        )
        return step_gru(cell, torch.cat([word * of_word, fed * of_fed]), hidden, mask_h=of_state), fed

    def compute_phrase_weight(self, input_feed: Tensor) -> Tensor | float | None:
        weight = self.system.decoder.phrase_weight
        return torch.sigmoid(self.apply_linear("gate", input_feed)).squeeze() if weight == "learned" else weight

    def compute_readout(self, combined: Tensor) -> Tensor:
        return torch.tanh(self.apply_linear("readout", combined))
