"""Find n-grams that one of two systems gets right more often, ranked as in compare-mt (Neubig et al. 2019)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from typing import NamedTuple

from pydantic import PositiveInt
from sacrebleu.metrics.helpers import extract_all_word_ngrams

from pipeline_py.evaluation.aligned_sentences import read_aligned_sentences
from pipeline_py.evaluation.metric import TokenizerName
from pipeline_py.evaluation.metrics.bleu import build_word_splitter
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress

NGRAM_COLUMNS = ("system", "other", "ngram", "matches_system", "matches_other", "references", "share")


class NgramMatches(NamedTuple):
    """An n-gram, its number of matches in the outputs of two systems, and its number in the references."""

    words: tuple[str, ...]
    system_matches: int
    other_matches: int
    reference_count: int

    @property
    def system_share(self) -> float:
        """The system's share of the matches of both systems, with add-one smoothing."""
        return (self.system_matches + 1) / (self.system_matches + self.other_matches + 2)


def compare_ngrams(
    *,
    outputs: dict[str, Path],
    references: list[Path],
    output: Path,
    max_per_direction: PositiveInt = 10,
    shortest: PositiveInt = 1,
    longest: PositiveInt = 4,
    tokenizer: TokenizerName = "13a",
    lowercase: bool = True,
) -> None:
    """Choose the n-grams that each system gets right more often than the first system, and the reverse.

    As in BLEU (Papineni et al. 2002), an n-gram of an output is a match if a reference of the sentence has it at any
    position; it matches at most as often as the reference that has it most often. `matches_system`, `matches_other` and
    `references`, the largest possible number of matches, are sums over sentences.

    N-grams are ranked by the system's share of the matches of both, (`matches_system` + 1) / (`matches_system` +
    `matches_other` + 2): compare-mt's score with its smoothing of 1. With equal shares, the larger difference comes
    first, then the longer n-gram, then code point order. For each system except the first, the output has up to
    `max_per_direction` n-grams that it matches more often, and then, with `system` and `other` exchanged, up to
    `max_per_direction` that the first system matches more often. Cells are not quoted.

    Args:
        outputs: Detokenized outputs by system. The others are compared with the first.
        references: Reference translations.
        output: The n-grams as TSV, by pair of systems.
        max_per_direction: Most n-grams in either direction.
        shortest: Words of the shortest n-grams.
        longest: Words of the longest n-grams.
        tokenizer: Sacrebleu's tokenizer, the same as for the scores.
        lowercase: Whether case is ignored, the same as for the scores.

    Raises:
        InputError: if files differ in length, a reference line is empty, or the shortest n-grams
            are longer than the longest.
    """
    if shortest > longest:
        raise InputError(f"shortest ({shortest}) is more than longest ({longest}); give n-grams of one length at least")
    split = build_word_splitter(tokenizer, lowercase)
    counts = _count_ngram_matches([*outputs.values()], references, split, (shortest, longest))
    names = [*outputs]
    rows = [
        (
            names[system_index],
            names[other_index],
            " ".join(ngram.words),
            ngram.system_matches,
            ngram.other_matches,
            ngram.reference_count,
            ngram.system_share,
        )
        for number in range(1, len(names))
        for system_index, other_index in ((number, 0), (0, number))
        for ngram in rank_ngrams(_iterate_pair_matches(counts, system_index, other_index))[:max_per_direction]
    ]
    write_tsv(output, NGRAM_COLUMNS, rows)


def rank_ngrams(ngrams: Iterator[NgramMatches]) -> list[NgramMatches]:
    """Sort the n-grams that the system matches more often than the other, by falling share."""

    def rank(ngram: NgramMatches) -> tuple[float, int, int, tuple[str, ...]]:
        return -ngram.system_share, ngram.other_matches - ngram.system_matches, -len(ngram.words), ngram.words

    return sorted((ngram for ngram in ngrams if ngram.system_matches > ngram.other_matches), key=rank)


def _iterate_pair_matches(
    counts: Mapping[tuple[str, ...], Sequence[int]], system_index: int, other_index: int
) -> Iterator[NgramMatches]:
    """Yield every n-gram with the matches of two systems."""
    for words, (references, *matches) in counts.items():
        yield NgramMatches(words, matches[system_index], matches[other_index], references)


def _count_ngram_matches(
    outputs: Sequence[Path],
    references: Sequence[Path],
    split_words: Callable[[str], list[str]],
    ngram_lengths: tuple[int, int],
) -> dict[tuple[str, ...], list[int]]:
    """Return for each n-gram its number in the references, followed by the number of matches in each output."""
    counts: dict[tuple[str, ...], list[int]] = {}
    for lines in show_progress(read_aligned_sentences(outputs, references), "ngrams"):
        line_ngrams = [extract_all_word_ngrams(" ".join(split_words(line)), *ngram_lengths)[0] for line in lines]
        output_ngrams, reference_ngrams = line_ngrams[: len(outputs)], reduce(or_, line_ngrams[len(outputs) :])
        for words, reference_count in reference_ngrams.items():
            row = counts.setdefault(words, [0] * (1 + len(outputs)))
            for column, count in enumerate(
                (reference_count, *(min(reference_count, ngrams[words]) for ngrams in output_ngrams))
            ):
                row[column] += count
    return counts
