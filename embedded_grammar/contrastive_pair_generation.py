"""Generation of contrastive pairs: English sentences with trees, a correct and an incorrect German translation."""

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
    RARE_WORD_REASON,
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
    """A sentence pair with an incorrect translation; see `ContrastiveTranslations` for `distance`."""

    sentence_pair: SentencePair
    contrast_kind: ContrastiveErrorKind
    contrastive_german: str
    distance: int


@dataclass(slots=True)
class _SentenceReadings:
    """The contrastive pairs of one English sentence, one for each reading."""

    pairs: list[ContrastiveSentencePair]

    @property
    def english(self) -> str:
        """The English sentence."""
        return self.pairs[0].sentence_pair.english


class ContrastivePairGenerator:
    """A generator of contrastive pairs within `limits`; each kind has its own random number generator."""

    def __init__(self, seed: int, limits: SentenceLimits, kinds: Sequence[ContrastiveErrorKind]) -> None:
        self.pair_generators = {
            kind: PairGenerator(
                f"{seed} {kind}", replace(limits, required_phenomenon=PHENOMENON_BY_CONTRAST.get(kind, Phenomenon.any))
            )
            for kind in kinds
        }

    def generate_distinct_pairs(self, pair_count: int, counts: SentenceCounts) -> Iterator[ContrastiveSentencePair]:
        """Yield `pair_count` pairs, cycling through the kinds.

        English sentences are distinct, except that an ambiguous sentence occurs once with each reading. A system that
        sees only the words is therefore right in exactly half of these pairs.

        Raises:
            InputError: the grammar has too few sentences.
        """
        sampler = DistinctSampler[_SentenceReadings](pair_count, counts)
        queues: dict[ContrastiveErrorKind, list[ContrastiveSentencePair]] = {kind: [] for kind in self.pair_generators}
        for kind in islice(cycle(self.pair_generators), pair_count):
            if queues[kind]:
                counts.add_kept()
            else:
                queues[kind] += sampler.draw_distinct(partial(self._draw_readings, kind)).pairs
            counts.add_noted(kind)
            yield queues[kind].pop(0)

    def _draw_readings(self, contrast_kind: ContrastiveErrorKind) -> _SentenceReadings | str | None:
        generator = self.pair_generators[contrast_kind]
        sentence = generator.derive_sentence(ATTACHMENT_BY_CONTRAST.get(contrast_kind))
        if not isinstance(sentence, DerivedSentence):
            return sentence
        ambiguity = sentence.ambiguity
        translations = translate_contrastively(contrast_kind, sentence.main_clause, ambiguity, generator.sampler)
        if translations is None:
            return f"without a place for {contrast_kind}"
        readings = _SentenceReadings([_build_contrastive_pair(sentence, contrast_kind, translations)])
        if contrast_kind in ATTACHMENT_BY_CONTRAST and ambiguity is not None:
            ambiguity.set_attachment(not ambiguity.is_attached_high)
            second_reading = replace(sentence, tree=english.build_sentence(sentence.main_clause))
            translations = translate_contrastively(contrast_kind, sentence.main_clause, ambiguity, generator.sampler)
            assert translations is not None
            readings.pairs.append(_build_contrastive_pair(second_reading, contrast_kind, translations))
        vocabulary = generator.limits.vocabulary
        if vocabulary is None or all(
            vocabulary.has_words(pair.sentence_pair.english, pair.sentence_pair.german, pair.contrastive_german)
            for pair in readings.pairs
        ):
            return readings
        return RARE_WORD_REASON


def _build_contrastive_pair(
    derived: DerivedSentence, contrast_kind: ContrastiveErrorKind, translations: ContrastiveTranslations
) -> ContrastiveSentencePair:
    return ContrastiveSentencePair(
        build_pair(derived), contrast_kind, " ".join(translations.contrastive_tokens), translations.distance
    )
