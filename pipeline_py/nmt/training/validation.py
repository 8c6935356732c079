"""Scores of a model on the development set."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import torch

from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.subword import pieces
from pipeline_py.subword.vocabulary import EOS, UNK, Vocabulary

MAX_LENGTH_RATIO = 3
"""Maximum length of a translation, relative to the source's pieces; plus 10."""

UNKNOWN_REFERENCE_WORD = "<outside>"
"""Replacement for unknown words in references, which rewards no model for `<unk>`."""


class Validator:
    """The scorer of models on the development set."""

    def __init__(
        self,
        dataset: ParallelDataset,
        batches: list[np.ndarray],
        device: torch.device,
        is_bfloat16: bool,
        has_graphs: bool,
    ) -> None:
        """Create a validator.

        Args:
            dataset: the pairs of the development set.
            batches: pair indices of each batch.
            device: device of the models.
            is_bfloat16: whether to compute matrix products in bfloat16.
            has_graphs: whether to record the steps of searches on a GPU.
        """
        self.dataset = dataset
        self.batches = batches
        self.device = device
        self.is_bfloat16 = is_bfloat16
        self.has_graphs = has_graphs

    def compute_loss(self, model: TranslationModel) -> float:
        """Compute −log p per target token in nats, end of sentence included."""
        total = 0.0
        for _, batch in self._iterate_batches(model):
            total += float(model.compute_loss(batch).double().sum())
        pairs = self.dataset.pair_indices
        return total / (self.dataset.count_target_words(pairs) + len(pairs))

    def compute_bleu(self, model: TranslationModel, target_vocabulary: Vocabulary) -> float:
        """Translate greedily and compute case-insensitive BLEU over words, i.e. pieces joined at `@@ `."""
        from sacrebleu import corpus_bleu

        from pipeline_py.nmt.search.beam_search import beam_search
        from pipeline_py.nmt.search.ensemble import open_predictor

        translations, references = [], []
        with open_predictor([model]) as search_predictor:
            predictor = search_predictor if self.has_graphs else None
            length_multiple = 1 if predictor is None else predictor.length_multiple
            for pairs, batch in self._iterate_batches(model, length_multiple):
                limits = MAX_LENGTH_RATIO * (batch.source_lengths - 1) + 10
                hypotheses = beam_search([model], [batch], beam_size=1, max_lengths=limits, predictor=predictor)
                translations += [
                    " ".join(pieces.join_pieces(target_vocabulary.decode(best.tokens))) for best, *_ in hypotheses
                ]
                references += [_decode_reference(self.dataset.get_target(pair), target_vocabulary) for pair in pairs]
        return float(corpus_bleu(translations, [references], tokenize="none", lowercase=True, force=True).score)

    def compute_context_statistics(self, model: TranslationModel) -> list[dict[str, float]]:
        """Average the attention statistics of each context over all target words.

        The first context's mapping includes the accuracy of auxiliary tasks.
        """
        sums: list[dict[str, float]] = [defaultdict(float) for _ in model.composition.contexts]
        counts: list[dict[str, float]] = [defaultdict(float) for _ in model.composition.contexts]
        for _, batch in self._iterate_batches(model):
            assert batch.target is not None and batch.target_lengths is not None
            memory = model.encode(batch)
            statistics_by_context = [
                *enumerate(model.decoder.collect_statistics(memory, batch.target, batch.target_lengths))
            ]
            for number, statistics in [
                *statistics_by_context,
                *((0, auxiliary_loss.statistics) for auxiliary_loss in memory.auxiliary_losses),
            ]:
                for name, (total, count) in statistics.items():
                    sums[number][name] += float(total.sum())
                    counts[number][name] += float(count.sum())
        return [
            {name: total / max(counts[number][name], 1) for name, total in context.items()}
            for number, context in enumerate(sums)
        ]

    def _iterate_batches(self, model: TranslationModel, length_multiple: int = 1) -> Iterator[tuple[np.ndarray, Batch]]:
        """Yield pair indices and batches padded to a multiple of a length, with the model in evaluation mode."""
        training = model.training
        model.eval()
        with torch.no_grad(), torch.autocast(self.device.type, torch.bfloat16, enabled=self.is_bfloat16):
            for pairs in self.batches:
                yield pairs, self.dataset.build_batch(pairs, length_multiple).to(self.device)
        model.train(training)


def _decode_reference(piece_ids: np.ndarray, vocabulary: Vocabulary) -> str:
    words = [int(identifier) for identifier in piece_ids if identifier != EOS]
    decoded = vocabulary.decode(words)
    return " ".join(
        pieces.join_pieces(
            [UNKNOWN_REFERENCE_WORD if word == UNK else piece for word, piece in zip(words, decoded, strict=True)]
        )
    )
