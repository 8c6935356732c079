"""Dependency parses that an encoder predicts, and what they are worth."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.nmt.data.batch import Batch


@dataclass(frozen=True)
class ParseScores:
    """What is predicted of B sentences of up to J positions, as scores (logits).

    Attributes:
        heads: of each position, in the last dimension, how well the others fit as its head, and at its own place how
            well ROOT does (B, J, J); −∞ behind the sentence.
        labels: of each position, how well each of L labels fits (B, J, L).
    """

    head_scores: Tensor
    label_scores: Tensor

    def compute_loss(self, batch: Batch) -> Tensor:
        """Compute −log p(head) − log p(label) in nats, summed over the words of each sentence (B,).

        A word is a position before EOS whose head is known; a sentence without a parse has a loss of 0.
        """
        heads, labels = _get_gold_parse(batch)
        return compute_log_loss(self.head_scores, heads) + compute_log_loss(self.label_scores, labels)

    def count_attachments(self, batch: Batch) -> tuple[int, int]:
        """Count over all sentences the words with the right head, and those with the right label as well.

        The head is the best one for each word on its own, whether or not all together are a tree.
        """
        heads, labels = _get_gold_parse(batch)
        attached = (heads != NO_HEAD) & (self.head_scores.argmax(dim=2) == heads)
        labelled = attached & (self.label_scores.argmax(dim=2) == labels)
        right, both = torch.stack([attached.sum(), labelled.sum()]).tolist()
        return right, both


class ParsingEncoder(nn.Module, ABC):
    """An encoder that parses, and can be trained to do so."""

    @abstractmethod
    def predict_parse(self, batch: Batch) -> ParseScores:
        """Predict heads and labels; the batch's own are not looked at."""

    def compute_parsing_loss(self, batch: Batch) -> Tensor:
        """Compute −log p of the batch's heads and labels, summed over the words of each sentence (B,)."""
        return self.predict_parse(batch).compute_loss(batch)


def count_parsed_words(batch: Batch) -> Tensor:
    """Count over all sentences the words whose head is known ()."""
    return (_get_gold_parse(batch)[0] != NO_HEAD).sum()


def _get_gold_parse(batch: Batch) -> tuple[Tensor, Tensor]:
    """Return heads and labels (B, J), `NO_HEAD` at EOS, behind it, and where there is no parse."""
    heads, labels = (batch.get_syntax(kind).squeeze(2) for kind in ("heads", "labels"))
    last = batch.source_lengths.unsqueeze(1) - 1
    unknown = (heads == NO_HEAD) | (torch.arange(heads.shape[1], device=heads.device) >= last)
    return heads.masked_fill(unknown, NO_HEAD), labels.masked_fill(unknown, NO_HEAD)


def compute_log_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """Sum −log p of what is known over each sentence: (B, J, X), (B, J) → (B,)."""
    loss = functional.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=NO_HEAD, reduction="none")
    return loss.view(gold.shape).sum(dim=1)
