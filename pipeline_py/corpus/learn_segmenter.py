"""Learn to divide text into tokens as a treebank does, with Stanza's own training command."""

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

BATCH_SENTENCES = 32  # sentences
DEFAULT_EPOCH_RANGE, MIN_TRAINING_BATCHES = (15, 40), 750
"""Least and most default passes, and the number of batches from which the least suffice."""

LEARNED_SENTENCE_SHARE, CHARACTER_LIMIT_RANGE = 0.95, (100, 300)
"""Longer sentences than this share are not learned from, since training takes time in proportion to the limit.

The limit is at least the first number of characters, which is Stanza's default, and at most the second.
"""

INSIDE_WORD_LABEL, WORD_END_LABEL, SENTENCE_END_LABEL = "0", "1", "2"
"""What Stanza learns of each character."""


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
    """Train Stanza's tokenizer on a treebank, so that text is divided into the tokens of the treebank.

    A recurrent network tags the characters of a sentence. Multi-word tokens are one token, or with --words their words,
    if these spell the token (Turkish `evdeydi` is `evde ydi`, but French `du` is not `de le`). The tokens of the
    treebank are joined as its `SpaceAfter=No` tells. In languages without spaces, a sentence that records none is
    joined without them, except between two tokens of ASCII letters or digits. Chinese is always joined in this way, and
    the network also sees where jieba's words begin and end. The model of the epoch that is best on the dev trees is
    kept. The same seed and number of threads give the same model, byte by byte.

    Args:
        treebank_train: CoNLL-U, plain or gzipped.
        treebank_dev: The same, with other sentences.
        language: ISO 639 code of the text.
        output: The Stanza model.
        counts_output: JSON counts of training sentences; the longest ones are dropped (5 %; all above 300 characters,
            none below 100).
        words: Divide multi-word tokens into the words that spell them.
        epochs: Passes over the training sentences; by default 15, and up to 40 over small treebanks.
        seed: Seed of all random numbers.
        threads: CPU threads.

    Raises:
        InputError: a file is no CoNLL-U, or has no sentence to learn from.
    """
    counts = SentenceCounts()
    language = language.partition("-")[0]
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
"""A token of a sentence, and whether a space is before it."""


def _select_short_sentences(
    sentences: list[list[SpacedToken]], treebank: Path, counts: SentenceCounts
) -> tuple[list[list[SpacedToken]], int]:
    """Return the sentences that Stanza learns from and the most characters of one, and count the other sentences."""
    lengths = [sum(len(form) + has_space for form, has_space in sentence) for sentence in sentences]
    least, most = CHARACTER_LIMIT_RANGE
    limit = min(max(sorted(lengths)[int(LEARNED_SENTENCE_SHARE * (len(lengths) - 1))], least), most)
    short = [sentence for sentence, length in zip(sentences, lengths, strict=True) if length <= limit]
    counts.add_kept(len(short))
    if len(short) < len(sentences):
        counts.add_dropped(f"more than {limit} characters", len(sentences) - len(short))
    if not short:
        raise InputError(f"no sentence has at most {limit} characters; divide it into sentences", treebank)
    return short, limit


def _read_treebank_sentences(treebank: Path, language: str, should_split_multiword: bool) -> list[list[SpacedToken]]:
    sentences = [
        _collect_spaced_tokens(tree, language, should_split_multiword)
        for tree in read_dependency_trees(treebank)
        if tree.words
    ]
    if not sentences:
        raise InputError("no sentence to learn from; give a treebank in CoNLL-U", treebank)
    return sentences


def _collect_spaced_tokens(tree: DependencyTree, language: str, should_split_multiword: bool) -> list[SpacedToken]:
    forms = [token.form for token in tree.tokens]
    spaces = (
        _detect_chinese_spaces(forms)
        if language == "zh"
        else _detect_spaces(forms, restore_original_text(tree, language))
    )
    return [
        (form, place == 0 and has_space)
        for token, has_space in zip(tree.tokens, spaces, strict=True)
        for place, form in enumerate(_split_multiword_token(tree, token) if should_split_multiword else [token.form])
    ]


def _detect_chinese_spaces(forms: Sequence[str]) -> list[bool]:
    """Return whether a space is before each token: only between two of ASCII letters or digits."""
    return [
        False,
        *(is_ascii_word_char(before[-1]) and is_ascii_word_char(form[0]) for before, form in pairwise(forms)),
    ]


def _detect_spaces(forms: Iterable[str], text: str) -> Iterator[bool]:
    """Yield whether a space is before each token in a text that has the same visible characters."""
    characters = iter(text)
    for form in forms:
        has_space = False
        for place, _ in enumerate(filter(_is_visible_character, form)):
            while not _is_visible_character(character := next(characters)):
                has_space |= place == 0 and character.isspace()
        yield has_space


def _is_visible_character(character: str) -> bool:
    return remove_invisible_characters(character).strip() != ""


def _split_multiword_token(tree: DependencyTree, token: MultiwordToken) -> list[str]:
    """Return the words of a token if they spell it, and otherwise the token."""
    forms = [*tree.words[token.first_word - 1 : token.last_word]]
    return forms if "".join(forms) == token.form else [token.form]


def _write_training_files(sentences: list[list[SpacedToken]], path_stem: Path) -> None:
    """Write the text of sentences to `path_stem.txt` and a label for each character of it to `path_stem.labels`."""
    with (
        path_stem.with_suffix(".txt").open("w", encoding="utf-8", newline="\n") as texts,
        path_stem.with_suffix(".labels").open("w", encoding="utf-8", newline="\n") as labels,
    ):
        for tokens in sentences:
            text, tags = "", ""
            for word, has_space in tokens:
                if has_space:
                    text, tags = text + " ", tags + INSIDE_WORD_LABEL
                text, tags = text + word, tags + INSIDE_WORD_LABEL * (len(word) - 1) + WORD_END_LABEL
            texts.write(f"{text}\n\n")
            labels.write(f"{tags[:-1]}{SENTENCE_END_LABEL}\n\n")


def _read_jieba_words() -> Iterator[str]:
    """The words that jieba knows, in the order of its dictionary."""
    import jieba

    with jieba.get_dict_file() as file:
        for line in file:
            yield line.decode("utf-8").split(" ", maxsplit=1)[0]


def _train_tokenizer(
    language: str, has_lexicon: bool, max_characters: int, batches_per_epoch: int, epochs: int, seed: int, threads: int
) -> dict[str, Any]:
    """Train on the files of the current directory.

    Args:
        language: ISO 639 code of two or three letters.
        has_lexicon: whether the network sees the words of a lexicon.
        max_characters: most characters of a training sentence.
        batches_per_epoch: batches of an epoch.
        epochs: passes over the training sentences.
        seed: of all random numbers.
        threads: CPU threads.

    Returns:
        The content of Stanza's model file.
    """
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
    """Save a model so that equal ones have equal bytes: Stanza writes addresses in memory, and a set in any order."""
    import torch

    if model["lexicon"] is not None:
        model["lexicon"] = sorted(model["lexicon"])
    with write_atomically(path) as temporary, temporary.open("wb") as file:
        torch.save(model, file)
