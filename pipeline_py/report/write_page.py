"""Write the report of an experiment: answers, tables, comparisons, figures, examples, parsers and provenance."""

from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file


def write_page(*, manifest: Path, output: Path) -> None:
    """Write a self-contained HTML page that needs neither a server nor scripts.

    Each table has a chapter with the sections of `report.sections`. The chapters of `report.chapters` follow. A section
    without files in the manifest is omitted. Below attention figures are links to their SVG files.

    Args:
        manifest: The files of the page, a JSON file of the plan.
        output: The page as HTML.

    Raises:
        InputError: if a file of the manifest is missing or damaged.
    """
    from pipeline_py.report.page import render_page
    from pipeline_py.report.page_parts import read_manifest

    page = render_page(read_manifest(manifest, output.parent))
    with open_atomic_text_file(output) as file:
        file.write(page)
