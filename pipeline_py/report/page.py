"""The page of an experiment, from its chapters to HTML."""

from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from pkgutil import iter_modules
from types import ModuleType

from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline_py.report import chapters as chapters_of_page
from pipeline_py.report import overview
from pipeline_py.report import sections as sections_of_tables
from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.figure_files import COLOURS
from pipeline_py.report.figures.line_figure import STYLE
from pipeline_py.report.page_parts import Chapter, Manifest
from pipeline_py.report.table_chapter import chapters
from pipeline_py.report.tables.sheet import Column, signed

ORIGINS = {"": "", "cost": "what it cost", "paper": "as published"}
"""What stands above columns that come from elsewhere than the table."""


def page(manifest: Manifest) -> str:
    """Make the page: the answer, a chapter for each table with its sections in their places, and the other chapters."""
    tables = [*chapters(manifest)]
    sections = in_their_places(sections_of_tables)
    with figure_files.style(STYLE):
        made = [
            Chapter(
                table.anchor,
                table.sheet.title,
                [part for section in sections for part in section.section(table) if not part.is_empty],
            )
            for table in tables
        ]
        modules = in_their_places(chapters_of_page)
        others = [(module.PLACE, chapter) for module in modules for chapter in module.chapters(manifest)]
    # Chapters of tables stand at 0.
    made = [*(one for place, one in others if place < 0), *made, *(one for place, one in others if place >= 0)]
    environment = Environment(
        loader=PackageLoader("pipeline_py.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["groupby_runs"] = _runs
    environment.filters["signed"] = signed
    experiment = manifest.experiment
    source, target = experiment.corpora.source.language, experiment.corpora.target.language
    systems = {system for table in tables for system in table.called}
    runs = sorted(
        {
            len(experiment.seeds(name))
            for name in experiment.asked(experiment.tables)
            if any(map(experiment.networks, experiment.rows(name)))
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
        overview=Chapter("answer", "The answer", [*overview.parts(manifest)]),
        colours=COLOURS,
        origins=ORIGINS,
        published=any(
            column.origin == "paper"
            for chapter in made
            for part in chapter.parts
            for table in part.tables
            for column in table.columns
        ),
        chapters=made,
    )


def in_their_places(package: ModuleType) -> list[ModuleType]:
    """All modules of a package, by their `PLACE`."""
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    return sorted(modules, key=lambda module: module.PLACE)


def _runs(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """How many neighbouring columns come from where."""
    return [(origin, len([*run])) for origin, run in groupby(column.origin for column in columns)]
