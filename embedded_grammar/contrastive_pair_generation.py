"""English sentences with their trees, and with two German translations each, of which one has a mistake."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice

from embedded_grammar.contrastive_translation import (
    ATTACHMENT_BY_CONTRAST,
    PHENOMENON_BY_CONTRAST,
    ContrastiveTranslations,
    translate_contrastively,
)
from embedded_grammar.english import build_trees as english
from embedded_grammar.pair_generation import (
    DerivedSentence,
    DistinctSampler,
    PairGenerator,
    SentenceLimits,
    SentencePair,
    build_pair,
)
from embedded_grammar.syntactic_phenomena import ContrastiveErrorKind, Phenomenon
from pipeline_py.files.artifacts import SentenceCounts


@dataclass(slots=True)
class ContrastiveSentencePair:
    """A pair, and its contrast; see `contrast.Translations`."""

    sentence_pair: SentencePair
    contrast_kind: ContrastiveErrorKind
    contrastive_german: str
    distance: int


@dataclass(slots=True)
class _SentenceReadings:
    """The pairs of one English sentence."""

    pairs: list[ContrastiveSentencePair]

    @property
    def english(self) -> str:
        """The sentence."""
        return self.pairs[0].sentence_pair.english


class ContrastivePairGenerator:
    """Draws contrastive pairs of some kinds that keep to `limits`, each kind from a randomness of its own."""

    def __init__(self, seed: int, limits: SentenceLimits, kinds: Sequence[ContrastiveErrorKind]) -> None:
        self.pair_generators = {
            kind: PairGenerator(
                f"{seed} {kind}", replace(limits, required_phenomenon=PHENOMENON_BY_CONTRAST.get(kind, Phenomenon.any))
            )
            for kind in kinds
        }

    def generate_distinct_pairs(self, pair_count: int, counts: SentenceCounts) -> Iterator[ContrastiveSentencePair]:
        """Yield that many pairs, of each kind in turn.

        English sides differ, but where an attachment is open: such a sentence comes in both of its readings, so that
        what knows its words alone is right in just half of the pairs.

        Raises:
            InputError: there are not that many.
        """
        distinct = DistinctSampler[_SentenceReadings](pair_count, counts)
        waiting: dict[ContrastiveErrorKind, list[ContrastiveSentencePair]] = {kind: [] for kind in self.pair_generators}
        for kind in islice(cycle(self.pair_generators), pair_count):
            if waiting[kind]:
                counts.add_kept()
            else:
                waiting[kind] += distinct.draw_distinct(partial(self._draw_readings, kind)).pairs
            counts.add_noted(kind)
            yield waiting[kind].pop(0)

    def _draw_readings(self, contrast_kind: ContrastiveErrorKind) -> _SentenceReadings | str | None:
        pairs = self.pair_generators[contrast_kind]
        derived = pairs.derive_sentence(ATTACHMENT_BY_CONTRAST.get(contrast_kind))
        if not isinstance(derived, DerivedSentence):
            return derived
        found = translate_contrastively(contrast_kind, derived.main_clause, derived.ambiguity, pairs.sampler)
        if found is None:
            return f"without a place for {contrast_kind}"
        readings = _SentenceReadings([_build_contrastive_pair(derived, contrast_kind, found)])
        if contrast_kind in ATTACHMENT_BY_CONTRAST and derived.ambiguity is not None:
            derived.ambiguity.set_attachment(not derived.ambiguity.is_attached_high)
            other = replace(derived, tree=english.build_sentence(derived.main_clause))
            found = translate_contrastively(contrast_kind, other.main_clause, other.ambiguity, pairs.sampler)
            assert found is not None
            readings.pairs.append(_build_contrastive_pair(other, contrast_kind, found))
        return readings


def _build_contrastive_pair(
    derived: DerivedSentence, contrast_kind: ContrastiveErrorKind, translations: ContrastiveTranslations
) -> ContrastiveSentencePair:
    return ContrastiveSentencePair(
        build_pair(derived), contrast_kind, " ".join(translations.contrastive_tokens), translations.distance
    )
