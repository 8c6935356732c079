"""Encoders that predict dependency parses, and the loss and accuracy of these parses."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.nmt.data.batch import Batch


@dataclass(frozen=True)
class ParseScores:
    """Predicted scores (logits) of heads and labels for B sentences of up to J positions.

    Attributes:
        head_scores: (B, J, J) score of position k as the head of position j at (j, k), of ROOT at (j, j); −∞ after the
            end of the sentence.
        label_scores: (B, J, L) score of each of the L labels for each position.
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
        """Count the words with the correct head, and those with the correct head and label, in all sentences.

        Each word gets its best head independently; the heads need not form a tree.
        """
        heads, labels = _get_gold_parse(batch)
        attached = (heads != NO_HEAD) & (self.head_scores.argmax(dim=2) == heads)
        labelled = attached & (self.label_scores.argmax(dim=2) == labels)
        attached_count, labelled_count = torch.stack([attached.sum(), labelled.sum()]).tolist()
        return attached_count, labelled_count


class ParsingEncoder(nn.Module, ABC):
    """An encoder that can be trained to parse."""

    @abstractmethod
    def predict_parse(self, batch: Batch) -> ParseScores:
        """Predict heads and labels without reading those of the batch."""

    def compute_parsing_loss(self, batch: Batch) -> Tensor:
        """Compute −log p of the batch's heads and labels, summed over the words of each sentence (B,)."""
        return self.predict_parse(batch).compute_loss(batch)


def count_parsed_words(batch: Batch) -> Tensor:
    """Count the words with a known head in all sentences ()."""
    return (_get_gold_parse(batch)[0] != NO_HEAD).sum()


def _get_gold_parse(batch: Batch) -> tuple[Tensor, Tensor]:
    """Return heads and labels (B, J), `NO_HEAD` from EOS on and in sentences without a parse."""
    heads, labels = (batch.get_syntax(kind).squeeze(2) for kind in ("heads", "labels"))
    last = batch.source_lengths.unsqueeze(1) - 1
    unknown = (heads == NO_HEAD) | (torch.arange(heads.shape[1], device=heads.device) >= last)
    return heads.masked_fill(unknown, NO_HEAD), labels.masked_fill(unknown, NO_HEAD)


def compute_log_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """Sum −log p of the known gold values over each sentence: (B, J, X), (B, J) → (B,)."""
    loss = functional.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=NO_HEAD, reduction="none")
    return loss.view(gold.shape).sum(dim=1)
