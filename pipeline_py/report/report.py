"""Show the whole experiment on one page: answers, tables, comparisons, figures, examples, parsers, provenance."""

from pathlib import Path

from pipeline_py.files.artifacts import writing


def report(*, manifest: Path, output: Path) -> None:
    """Make a self-contained page: it opens from disk, and is complete without scripts.

    Each table has a chapter with the sections of `report.sections`. The chapters of `report.chapters` follow. A section
    without files in the manifest is left out.

    Args:
        manifest: List of the files of the page, a JSON of the plan (`report.manifest`).
        output: The page as HTML.

    Raises:
        InputError: if a file of the manifest is missing or damaged.
    """
    from pipeline_py.report.page import page
    from pipeline_py.report.page_parts import read_manifest

    made = page(read_manifest(manifest))
    with writing(output) as file:
        file.write(made)
