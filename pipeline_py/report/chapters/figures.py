"""The chapters of configured attention figures."""

from collections.abc import Iterator
from dataclasses import replace

from pipeline_py.report.figures.figure_files import build_inline_figure
from pipeline_py.report.figures.typesetting import replace_unprintable
from pipeline_py.report.page_parts import Chapter, PageManifest, PageSection

PAGE_ORDER = 10


def build_chapters(manifest: PageManifest) -> Iterator[Chapter]:
    """Yield a chapter for each attention figure of the configuration that has images."""
    for name, options in manifest.experiment.figures.items():
        figures = [
            replace(
                build_inline_figure(
                    path.read_text(encoding="utf-8"),
                    f"{options.system}, sentence {number} of {options.set}",
                    f"{name.replace('/', '-')}-{number}",
                    has_fixed_colours=True,
                ),
                file_link=manifest.build_link(path),
            )
            for key, path in manifest.get_files("figure").items()
            for figure_name, _, number in (key.rpartition(":"),)
            if figure_name == name
        ]
        if figures:
            text = (
                "Each panel shows the attention (α) of one word of the translation to the words and phrases of the "
                "source tree: a shade for each weight, and numbers for the five highest."
            )
            yield Chapter(
                f"figure-{name.replace('/', '-')}",
                replace_unprintable(options.title),
                [PageSection(paragraphs=[text], figures=figures)],
            )
