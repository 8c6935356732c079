"""Sentences that the training text shares with held-out sets, compared by what a network sees of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.corpus.characters import remove_invisible_characters, remove_joiners, replace_control_characters
from pipeline_py.corpus.moses import undo_moses_escapes
from pipeline_py.corpus.normalize_punctuation import build_punctuation_normalizer
from pipeline_py.files.contrastive_pair_files import read_contrastive_pairs
from pipeline_py.files.text_files import read_byte_lines
from pipeline_py.run.file_hash_cache import read_checked_json, write_checked_json


def hash_text(text: str) -> int:
    """Hash a text to 64 bits; surrogates in it stand for bytes that are not UTF-8."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little")


def build_sentence_hasher(
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
    normalize = None if punctuation_language is None else build_punctuation_normalizer(punctuation_language)

    def hash_sentence(sentence: str) -> int:
        if normalize is not None:
            sentence = normalize(sentence)
        sentence = (
            undo_moses_escapes(sentence) if is_tokenized else remove_joiners(remove_invisible_characters(sentence))
        )
        words = (" " if is_tokenized else "").join(sentence.split())
        # Lower-casing makes a sigma at the end of a word another letter, and ends are not known without spaces.
        return hash_text(words.lower().replace("ς", "σ") if ignores_case else words)

    return hash_sentence


def count_shared_sentences(
    experiment: ExperimentConfig, hash_files: Callable[[Iterable[str]], dict[str, str | None]], cache_path: Path
) -> dict[str, int]:
    """Count the training pairs whose source is in a set, as cleaning compares them, before it drops any.

    A count is remembered for as long as the files hold what they held, since training text may be large.

    Args:
        experiment: the whole configuration.
        hash_files: hashes files by path, None of what cannot be read.
        cache_path: where counts are remembered; it may be lost at any time.

    Returns:
        By held-out and contrastive set; nothing of a set that is generated, or whose files cannot be read, nor of any
        where that goes for the training text.

    Raises:
        InputError: a file is no gzip, or none of contrastive pairs.
    """
    corpora = experiment.corpora
    train = [experiment.resolve_path(text.source) for text in corpora.train if text.source is not None]
    files = {split: [text.source] for split, text in corpora.held_out_sets.items() if text.source is not None}
    files |= {split: text.file for split, text in corpora.contrastive_sets.items() if text.file}
    sets = {split: [*map(experiment.resolve_path, of)] for split, of in files.items()}
    options = corpora.source.comparison_options
    keys = {split: _build_cache_key(hash_files(train), hash_files(of), options) for split, of in sets.items()}
    known = read_checked_json(cache_path)
    unknown = {split: sets[split] for split, key in keys.items() if key and key not in known}
    if unknown:
        known |= {
            keys[split]: count
            for split, count in _count_shared_pairs(train, unknown, corpora.contrastive_sets, options).items()
        }
        write_checked_json(cache_path, known)
    return {split: known[key] for split, key in keys.items() if key}


def _build_cache_key(
    train_hashes: Mapping[str, str | None], set_hashes: Mapping[str, str | None], comparison: Mapping[str, Any]
) -> str:
    """Return a cache key for two texts and their comparison; empty if one of them cannot be read."""
    hashes = [[*train_hashes.values()], [*set_hashes.values()]]
    if not all(of and all(of) for of in hashes):
        return ""
    return ":".join([*("+".join(map(str, of)) for of in hashes), *map(str, comparison.values())])


def _count_shared_pairs(
    train_files: list[str],
    set_files: Mapping[str, list[str]],
    contrastive_sets: Mapping[str, object],
    comparison: Mapping[str, Any],
) -> dict[str, int]:
    hash_sentence = build_sentence_hasher(**comparison)
    counts = dict.fromkeys(set_files, 0)
    holders: dict[int, set[str]] = {}
    for split, files in set_files.items():
        for sentence in _read_contrastive_sources(files) if split in contrastive_sets else _read_raw_sentences(files):
            holders.setdefault(hash_sentence(sentence), set()).add(split)
    for sentence in _read_raw_sentences(train_files):
        for split in holders.get(hash_sentence(sentence), ()):
            counts[split] += 1
    return counts


def _read_contrastive_sources(files: list[str]) -> Iterator[str]:
    return (replace_control_characters(pair[0]) for file in files for pair in read_contrastive_pairs(Path(file)))


def _read_raw_sentences(files: list[str]) -> Iterator[str]:
    """Sentences as they come into cleaning; where one is not UTF-8, no other text has it."""
    for file in files:
        for line in read_byte_lines(Path(file)):
            yield replace_control_characters(line.decode("utf-8", "surrogateescape"))
