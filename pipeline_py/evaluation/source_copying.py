"""Words of the output that come from the source: for unknown words, and for placeholders.

An unknown word becomes the source word that it attended to most (Luong et al. 2015, "copy").

Yang et al. (2017, section 4.1) generalise rare times, dates and numbers and say nothing of putting them back; attention
tells which is which, as it does for unknown words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline_py.corpus.placeholders import PLACEHOLDERS
from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.text_files import read_parallel, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.subword import pieces as subword

JoinerName = Literal["bpe", "none"]


@dataclass(frozen=True)
class AlignedOutput:
    """One output of P pieces, and its source of J words.

    Attributes:
        pieces: (P,) the output.
        source_positions: (P,) index of the source word that each piece attended to most; J is EOS.
        source_words: (J,) the source words as the system read them.
        original_words: (J,) the same before rare times, dates and numbers were generalised.
    """

    pieces: list[str]
    source_positions: list[int]
    source_words: list[str]
    original_words: list[str]


def read_aligned_outputs(
    pieces: Path,
    alignment: Path,
    source_pieces: Path,
    source_tokens: Path | None,
    joiner: JoinerName,
    has_tags: bool = False,
) -> Iterator[AlignedOutput]:
    """Yield each output with its attention.

    Args:
        pieces: output pieces.
        alignment: for each of them the source position, from 0, that it attended to most; in pieces.
        source_pieces: the source; a position behind its last piece is EOS.
        source_tokens: the source before it was generalised; without it, that is what the pieces make up.
        joiner: of both sides.
        has_tags: the first and the last source piece are tags, no words, as EOS.

    Raises:
        InputError: if files differ in length, or words do not fit their sentence.
    """
    paths = [pieces, alignment, source_pieces, *([source_tokens] if source_tokens else [])]
    for number, (line, positions, source, *tokens) in enumerate(read_parallel(*paths), start=1):
        source_line = split_tokens(source)
        sentence = source_line[1:-1] if has_tags else source_line
        read = join_to_words(sentence, joiner)
        word_at = [*(range(len(read)) if joiner == "none" else subword.find_word_indices(sentence)), len(read)]
        if has_tags:
            word_at = [len(read), *word_at, len(read)]
        original = read
        if source_tokens is not None:
            original = split_tokens(tokens[0])
            _check_original_words(read, original, source_tokens, number)
        yield AlignedOutput(
            split_tokens(line), [word_at[int(position)] for position in positions.split()], read, original
        )


def _check_original_words(source_words: list[str], original_words: list[str], path: Path, line_number: int) -> None:
    """See to it that one sentence is the other, but for its placeholders."""
    if len(source_words) != len(original_words):
        raise InputError(
            f"{len(original_words)} words, but the source pieces make up {len(source_words)}; give the words that were generalised",
            path,
            line_number,
        )
    for new, old in zip(source_words, original_words, strict=True):
        if new != old and new not in PLACEHOLDERS:
            raise InputError(
                f"`{old}` is `{new}` in the source pieces; give the words that were generalised", path, line_number
            )


def join_to_words(pieces: list[str], joiner: JoinerName) -> list[str]:
    """Give the words that pieces stand for, an empty one for a word of nothing but joiners."""
    return pieces if joiner == "none" else subword.join_pieces(pieces)


def join_to_nonempty_words(pieces: list[str], joiner: JoinerName) -> list[str]:
    """Give the words that pieces stand for; a word of nothing but joiners is none."""
    return [word for word in join_to_words(pieces, joiner) if word]


UNKNOWN_PIECE = "<unk>"


def find_unknown_replacements(sentence: AlignedOutput, counts: SentenceCounts) -> dict[int, str]:
    """Give the word in the place of each `<unk>` of the output; one that attended to EOS leaves no word.

    Args:
        sentence: an output and its source.
        counts: notes what became of each.

    Returns:
        Words by index of the output piece.
    """
    words = {}
    for place, piece in enumerate(sentence.pieces):
        if piece == UNKNOWN_PIECE:
            end = sentence.source_positions[place] == len(sentence.original_words)
            counts.add_noted(
                "unknown word dropped: it attended to the end of the source" if end else "unknown word replaced"
            )
            words[place] = "" if end else sentence.original_words[sentence.source_positions[place]]
    return words


def find_placeholder_replacements(
    sentence: AlignedOutput, used_positions: set[int], counts: SentenceCounts
) -> dict[int, str]:
    """Give the word in the place of each placeholder of the output.

    It is the original of the source word that the placeholder attended to, if that word is the same placeholder, be
    it for the second time. The others, from left to right, take what is left of the source: first those for which it
    has the same placeholder, then, since languages differ in what they write as a number or a date, those for which
    it has another one. Of several the nearest is taken, in words, and of two as near the first. Where nothing is left
    the placeholder leaves no word: it is none of the target language.

    Args:
        sentence: an output and its source.
        used_positions: source words that are in the output already; only a placeholder that attended to one can repeat it.
        counts: notes what became of each.

    Returns:
        Words by index of the output piece.
    """
    read, attended = sentence.source_words, sentence.source_positions
    places = [place for place, piece in enumerate(sentence.pieces) if piece in PLACEHOLDERS]
    source: dict[int, int] = {}
    for place in places:
        if sentence.pieces[place] in read[attended[place] : attended[place] + 1]:
            source[place] = attended[place]
            counts.add_noted("placeholder put back: it attended to its like")
    left = {word for word, form in enumerate(read) if form in PLACEHOLDERS} - used_positions - {*source.values()}
    for same, what in ((True, "the nearest of its like"), (False, "one of another kind")):
        for place in places:
            near = [word for word in left if not same or read[word] == sentence.pieces[place]]
            if place not in source and near:
                _, source[place] = min((abs(word - attended[place]), word) for word in near)
                left.remove(source[place])
                counts.add_noted(f"placeholder put back: {what}")
    if len(source) < len(places):
        counts.add_noted("placeholder dropped: the source has none left", len(places) - len(source))
    return {place: sentence.original_words[source[place]] if place in source else "" for place in places}
