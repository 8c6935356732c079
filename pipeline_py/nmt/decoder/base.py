"""The base class of decoders, and the states and results of their steps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.attention_weighting import AttentionStatistics, Weighting, WeightingState
from pipeline_py.nmt.data.batch import PackedWords
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.loss.softmax import SoftmaxLoss
from pipeline_py.nmt.torch_setup import is_cpu


@dataclass(frozen=True)
class RecurrentState:
    """State of a recurrent decoder for B sentences.

    Attributes:
        distinct_states: (D, ·) concatenated recurrent states, one for all sentences (in a search: hypotheses) with the
            same state.
        weighting_states: state of the weighting of each context.
        is_first: whether no word has been predicted yet.
        distinct_indices: (B,) index of the state of each sentence; None: sentence b has state b.
    """

    distinct_states: Tensor
    weighting_states: tuple[WeightingState, ...]
    is_first: bool = False
    distinct_indices: Tensor | None = None

    @property
    def states(self) -> Tensor:
        """The recurrent states of all sentences (B, ·)."""
        return expand_distinct(self.distinct_states, self.distinct_indices)

    def select_rows(self, index: Tensor) -> "RecurrentState":
        """Select rows by their indices, like `EncoderMemory.select_rows`."""
        distinct_rows, distinct_indices = find_distinct(
            index if self.distinct_indices is None else self.distinct_indices.index_select(0, index)
        )
        return RecurrentState(
            self.distinct_states.index_select(0, distinct_rows),
            tuple(tuple(part.index_select(0, index) for part in state) for state in self.weighting_states),
            self.is_first,
            distinct_indices,
        )

    def keep_first(self, count: int) -> "RecurrentState":
        """Return the state of the first sentences."""
        weighting_states = tuple(tuple(part[:count] for part in state) for state in self.weighting_states)
        return replace(
            self, distinct_states=self.states[:count], distinct_indices=None, weighting_states=weighting_states
        )


@dataclass(frozen=True)
class AttentionResult:
    """Result of the attention of one step.

    Attributes:
        context_vectors: for each context its vector (B, M) of each encoder.
        weights: α of the first context (B, N).
        weighting_states: new state of the weighting of each context.
        statistics: statistics of the weighting of each context, if requested.
    """

    context_vectors: list[list[Tensor]]
    weights: Tensor
    weighting_states: tuple[WeightingState, ...]
    statistics: list[AttentionStatistics]


@dataclass(frozen=True)
class RecurrentStep:
    """Result of one step of the recurrence.

    Attributes:
        readout_inputs: (B, ·) inputs of the readout, without the embedding of the previous word.
        attention: result of the attention.
        phrase_weight: β (B,), if phrases are weighted.
        is_projected: whether the context vectors in `readout_inputs` are sums of `EncoderMemory.projections`.
    """

    readout_inputs: tuple[Tensor, ...]
    attention: AttentionResult
    phrase_weight: Tensor | None = None
    is_projected: bool = False


@dataclass(frozen=True)
class AttentionWeights:
    """Attention weights of all steps of a batch; zero after the end of a sentence.

    Attributes:
        weights: α of the first context (I, B, N), not multiplied by β.
        phrase_weights: β of each step (I, B), or None if phrases are not weighted.
    """

    weights: Tensor
    phrase_weights: Tensor | None


def find_distinct(values: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return the distinct values (D,) and the index (B,) of each value (B,) among them; None: all values as they are.

    On a GPU nothing is merged, because that needs a synchronization and saves no time.
    """
    if len(values) == 1 or not is_cpu(values.device):
        return values, None
    return torch.unique(values, return_inverse=True)


def expand_distinct(values: Tensor, indices: Tensor | None) -> Tensor:
    """Expand the values of distinct rows to all rows: (D, …) → (B, …)."""
    return values if indices is None else values.index_select(0, indices)


def build_word_mask(position_count: int, lengths: Tensor) -> Tensor:
    """Build a mask that is true for words and false for padding: (B,) → (I, B) bool."""
    return torch.arange(position_count, device=lengths.device).unsqueeze(1) < lengths


@dataclass(frozen=True)
class DecoderParts:
    """The parts and sizes from which a decoder is built, in addition to its options.

    Attributes:
        composition: the composition of the system.
        target_vocabulary_size: V, size of the target vocabulary.
        annotation_sizes: M of each encoder, the size of an annotation.
        summary_sizes: size of the summary of each encoder.
        scores: attention scores.
        weightings: the weighting of each context.
        loss: the loss part, which includes the softmax.
        vocabulary_sizes: sizes of the vocabularies, including those of syntax by kind.
    """

    composition: CompositionConfig
    target_vocabulary_size: int
    annotation_sizes: Sequence[int]
    summary_sizes: Sequence[int]
    scores: Sequence[nn.Module]
    weightings: Sequence[Weighting]
    loss: SoftmaxLoss
    vocabulary_sizes: Mapping[str, int]


class Decoder(nn.Module, ABC):
    """A network that predicts the words of a translation one after the other.

    The constructor of a subclass takes its options (`config.systems.decoders`) and `DecoderParts`.

    Attributes:
        embedding: embedding of target words, (…) → (…, E).
        softmax: the output layer, (N, size of the readout) → (N, V).
        criterion: the loss part.
    """

    embedding: nn.Embedding
    softmax: Linear
    criterion: SoftmaxLoss

    @abstractmethod
    def compute_keys(self, memory: EncoderMemory) -> tuple[Tensor, ...]:
        """Compute the attention keys (B, N, ·) from the annotations (B, N, M), once for all steps."""

    def prepare_search(self, memory: EncoderMemory) -> EncoderMemory:
        """Precompute tensors that all hypotheses of a sentence share in a search."""
        return memory

    @abstractmethod
    def build_initial_state(self, memory: EncoderMemory, max_steps: int | None = None) -> Any:
        """Build the state before the first word, which has a method `select_rows` like `EncoderMemory`.

        Args:
            memory: the encoder memory with keys.
            max_steps: maximum number of steps of a search on a GPU. All steps then have the same shapes, and may change
                the state in place.
        """

    @abstractmethod
    def step(self, previous: Tensor | None, state: Any, memory: EncoderMemory) -> tuple[Tensor, Any, Tensor]:
        """Predict one word of each sentence.

        Args:
            previous: previous words (B,) int64; None at the first position.
            state: state of `build_initial_state` or of the previous step.
            memory: the encoder memory with keys.

        Returns:
            Logits (B, V), the new state, and the weights of the first context (B, N).
        """

    def compute_loss(self, memory: EncoderMemory, target: Tensor, words: PackedWords) -> Tensor:
        """Compute each target sentence's loss from the memory (B,), summed over its words, EOS included."""
        return self.compute_word_losses(memory, target, words).sum(dim=1)

    @abstractmethod
    def compute_word_losses(self, memory: EncoderMemory, target: Tensor, words: PackedWords) -> Tensor:
        """Compute each target word's loss from the memory: −log p, or in training the value of the loss part.

        Args:
            memory: the encoder memory with keys.
            target: identifiers (B, I), EOS included.
            words: the packing of the target words.

        Returns:
            (B, I), zero after EOS.
        """

    @abstractmethod
    def collect_statistics(
        self, memory: EncoderMemory, target: Tensor, target_lengths: Tensor
    ) -> list[AttentionStatistics]:
        """Collect the statistics of the weightings while the decoder produces `target`.

        Returns:
            For each context the sums and counts (B,) of its statistics over the words of each sentence, including EOS.
        """

    @abstractmethod
    def compute_attention(self, memory: EncoderMemory, target: Tensor, target_lengths: Tensor) -> AttentionWeights:
        """Compute the attention of each word, including EOS, while the decoder produces `target` (B, I)."""
