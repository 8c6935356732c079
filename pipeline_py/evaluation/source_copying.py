"""Replacement of unknown words and placeholders in the output by source words.

An unknown word becomes the source word with the highest attention weight (Luong et al. 2015, "copy"). Yang et al.
(2017, section 4.1) replace rare times, dates and numbers by placeholders, but do not say how to restore them; here
attention selects their source words, too.
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
        alignment: for each output piece, the position of the source piece with the highest attention weight.
        source_pieces: the source; the position after its last piece is EOS.
        source_tokens: the source words before placeholders; None if the source has no placeholders.
        joiner: the joiner of both sides.
        has_tags: the first and the last source piece are tags, which are treated like EOS.

    Raises:
        InputError: files differ in length, or words do not fit their sentence.
    """
    paths = [pieces, alignment, source_pieces, *([source_tokens] if source_tokens else [])]
    for number, (line, positions, source, *tokens) in enumerate(read_parallel(*paths), start=1):
        source_line = split_tokens(source)
        sentence = source_line[1:-1] if has_tags else source_line
        source_words = join_to_words(sentence, joiner)
        word_indices = [
            *(range(len(source_words)) if joiner == "none" else subword.find_word_indices(sentence)),
            len(source_words),
        ]
        if has_tags:
            word_indices = [len(source_words), *word_indices, len(source_words)]
        original_words = source_words
        if source_tokens is not None:
            original_words = split_tokens(tokens[0])
            _check_only_placeholders_differ(source_words, original_words, source_tokens, number)
        yield AlignedOutput(
            split_tokens(line),
            [word_indices[int(position)] for position in positions.split()],
            source_words,
            original_words,
        )


def _check_only_placeholders_differ(
    source_words: list[str], original_words: list[str], path: Path, line_number: int
) -> None:
    """Raise an error unless the sentences differ only in placeholders."""
    if len(source_words) != len(original_words):
        raise InputError(
            f"{len(original_words)} words, but the source pieces make up {len(source_words)}; "
            "give the words that were generalised",
            path,
            line_number,
        )
    for new, old in zip(source_words, original_words, strict=True):
        if new != old and new not in PLACEHOLDERS:
            raise InputError(
                f"`{old}` is `{new}` in the source pieces; give the words that were generalised", path, line_number
            )


def join_to_words(pieces: list[str], joiner: JoinerName) -> list[str]:
    """Join pieces to words; a word that consists of joiners only is empty."""
    return pieces if joiner == "none" else subword.join_pieces(pieces)


def join_to_nonempty_words(pieces: list[str], joiner: JoinerName) -> list[str]:
    """Join pieces to words, without empty ones."""
    return [word for word in join_to_words(pieces, joiner) if word]


UNKNOWN_PIECE = "<unk>"


def find_unknown_replacements(sentence: AlignedOutput, counts: SentenceCounts) -> dict[int, str]:
    """Return the source word for each `<unk>` of the output; empty if it attended to EOS.

    Args:
        sentence: an output and its source.
        counts: counts of replaced and dropped words, which are updated.

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
    """Return the original source word for each placeholder of the output.

    If the source word with the highest attention weight is the same placeholder, its original word is used, even
    repeatedly. The other placeholders are assigned from left to right to source placeholders that are not used yet:
    first to equal ones, then to different ones, since languages differ in what they write as a number or a date. The
    nearest candidate is taken, and of two equally near ones the first. A placeholder without a candidate is dropped
    (empty word), since it is not a word of the target language.

    Args:
        sentence: an output and its source.
        used_positions: source words that are in the output already; only a placeholder that attended to one of them
            can repeat it.
        counts: counts of restored and dropped placeholders, which are updated.

    Returns:
        Words by index of the output piece.
    """
    source_words, attended = sentence.source_words, sentence.source_positions
    places = [place for place, piece in enumerate(sentence.pieces) if piece in PLACEHOLDERS]
    source_positions: dict[int, int] = {}
    for place in places:
        if sentence.pieces[place] in source_words[attended[place] : attended[place] + 1]:
            source_positions[place] = attended[place]
            counts.add_noted("placeholder put back: it attended to its like")
    unused_positions = (
        {word for word, form in enumerate(source_words) if form in PLACEHOLDERS}
        - used_positions
        - {*source_positions.values()}
    )
    for is_same_placeholder, description in ((True, "the nearest of its like"), (False, "one of another kind")):
        for place in places:
            candidates = [
                word
                for word in unused_positions
                if not is_same_placeholder or source_words[word] == sentence.pieces[place]
            ]
            if place not in source_positions and candidates:
                _, source_positions[place] = min((abs(word - attended[place]), word) for word in candidates)
                unused_positions.remove(source_positions[place])
                counts.add_noted(f"placeholder put back: {description}")
    if len(source_positions) < len(places):
        counts.add_noted("placeholder dropped: the source has none left", len(places) - len(source_positions))
    return {
        place: sentence.original_words[source_positions[place]] if place in source_positions else "" for place in places
    }
