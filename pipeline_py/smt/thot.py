"""An adapter of Thot, the phrase-based toolkit of sil-machine.

It escapes words with special meanings, tunes only on the development set, and stores a model in one folder.
"""

import hashlib
import json
import re
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from machine.corpora import ParallelTextCorpus, ParallelTextRow
from machine.translation import MAX_SEGMENT_LENGTH
from machine.translation.thot.thot_smt_model_trainer import ThotSmtModelTrainer
from machine.translation.thot.thot_smt_parameters import ThotSmtParameters
from machine.translation.thot.thot_train_progress_reporter import ThotTrainProgressReporter
from machine.translation.thot.thot_utils import load_smt_decoder, load_smt_model
from machine.translation.thot.thot_word_alignment_model_type import ThotWordAlignmentModelType
from machine.utils.progress_status import ProgressStatus

from pipeline_py.files.artifacts import write_json
from pipeline_py.files.text_files import read_parallel, split_tokens
from pipeline_py.run.errors import InputError

MAX_SENTENCE_WORDS = MAX_SEGMENT_LENGTH
"""The longest sentence, in words, that Thot trains on and translates; it ignores longer ones."""

FEATURE_NAMES = (
    "word_penalty",
    "language_model",
    "target_phrase_length",
    "source_jump",
    "source_phrase_length",
    "target_given_source",
    "source_given_target",
    "sentence_length",
)
"""The features of the log-linear model, in Thot's order."""

TRANSLATION_MODEL_PREFIX, LANGUAGE_MODEL_PREFIX, CONFIG_FILE_NAME = "translation", "language", "config.json"

# Files that Thot does not read again: alignments, and data for further training or for completing words.
INTERMEDIATE_FILE_PATTERNS = ("*.A3.final", "*.bestal", "*.srctrgc", "*_classes", "*_class_names")
# The training text; loading fails without the files, but only further training needs their lines.
TRAINING_TEXT_PATTERNS = ("*_swm.src", "*_swm.trg", "*_invswm.src", "*_invswm.trg")

# Thot's files use white space, `|||`, `({` and `})` as separators, and `#` for comments. Words in angle brackets are
# special, and a source may contain XML. The reserved words are the empty word and the unknown word.
UNSAFE_CHARACTER = re.compile(r"[%#<>|{}\s\x00-\x1f\x7f]")
RESERVED_WORDS = {"NULL", "UNKNOWN_WORD"}
ESCAPED_CHARACTER = re.compile("%([0-9a-f]+);")


def escape_word(word: str) -> str:
    """Escape characters with a meaning for Thot as `%`, the hexadecimal code point, and `;`."""
    if word in RESERVED_WORDS:
        return f"%{ord(word[0]):x};{word[1:]}"
    return UNSAFE_CHARACTER.sub(lambda match: f"%{ord(match[0]):x};", word)


def unescape_word(word: str) -> str:
    """Undo `escape_word`."""
    return ESCAPED_CHARACTER.sub(lambda match: chr(int(match[1], 16)), word)


class ThotTrainingCorpus(ParallelTextCorpus):
    """A corpus of the sentence pairs that Thot can train on, which are read again for each pass."""

    def __init__(self, source: Path, target: Path) -> None:
        """Count the pairs.

        Args:
            source: tokenized sentences.
            target: their translations.

        Raises:
            InputError: files differ in length, or there is no pair to train on.
        """
        self.paths = (source, target)
        self.skipped_pairs = {"empty": 0, "too_long": 0}
        self.pair_count = 0
        for sides in self._read_pairs():
            if reason := _find_skip_reason(sides):
                self.skipped_pairs[reason] += 1
            else:
                self.pair_count += 1
        if not self.pair_count:
            raise InputError(
                f"no sentence pair with 1 to {MAX_SENTENCE_WORDS} words on each side; give more text", source
            )

    @property
    def is_source_tokenized(self) -> bool:
        """Keep the library from splitting words at other white space."""
        return True

    @property
    def is_target_tokenized(self) -> bool:
        """Keep the library from splitting words at other white space."""
        return True

    def _read_pairs(self) -> Iterable[list[list[str]]]:
        return ([split_tokens(line) for line in lines] for lines in read_parallel(*self.paths))

    def _get_rows(self, text_ids: Iterable[str] | None = None) -> Generator[ParallelTextRow, None, None]:
        for number, sides in enumerate(self._read_pairs(), start=1):
            if not _find_skip_reason(sides):
                source, target = ([escape_word(word) for word in words] for words in sides)
                yield ParallelTextRow("train", [number], [number], source, target)


def _find_skip_reason(sentence_pair: list[list[str]]) -> str | None:
    if not all(sentence_pair):
        return "empty"
    return "too_long" if any(len(words) > MAX_SENTENCE_WORDS for words in sentence_pair) else None


class ThotTrainer(ThotSmtModelTrainer):
    """The library's trainer without tuning, for which the library would hold out a random part of the training text.

    The other steps are the same: HMM word alignments in both directions, symmetrized; phrases of at most ten source
    words with about 20 translations each; an interpolated n-gram model.
    """

    def __init__(self, training_corpus: ThotTrainingCorpus, em_iterations: int, ngram_order: int) -> None:
        """Prepare the training.

        Args:
            training_corpus: sentence pairs.
            em_iterations: EM iterations for each alignment model.
            ngram_order: order of the language model.
        """
        parameters = ThotSmtParameters(learning_em_iters=em_iterations)
        super().__init__(ThotWordAlignmentModelType.HMM, training_corpus, parameters)
        self._training_corpus = training_corpus
        self._ngram_order = ngram_order

    def train_models(
        self, directory: Path, dev_target: list[list[str]], report_progress: Callable[[ProgressStatus], None]
    ) -> int:
        """Train all models and write them into a folder; the weights of the log-linear model are tuned later.

        Args:
            directory: the folder.
            dev_target: sentences on which the interpolation weights of the language model are tuned (the library's
                simplex, at most about 200 perplexities).
            report_progress: called with the status of the training.

        Returns:
            The number of phrase pairs.
        """
        translation, language = directory / TRANSLATION_MODEL_PREFIX, directory / LANGUAGE_MODEL_PREFIX
        reporter = ThotTrainProgressReporter(report_progress, None)
        with reporter.start_next_phase():
            self._train_language_model(language, self._ngram_order, self._training_corpus)
        self._train_translation_model(translation, self._training_corpus, self._training_corpus.pair_count, reporter)
        with reporter.start_next_phase():
            self._tune_language_model(
                language, [[escape_word(word) for word in words] for words in dev_target], self._ngram_order
            )
        for path in (path for pattern in INTERMEDIATE_FILE_PATTERNS for path in directory.glob(pattern)):
            path.unlink()
        for path in (path for pattern in TRAINING_TEXT_PATTERNS for path in directory.glob(pattern)):
            path.write_bytes(b"")
        with translation.with_suffix(".ttable").open("rb") as table:
            return sum(1 for _ in table)

    def _write_word_prediction_file(self, lm_prefix: Path, train_corpus: ParallelTextCorpus) -> None:
        """Write nothing; the file is only used to complete words while typing."""


class ThotTranslator:
    """Thot's stack decoder over a directory of models."""

    def __init__(self, directory: Path, reordering_limit: int, weights: Sequence[float] | None = None) -> None:
        """Load the models.

        Args:
            directory: models of `ThotTrainer.train_models`.
            reordering_limit: number of source words that the decoder may skip.
            weights: weights of the log-linear model in the order of `FEATURE_NAMES`; None for Thot's defaults.

        Raises:
            RuntimeError: Thot cannot read the models.
        """
        parameters = ThotSmtParameters(
            translation_model_filename_prefix=str(directory / TRANSLATION_MODEL_PREFIX),
            language_model_filename_prefix=str(directory / LANGUAGE_MODEL_PREFIX),
            model_non_monotonicity=reordering_limit,
        )
        self._model = load_smt_model(ThotWordAlignmentModelType.HMM, parameters)
        self._decoder = load_smt_decoder(self._model, parameters)
        if weights is not None:
            self.set_weights(weights)

    def set_weights(self, weights: Sequence[float]) -> None:
        """Set the weights of the log-linear model without loading the models again."""
        self._model.weights = list(weights)

    def translate(self, words: Sequence[str]) -> "ThotTranslation":
        """Translate a sentence, in parts if it is longer than `MAX_SENTENCE_WORDS`."""
        parts = split_long_sentence(words)
        translations = [self._decoder.translate(" ".join(map(escape_word, part))) for part in parts]
        return ThotTranslation(
            words=[unescape_word(word) for translation in translations for word in translation.target],
            unknown_count=sum(len(translation.target_unknown_words) for translation in translations),
            part_count=len(parts),
        )


@dataclass(frozen=True)
class ThotTranslation:
    """The best translation of a sentence.

    Attributes:
        words: words of the translation.
        unknown_count: number of unknown words that are copied from the source.
        part_count: number of parts that the source was split into; 0 if it is empty.
    """

    words: list[str]
    unknown_count: int
    part_count: int


def split_long_sentence(words: Sequence[str]) -> list[Sequence[str]]:
    """Split a sentence into the fewest parts of at most `MAX_SENTENCE_WORDS` words, of nearly equal length."""
    parts = -(-len(words) // MAX_SENTENCE_WORDS)
    bounds = [number * len(words) // parts for number in range(parts + 1)] if parts else [0]
    return [words[left:right] for left, right in pairwise(bounds)]


def write_model_config(directory: Path, reordering_limit: int, weights: Sequence[float]) -> None:
    """Write the configuration of a model: `{"reordering", "weights", "files": {name: SHA-256}}`."""
    files = {path.name: _compute_digest(path) for path in sorted(directory.iterdir())}
    config = {"reordering": reordering_limit, "weights": dict(zip(FEATURE_NAMES, weights, strict=True)), "files": files}
    write_json(directory / CONFIG_FILE_NAME, config)


def load_translator(directory: Path) -> ThotTranslator:
    """Load a trained and tuned model.

    Raises:
        FileNotFoundError: the configuration does not exist.
        InputError: a file of the model is missing or was changed.
    """
    remedy = "train the system again"
    config: dict[str, Any] = json.loads((directory / CONFIG_FILE_NAME).read_text(encoding="utf-8"))
    weights = [config["weights"][name] for name in FEATURE_NAMES]
    for name, digest in config["files"].items():
        path = directory / name
        # Thot reads a truncated file without an error, and translates with its part of the model.
        if not path.is_file() or _compute_digest(path) != digest:
            raise InputError(f"a file of the model is missing or was changed; {remedy}", path)
    try:
        return ThotTranslator(directory, config["reordering"], weights)
    except RuntimeError as error:
        raise InputError(f"Thot cannot read the model ({error}); {remedy}", directory) from None


def _compute_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
