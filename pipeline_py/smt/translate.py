"""Translate sentences with a phrase-based system."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pipeline_py.files.artifacts import Counts, writing
from pipeline_py.files.text import read_lines, tokens_of
from pipeline_py.run.progress import progress
from pipeline_py.run.runner import Loaded

if TYPE_CHECKING:
    from pipeline_py.smt.thot import Translator


def load(*, model: Path) -> "Translator":
    """Load a phrase-based system.

    Raises:
        InputError: the model does not exist, or was changed after it was written.
    """
    from pipeline_py.smt import thot

    return thot.load(model)


def translate(
    *,
    translator: Annotated["Translator", Loaded()],
    model: Path,
    source: Path,
    pieces_output: Path,
    counts_output: Path,
) -> None:
    """Translate sentences; line k of the output belongs to sentence k of the source.

    An empty source becomes an empty line without a search. A sentence that is too long for Thot (200 words) is split
    into parts, whose translations are joined. Unknown words are copied.

    Args:
        translator: What `load` returns for `model`.
        model: Folder from `smt.train`.
        source: Tokenized sentences, words separated by a space.
        pieces_output: Words of the best translation, separated by spaces.
        counts_output: JSON counts of sentences, empty sources, split sentences, empty translations, and unknown words
            that were copied.

    Raises:
        InputError: the source is not UTF-8.
    """
    lines = list(read_lines(source))
    counts = Counts()
    with writing(pieces_output) as file:
        for line in progress(lines, f"translate {source.name}", total=len(lines)):
            words = tokens_of(line)
            translation = translator.translate(words)
            counts.keep()
            if not words:
                counts.note("empty source")
            elif not translation.words:
                counts.note("empty translation")
            if translation.parts > 1:
                counts.note("cut into parts")
            if translation.unknown:
                counts.note("unknown words copied", translation.unknown)
            file.write(" ".join(translation.words) + "\n")
    counts.write(counts_output)
