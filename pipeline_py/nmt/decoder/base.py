"""Decoders: the loss of whole sentences, steps of a search, and the state between steps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.attention import Carried, Observation, Weighting
from pipeline_py.nmt.data.batch import Words
from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.loss.softmax import SoftmaxLoss
from pipeline_py.nmt.memory import Memory


@dataclass(frozen=True)
class State:
    """Where the decoder stands in B sentences.

    Attributes:
        different: what the recurrence carries on, side by side as the decoder lays it out (D, ·), once for all
            sentences (of a search: hypotheses) that have it in common.
        carried: for each context what its weighting carries from step to step.
        first: whether no word has been predicted yet.
        place: which of the different ones a sentence has (B,); None: each its own.
    """

    different: Tensor
    carried: tuple[Carried, ...]
    first: bool = False
    place: Tensor | None = None

    @property
    def hidden(self) -> Tensor:
        """What the recurrence carries on (B, ·)."""
        return at_places(self.different, self.place)

    def select(self, index: Tensor) -> "State":
        """Gather rows, as `Memory.select` does."""
        different, place = distinct(index if self.place is None else self.place.index_select(0, index))
        return State(
            self.different.index_select(0, different),
            tuple(tuple(part.index_select(0, index) for part in carried) for carried in self.carried),
            self.first,
            place,
        )

    def leading(self, rows: int) -> "State":
        """Keep the first sentences only."""
        carried = tuple(tuple(part[:rows] for part in parts) for parts in self.carried)
        return replace(self, different=self.hidden[:rows], place=None, carried=carried)


@dataclass(frozen=True)
class Attended:
    """What one step sees of the memory.

    Attributes:
        vectors: for each context its vector of each encoder (B, M).
        weights: α of the first context (B, N).
        carried: for each context what its weighting is given at the next step.
        observed: what each context's weighting counted, if it was asked.
    """

    vectors: list[list[Tensor]]
    weights: Tensor
    carried: tuple[Carried, ...]
    observed: list[Observation]


@dataclass(frozen=True)
class Step:
    """What one step of the recurrence leaves.

    Attributes:
        vectors: what the readout reads, beside the word before where it reads that (B, ·) each.
        attended: what was seen of the memory.
        phrase_weight: β (B,), where words and phrases are weighted.
        projected: whether the contexts among the vectors are sums of `Memory.projections`.
    """

    vectors: tuple[Tensor, ...]
    attended: Attended
    phrase_weight: Tensor | None = None
    projected: bool = False


@dataclass(frozen=True)
class Attention:
    """What was attended to in whole sentences; zero behind a sentence's end.

    Attributes:
        weights: α of the first context (I, B, N), before any β.
        phrase_weights: β of each step (I, B), or None where all have the weight 1.
    """

    weights: Tensor
    phrase_weights: Tensor | None


def distinct(numbers: Tensor) -> tuple[Tensor, Tensor | None]:
    """Say which numbers (B,) there are (D,), and which of them each one is (B,); None: each is one of its own.

    A GPU would have to be asked how many there are, and computes with the same ones as fast as with others.
    """
    if len(numbers) == 1 or not on_cpu(numbers.device):
        return numbers, None
    found, place = torch.unique(numbers, return_inverse=True)
    return found, place


def at_places(values: Tensor, place: Tensor | None) -> Tensor:
    """Hand out what `distinct` ones have: (D, …) → (B, …)."""
    return values if place is None else values.index_select(0, place)


def real_words(length: int, lengths: Tensor) -> Tensor:
    """Tell words from padding: (B,) → (I, B) bool."""
    return torch.arange(length, device=lengths.device).unsqueeze(1) < lengths


@dataclass(frozen=True)
class Parts:
    """What a decoder is put together from, its own options apart.

    Attributes:
        system: the composition: how scores, encoders and contexts belong together, and sizes.
        target_size: V, size of the target vocabulary.
        memory_sizes: of each encoder M, size of an annotation.
        summary_sizes: of each encoder the size of its summary.
        scores: the scores of a step.
        weightings: one for each context.
        loss: makes losses of what the output layer reads.
        vocabularies: the sizes of those of syntax, by kind.
    """

    system: CompositionConfig
    target_size: int
    memory_sizes: Sequence[int]
    summary_sizes: Sequence[int]
    scores: Sequence[nn.Module]
    weightings: Sequence[Weighting]
    loss: SoftmaxLoss
    vocabularies: Mapping[str, int]


class Decoder(nn.Module, ABC):
    """Predicts the words of a translation one after the other; built of its options of `config.decoders` and `Parts`.

    Attributes:
        embedding: of target words, (…) → (…, E).
        softmax: the output layer, (N, size of the readout) → (N, V).
        criterion: the loss part.
        grows: whether a state of a search is larger after each step.
    """

    grows: ClassVar[bool] = False
    embedding: nn.Embedding
    softmax: Linear
    criterion: SoftmaxLoss

    @abstractmethod
    def keys(self, memory: Memory) -> tuple[Tensor, ...]:
        """Compute what is attended with, of the annotations (B, N, M), once for all steps: (B, N, ·) each."""

    def prepared(self, memory: Memory) -> Memory:
        """Make ready for a search, whose many hypotheses of a sentence have in common what is computed here."""
        return memory

    @abstractmethod
    def start(self, memory: Memory) -> Any:
        """Return the state before the first word; its `select(index)` gathers rows, as `Memory.select` does."""

    @abstractmethod
    def step(self, previous: Tensor | None, state: Any, memory: Memory) -> tuple[Tensor, Any, Tensor]:
        """Predict one word of each sentence.

        Args:
            previous: the words before (B,) int64; None at the first position.
            state: of `start`, or of the step before.
            memory: what is attended to, with keys.

        Returns:
            Logits (B, V), the new state, and the weights of the first context (B, N).
        """

    def loss(self, memory: Memory, target: Tensor, words: Words) -> Tensor:
        """Sum up what `word_losses` computes over each sentence's words (B,), EOS included."""
        return self.word_losses(memory, target, words).sum(dim=1)

    @abstractmethod
    def word_losses(self, memory: Memory, target: Tensor, words: Words) -> Tensor:
        """Compute the loss of each word: −log p, or what the loss part has instead in training.

        Args:
            memory: what is attended to, with keys.
            target: identifiers (B, I), EOS included.
            words: where they stand.

        Returns:
            (B, I), zero behind EOS.
        """

    @abstractmethod
    def observe(self, memory: Memory, target: Tensor, target_lengths: Tensor) -> list[Observation]:
        """Count what the weightings of the contexts find worth counting, when `target` is what is said.

        Returns:
            For each context the sums and counts of its statistics (B,), over each sentence's words, EOS included.
        """

    @abstractmethod
    def attend(self, memory: Memory, target: Tensor, target_lengths: Tensor) -> Attention:
        """Say what is attended to at each word, EOS included, when `target` (B, I) is what is said."""
