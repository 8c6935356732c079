"""Draw a system's attention on the tree of a sentence, as in tree2seq (Figures 4–6)."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import PositiveInt

from pipeline_py.files.text_files import read_lines
from pipeline_py.report.figures.attended_sentence import get_sentence, read_attended_sentence, select_informative_steps
from pipeline_py.report.figures.typesetting import replace_unprintable
from pipeline_py.run.errors import InputError

DEFAULT_PANEL_COUNT = 4
"""Number of words that the figure selects by default."""


def draw_attention(
    *,
    sentence: PositiveInt,
    source_pieces: Path,
    translation: Path,
    attention: Path,
    svg_output: Path,
    pdf_output: Path,
    title: str = "",
    tree: Path | None = None,
    lexical: bool = False,
    gates: Path | None = None,
    reference: Path | None = None,
    words: list[int] | None = None,
) -> None:
    """Draw the tree of a sentence, with words and phrases shaded by their attention weights.

    Each selected word of the translation has a panel. By default, up to four words are selected: first those with their
    highest weight on a phrase, then those with the highest weights.

    Args:
        sentence: Number of the sentence, from 1.
        source_pieces: Pieces of the source, one sentence a line.
        translation: Pieces of the translation, an input of `nmt.attend`.
        attention: Attention weights, an output of `nmt.attend`.
        svg_output: The figure as SVG, with its text as text.
        pdf_output: The figure as PDF.
        title: Title of the figure.
        tree: Binary Penn Treebank brackets over the pieces, one tree a line, for a system that reads trees; a failed
            parse shows only words.
        lexical: Draw the trees within split words instead of a tree, for a system that reads only those.
        gates: Weights of phrases, an output of `nmt.attend`; shown if the system has them.
        reference: A reference translation, one sentence a line, shown below the figure.
        words: Positions of the words that get a panel, from 1; the position after the last word is EOS.

    Raises:
        InputError: if a file lacks the sentence, or the translation lacks a word.
    """
    if tree is not None and lexical:
        raise InputError("give either a tree or `lexical`, not both")
    attended = read_attended_sentence(
        sentence,
        source_pieces=source_pieces,
        translation=translation,
        attention=attention,
        tree=tree,
        lexical=lexical,
        gates=gates,
    )
    reference_text = "" if reference is None else get_sentence(read_lines(reference), sentence, reference)
    steps = (
        _parse_word_positions(words, len(attended.translation))
        if words
        else select_informative_steps(attended, DEFAULT_PANEL_COUNT)
    )

    from pipeline_py.report.figures.attention_figure import draw_attention_figure
    from pipeline_py.report.figures.figure_files import save_figure, use_style

    with use_style():
        save_figure(
            draw_attention_figure(replace_unprintable(title), attended, steps, replace_unprintable(reference_text)),
            replace_unprintable(title),
            svg_output,
            pdf_output,
        )


def _parse_word_positions(words: Sequence[int], step_count: int) -> list[int]:
    """Convert positions of words to sorted, unique steps."""
    for word in words:
        if not 1 <= word <= step_count:
            raise InputError(
                f"figures: words: {word}: the translation has {step_count - 1} pieces and EOS, counted from 1"
            )
    return sorted({word - 1 for word in words})
