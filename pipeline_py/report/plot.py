"""A figure of BLEU by groups of sentences: one line for each system, as in the SDAtt and SDRNMT papers."""

from pathlib import Path
from typing import Annotated

from pipeline_py import stage
from pipeline_py.input_error import InputError
from pipeline_py.options import Option
from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.line_figure import STYLE, look_of
from pipeline_py.report.groups import lines_of, notes_on_small
from pipeline_py.report.sections.sentence_groups import LENGTH, read_breakdown
from pipeline_py.report.tables.table_files import read_description


def plot(
    *,
    description: str,
    buckets: Path,
    svg_output: Path,
    smallest_group: Annotated[int, Option(min=1)] = 1,
    pdf_output: Path | None = None,
) -> None:
    """Draw BLEU of every system by groups of sentences, with the number of sentences under each group.

    Bars are 95 % intervals of BLEU; the systems stand side by side so that their bars do not overlap. Groups that are
    too small are not drawn, and a line below the figure says how many sentences they have.

    Args:
        description: what the plan says of the table, a JSON object: `title`, and `called`, what systems are called.
        buckets: the scores, TSV of evaluation.breakdown.
        svg_output: the figure as SVG; its text stays text. The line of the n-th system has the identifier `system-n`.
        smallest_group: how many sentences a group needs to be drawn.
        pdf_output: the figure as PDF.

    Raises:
        InputError: if the scores are malformed, or not by length.
    """
    about = read_description(description, "title", "called")
    of_length = [groups for groups in read_breakdown(buckets, ["bleu"]) if groups.by == LENGTH]
    if not of_length:
        raise InputError("the file has no scores by length; make it again", buckets)
    groups = of_length[0].without_groups_below(smallest_group)
    notes = ["Bars: 95 % intervals.", *notes_on_small(groups, smallest_group)]
    looks = {system: look_of(number) for number, system in enumerate(about["called"])}
    with figure_files.style(STYLE):
        figure = lines_of(groups, looks, about["title"], [*about["called"].values()], " ".join(notes))
        figure_files.save(figure, about["title"], svg_output, pdf_output)


if __name__ == "__main__":
    stage.run(plot)
