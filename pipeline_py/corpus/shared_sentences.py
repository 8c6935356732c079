"""Counts of sentences that the training text shares with held-out sets, compared after preprocessing."""

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
    """Hash a text to 64 bits; surrogates represent bytes that are not UTF-8."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little")


def build_sentence_hasher(
    is_tokenized: bool = False, ignores_case: bool = False, punctuation_language: str | None = None
) -> Callable[[str], int]:
    """Return a function that gives clean sentences equal hashes if they have equal tokens after preprocessing.

    Untokenized sentences are compared without spaces and invisible characters, which the tokenizer changes: `Hello ,
    world` equals `Hello, world`, and also `any one` equals `anyone`.

    Args:
        is_tokenized: The text is tokenized: compare words with all characters, after undoing the escapes of Moses.
        ignores_case: The text is lower-cased or truecased later.
        punctuation_language: The language for which punctuation is normalized later; None if it is not.
    """
    normalize = None if punctuation_language is None else build_punctuation_normalizer(punctuation_language)

    def hash_sentence(sentence: str) -> int:
        if normalize is not None:
            sentence = normalize(sentence)
        sentence = (
            undo_moses_escapes(sentence) if is_tokenized else remove_joiners(remove_invisible_characters(sentence))
        )
        words = (" " if is_tokenized else "").join(sentence.split())
        # Lower-casing depends on word ends for sigma, and word ends are unknown without spaces.
        return hash_text(words.lower().replace("ς", "σ") if ignores_case else words)

    return hash_sentence


def count_shared_sentences(
    experiment: ExperimentConfig, hash_files: Callable[[Iterable[str]], dict[str, str | None]], cache_path: Path
) -> dict[str, int]:
    """Count the training pairs whose source occurs in a set, before cleaning.

    Counts are cached by file contents, since training text can be large.

    Args:
        experiment: The experiment configuration.
        hash_files: Hashes files by path; the hash of an unreadable file is None.
        cache_path: The cache of counts.

    Returns:
        The count of each held-out and contrastive set. Generated sets and sets with unreadable files are omitted; all
        are omitted if the training text is partly generated or unreadable.

    Raises:
        InputError: a compressed file is broken, or a file has no contrastive pairs.
    """
    corpora = experiment.corpora
    if corpora.generated_training_text is not None:
        return {}
    train_files = [experiment.resolve_path(text.source) for text in corpora.train if text.source is not None]
    files = {split: [text.source] for split, text in corpora.held_out_sets.items() if text.source is not None}
    files |= {split: text.file for split, text in corpora.contrastive_sets.items() if text.file}
    set_files = {split: [*map(experiment.resolve_path, paths)] for split, paths in files.items()}
    options = corpora.source.comparison_options
    train_hashes = hash_files(train_files)
    keys = {split: _build_cache_key(train_hashes, hash_files(paths), options) for split, paths in set_files.items()}
    cached_counts = read_checked_json(cache_path)
    missing_sets = {split: set_files[split] for split, key in keys.items() if key and key not in cached_counts}
    if missing_sets:
        counts = _count_shared_pairs(train_files, missing_sets, corpora.contrastive_sets, options)
        cached_counts |= {keys[split]: count for split, count in counts.items()}
        write_checked_json(cache_path, cached_counts)
    return {split: cached_counts[key] for split, key in keys.items() if key}


def _build_cache_key(
    train_hashes: Mapping[str, str | None], set_hashes: Mapping[str, str | None], comparison: Mapping[str, Any]
) -> str:
    """Return a cache key for two texts and their comparison; empty if one of them cannot be read."""
    hash_lists = [[*train_hashes.values()], [*set_hashes.values()]]
    if not all(hashes and all(hashes) for hashes in hash_lists):
        return ""
    return ":".join([*("+".join(map(str, hashes)) for hashes in hash_lists), *map(str, comparison.values())])


def _count_shared_pairs(
    train_files: list[str],
    set_files: Mapping[str, list[str]],
    contrastive_sets: Mapping[str, object],
    comparison: Mapping[str, Any],
) -> dict[str, int]:
    hash_sentence = build_sentence_hasher(**comparison)
    counts = dict.fromkeys(set_files, 0)
    splits_by_hash: dict[int, set[str]] = {}
    for split, files in set_files.items():
        for sentence in _read_contrastive_sources(files) if split in contrastive_sets else _read_raw_sentences(files):
            splits_by_hash.setdefault(hash_sentence(sentence), set()).add(split)
    for sentence in _read_raw_sentences(train_files):
        for split in splits_by_hash.get(hash_sentence(sentence), ()):
            counts[split] += 1
    return counts


def _read_contrastive_sources(files: list[str]) -> Iterator[str]:
    return (replace_control_characters(pair[0]) for file in files for pair in read_contrastive_pairs(Path(file)))


def _read_raw_sentences(files: list[str]) -> Iterator[str]:
    """Yield the sentences before cleaning; invalid bytes become surrogates."""
    for file in files:
        for line in read_byte_lines(Path(file)):
            yield replace_control_characters(line.decode("utf-8", "surrogateescape"))
