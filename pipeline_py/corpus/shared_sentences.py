"""Sentences that the training text shares with held-out sets, compared by what a network sees of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pipeline_py.config.experiment import Experiment
from pipeline_py.corpus.characters import without_controls, without_invisible, without_joiners
from pipeline_py.corpus.moses import unescape
from pipeline_py.corpus.normalize_punctuation import punctuation_normalizer
from pipeline_py.files.contrastive import read_pairs
from pipeline_py.files.text import read_bytes
from pipeline_py.run.contents import read_checked_json, write_checked_json


def fingerprint(text: str) -> int:
    """Hash a text to 64 bits; surrogates in it stand for bytes that are not UTF-8."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little")


def sentence_hasher(
    is_tokenized: bool = False, ignores_case: bool = False, punctuation_language: str | None = None
) -> Callable[[str], int]:
    """Return a function that hashes a clean sentence; sentences that become the same tokens have the same hash.

    The tokenizer of a text that is not tokenized removes invisible characters, and sets spaces. So such a sentence is
    compared without both: `Hello , world` is `Hello, world`, and also `any one` is `anyone`.

    Args:
        is_tokenized: The text is tokenized: words are compared, with all their characters but the escapes of Moses.
        ignores_case: The text is lower-cased or truecased later.
        punctuation_language: The language by whose rules punctuation is normalized later; None: it is kept.
    """
    normalize = None if punctuation_language is None else punctuation_normalizer(punctuation_language)

    def hash_sentence(sentence: str) -> int:
        if normalize is not None:
            sentence = normalize(sentence)
        sentence = unescape(sentence) if is_tokenized else without_joiners(without_invisible(sentence))
        words = (" " if is_tokenized else "").join(sentence.split())
        # Lower-casing makes a sigma at the end of a word another letter, and ends are not known without spaces.
        return fingerprint(words.lower().replace("ς", "σ") if ignores_case else words)

    return hash_sentence


def shared_sentences(
    experiment: Experiment, contents_of: Callable[[Iterable[str]], dict[str, str | None]], cache: Path
) -> dict[str, int]:
    """Count the training pairs whose source is in a set, as cleaning compares them, before it drops any.

    A count is remembered for as long as the files hold what they held, since training text may be large.

    Args:
        experiment: the whole configuration.
        contents_of: hashes files by path, None of what cannot be read.
        cache: where counts are remembered; it may be lost at any time.

    Returns:
        By held-out and contrastive set; nothing of a set that is generated, or whose files cannot be read, nor of any
        where that goes for the training text.

    Raises:
        InputError: a file is no gzip, or none of contrastive pairs.
    """
    corpora = experiment.corpora
    train = [experiment.path(text.source) for text in corpora.train if text.source is not None]
    files = {split: [text.source] for split, text in corpora.held_out.items() if text.source is not None}
    files |= {split: text.file for split, text in corpora.contrastive.items() if text.file}
    sets = {split: [*map(experiment.path, of)] for split, of in files.items()}
    options = corpora.source.comparison
    keys = {split: _key(contents_of(train), contents_of(of), options) for split, of in sets.items()}
    known = read_checked_json(cache)
    unknown = {split: sets[split] for split, key in keys.items() if key and key not in known}
    if unknown:
        known |= {keys[split]: count for split, count in _counts(train, unknown, corpora.contrastive, options).items()}
        write_checked_json(cache, known)
    return {split: known[key] for split, key in keys.items() if key}


def _key(train: Mapping[str, str | None], files: Mapping[str, str | None], options: Mapping[str, Any]) -> str:
    """Return a cache key for two texts and their comparison; empty if one of them cannot be read."""
    hashes = [[*train.values()], [*files.values()]]
    if not all(of and all(of) for of in hashes):
        return ""
    return ":".join([*("+".join(map(str, of)) for of in hashes), *map(str, options.values())])


def _counts(
    train: list[str], sets: Mapping[str, list[str]], contrastive: Mapping[str, object], options: Mapping[str, Any]
) -> dict[str, int]:
    hash_sentence = sentence_hasher(**options)
    counts = dict.fromkeys(sets, 0)
    holders: dict[int, set[str]] = {}
    for split, files in sets.items():
        for sentence in _pairs(files) if split in contrastive else _sentences(files):
            holders.setdefault(hash_sentence(sentence), set()).add(split)
    for sentence in _sentences(train):
        for split in holders.get(hash_sentence(sentence), ()):
            counts[split] += 1
    return counts


def _pairs(files: list[str]) -> Iterator[str]:
    return (without_controls(pair[0]) for file in files for pair in read_pairs(Path(file)))


def _sentences(files: list[str]) -> Iterator[str]:
    """Sentences as they come into cleaning; where one is not UTF-8, no other text has it."""
    for file in files:
        for line in read_bytes(Path(file)):
            yield without_controls(line.decode("utf-8", "surrogateescape"))
