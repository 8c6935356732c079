"""Learn byte-pair merges (Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units")."""

from collections.abc import Iterable, Iterator
from functools import partial
from io import StringIO
from itertools import chain
from pathlib import Path

from pydantic import PositiveInt

from pipeline_py.corpus.placeholders import PLACEHOLDERS
from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword import pieces


def learn_bpe(*, input: list[Path], output: Path, merges: PositiveInt = 8000, min_frequency: PositiveInt = 2) -> None:
    """Write the merges that subword-nmt learns from all input files together.

    Give one file to learn merges for one language, or both sides for joint merges. Among equally frequent pairs, the
    last one in code point order is merged first, so that the same words always give the same merges. Memory holds the
    different words and their pairs, not the text. Placeholders for times, dates and numbers are left out, since they
    are never split.

    Args:
        input: Tokenized training text, one sentence a line.
        output: The merges in subword-nmt's format, version 0.2: one on each line, in the order in which they were
            learned.
        merges: Number of merges.
        min_frequency: Stop before this number if no pair of symbols is this frequent.

    Raises:
        InputError: a file is not UTF-8, or no pair of characters in it is frequent enough.
    """
    codes = StringIO()
    if any(len(token) > 1 for tokens in _read_splittable_words(input) for token in tokens):
        lines = map(" ".join, _read_splittable_words(input))
        _learn_merges(show_progress(lines, "learn_bpe, counting words"), codes, merges, min_frequency)
    if codes.getvalue().count("\n") < 2:
        raise InputError(
            f"no two neighbouring characters occur {min_frequency} times in a word; give more text", input[0]
        )
    with open_atomic_text_file(output) as file:
        file.write(codes.getvalue())


def _read_splittable_words(paths: list[Path]) -> Iterator[list[str]]:
    """Yield the words of each line that can be split."""
    for tokens in chain.from_iterable(map(pieces.read_tokens, paths)):
        yield [token for token in tokens if token not in PLACEHOLDERS]


def _learn_merges(lines: Iterable[str], codes: StringIO, merges: int, min_frequency: int) -> None:
    from subword_nmt import learn_bpe as library

    # The library's progress bar would write thousands of lines into a log file.
    library.tqdm = partial(show_progress, label="learn_bpe", total=merges, unit="merges")
    library.learn_bpe(lines, codes, merges, min_frequency)
