"""Draw BLEU by source length: a line for each system, as in the SDAtt and SDRNMT papers."""

from pathlib import Path

from pydantic import PositiveInt

from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.line_figure import LINE_FIGURE_STYLE, get_line_style
from pipeline_py.report.grouped_scores import describe_small_groups, draw_group_lines
from pipeline_py.report.sections.sentence_groups import LENGTH_LABEL, read_breakdown


def draw_bleu_by_length(
    *,
    title: str,
    labels: dict[str, str],
    buckets: Path,
    svg_output: Path,
    pdf_output: Path,
    smallest_group: PositiveInt = 1,
) -> None:
    """Draw BLEU of each system by source length, with the number of sentences below each group.

    Bars are 95 % intervals of BLEU; systems are shifted sideways so that their bars do not overlap. Small groups are
    omitted, and a note below the figure counts their sentences.

    Args:
        title: Title of the figure.
        labels: Labels of systems, in order.
        buckets: The scores, TSV of `evaluation.score_sentence_groups`.
        svg_output: The figure as SVG, with its text as text. The line of the n-th system has the identifier `system-n`.
        pdf_output: The figure as PDF.
        smallest_group: Minimum number of sentences of a group.
    """
    all_groups = next(groups for groups in read_breakdown(buckets, ["bleu"]) if groups.grouping_label == LENGTH_LABEL)
    groups = all_groups.remove_small_groups(smallest_group)
    notes = ["Bars: 95 % intervals over the sentences of these runs.", *describe_small_groups(groups, smallest_group)]
    styles = {system: get_line_style(number) for number, system in enumerate(labels)}
    with figure_files.use_style(LINE_FIGURE_STYLE):
        figure = draw_group_lines(groups, styles, title, [*labels.values()], " ".join(notes))
        figure_files.save_figure(figure, title, svg_output, pdf_output)
