"""Render the HTML page of an experiment."""

import re
from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from pkgutil import iter_modules
from types import ModuleType

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from pipeline_py.report import chapters as chapters_of_page
from pipeline_py.report import overview
from pipeline_py.report import sections as sections_of_tables
from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.figure_files import STYLE_SHEET_COLOURS
from pipeline_py.report.figures.line_figure import LINE_FIGURE_STYLE
from pipeline_py.report.page_parts import Chapter, PageManifest
from pipeline_py.report.table_chapter import build_table_chapters
from pipeline_py.report.tables.sheet import Column, format_signed

ORIGIN_HEADINGS = {"": "", "cost": "training cost", "paper": "as published"}
"""Headings above columns by their origin."""


def render_page(manifest: PageManifest) -> str:
    """Render the page: overview, a chapter for each table, and the other chapters."""
    tables = [*build_table_chapters(manifest)]
    sections = import_ordered_modules(sections_of_tables)
    with figure_files.use_style(LINE_FIGURE_STYLE):
        page_chapters = [
            Chapter(
                table.anchor,
                table.sheet.title,
                [section for module in sections for section in module.build_sections(table) if not section.is_empty],
            )
            for table in tables
        ]
        modules = import_ordered_modules(chapters_of_page)
        other_chapters = [
            (module.PAGE_ORDER, chapter) for module in modules for chapter in module.build_chapters(manifest)
        ]
    # Chapters of tables have order 0.
    page_chapters = [
        *(chapter for order, chapter in other_chapters if order < 0),
        *page_chapters,
        *(chapter for order, chapter in other_chapters if order >= 0),
    ]
    environment = Environment(
        loader=PackageLoader("pipeline_py.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count_origin_runs"] = _count_origin_runs
    environment.filters["format_signed"] = format_signed
    environment.filters["render_code"] = _render_code
    experiment = manifest.experiment
    source, target = experiment.corpora.source.language, experiment.corpora.target.language
    systems = {system for table in tables for system in table.display_names}
    runs = sorted(
        {
            len(experiment.get_seeds(name))
            for name in experiment.select_requested_names(experiment.tables)
            if any(map(experiment.get_networks, experiment.get_rows(name)))
        }
    )
    return environment.get_template("report.html").render(
        title="Does syntax help?" if experiment.name is None else f"Does syntax help? {experiment.name}",
        facts=[
            f"{source} → {target}",
            f"{len(tables)} table{'' if len(tables) == 1 else 's'}",
            f"{len(systems)} system{'' if len(systems) == 1 else 's'}",
            *([f"{' or '.join(map(str, runs))} run{'' if runs == [1] else 's'} of each network"] if runs else []),
        ],
        overview=Chapter("answer", "The answer", [*overview.build_overview_sections(manifest)]),
        style_sheet_colours=STYLE_SHEET_COLOURS,
        origin_headings=ORIGIN_HEADINGS,
        has_published_numbers=any(
            column.origin == "paper"
            for chapter in page_chapters
            for section in chapter.sections
            for table in section.tables
            for column in table.columns
        ),
        chapters=page_chapters,
    )


def import_ordered_modules(package: ModuleType) -> list[ModuleType]:
    """Import all modules of a package, sorted by their `PAGE_ORDER`."""
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    return sorted(modules, key=lambda module: module.PAGE_ORDER)


def _count_origin_runs(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Return the origin and length of each run of adjacent columns with the same origin."""
    return [(origin, len([*group])) for origin, group in groupby(column.origin for column in columns)]


def _render_code(text: str) -> Markup:
    """Escape a text and render its parts in backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
