"""Turn pieces into text: replace unknown words and placeholders, join pieces, restore case, detokenize."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from pipeline_py.corpus.moses import moses_detokenizer
from pipeline_py.evaluation.restoring import UNKNOWN, Attended, Joiner, known_words, put_back, read_attended, words_of
from pipeline_py.files.artifacts import Counts, writing
from pipeline_py.files.text import read_lines, tokens_of
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.subword.pieces import pieces_of_word

Detokenizer = Literal["moses", "chinese", "none"]

UNSPACED_LETTER = re.compile("[\u0e00-\u109f\u1780-\u17ff]")
"""Thai, Lao, Tibetan, Burmese and Khmer."""


def postprocess(
    *,
    pieces: Path,
    output: Path,
    language: str = "en",
    joiner: Joiner = "bpe",
    truecased: bool = False,
    detokenizer: Detokenizer = "moses",
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
    counts = Counts()
    if replace_unknown and (alignment is None or source_pieces is None):
        raise InputError("replace_unknown needs alignment and source_pieces; give both or leave it out")
    if restore_placeholders and (alignment is None or source_pieces is None or source_tokens is None):
        raise InputError(
            "restore_placeholders needs alignment, source_pieces and source_tokens; give all three or leave it out"
        )
    sentences = _plain(pieces, counts)
    if (replace_unknown or restore_placeholders) and alignment is not None and source_pieces is not None:
        attended = read_attended(pieces, alignment, source_pieces, source_tokens, joiner, tagged)
        sentences = (
            _restored(sentence, replace_unknown, restore_placeholders, joiner, counts) for sentence in attended
        )
    restore_text = text_restorer(detokenizer, language, truecased)
    with writing(output) as file:
        for restored in progress(sentences, "postprocess"):
            words = words_of(restored, joiner)
            sentence = restore_text(words)
            counts.keep()
            counts.note("words", len(words))
            if not sentence:
                counts.note("empty output")
            file.write(sentence + "\n")
    if counts_output is not None:
        counts.write(counts_output)


def _plain(pieces: Path, counts: Counts) -> Iterator[list[str]]:
    """Yield the pieces of each output as they are."""
    for line in read_lines(pieces):
        output = tokens_of(line)
        _note_unknown(output, counts)
        yield output


def _note_unknown(output: list[str], counts: Counts) -> None:
    if UNKNOWN in output:
        counts.note("unknown word left", output.count(UNKNOWN))


def _restored(sentence: Attended, unknown: bool, placeholders: bool, joiner: Joiner, counts: Counts) -> list[str]:
    """Give the pieces of an output with unknown words, placeholders or both taken from the source."""
    words = known_words(sentence, counts) if unknown else {}
    if not unknown:
        _note_unknown(sentence.pieces, counts)
    if placeholders:
        words |= put_back(sentence, {sentence.attended[place] for place in words}, counts)
    restored: list[str] = []
    for place, piece in enumerate(sentence.pieces):
        if place not in words:
            restored.append(piece)
        else:
            restored += [words[place]] if joiner == "none" else pieces_of_word([words[place]])
    return restored


def text_restorer(detokenizer: Detokenizer, language: str, truecased: bool) -> Callable[[list[str]], str]:
    """Return a function that turns the words of an output into text."""
    join_tokens = detokenizer_of(detokenizer, language)
    if not truecased:
        return join_tokens
    restore_case = _case_restorer()
    return lambda words: join_tokens(restore_case(words))


def _case_restorer() -> Callable[[list[str]], list[str]]:
    """Give a function that capitalises the first word of sentences, as Moses' detruecaser does."""
    from sacremoses import MosesDetruecaser

    detruecaser = MosesDetruecaser()
    return lambda words: detruecaser.detruecase(" ".join(words))


def detokenizer_of(name: Detokenizer, language: str) -> Callable[[list[str]], str]:
    """Return a function that joins words to text of a language."""
    if name == "none":
        return " ".join
    if name == "chinese":
        return join_chinese
    # The corpus is tokenized without XML escapes, so `&amp;` in the output is what the system means.
    return moses_detokenizer(language)


def join_chinese(words: list[str]) -> str:
    """Join words, with a space only where two letters or digits of another script would run together.

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
    is_unspaced = unicodedata.east_asian_width(character) in "WF" or UNSPACED_LETTER.match(character)
    return character.isalnum() and not is_unspaced
