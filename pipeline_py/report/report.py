"""The whole experiment on one page: tables, comparisons, figures, examples, parsers and where all of it comes from."""

from pathlib import Path

from pipeline_py import stage
from pipeline_py.artifact import writing


def report(*, manifest: Path, output: Path) -> None:
    """Make a page that needs nothing but itself: it opens from disk, and is complete without scripts.

    Each table has a chapter with the sections of `report.sections`, and those of `report.chapters` follow. What the
    manifest has no files of is left out.

    Args:
        manifest: what the page is made of, JSON of the plan (`report.manifest`).
        output: the page as HTML.

    Raises:
        InputError: if a file is malformed.
    """
    from pipeline_py.report.manifest import read_manifest
    from pipeline_py.report.page import page

    made = page(read_manifest(manifest))
    with writing(output) as file:
        file.write(made)


if __name__ == "__main__":
    stage.run(report)
