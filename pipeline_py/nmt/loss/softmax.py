"""The loss of the full softmax."""

from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.config.decoders import BlackOut, Softmax
from pipeline_py.nmt.attention import at_least_single


class Part(nn.Module):
    """−log p(y) with p the softmax over the whole target vocabulary."""

    def __init__(self, options: Softmax | BlackOut, target_size: int) -> None:
        """Take the part's options, and V, the size of the target vocabulary."""
        super().__init__()

    def forward(self, linear: nn.Linear, readout: Tensor, targets: Tensor, sentences: Tensor, count: int) -> Tensor:
        """Compute the losses of N words.

        Args:
            linear: the output layer, (N, E) → (N, V).
            readout: what it reads (N, E).
            targets: the words (N,) int64.
            sentences: the number of the sentence that each word is of (N,) int64.
            count: B, the number of sentences.

        Returns:
            (N,) losses in nats, at least float32.
        """
        return functional.cross_entropy(at_least_single(linear(readout)), targets, reduction="none")

    def learn_frequencies(self, counts: Tensor) -> None:
        """Take how often each word occurs in the training data (V,); of no use here."""
