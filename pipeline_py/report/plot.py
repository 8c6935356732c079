"""Draw BLEU by source length: a line for each system, as in the SDAtt and SDRNMT papers."""

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
    """Draw BLEU of each system by source length, with the number of sentences below each group.

    Bars are 95 % intervals of BLEU; systems are shifted sideways so that their bars do not overlap. Groups that are too
    small are not drawn; a note below the figure says how many sentences they have.

    Args:
        description: The plan's description of the figure, a JSON object: `title`, and `called`, the labels of systems.
        buckets: The scores, TSV of `evaluation.breakdown`.
        svg_output: The figure as SVG, with its text as text. The line of the n-th system has the identifier `system-n`.
        smallest_group: Fewest sentences of a group that is drawn.
        pdf_output: The figure as PDF.

    Raises:
        InputError: if the scores are malformed, or not by length.
    """
    about = read_description(description, "title", "called")
    of_length = [groups for groups in read_breakdown(buckets, ["bleu"]) if groups.by == LENGTH]
    if not of_length:
        raise InputError("the file has no scores by length; make it again", buckets)
    groups = of_length[0].without_groups_below(smallest_group)
    notes = ["Bars: 95 % intervals over the sentences of these runs.", *notes_on_small(groups, smallest_group)]
    looks = {system: look_of(number) for number, system in enumerate(about["called"])}
    with figure_files.style(STYLE):
        figure = lines_of(groups, looks, about["title"], [*about["called"].values()], " ".join(notes))
        figure_files.save(figure, about["title"], svg_output, pdf_output)


if __name__ == "__main__":
    stage.run(plot)
