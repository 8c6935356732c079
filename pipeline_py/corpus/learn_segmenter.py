"""Learn to divide text into tokens as a treebank does, with Stanza's own training command."""

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

from pydantic import PositiveInt

from pipeline_py.corpus.characters import is_latin, without_invisible
from pipeline_py.files.artifacts import Counts, whole
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.dependency import DependencyTree, MultiwordToken, read_dependencies
from pipeline_py.syntax.words.token_alignment import original_text

TRAIN, DEV, LEXICON, EXPANSIONS, MODEL = "train", "dev", "lexicon.txt", "expansions.json", "model.pt"

BATCH = 32  # sentences
EPOCHS, BATCHES = (15, 40), 750
"""Least and most default passes, and the number of batches from which the least suffice."""

SHARE_OF_SENTENCES, CHARACTERS = 0.95, (100, 300)
"""Longer sentences than this share are not learned from, since training takes time in proportion to the limit.

The limit is at least the first number of characters, which is Stanza's default, and at most the second.
"""

INSIDE, LAST_OF_WORD, LAST_OF_SENTENCE = "0", "1", "2"
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
    counts = Counts()
    language = language.partition("-")[0]
    is_chinese = language == "zh"
    train, longest = _short_sentences(_sentences(treebank_train, language, words), treebank_train, counts)
    dev = _sentences(treebank_dev, language, words)
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        for part, sentences in ((TRAIN, train), (DEV, dev)):
            _write(sentences, Path(part))
        Path(EXPANSIONS).write_text("{}", encoding="utf-8")
        if is_chinese:
            Path(LEXICON).write_text("".join(f"{word}\n" for word in _lexicon()), encoding="utf-8")
        steps = ceil(len(train) / BATCH)
        epochs = epochs or min(max(EPOCHS[0], ceil(BATCHES / steps)), EPOCHS[1])
        model = _trained(language, is_chinese, longest, steps, epochs, seed, threads)
    _save(model, output)
    counts.write(counts_output)


Token = tuple[str, bool]
"""A token of a sentence, and whether a space is before it."""


def _short_sentences(sentences: list[list[Token]], treebank: Path, counts: Counts) -> tuple[list[list[Token]], int]:
    """Return the sentences that Stanza learns from and the most characters of one, and count the other sentences."""
    lengths = [sum(len(form) + has_space for form, has_space in sentence) for sentence in sentences]
    least, most = CHARACTERS
    limit = min(max(sorted(lengths)[int(SHARE_OF_SENTENCES * (len(lengths) - 1))], least), most)
    short = [sentence for sentence, length in zip(sentences, lengths, strict=True) if length <= limit]
    counts.keep(len(short))
    if len(short) < len(sentences):
        counts.drop(f"more than {limit} characters", len(sentences) - len(short))
    if not short:
        raise InputError(f"no sentence has at most {limit} characters; divide it into sentences", treebank)
    return short, limit


def _sentences(treebank: Path, language: str, words: bool) -> list[list[Token]]:
    sentences = [_tokens(tree, language, words) for tree in read_dependencies(treebank) if tree.words]
    if not sentences:
        raise InputError("no sentence to learn from; give a treebank in CoNLL-U", treebank)
    return sentences


def _tokens(tree: DependencyTree, language: str, words: bool) -> list[Token]:
    forms = [token.form for token in tree.tokens]
    spaces = _spaces_of_chinese(forms) if language == "zh" else _spaces(forms, original_text(tree, language))
    return [
        (form, place == 0 and has_space)
        for token, has_space in zip(tree.tokens, spaces, strict=True)
        for place, form in enumerate(_words(tree, token) if words else [token.form])
    ]


def _spaces_of_chinese(forms: Sequence[str]) -> list[bool]:
    """Return whether a space is before each token: only between two of ASCII letters or digits."""
    return [False, *(is_latin(before[-1]) and is_latin(form[0]) for before, form in pairwise(forms))]


def _spaces(forms: Iterable[str], text: str) -> Iterator[bool]:
    """Yield whether a space is before each token in a text that has the same visible characters."""
    characters = iter(text)
    for form in forms:
        has_space = False
        for place, _ in enumerate(filter(_is_text, form)):
            while not _is_text(character := next(characters)):
                has_space |= place == 0 and character.isspace()
        yield has_space


def _is_text(character: str) -> bool:
    return without_invisible(character).strip() != ""


def _words(tree: DependencyTree, token: MultiwordToken) -> list[str]:
    """Return the words of a token if they spell it, and otherwise the token."""
    forms = [*tree.words[token.first - 1 : token.last]]
    return forms if "".join(forms) == token.form else [token.form]


def _write(sentences: list[list[Token]], path: Path) -> None:
    """Write the text of sentences to `path.txt` and a label for each character of it to `path.labels`."""
    with (
        path.with_suffix(".txt").open("w", encoding="utf-8", newline="\n") as texts,
        path.with_suffix(".labels").open("w", encoding="utf-8", newline="\n") as labels,
    ):
        for tokens in sentences:
            text, tags = "", ""
            for word, has_space in tokens:
                if has_space:
                    text, tags = text + " ", tags + INSIDE
                text, tags = text + word, tags + INSIDE * (len(word) - 1) + LAST_OF_WORD
            texts.write(f"{text}\n\n")
            labels.write(f"{tags[:-1]}{LAST_OF_SENTENCE}\n\n")


def _lexicon() -> Iterator[str]:
    """The words that jieba knows, in the order of its dictionary."""
    import jieba

    with jieba.get_dict_file() as file:
        for line in file:
            yield line.decode("utf-8").split(" ", maxsplit=1)[0]


def _trained(
    language: str, with_lexicon: bool, longest: int, steps: int, epochs: int, seed: int, threads: int
) -> dict[str, Any]:
    """Train on the files of the current directory.

    Args:
        language: ISO 639 code of two or three letters.
        with_lexicon: whether the network sees the words of a lexicon.
        longest: most characters of a training sentence.
        steps: batches of an epoch.
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
            *("--txt_file", f"{TRAIN}.txt", "--label_file", f"{TRAIN}.labels"),
            *("--dev_txt_file", f"{DEV}.txt", "--dev_label_file", f"{DEV}.labels"),
            *("--mwt_json_file", EXPANSIONS, "--no_use_mwt", "--skip_newline"),
            *(["--use_dictionary", "--external_dict", LEXICON] if with_lexicon else []),
            *("--max_seqlen", str(longest), "--batch_size", str(BATCH), "--steps", str(steps * epochs)),
            *("--eval_steps", str(steps), "--report_steps", str(steps)),
            *("--save_dir", ".", "--save_name", MODEL),
        ]
    )
    return torch.load(MODEL, map_location="cpu", weights_only=True)


def _save(model: dict[str, Any], path: Path) -> None:
    """Save a model so that equal ones have equal bytes: Stanza writes addresses in memory, and a set in any order."""
    import torch

    if model["lexicon"] is not None:
        model["lexicon"] = sorted(model["lexicon"])
    with whole(path) as temporary, temporary.open("wb") as file:
        torch.save(model, file)
