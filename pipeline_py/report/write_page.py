"""Show the whole experiment on one page: answers, tables, comparisons, figures, examples, parsers, provenance."""

from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file


def write_page(*, manifest: Path, output: Path) -> None:
    """Make a self-contained page: it opens from disk, and is complete without scripts.

    Each table has a chapter with the sections of `write_page.sections`. The chapters of `write_page.chapters` follow. A section
    without files in the manifest is left out.

    Args:
        manifest: List of the files of the page, a JSON of the plan (`write_page.manifest`).
        output: The page as HTML.

    Raises:
        InputError: if a file of the manifest is missing or damaged.
    """
    from pipeline_py.report.page import render_page
    from pipeline_py.report.page_parts import read_manifest

    made = render_page(read_manifest(manifest))
    with open_atomic_text_file(output) as file:
        file.write(made)
