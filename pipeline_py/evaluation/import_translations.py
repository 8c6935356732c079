"""Import translations of a set that were made elsewhere."""

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
    """Import the translations of a set, one a line; a line may be empty.

    A byte order mark at the beginning is removed, and a control character (also a tab or U+2028) becomes a space and is
    counted, as in all other text. Tokenized text is detokenized. Nothing else is changed.

    Args:
        translations: UTF-8, one line for each sentence of the set, plain or .gz.
        source: The source sentences.
        name: Name of the set, for messages.
        output: The text to score.
        form: `text` is scored as it is; `words` are separated by spaces; `bpe` are pieces that end in @@ unless they
            end a word.
        language: Two-letter code of the target language, for the Moses detokenizer.
        detokenizer: `moses`, `chinese`, or `none`.
        counts_output: JSON counts of lines, of empty lines and of lines with control characters.

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
