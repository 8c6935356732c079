"""Find n-grams that one of two systems gets right more often than the other.

They are ranked as compare-mt does (Neubig et al. 2019).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from typing import NamedTuple

from pydantic import PositiveInt
from sacrebleu.metrics.helpers import extract_all_word_ngrams

from pipeline_py.evaluation.columns import write_rows
from pipeline_py.evaluation.metric import Tokenizer
from pipeline_py.evaluation.metrics.bleu import word_splitter
from pipeline_py.evaluation.sentences import read_sentences
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress

COLUMNS = ("system", "other", "ngram", "matches_system", "matches_other", "references", "share")


class Ngram(NamedTuple):
    """Words that follow each other; how often two systems match them, and how often they could."""

    words: tuple[str, ...]
    system: int
    other: int
    references: int

    @property
    def share(self) -> float:
        """Which part of the matches is the system's, smoothed so that many matches say more than few."""
        return (self.system + 1) / (self.system + self.other + 2)


def ngrams(
    *,
    outputs: dict[str, Path],
    references: list[Path],
    output: Path,
    most: PositiveInt = 10,
    shortest: PositiveInt = 1,
    longest: PositiveInt = 4,
    tokenizer: Tokenizer = "13a",
    lowercase: bool = True,
) -> None:
    """Choose the n-grams that each system gets right more often than the first system, and the reverse.

    As in BLEU (Papineni et al. 2002), an n-gram of an output is a match if a reference of the sentence has it at any
    position; it matches at most as often as the reference that has it most often. `matches_system`, `matches_other` and
    `references`, the largest possible number of matches, are sums over sentences.

    N-grams are ranked by the system's share of the matches of both, (`matches_system` + 1) / (`matches_system` +
    `matches_other` + 2): compare-mt's score with its smoothing of 1. With equal shares, the larger difference comes
    first, then the longer n-gram, then code point order. For each system except the first, the output has up to `most`
    n-grams that it matches more often, and then, with `system` and `other` exchanged, up to `most` that the first
    system matches more often. Cells are not quoted.

    Args:
        outputs: Detokenized outputs by system. The others are compared with the first.
        references: Reference translations.
        output: The n-grams as TSV, by pair of systems.
        most: Most n-grams in either direction.
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
    split = word_splitter(tokenizer, lowercase)
    counts = _count([*outputs.values()], references, split, (shortest, longest))
    names = [*outputs]
    rows = [
        (names[one], names[two], " ".join(ngram.words), ngram.system, ngram.other, ngram.references, ngram.share)
        for place in range(1, len(names))
        for one, two in ((place, 0), (0, place))
        for ngram in ranked(_beside(counts, one, two))[:most]
    ]
    write_rows(output, COLUMNS, rows, quoted=False)


def ranked(ngrams: Iterator[Ngram]) -> list[Ngram]:
    """Order the n-grams that the system matches more often than the other, those that tell most first."""

    def rank(ngram: Ngram) -> tuple[float, int, int, tuple[str, ...]]:
        return -ngram.share, ngram.other - ngram.system, -len(ngram.words), ngram.words

    return sorted((ngram for ngram in ngrams if ngram.system > ngram.other), key=rank)


def _beside(counts: Mapping[tuple[str, ...], Sequence[int]], one: int, two: int) -> Iterator[Ngram]:
    """Yield every n-gram with the matches of the systems at two places."""
    for words, (references, *matches) in counts.items():
        yield Ngram(words, matches[one], matches[two], references)


def _count(
    outputs: Sequence[Path],
    references: Sequence[Path],
    split: Callable[[str], list[str]],
    lengths: tuple[int, int],
) -> dict[tuple[str, ...], list[int]]:
    """For each n-gram of the references how often it could be matched, and behind that how often each output does."""
    counts: dict[tuple[str, ...], list[int]] = {}
    for lines in progress(read_sentences(outputs, references), "ngrams"):
        found = [extract_all_word_ngrams(" ".join(split(line)), *lengths)[0] for line in lines]
        said, asked = found[: len(outputs)], reduce(or_, found[len(outputs) :])
        for words, most in asked.items():
            row = counts.setdefault(words, [0] * (1 + len(outputs)))
            for place, times in enumerate((most, *(min(most, ngrams[words]) for ngrams in said))):
                row[place] += times
    return counts
