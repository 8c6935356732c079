"""Normalization of quotation marks, dashes, spaces and full stops, as in Moses."""

from collections.abc import Callable
from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.language_properties import get_base_language
from pipeline_py.files.text_files import read_lines
from pipeline_py.run.progress_display import show_progress


def normalize_punctuation(*, input: Path, output: Path, language: str) -> None:
    """Normalize punctuation as Moses' normalize-punctuation.perl, with sacremoses.

    Args:
        input: Untokenized text, one sentence a line.
        output: The normalized lines.
        language: ISO 639 code, which determines the order of comma and quotation mark, and the thousands separator.

    Raises:
        InputError: the input is not UTF-8.
    """
    normalize = build_punctuation_normalizer(language)
    with open_atomic_text_file(output) as file:
        for line in show_progress(read_lines(input), f"normalize_punctuation {input.name}"):
            file.write(normalize(line) + "\n")


def build_punctuation_normalizer(language: str) -> Callable[[str], str]:
    """Return a function that normalizes the punctuation of a sentence in a language."""
    from sacremoses import MosesPunctNormalizer

    normalize: Callable[[str], str] = MosesPunctNormalizer(lang=get_base_language(language)).normalize
    return normalize
