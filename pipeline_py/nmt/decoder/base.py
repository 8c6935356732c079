"""Decoders: the loss of whole sentences, steps of a search, and the state between steps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

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
    """Where the decoder stands in B sentences.

    Attributes:
        distinct_states: what the recurrence carries on, side by side as the decoder lays it out (D, ·), once for all
            sentences (of a search: hypotheses) that have it in common.
        weighting_states: for each context what its weighting carries from step to step.
        is_first: whether no word has been predicted yet.
        distinct_indices: which of the different ones a sentence has (B,); None: each its own.
    """

    distinct_states: Tensor
    weighting_states: tuple[WeightingState, ...]
    is_first: bool = False
    distinct_indices: Tensor | None = None

    @property
    def states(self) -> Tensor:
        """What the recurrence carries on (B, ·)."""
        return expand_distinct(self.distinct_states, self.distinct_indices)

    def select_rows(self, index: Tensor) -> "RecurrentState":
        """Gather rows, as `Memory.select` does."""
        different, place = find_distinct(
            index if self.distinct_indices is None else self.distinct_indices.index_select(0, index)
        )
        return RecurrentState(
            self.distinct_states.index_select(0, different),
            tuple(tuple(part.index_select(0, index) for part in carried) for carried in self.weighting_states),
            self.is_first,
            place,
        )

    def keep_first(self, count: int) -> "RecurrentState":
        """Keep the first sentences only."""
        carried = tuple(tuple(part[:count] for part in parts) for parts in self.weighting_states)
        return replace(self, distinct_states=self.states[:count], distinct_indices=None, weighting_states=carried)


@dataclass(frozen=True)
class AttentionResult:
    """What one step sees of the memory.

    Attributes:
        context_vectors: for each context its vector of each encoder (B, M).
        weights: α of the first context (B, N).
        weighting_states: for each context what its weighting is given at the next step.
        statistics: what each context's weighting counted, if it was asked.
    """

    context_vectors: list[list[Tensor]]
    weights: Tensor
    weighting_states: tuple[WeightingState, ...]
    statistics: list[AttentionStatistics]


@dataclass(frozen=True)
class RecurrentStep:
    """What one step of the recurrence leaves.

    Attributes:
        readout_inputs: what the readout reads, beside the word before where it reads that (B, ·) each.
        attention: what was seen of the memory.
        phrase_weight: β (B,), where words and phrases are weighted.
        is_projected: whether the contexts among the vectors are sums of `Memory.projections`.
    """

    readout_inputs: tuple[Tensor, ...]
    attention: AttentionResult
    phrase_weight: Tensor | None = None
    is_projected: bool = False


@dataclass(frozen=True)
class AttentionWeights:
    """What was attended to in whole sentences; zero behind a sentence's end.

    Attributes:
        weights: α of the first context (I, B, N), before any β.
        phrase_weights: β of each step (I, B), or None where all have the weight 1.
    """

    weights: Tensor
    phrase_weights: Tensor | None


def find_distinct(values: Tensor) -> tuple[Tensor, Tensor | None]:
    """Say which numbers (B,) there are (D,), and which of them each one is (B,); None: each is one of its own.

    A GPU would have to be asked how many there are, and computes with the same ones as fast as with others.
    """
    if len(values) == 1 or not is_cpu(values.device):
        return values, None
    found, place = torch.unique(values, return_inverse=True)
    return found, place


def expand_distinct(values: Tensor, indices: Tensor | None) -> Tensor:
    """Hand out what `find_distinct` ones have: (D, …) → (B, …)."""
    return values if indices is None else values.index_select(0, indices)


def build_word_mask(position_count: int, lengths: Tensor) -> Tensor:
    """Tell words from padding: (B,) → (I, B) bool."""
    return torch.arange(position_count, device=lengths.device).unsqueeze(1) < lengths


@dataclass(frozen=True)
class DecoderParts:
    """What a decoder is put together from, its own options apart.

    Attributes:
        composition: the composition: how scores, encoders and contexts belong together, and sizes.
        target_vocabulary_size: V, size of the target vocabulary.
        annotation_sizes: of each encoder M, size of an annotation.
        summary_sizes: of each encoder the size of its summary.
        scores: the scores of a step.
        weightings: one for each context.
        loss: makes losses of what the output layer reads.
        vocabulary_sizes: the sizes of those of syntax, by kind.
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
    """Predicts the words of a translation one after the other; built of its options of `config.decoders` and `DecoderParts`.

    Attributes:
        embedding: of target words, (…) → (…, E).
        softmax: the output layer, (N, size of the readout) → (N, V).
        criterion: the loss part.
        has_growing_state: whether a state of a search is larger after each step.
    """

    has_growing_state: ClassVar[bool] = False
    embedding: nn.Embedding
    softmax: Linear
    criterion: SoftmaxLoss

    @abstractmethod
    def compute_keys(self, memory: EncoderMemory) -> tuple[Tensor, ...]:
        """Compute what is attended with, of the annotations (B, N, M), once for all steps: (B, N, ·) each."""

    def prepare_search(self, memory: EncoderMemory) -> EncoderMemory:
        """Make ready for a search, whose many hypotheses of a sentence have in common what is computed here."""
        return memory

    @abstractmethod
    def build_initial_state(self, memory: EncoderMemory) -> Any:
        """Return the state before the first word; its `select(index)` gathers rows, as `Memory.select` does."""

    @abstractmethod
    def step(self, previous: Tensor | None, state: Any, memory: EncoderMemory) -> tuple[Tensor, Any, Tensor]:
        """Predict one word of each sentence.

        Args:
            previous: the words before (B,) int64; None at the first position.
            state: of `build_initial_state`, or of the step before.
            memory: what is attended to, with keys.

        Returns:
            Logits (B, V), the new state, and the weights of the first context (B, N).
        """

    def compute_loss(self, memory: EncoderMemory, target: Tensor, words: PackedWords) -> Tensor:
        """Sum up what `compute_word_losses` computes over each sentence's words (B,), EOS included."""
        return self.compute_word_losses(memory, target, words).sum(dim=1)

    @abstractmethod
    def compute_word_losses(self, memory: EncoderMemory, target: Tensor, words: PackedWords) -> Tensor:
        """Compute the loss of each word: −log p, or what the loss part has instead in training.

        Args:
            memory: what is attended to, with keys.
            target: identifiers (B, I), EOS included.
            words: where they stand.

        Returns:
            (B, I), zero behind EOS.
        """

    @abstractmethod
    def collect_statistics(
        self, memory: EncoderMemory, target: Tensor, target_lengths: Tensor
    ) -> list[AttentionStatistics]:
        """Count what the weightings of the contexts find worth counting, when `target` is what is said.

        Returns:
            For each context the sums and counts of its statistics (B,), over each sentence's words, EOS included.
        """

    @abstractmethod
    def compute_attention(self, memory: EncoderMemory, target: Tensor, target_lengths: Tensor) -> AttentionWeights:
        """Say what is attended to at each word, EOS included, when `target` (B, I) is what is said."""
