"""Outputs with the source words that they attended to."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline_py.corpus.placeholders import PLACEHOLDERS
from pipeline_py.input_error import InputError
from pipeline_py.subword import pieces as subword
from pipeline_py.text import is_number, read_parallel, tokens_of

Joiner = Literal["bpe", "none"]


@dataclass(frozen=True)
class Attended:
    """One output of P pieces, and its source of J words.

    Attributes:
        pieces: (P,) the output.
        attended: (P,) index of the source word that each piece attended to most; J is EOS.
        read: (J,) the source words as the system read them.
        original: (J,) the same before rare times, dates and numbers were generalised.
    """

    pieces: list[str]
    attended: list[int]
    read: list[str]
    original: list[str]


def read_attended(
    pieces: Path, alignment: Path, source_pieces: Path, source_tokens: Path | None, joiner: Joiner, tagged: bool = False
) -> Iterator[Attended]:
    """Yield each output with its attention.

    Args:
        pieces: output pieces.
        alignment: for each of them the source position, from 0, that it attended to most; in pieces.
        source_pieces: the source; a position behind its last piece is EOS.
        source_tokens: the source before it was generalised; without it, that is what the pieces make up.
        joiner: of both sides.
        tagged: the first and the last source piece are tags, no words, as EOS.

    Raises:
        InputError: if files differ in length, or positions or words do not fit their sentence.
    """
    paths = [pieces, alignment, source_pieces, *([source_tokens] if source_tokens else [])]
    for number, (line, positions, source, *tokens) in enumerate(read_parallel(*paths), start=1):
        output, source_line = tokens_of(line), tokens_of(source)
        sentence = source_line[1:-1] if tagged else source_line
        read = joined(sentence, joiner)
        word_at = [*(range(len(read)) if joiner == "none" else subword.word_of_piece(sentence)), len(read)]
        if tagged:
            word_at = [len(read), *word_at, len(read)]
        found = _positions(positions, len(output), len(source_line), alignment, number)
        original = read
        if source_tokens is not None:
            original = tokens_of(tokens[0])
            _check_words(read, original, source_tokens, number)
        yield Attended(output, [word_at[position] for position in found], read, original)


def _positions(line: str, output: int, source: int, path: Path, number: int) -> list[int]:
    """Parse the positions of as many output pieces in as many source pieces."""
    if strange := [position for position in line.split() if not is_number(position)]:
        raise InputError(f"{strange[0]!r} is not a position; write one source position for each piece", path, number)
    positions = [int(position) for position in line.split()]
    if len(positions) != output:
        raise InputError(
            f"{len(positions)} positions for {output} output pieces; decode again to get both files", path, number
        )
    for position in positions:
        if not 0 <= position <= source:
            raise InputError(
                f"position {position} is outside the source of {source} pieces and EOS; "
                "give the source that was translated",
                path,
                number,
            )
    return positions


def _check_words(read: list[str], original: list[str], path: Path, number: int) -> None:
    """See to it that one sentence is the other, but for its placeholders."""
    if len(read) != len(original):
        raise InputError(
            f"{len(original)} words, but the source pieces make up {len(read)}; give the words that were generalised",
            path,
            number,
        )
    for new, old in zip(read, original, strict=True):
        if new != old and new not in PLACEHOLDERS:
            raise InputError(
                f"`{old}` is `{new}` in the source pieces; give the words that were generalised", path, number
            )


def joined(line: list[str], joiner: Joiner) -> list[str]:
    """Give the words that pieces stand for, an empty one for a word of nothing but joiners."""
    return line if joiner == "none" else subword.join(line)


def words_of(line: list[str], joiner: Joiner) -> list[str]:
    """Give the words that pieces stand for; a word of nothing but joiners is none."""
    return [word for word in joined(line, joiner) if word]
