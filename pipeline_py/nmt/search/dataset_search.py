"""Search for translations of the sentences of a dataset, again with a wider beam if no hypothesis ends."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from pipeline_py.config.systems.training import DecodingConfig
from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.nmt.length_model import LengthModel
from pipeline_py.nmt.precision import should_search_in_bfloat16
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.nmt.search.ensemble import EnsembleMember, StepPredictor, open_predictor
from pipeline_py.nmt.search.hypothesis import Hypothesis

LENGTH_ALLOWANCE = 10
"""Pieces of a translation in addition to those that `max_length_ratio` allows."""


def compute_length_limits(options: DecodingConfig, source_lengths: np.ndarray) -> np.ndarray:
    """Return the maximum number of predictions for sources of these numbers of pieces, (B,) each."""
    if options.max_length_ratio is None:
        return np.full(len(source_lengths), options.max_length, dtype=np.int64)
    limits: np.ndarray = np.floor(options.max_length_ratio * source_lengths).astype(np.int64) + LENGTH_ALLOWANCE
    return limits if options.max_length is None else limits.clip(max=options.max_length)


@dataclass(frozen=True)
class DatasetSearch:
    """A search for translations of batches of sentences.

    Attributes:
        members: networks with their sentences.
        options: options of the search, whose `beam` is ignored.
        length_model: the length model, if there is one.
        should_return_attention: return the attention weights of the first network.
        predictor: predictor of the networks.
    """

    members: Sequence[EnsembleMember]
    options: DecodingConfig
    length_model: LengthModel | None
    should_return_attention: bool
    predictor: StepPredictor

    def search(self, sentences: np.ndarray, beam_size: int, n_best: int) -> list[list[Hypothesis]]:
        """Return the `n_best` best hypotheses of nonempty sentences, given their numbers (B,)."""
        words = self.members[0].sources.lengths[sentences] - 1
        limits = compute_length_limits(self.options, words)
        terms = (
            None
            if self.length_model is None
            else torch.from_numpy(self.length_model.compute_log_probabilities(words, int(limits.max())))
        )
        networks = [member.network for member in self.members]
        device = next(networks[0].parameters()).device
        return beam_search(
            networks,
            [
                member.sources.build_batch(sentences, self.predictor.length_multiple).to(device)
                for member in self.members
            ],
            beam_size=beam_size,
            max_lengths=torch.from_numpy(limits),
            length_normalization=self.options.length_normalization,
            length_terms=terms,
            n_best=n_best,
            should_return_attention=self.should_return_attention,
            predictor=self.predictor,
        )

    def search_ended(
        self, sentences: np.ndarray, beam_size: int, n_best: int, counts: SentenceCounts
    ) -> list[list[Hypothesis]]:
        """Search like `search`, but prefer hypotheses that end, and widen the beam to `retry_beam` if none ends."""
        results = self.search(sentences, beam_size, n_best)
        retry_beam = self.options.retry_beam
        if retry_beam is None:
            return results
        for width in (beam_size, retry_beam):
            cut = [place for place, (best, *_) in enumerate(results) if best.is_cut]
            if width == retry_beam and cut:
                counts.add_noted("searched again with the wider beam", len(cut))
            step = max(1, len(sentences) * beam_size // width)
            for start in range(0, len(cut), step):
                places = cut[start : start + step]
                for place, hypotheses in zip(places, self.search(sentences[places], width, width), strict=True):
                    results[place] = sorted(hypotheses, key=lambda hypothesis: hypothesis.is_cut)[:n_best]
        return results


def search_dataset(
    members: Sequence[EnsembleMember],
    options: DecodingConfig,
    beam_size: int,
    length_model: LengthModel | None,
    counts: SentenceCounts,
    should_return_attention: bool = False,
) -> Generator[tuple[int, list[Hypothesis]]]:
    """Yield the number of each sentence and its `options.n_best` best translations, in the order of the search.

    Args:
        members: networks with their sentences.
        options: options of the search.
        beam_size: beam width.
        length_model: the length model, if there is one.
        counts: counts of sentences, to which the search adds notes.
        should_return_attention: return the attention weights of the first network.
    """
    networks = [member.network for member in members]
    device = next(networks[0].parameters()).device
    sources = members[0].sources
    hidden = max(network.composition.model.hidden for network in networks)
    is_bfloat16 = should_search_in_bfloat16(options, hidden, beam_size * len(sources), device)
    empty = Hypothesis(tokens=[], score=0.0, log_probability=0.0, is_cut=False, alignment=[])
    n_best = max(1, options.n_best)
    with open_predictor(networks, is_bfloat16) as predictor:
        search = DatasetSearch(members, options, length_model, should_return_attention, predictor)
        for sentences in sources.iterate_batches(options.batch_size):
            words = sources.lengths[sentences] - 1
            for number in sentences[words == 0].tolist():
                counts.add_noted("empty source")
                yield number, [empty]
            sentences, words = sentences[words > 0], words[words > 0]
            if len(sentences):
                if length_model is not None:
                    unknown = sum(not length_model.has_source_length(length) for length in words.tolist())
                    if unknown:
                        counts.add_noted("source of a length that the length model does not know", unknown)
                hypotheses = search.search_ended(sentences, beam_size, n_best, counts)
                cut = sum(best.is_cut for best, *_ in hypotheses)
                if cut:
                    counts.add_noted("cut at the greatest length", cut)
                if is_bfloat16:
                    counts.add_noted("searched in bfloat16", len(sentences))
                yield from zip(sentences.tolist(), hypotheses, strict=True)
