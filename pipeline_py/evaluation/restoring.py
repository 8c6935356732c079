"""Words of the output that come from the source: for unknown words, and for placeholders.

An unknown word becomes the source word that it attended to most (Luong et al. 2015, "copy").

Yang et al. (2017, section 4.1) generalise rare times, dates and numbers and say nothing of putting them back; attention
tells which is which, as it does for unknown words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline_py.corpus.expressions import PLACEHOLDERS
from pipeline_py.files.artifacts import Counts
from pipeline_py.files.text import read_parallel, tokens_of
from pipeline_py.run.errors import InputError
from pipeline_py.subword import pieces as subword

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
        InputError: if files differ in length, or words do not fit their sentence.
    """
    paths = [pieces, alignment, source_pieces, *([source_tokens] if source_tokens else [])]
    for number, (line, positions, source, *tokens) in enumerate(read_parallel(*paths), start=1):
        source_line = tokens_of(source)
        sentence = source_line[1:-1] if tagged else source_line
        read = joined(sentence, joiner)
        word_at = [*(range(len(read)) if joiner == "none" else subword.word_of_piece(sentence)), len(read)]
        if tagged:
            word_at = [len(read), *word_at, len(read)]
        original = read
        if source_tokens is not None:
            original = tokens_of(tokens[0])
            _check_words(read, original, source_tokens, number)
        yield Attended(tokens_of(line), [word_at[int(position)] for position in positions.split()], read, original)


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


UNKNOWN = "<unk>"


def known_words(sentence: Attended, counts: Counts) -> dict[int, str]:
    """Give the word in the place of each `<unk>` of the output; one that attended to EOS leaves no word.

    Args:
        sentence: an output and its source.
        counts: notes what became of each.

    Returns:
        Words by index of the output piece.
    """
    words = {}
    for place, piece in enumerate(sentence.pieces):
        if piece == UNKNOWN:
            end = sentence.attended[place] == len(sentence.original)
            counts.note(
                "unknown word dropped: it attended to the end of the source" if end else "unknown word replaced"
            )
            words[place] = "" if end else sentence.original[sentence.attended[place]]
    return words


def put_back(sentence: Attended, taken: set[int], counts: Counts) -> dict[int, str]:
    """Give the word in the place of each placeholder of the output.

    It is the original of the source word that the placeholder attended to, if that word is the same placeholder, be
    it for the second time. The others, from left to right, take what is left of the source: first those for which it
    has the same placeholder, then, since languages differ in what they write as a number or a date, those for which
    it has another one. Of several the nearest is taken, in words, and of two as near the first. Where nothing is left
    the placeholder leaves no word: it is none of the target language.

    Args:
        sentence: an output and its source.
        taken: source words that are in the output already; only a placeholder that attended to one can repeat it.
        counts: notes what became of each.

    Returns:
        Words by index of the output piece.
    """
    read, attended = sentence.read, sentence.attended
    places = [place for place, piece in enumerate(sentence.pieces) if piece in PLACEHOLDERS]
    source: dict[int, int] = {}
    for place in places:
        if sentence.pieces[place] in read[attended[place] : attended[place] + 1]:
            source[place] = attended[place]
            counts.note("placeholder put back: it attended to its like")
    left = {word for word, form in enumerate(read) if form in PLACEHOLDERS} - taken - {*source.values()}
    for same, what in ((True, "the nearest of its like"), (False, "one of another kind")):
        for place in places:
            near = [word for word in left if not same or read[word] == sentence.pieces[place]]
            if place not in source and near:
                _, source[place] = min((abs(word - attended[place]), word) for word in near)
                left.remove(source[place])
                counts.note(f"placeholder put back: {what}")
    if len(source) < len(places):
        counts.note("placeholder dropped: the source has none left", len(places) - len(source))
    return {place: sentence.original[source[place]] if place in source else "" for place in places}
