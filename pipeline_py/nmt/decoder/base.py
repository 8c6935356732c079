"""What all decoders offer: the loss of whole sentences, steps of a search, and what they attend to."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from pipeline_py.config.systems.composition import System
from pipeline_py.nmt.attention import Observation, Weighting
from pipeline_py.nmt.data.batch_words import Words
from pipeline_py.nmt.decoder.state import Attention
from pipeline_py.nmt.loss.softmax import SoftmaxLoss
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.recurrence.linear import Linear


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

    system: System
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
