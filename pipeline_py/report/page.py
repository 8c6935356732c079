"""The page of an experiment, from its chapters to HTML."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import groupby
from pkgutil import iter_modules
from statistics import fmean
from types import ModuleType

from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline_py.config.tables import BleuTable
from pipeline_py.report import chapters as chapters_of_page
from pipeline_py.report import sections as sections_of_tables
from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.inline_svg import COLOURS
from pipeline_py.report.figures.line_figure import STYLE
from pipeline_py.report.manifest import Manifest
from pipeline_py.report.page_parts import Chapter, Part
from pipeline_py.report.sections import pairs
from pipeline_py.report.table_chapter import TableChapter, chapters
from pipeline_py.report.tables.measures import AVERAGE
from pipeline_py.report.tables.pair import Pair
from pipeline_py.report.tables.sheet import NOTHING, Cell, Column, listed, signed

ORIGINS = {"": "", "cost": "what it cost", "paper": "as published"}
"""What stands above columns that come from elsewhere than the table."""


def page(manifest: Manifest) -> str:
    """Make the page: a chapter for each table with all sections in their places, and then the other chapters."""
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
        made += [chapter for each in in_their_places(chapters_of_page) for chapter in each.chapters(manifest)]
    glance = _at_a_glance(tables, [test.name for test in manifest.experiment.corpora.tests])
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
    return environment.get_template("report.html").render(
        title="Does syntax help?" if experiment.name is None else f"Does syntax help? {experiment.name}",
        facts=[
            f"{source} → {target}",
            f"{len(tables)} table{'' if len(tables) == 1 else 's'}",
            f"{len(systems)} system{'' if len(systems) == 1 else 's'}",
            f"{len(experiment.training.seeds)} run{'' if len(experiment.training.seeds) == 1 else 's'} of each network",
        ],
        glance=glance,
        colours=COLOURS,
        origins=ORIGINS,
        chapters=made,
    )


def in_their_places(package: ModuleType) -> list[ModuleType]:
    """All modules of a package, by their `PLACE`."""
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    return sorted(modules, key=lambda module: module.PLACE)


def _runs(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """How many neighbouring columns come from where."""
    return [(origin, len([*run])) for origin, run in groupby(column.origin for column in columns)]


def _at_a_glance(tables: Sequence[TableChapter], tests: Sequence[str]) -> Part:
    """What each table of BLEU says of its baseline and of what it proposes; differences are those of its matrices."""
    rows: list[list[Cell | str]] = []
    shown: list[Pair] = []
    disagreements: list[str] = []
    for table in tables:
        averages = _averages(table)
        for system, baseline in _proposed(table, averages):
            found = table.compared(system, baseline)
            of_tests = [found.get(test) for test in tests]
            known = [pair for pair in of_tests if pair is not None]
            mean = signed(fmean(pair.difference for pair in known)) if len(known) == len(tests) else NOTHING
            rows.append(
                [
                    *(table.called[name] for name in (system, baseline)),
                    *(f"{averages[name]:.2f}" for name in (system, baseline)),
                    mean,
                    *(NOTHING if pair is None else pairs.compared(pair) for pair in of_tests),
                    table.sheet.title,
                ]
            )
            shown += known
            for test, pair in zip(tests, of_tests, strict=True):
                disagreements += [] if pair is None else pairs.contradictions([pair], table.called, test)
    if not rows:
        return Part()
    return Part(
        tables=[
            listed(
                f"Mean BLEU over the test sets ({AVERAGE}) of what a table proposes, or else of its best system, "
                "beside its baseline; then BLEU of the one minus BLEU of the other, the mean over the test sets and on "
                "each. Differences are taken before rounding.",
                ["System", "Baseline", "BLEU", "Baseline's", "Difference", *(f"on {test}" for test in tests), "Table"],
                rows,
                [*pairs.legend(shown, "the system", "the baseline"), *dict.fromkeys(disagreements)],
                texts=["Baseline", "Table"],
            )
        ]
    )


def _averages(table: TableChapter) -> dict[str, float]:
    """Mean BLEU over the test sets of each row of a table of BLEU; nothing of other tables."""
    options = table.experiment.tables[table.name]
    if not isinstance(options, BleuTable):
        return {}
    place = table.sheet.heads.index(AVERAGE)
    averages = (row[place].number or 0.0 for row in table.sheet.rows)
    return dict(zip(options.systems, averages, strict=True))


def _proposed(table: TableChapter, averages: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """What a table of BLEU proposes, or else its best system, beside its baseline."""
    options = table.experiment.tables[table.name]
    if isinstance(options, BleuTable):
        rest = [system for system in options.systems if system != options.baseline]
        for system in options.proposed or [max(rest, key=lambda name: averages[name])]:
            yield system, options.baseline
