"""Compute the ceiling of BLEU on each set: the BLEU of references that were tokenized and detokenized."""

import logging
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from pipeline_py.config.entry_errors import shorten_text
from pipeline_py.evaluation.aligned_sentences import read_aligned_sentences
from pipeline_py.evaluation.metric import TokenizerName
from pipeline_py.evaluation.metrics.bleu import Bleu, build_word_splitter
from pipeline_py.evaluation.postprocess import DetokenizerName, build_text_restorer
from pipeline_py.files.language_properties import UNSPACED_LANGUAGES, get_base_language
from pipeline_py.files.text_files import split_tokens
from pipeline_py.files.tsv_files import write_tsv

CEILING_WARNING_THRESHOLD = 99.0
"""The BLEU below which a ceiling causes a warning."""


@dataclass(frozen=True)
class BleuCeiling:
    """The ceiling of BLEU on a set.

    Attributes:
        set: the name of the set.
        bleu: BLEU of the first reference, tokenized and detokenized, against all references.
        sentences: number of sentences.
        causes: settings that are likely to lower it; empty if it is high.
        example: the most frequent difference to the references; empty if it is high.
    """

    set: str
    bleu: float
    sentences: int
    causes: str = ""
    example: str = ""

    @property
    def is_low(self) -> bool:
        """True if the ceiling is below `CEILING_WARNING_THRESHOLD`."""
        return self.bleu < CEILING_WARNING_THRESHOLD

    @property
    def warning_message(self) -> str:
        """Describe a low ceiling, its likely causes and an example in one sentence."""
        example = f", e.g. {self.example}" if self.example else ""
        return (
            f"{self.set}: the ceiling of BLEU is {self.bleu:.1f}; even a perfect translation scores no more, since "
            f"tokenizing and detokenizing change the references{example}. Check {self.causes}."
        )


CEILING_COLUMNS = tuple(field.name for field in fields(BleuCeiling))


def compute_bleu_ceiling(
    *,
    tokens: dict[str, Path],
    references: dict[str, list[Path]],
    output: Path,
    causes: dict[str, str] | None = None,
    language: str = "en",
    detokenizer: DetokenizerName = "moses",
    truecased: bool = False,
    tokenizer: TokenizerName = "13a",
    lowercase: bool = True,
) -> None:
    """Compute the ceiling of BLEU on each set, and print a warning for each low one on stderr.

    The tokens of the first reference are detokenized and scored as outputs are (`evaluation.postprocess`). For a low
    ceiling, `causes` names the setting whose change recovers most of the loss, or else all settings.

    Args:
        tokens: Tokens of the first reference of each set, as systems learn to produce them.
        references: All references of each set.
        output: A row for each set, as TSV.
        causes: Settings of the experiment that can lower a ceiling, by key.
        language: ISO 639 code of the target language, for the Moses detokenizer.
        detokenizer: As of outputs.
        truecased: Capitalize the first word of each sentence.
        tokenizer: Sacrebleu's tokenizer.
        lowercase: Ignore case.

    Raises:
        InputError: if files of a set differ in length.
    """
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # it warns of text that looks tokenized, with less detail
    scoring = CeilingScorer(language, detokenizer, truecased, tokenizer, lowercase)
    ceilings = []
    for name, path in tokens.items():
        lines, *texts = map(list, zip(*read_aligned_sentences([path], references[name]), strict=True))
        words = [split_tokens(line) for line in lines]
        ceiling = BleuCeiling(name, scoring.compute_bleu(words, texts), len(words))
        if ceiling.is_low:
            settings = ", ".join(f"`{key}: {value}`" for key, value in (causes or {}).items())
            cause = scoring.find_cause(words, texts) or settings
            ceiling = replace(ceiling, causes=cause, example=scoring.find_common_difference(words, texts[0]))
            print(f"warning: {ceiling.warning_message}", file=sys.stderr)
        ceilings.append(ceiling)
    write_tsv(output, CEILING_COLUMNS, map(astuple, ceilings))


@dataclass(frozen=True)
class CeilingScorer:
    """A scorer of detokenized text; its attributes are the options of the stage."""

    language: str
    detokenizer: DetokenizerName
    is_truecased: bool
    tokenizer: TokenizerName
    lowercase: bool

    def detokenize_sentences(self, tokenized_sentences: Sequence[Sequence[str]]) -> list[str]:
        """Turn the tokens of each sentence into text."""
        join = build_text_restorer(self.detokenizer, self.language, self.is_truecased)
        return [join([*tokens]) for tokens in tokenized_sentences]

    def compute_bleu(self, tokenized_sentences: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
        """Return BLEU of the detokenized sentences."""
        metric = Bleu(self.tokenizer, self.lowercase, references)
        counts = np.array(
            metric.compute_sentence_statistics(self.detokenize_sentences(tokenized_sentences)), dtype=float
        )
        return float(Bleu.score_corpora(counts.sum(axis=0, keepdims=True))[0])

    def find_cause(self, tokenized_sentences: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> str:
        """Return the setting whose change recovers more than half of the loss, or an empty string."""
        loss = 100 - self.compute_bleu(tokenized_sentences, references)
        is_unspaced = get_base_language(self.language) in UNSPACED_LANGUAGES
        detokenizers: list[DetokenizerName] = ["chinese" if is_unspaced else "moses", "none"]
        alternatives = {
            f"`evaluation.detokenizer: {self.detokenizer}` (`{name}` gives {{:.1f}})": replace(self, detokenizer=name)
            for name in detokenizers
            if name != self.detokenizer
        }
        if not self.lowercase:
            name = "`corpora.target.case` and `evaluation.lowercase: false` (`true` gives {:.1f})"
            alternatives[name] = replace(self, lowercase=True)
        scores = {name: scorer.compute_bleu(tokenized_sentences, references) for name, scorer in alternatives.items()}
        best = max(scores, key=scores.__getitem__)
        return best.format(scores[best]) if 100 - scores[best] < loss / 2 else ""

    def find_common_difference(
        self, tokenized_sentences: Sequence[Sequence[str]], reference_sentences: Sequence[str]
    ) -> str:
        """Describe the most frequent difference between the detokenized sentences and the references."""
        split = build_word_splitter(self.tokenizer, self.lowercase)
        differences: Counter[str] = Counter()
        for restored, text in zip(self.detokenize_sentences(tokenized_sentences), reference_sentences, strict=True):
            outputs, expected = split(restored), split(text)
            for kind, first, last, start, end in SequenceMatcher(a=expected, b=outputs, autojunk=False).get_opcodes():
                if kind == "replace":
                    before, after = " ".join(expected[first:last]), " ".join(outputs[start:end])
                    differences[f"`{shorten_text(before)}` becomes `{shorten_text(after)}`"] += 1
        return differences.most_common(1)[0][0] if differences else ""
