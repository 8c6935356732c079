"""Translate sentences with a phrase-based system."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.run.job_runner import LoadedParameter
from pipeline_py.run.progress_display import show_progress

if TYPE_CHECKING:
    from pipeline_py.smt.thot import ThotTranslator


def load(*, model: Path) -> "ThotTranslator":
    """Load a phrase-based system.

    Raises:
        InputError: the model does not exist, or was changed after it was written.
    """
    from pipeline_py.smt import thot

    return thot.load_translator(model)


def translate(
    *,
    translator: Annotated["ThotTranslator", LoadedParameter()],
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
    counts = SentenceCounts()
    with open_atomic_text_file(pieces_output) as file:
        for line in show_progress(lines, f"translate {source.name}", total=len(lines)):
            words = split_tokens(line)
            translation = translator.translate(words)
            counts.add_kept()
            if not words:
                counts.add_noted("empty source")
            elif not translation.words:
                counts.add_noted("empty translation")
            if translation.part_count > 1:
                counts.add_noted("cut into parts")
            if translation.unknown_count:
                counts.add_noted("unknown words copied", translation.unknown_count)
            file.write(" ".join(translation.words) + "\n")
    counts.write_json_file(counts_output)
