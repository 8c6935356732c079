"""Dependency parses that an encoder predicts, and what they are worth."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.nmt.data.batch import Batch


@dataclass(frozen=True)
class Parse:
    """What is predicted of B sentences of up to J positions, as scores (logits).

    Attributes:
        heads: of each position, in the last dimension, how well the others fit as its head, and at its own place how
            well ROOT does (B, J, J); −∞ behind the sentence.
        labels: of each position, how well each of L labels fits (B, J, L).
    """

    heads: Tensor
    labels: Tensor

    def loss(self, batch: Batch) -> Tensor:
        """Compute −log p(head) − log p(label) in nats, summed over the words of each sentence (B,).

        A word is a position before EOS whose head is known; a sentence without a parse has a loss of 0.
        """
        heads = known_heads(batch)
        return log_loss(self.heads, heads) + log_loss(self.labels, _known_labels(batch, heads))

    def attached(self, batch: Batch) -> tuple[int, int]:
        """Count over all sentences the words with the right head, and those with the right label as well.

        The head is the best one for each word on its own, whether or not all together are a tree.
        """
        heads = known_heads(batch)
        unlabelled = (heads != NO_HEAD) & (self.heads.argmax(dim=2) == heads)
        labelled = unlabelled & (self.labels.argmax(dim=2) == _known_labels(batch, heads))
        right, both = torch.stack([unlabelled.sum(), labelled.sum()]).tolist()
        return right, both


class Parser(nn.Module, ABC):
    """An encoder that parses, and can be trained to do so."""

    @abstractmethod
    def parse(self, batch: Batch) -> Parse:
        """Predict heads and labels; the batch's own are not looked at."""

    def parsing_loss(self, batch: Batch) -> Tensor:
        """Compute −log p of the batch's heads and labels, summed over the words of each sentence (B,)."""
        return self.parse(batch).loss(batch)


def parsed_words(batch: Batch) -> Tensor:
    """Count over all sentences the words whose head is known ()."""
    return (known_heads(batch) != NO_HEAD).sum()


def known_heads(batch: Batch) -> Tensor:
    """Return the heads (B, J), `NO_HEAD` at EOS, behind it, and where there is no parse."""
    heads = batch.tables["heads"].squeeze(2)
    last = batch.source_lengths.unsqueeze(1) - 1
    return heads.masked_fill(torch.arange(heads.shape[1], device=heads.device) >= last, NO_HEAD)


def attached(scores: Tensor, heads: Tensor) -> tuple[Tensor, Tensor]:
    """Count in each sentence the known heads (B, J) with the best of their scores (B, J, J), and all: (B,) each."""
    known = heads != NO_HEAD
    return (known & (scores.argmax(dim=2) == heads)).sum(dim=1), known.sum(dim=1)


def log_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """Sum −log p of what is known over each sentence: (B, J, X), (B, J) → (B,)."""
    loss = functional.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=NO_HEAD, reduction="none")
    return loss.view(gold.shape).sum(dim=1)


def _known_labels(batch: Batch, heads: Tensor) -> Tensor:
    """Return the labels (B, J), `NO_HEAD` where the heads are not known."""
    return batch.tables["labels"].squeeze(2).masked_fill(heads == NO_HEAD, NO_HEAD)
