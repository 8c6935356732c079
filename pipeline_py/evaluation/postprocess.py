"""Turn pieces into text: replace unknown words and placeholders, join pieces, restore case, detokenize."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from pipeline_py.corpus.moses import build_moses_detokenizer
from pipeline_py.evaluation.source_copying import (
    UNKNOWN_PIECE,
    AlignedOutput,
    JoinerName,
    find_placeholder_replacements,
    find_unknown_replacements,
    join_to_nonempty_words,
    read_aligned_outputs,
)
from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.files.language_properties import UNSPACED_CHARACTER_RANGES
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword.pieces import mark_pieces

DetokenizerName = Literal["moses", "chinese", "none"]

_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED_CHARACTER_RANGES}]")


def postprocess(
    *,
    pieces: Path,
    output: Path,
    language: str = "en",
    joiner: JoinerName = "bpe",
    truecased: bool = False,
    detokenizer: DetokenizerName = "moses",
    replace_unknown: bool = False,
    restore_placeholders: bool = False,
    alignment: Path | None = None,
    source_pieces: Path | None = None,
    tagged: bool = False,
    source_tokens: Path | None = None,
    counts_output: Path | None = None,
) -> None:
    """Turn a decoder's output into the text that is scored; every sentence is kept, even an empty one.

    Args:
        pieces: Output of the decoder, pieces separated by spaces.
        output: Detokenized text.
        language: ISO 639 code of the target language, for the Moses detokenizer.
        joiner: `bpe` joins pieces that end in @@ with the next one; `none` takes pieces for words.
        truecased: The system was trained on truecased text: capitalise the first word of each sentence.
        detokenizer: `moses` for languages with spaces, `chinese` for those without, `none` leaves tokens as they are.
        replace_unknown: Replace each <unk> by the source word with the highest attention weight.
        restore_placeholders: Replace each $time, $date or $number by the source word that it stands for.
        alignment: For each output piece, the position (from 0) of the source piece with the highest attention weight.
        source_pieces: The pieces of the source that the system read; the position after the last one is EOS, not a
            word.
        tagged: Each source is enclosed in two tags, which are not words.
        source_tokens: The words of the source before rare times, dates and numbers became placeholders.
        counts_output: JSON counts of words, empty outputs, unknown words and placeholders.

    Raises:
        InputError: if files differ in length, or an alignment does not fit its sentence.
    """
    counts = SentenceCounts()
    if replace_unknown and (alignment is None or source_pieces is None):
        raise InputError("replace_unknown needs alignment and source_pieces; give both or leave it out")
    if restore_placeholders and (alignment is None or source_pieces is None or source_tokens is None):
        raise InputError(
            "restore_placeholders needs alignment, source_pieces and source_tokens; give all three or leave it out"
        )
    sentences = _read_pieces(pieces, counts)
    if (replace_unknown or restore_placeholders) and alignment is not None and source_pieces is not None:
        attended = read_aligned_outputs(pieces, alignment, source_pieces, source_tokens, joiner, tagged)
        sentences = (
            _restore_words(sentence, replace_unknown, restore_placeholders, joiner, counts) for sentence in attended
        )
    restore_text = build_text_restorer(detokenizer, language, truecased)
    with open_atomic_text_file(output) as file:
        for restored in show_progress(sentences, "postprocess"):
            words = join_to_nonempty_words(restored, joiner)
            sentence = restore_text(words)
            counts.add_kept()
            counts.add_noted("words", len(words))
            if not sentence:
                counts.add_noted("empty output")
            file.write(sentence + "\n")
    if counts_output is not None:
        counts.write_json_file(counts_output)


def _read_pieces(pieces: Path, counts: SentenceCounts) -> Iterator[list[str]]:
    """Yield the pieces of each output without changes."""
    for line in read_lines(pieces):
        output = split_tokens(line)
        _count_unknown_words(output, counts)
        yield output


def _count_unknown_words(output: list[str], counts: SentenceCounts) -> None:
    if UNKNOWN_PIECE in output:
        counts.add_noted("unknown word left", output.count(UNKNOWN_PIECE))


def _restore_words(
    sentence: AlignedOutput,
    should_replace_unknown: bool,
    should_restore_placeholders: bool,
    joiner: JoinerName,
    counts: SentenceCounts,
) -> list[str]:
    """Give the pieces of an output with unknown words, placeholders or both taken from the source."""
    words = find_unknown_replacements(sentence, counts) if should_replace_unknown else {}
    if not should_replace_unknown:
        _count_unknown_words(sentence.pieces, counts)
    if should_restore_placeholders:
        words |= find_placeholder_replacements(sentence, {sentence.source_positions[place] for place in words}, counts)
    restored: list[str] = []
    for place, piece in enumerate(sentence.pieces):
        if place not in words:
            restored.append(piece)
        else:
            restored += [words[place]] if joiner == "none" else mark_pieces([words[place]])
    return restored


def build_text_restorer(detokenizer: DetokenizerName, language: str, is_truecased: bool) -> Callable[[list[str]], str]:
    """Return a function that turns the words of an output into text."""
    join_tokens = build_detokenizer(detokenizer, language)
    if not is_truecased:
        return join_tokens
    restore_case = _build_case_restorer()
    return lambda words: join_tokens(restore_case(words))


def _build_case_restorer() -> Callable[[list[str]], list[str]]:
    """Return a function that capitalizes the first word of a sentence, as Moses' detruecaser does."""
    from sacremoses import MosesDetruecaser

    detruecaser = MosesDetruecaser()
    return lambda words: detruecaser.detruecase(" ".join(words))


def build_detokenizer(detokenizer: DetokenizerName, language: str) -> Callable[[list[str]], str]:
    """Return a function that joins words to text of a language."""
    if detokenizer == "none":
        return " ".join
    if detokenizer == "chinese":
        return join_chinese_words
    # The corpus is tokenized without XML escapes, so `&amp;` in an output is literal text.
    return build_moses_detokenizer(language)


def join_chinese_words(words: list[str]) -> str:
    """Join words, with a space only between two letters or digits of scripts that use spaces.

    `["我", "在", "New", "York", "买", "了", "3", "本", "书", "。"]` gives `我在New York买了3本书。`
    """
    text = ""
    for word in words:
        if text and _needs_space(text[-1]) and _needs_space(word[0]):
            text += " "
        text += word
    return text


def _needs_space(character: str) -> bool:
    # East Asian width "W" and "F" are ideographs, kana and full-width forms.
    is_unspaced = unicodedata.east_asian_width(character) in "WF" or _UNSPACED_CHARACTER.match(character)
    return character.isalnum() and not is_unspaced
