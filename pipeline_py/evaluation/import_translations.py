"""Translations that a system made elsewhere come in: as many lines as their set has sentences, as text."""

from pathlib import Path
from typing import Literal

from pipeline_py import stage
from pipeline_py.artifact import Counts, writing
from pipeline_py.contrastive import BYTE_ORDER_MARK
from pipeline_py.corpus.characters import without_controls
from pipeline_py.evaluation.postprocess import Detokenizer, detokenizer_of
from pipeline_py.evaluation.restoring.attended import words_of
from pipeline_py.input_error import InputError
from pipeline_py.progress import progress
from pipeline_py.text import read_bytes, read_lines, tokens_of


def import_translations(
    *,
    translations: Path,
    source: Path,
    name: str,
    output: Path,
    form: Literal["text", "words", "bpe"] = "text",
    language: str = "en",
    detokenizer: Detokenizer = "moses",
    counts_output: Path | None = None,
) -> None:
    """Take over the translations of a set, line by line, an empty one as what it is.

    A byte order mark at the beginning is left out, and a control character (tabs and U+2028 among them) becomes a
    space and is noted, as in all other text. Text is not changed otherwise; what is tokenized is joined.

    Args:
        translations: UTF-8, a line for each sentence of the set, plain or .gz.
        source: the sentences.
        name: what the set is called, for messages.
        output: the text that is scored.
        form: text is scored as it is; words are separated by spaces, and bpe is pieces that end in @@ where the next
            one belongs to the same word.
        language: two-letter code of the target language, for the Moses detokenizer.
        detokenizer: what joins words: moses, chinese, or none.
        counts_output: numbers of lines, of empty ones and of those with control characters, as JSON.

    Raises:
        InputError: there are more or fewer lines than sentences, or one is not UTF-8.
    """
    if (lines := _count(translations)) != (sentences := _count(source)):
        raise InputError(
            f"the file has {lines:,} lines and the set `{name}` has {sentences:,} sentences; give a line for each, in "
            "order, and an empty one where nothing was said",
            translations,
        )
    join_words = detokenizer_of("none" if form == "text" else detokenizer, language)
    counts = Counts()
    with writing(output) as file:
        for number, raw in enumerate(progress(read_lines(translations), "import_translations", total=lines)):
            line = without_controls(text := raw if number else raw.removeprefix(BYTE_ORDER_MARK))
            if line != text:
                counts.note("control characters replaced by spaces")
            if form != "text":
                line = join_words(words_of(tokens_of(line), "bpe" if form == "bpe" else "none"))
            if not line.strip():
                counts.note("empty output")
            counts.keep()
            file.write(line + "\n")
    if counts_output is not None:
        counts.write(counts_output)


def _count(path: Path) -> int:
    return sum(1 for _ in read_bytes(path))


if __name__ == "__main__":
    stage.run(import_translations)
