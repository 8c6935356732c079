"""The page of an experiment, from its chapters to HTML."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean

from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.tables import BleuTable
from pipeline_py.report import figure_files, pairs, parser_pages
from pipeline_py.report.inline_svg import COLOURS, inline
from pipeline_py.report.line_figure import STYLE
from pipeline_py.report.measures import AVERAGE
from pipeline_py.report.page_parts import Chapter, Part
from pipeline_py.report.page_sources import Sources
from pipeline_py.report.page_table import PageCell, PageColumn, PageTable, cell, leading_number, signed
from pipeline_py.report.pair import Pair
from pipeline_py.report.provenance_chapter import provenance
from pipeline_py.report.sheet import NOTHING
from pipeline_py.report.table_chapter import TableChapter, chapters
from pipeline_py.report.typesetting import shown

ORIGINS = {"": "", "cost": "what it cost", "paper": "as published"}
"""What stands above columns that come from elsewhere than the table."""


def page(
    experiment: Experiment,
    sources: Sources,
    *,
    published: Mapping[str, tuple[str, ...]],
    code: Mapping[str, str],
    versions: Mapping[str, str],
    command: str,
) -> str:
    """Make the page; its parts are those of `report.report`."""
    tables = [*chapters(experiment, sources, published)]
    with figure_files.style(STYLE):
        made = [*(table.chapter() for table in tables), *_attention(experiment, sources)]
    made += [*_parsers(sources), provenance(experiment, sources.files["ledger"], code, versions, command)]
    glance = _at_a_glance(tables, [test.name for test in experiment.corpora.tests])
    environment = Environment(
        loader=PackageLoader("pipeline_py.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["groupby_runs"] = _runs
    environment.filters["signed"] = signed
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


def _runs(columns: Sequence[PageColumn]) -> list[tuple[str, int]]:
    """How many neighbouring columns come from where."""
    return [(origin, len([*run])) for origin, run in groupby(column.origin for column in columns)]


def _at_a_glance(tables: Sequence[TableChapter], tests: Sequence[str]) -> Part:
    """What each table of BLEU says of its baseline and of what it proposes; differences are those of its matrices."""
    rows: list[list[PageCell]] = []
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
                    *(PageCell(table.called[name]) for name in (system, baseline)),
                    *(cell(f"{averages[name]:.2f}") for name in (system, baseline)),
                    cell(mean),
                    *(PageCell(NOTHING) if pair is None else pairs.compared(pair) for pair in of_tests),
                    PageCell(table.sheet.title),
                ]
            )
            shown += known
            for test, pair in zip(tests, of_tests, strict=True):
                disagreements += [] if pair is None else pairs.contradictions([pair], table.called, test)
    if not rows:
        return Part()
    return Part(
        tables=[
            PageTable(
                f"Mean BLEU over the test sets ({AVERAGE}) of what a table proposes, or else of its best system, "
                "beside its baseline; then BLEU of the one minus BLEU of the other, the mean over the test sets and on "
                "each. Differences are taken before rounding.",
                [
                    *(PageColumn(head, is_text=True) for head in ("System", "Baseline")),
                    *map(PageColumn, ("BLEU", "Baseline's", "Difference", *(f"on {test}" for test in tests))),
                    PageColumn("Table", is_text=True),
                ],
                rows,
                notes=[*pairs.legend(shown, "the system", "the baseline"), *dict.fromkeys(disagreements)],
            )
        ]
    )


def _averages(table: TableChapter) -> dict[str, float]:
    """Mean BLEU over the test sets of each row of a table of BLEU; nothing of other tables."""
    options = table.experiment.tables[table.name]
    if not isinstance(options, BleuTable):
        return {}
    place = table.sheet.heads.index(AVERAGE)
    averages = (leading_number(row[place].text) or 0.0 for row in table.sheet.rows)
    return dict(zip(options.systems, averages, strict=True))


def _proposed(table: TableChapter, averages: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """What a table of BLEU proposes, or else its best system, beside its baseline."""
    options = table.experiment.tables[table.name]
    if isinstance(options, BleuTable):
        rest = [system for system in options.systems if system != options.baseline]
        for system in options.proposed or [max(rest, key=lambda name: averages[name])]:
            yield system, options.baseline


def _attention(experiment: Experiment, sources: Sources) -> Iterator[Chapter]:
    """The configured figures."""
    for name, options in experiment.figures.items():
        drawn = [
            inline(
                path.read_text(encoding="utf-8"),
                f"{options.system}, sentence {number} of {options.set}",
                f"{name.replace('/', '-')}-{number}",
                own_colours=True,
            )
            for key, path in sources.files["figure"].items()
            for of_figure, _, number in (key.rpartition(":"),)
            if of_figure == name
        ]
        if drawn:
            text = (
                "A panel for each of some words of the translation: its attention (α) shades the words and phrases of "
                "the source's tree, and the five highest weights stand there as numbers."
            )
            yield Chapter(f"figure-{name.replace('/', '-')}", shown(options.title), [Part(text=[text], figures=drawn)])


def _parsers(sources: Sources) -> Iterator[Chapter]:
    """What is known of the parsers."""
    files = sources.files
    parts = [
        Part("Accuracy", tables=[parser_pages.accuracies(files["accuracy"])] if files["accuracy"] else []),
        *(
            Part(f"Trees of {name}", tables=parser_pages.measures(path, f"What {name} made of the texts"))
            for name, path in files["parser"].items()
        ),
        *(
            Part(
                f"Agreement of {' and '.join(name.split(':'))}",
                tables=parser_pages.measures(path, f"How far {' and '.join(name.split(':'))} agree"),
                folded=True,
            )
            for name, path in files["agreement"].items()
        ),
    ]
    if found := [part for part in parts if not part.is_empty]:
        yield Chapter("parsers", "Parsers", found)
