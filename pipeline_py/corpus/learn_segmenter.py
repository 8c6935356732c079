"""Training of a tokenizer on a treebank with Stanza's training command."""

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

from pydantic import PositiveInt

from pipeline_py.corpus.characters import is_ascii_word_char, remove_invisible_characters
from pipeline_py.files.artifacts import SentenceCounts, write_atomically
from pipeline_py.files.language_properties import get_base_language
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.dependency import DependencyTree, MultiwordToken, read_dependency_trees
from pipeline_py.syntax.words.token_alignment import restore_original_text

TRAIN_STEM, DEV_STEM, LEXICON_FILE, EXPANSIONS_FILE, MODEL_FILE = (
    "train",
    "dev",
    "lexicon.txt",
    "expansions.json",
    "model.pt",
)

BATCH_SENTENCES = 32
DEFAULT_EPOCH_RANGE = (15, 40)
MIN_TRAINING_BATCHES = 750
"""The number of batches that the default number of epochs reaches within its range."""

LEARNED_SENTENCE_SHARE = 0.95
CHARACTER_LIMIT_RANGE = (100, 300)
"""The range of the length limit of training sentences; training time is proportional to the limit.

Within the range, `LEARNED_SENTENCE_SHARE` of the sentences are short enough. Stanza's default is 100.
"""

INSIDE_WORD_LABEL, WORD_END_LABEL, SENTENCE_END_LABEL = "0", "1", "2"
"""Stanza's labels of characters."""


def learn_segmenter(
    *,
    treebank_train: Path,
    treebank_dev: Path,
    language: str = "zh",
    output: Path,
    counts_output: Path,
    words: bool = False,
    epochs: PositiveInt | None = None,
    seed: int = 1,
    threads: PositiveInt = 1,
) -> None:
    """Train Stanza's tokenizer to split text into the tokens of a treebank.

    A recurrent network labels the characters of a sentence. A multi-word token is one token, or with --words its words,
    if they spell the token (Turkish `evdeydi` is `evde ydi`, but French `du` is not `de le`). The tokens of the
    treebank are joined according to `SpaceAfter=No`. In languages without spaces, a sentence without this attribute is
    joined without spaces, except between two tokens of ASCII letters or digits. Chinese is always joined in this way,
    and the network also sees the boundaries of jieba's words. The model of the best epoch on the development trees is
    saved. The same seed and number of threads give the same bytes.

    Args:
        treebank_train: CoNLL-U, plain or gzipped.
        treebank_dev: CoNLL-U with other sentences.
        language: ISO 639 code of the text.
        output: The Stanza model.
        counts_output: JSON counts of training sentences; the longest are dropped (5 %; all above 300 characters, none
            below 100).
        words: Split multi-word tokens into the words that spell them.
        epochs: Passes over the training sentences; by default 15, and up to 40 for small treebanks.
        seed: Seed of all random numbers.
        threads: CPU threads.

    Raises:
        InputError: a file is not CoNLL-U, or has no usable sentence.
    """
    counts = SentenceCounts()
    language = get_base_language(language)
    is_chinese = language == "zh"
    train, longest = _select_short_sentences(
        _read_treebank_sentences(treebank_train, language, words), treebank_train, counts
    )
    dev = _read_treebank_sentences(treebank_dev, language, words)
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        for part, sentences in ((TRAIN_STEM, train), (DEV_STEM, dev)):
            _write_training_files(sentences, Path(part))
        Path(EXPANSIONS_FILE).write_text("{}", encoding="utf-8")
        if is_chinese:
            Path(LEXICON_FILE).write_text("".join(f"{word}\n" for word in _read_jieba_words()), encoding="utf-8")
        steps = ceil(len(train) / BATCH_SENTENCES)
        epochs = epochs or min(max(DEFAULT_EPOCH_RANGE[0], ceil(MIN_TRAINING_BATCHES / steps)), DEFAULT_EPOCH_RANGE[1])
        model = _train_tokenizer(language, is_chinese, longest, steps, epochs, seed, threads)
    _save_model_reproducibly(model, output)
    counts.write_json_file(counts_output)


SpacedToken = tuple[str, bool]
"""A token of a sentence, and whether a space precedes it."""


def _select_short_sentences(
    sentences: list[list[SpacedToken]], treebank: Path, counts: SentenceCounts
) -> tuple[list[list[SpacedToken]], int]:
    """Return the training sentences and their length limit in characters, and count the dropped sentences."""
    lengths = [sum(len(form) + has_space for form, has_space in sentence) for sentence in sentences]
    min_limit, max_limit = CHARACTER_LIMIT_RANGE
    limit = min(max(sorted(lengths)[int(LEARNED_SENTENCE_SHARE * (len(lengths) - 1))], min_limit), max_limit)
    short_sentences = [sentence for sentence, length in zip(sentences, lengths, strict=True) if length <= limit]
    counts.add_kept(len(short_sentences))
    if len(short_sentences) < len(sentences):
        counts.add_dropped(f"more than {limit} characters", len(sentences) - len(short_sentences))
    if not short_sentences:
        raise InputError(f"no sentence has at most {limit} characters; split it into sentences", treebank)
    return short_sentences, limit


def _read_treebank_sentences(treebank: Path, language: str, should_split_multiword: bool) -> list[list[SpacedToken]]:
    sentences = [
        _collect_spaced_tokens(tree, language, should_split_multiword)
        for tree in read_dependency_trees(treebank)
        if tree.words
    ]
    if not sentences:
        raise InputError("no sentence in the file; give a treebank in CoNLL-U", treebank)
    return sentences


def _collect_spaced_tokens(tree: DependencyTree, language: str, should_split_multiword: bool) -> list[SpacedToken]:
    forms = [token.form for token in tree.tokens]
    spaces = (
        _detect_chinese_spaces(forms)
        if language == "zh"
        else _detect_spaces(forms, restore_original_text(tree, language))
    )
    return [
        (form, position == 0 and has_space)
        for token, has_space in zip(tree.tokens, spaces, strict=True)
        for position, form in enumerate(_split_multiword_token(tree, token) if should_split_multiword else [token.form])
    ]


def _detect_chinese_spaces(forms: Sequence[str]) -> list[bool]:
    """Return whether a space precedes each token: only between two tokens of ASCII letters or digits."""
    return [
        False,
        *(is_ascii_word_char(previous[-1]) and is_ascii_word_char(form[0]) for previous, form in pairwise(forms)),
    ]


def _detect_spaces(forms: Iterable[str], text: str) -> Iterator[bool]:
    """Yield whether a space precedes each token in a text with the same visible characters."""
    characters = iter(text)
    for form in forms:
        has_space = False
        for position, _ in enumerate(filter(_is_visible_character, form)):
            while not _is_visible_character(character := next(characters)):
                has_space |= position == 0 and character.isspace()
        yield has_space


def _is_visible_character(character: str) -> bool:
    return remove_invisible_characters(character).strip() != ""


def _split_multiword_token(tree: DependencyTree, token: MultiwordToken) -> list[str]:
    """Return the words of a token if they spell it, otherwise the token."""
    forms = [*tree.words[token.first_word - 1 : token.last_word]]
    return forms if "".join(forms) == token.form else [token.form]


def _write_training_files(sentences: list[list[SpacedToken]], path_stem: Path) -> None:
    """Write sentences to `path_stem.txt` and a label for each character to `path_stem.labels`."""
    with (
        path_stem.with_suffix(".txt").open("w", encoding="utf-8", newline="\n") as texts,
        path_stem.with_suffix(".labels").open("w", encoding="utf-8", newline="\n") as labels,
    ):
        for tokens in sentences:
            text = "".join(" " * has_space + word for word, has_space in tokens)
            tags = "".join(
                INSIDE_WORD_LABEL * (has_space + len(word) - 1) + WORD_END_LABEL for word, has_space in tokens
            )
            texts.write(f"{text}\n\n")
            labels.write(f"{tags[:-1]}{SENTENCE_END_LABEL}\n\n")


def _read_jieba_words() -> Iterator[str]:
    """Yield the words of jieba's dictionary."""
    import jieba

    with jieba.get_dict_file() as file:
        for line in file:
            yield line.decode("utf-8").split(" ", maxsplit=1)[0]


def _train_tokenizer(
    language: str, has_lexicon: bool, max_characters: int, batches_per_epoch: int, epochs: int, seed: int, threads: int
) -> dict[str, Any]:
    """Train on the files of the current directory, and return the content of Stanza's model file."""
    import torch
    from stanza.models import tokenizer

    torch.set_num_threads(threads)
    tokenizer.main(
        [
            *("--lang", language, "--shorthand", f"{language}_own", "--seed", str(seed), "--device", "cpu"),
            *("--txt_file", f"{TRAIN_STEM}.txt", "--label_file", f"{TRAIN_STEM}.labels"),
            *("--dev_txt_file", f"{DEV_STEM}.txt", "--dev_label_file", f"{DEV_STEM}.labels"),
            *("--mwt_json_file", EXPANSIONS_FILE, "--no_use_mwt", "--skip_newline"),
            *(["--use_dictionary", "--external_dict", LEXICON_FILE] if has_lexicon else []),
            *(
                "--max_seqlen",
                str(max_characters),
                "--batch_size",
                str(BATCH_SENTENCES),
                "--steps",
                str(batches_per_epoch * epochs),
            ),
            *("--eval_steps", str(batches_per_epoch), "--report_steps", str(batches_per_epoch)),
            *("--save_dir", ".", "--save_name", MODEL_FILE),
        ]
    )
    return torch.load(MODEL_FILE, map_location="cpu", weights_only=True)


def _save_model_reproducibly(model: dict[str, Any], path: Path) -> None:
    """Save a model without the memory addresses and the random set order of Stanza's files."""
    import torch

    if model["lexicon"] is not None:
        model["lexicon"] = sorted(model["lexicon"])
    with write_atomically(path) as temporary, temporary.open("wb") as file:
        torch.save(model, file)
