"""The whole experiment on one page: tables, comparisons, figures, examples, parsers and where all of it comes from."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.stage import InputError


def report(
    *,
    experiment: str,
    output: Path,
    table: list[str] | None = None,
    facts: list[str] | None = None,
    published: list[str] | None = None,
    published_table: list[str] | None = None,
    comparisons: list[str] | None = None,
    intervals: list[str] | None = None,
    breakdown: list[str] | None = None,
    sentence_scores: list[str] | None = None,
    words: list[str] | None = None,
    ngrams: list[str] | None = None,
    examples: list[str] | None = None,
    source_tree: list[str] | None = None,
    attended: list[str] | None = None,
    curve: list[str] | None = None,
    figure: list[str] | None = None,
    accuracy: list[str] | None = None,
    parser: list[str] | None = None,
    agreement: list[str] | None = None,
    ledger: list[str] | None = None,
    code: list[str] | None = None,
    version: list[str] | None = None,
    command: str = "",
) -> None:
    """Make a page that needs nothing but itself: it opens from disk, and is complete without scripts.

    What is not given is left out.

    Args:
        experiment: the configuration as JSON, its systems crossed with parsers.
        output: the page as HTML.
        table: TABLE=FILE, Markdown of a table; repeatable, as are all that follow.
        facts: TABLE=FILE, TSV of `report.facts`.
        published: TABLE=FILE, of `workflow/published/`, numbers of a paper that are shown below a table.
        published_table: TABLE=NUMBER, of a table of that paper.
        comparisons: TABLE:SET=FILE, TSV of `evaluation.comparisons`.
        intervals: TABLE:SET=FILE, its intervals.
        breakdown: TABLE:SET=FILE, TSV of `evaluation.by_sentence`.
        sentence_scores: TABLE:SET=FILE, TSV of `evaluation.sentence_scores`.
        words: TABLE:SET=FILE, TSV of `evaluation.words`.
        ngrams: TABLE:SET=FILE, TSV of `evaluation.ngrams`.
        examples: TABLE:SET=FILE, TSV of `evaluation.examples`.
        source_tree: TABLE:SET=FILE, CoNLL-U or brackets that are drawn with the examples.
        attended: SYSTEM:SET:OPTION=FILE, what `report.attention` draws: OPTION is `source_pieces`, `translation`,
            `attention`, `gates` or `tree`.
        curve: SYSTEM:RUN=FILE, `learning_curve.tsv` of a training.
        figure: FIGURE:SENTENCE=FILE, SVG of `report.attention`.
        accuracy: PARSER=FILE, TSV of `syntax.accuracy`.
        parser: PARSER=FILE, TSV of `syntax.parser_report`.
        agreement: PARSER:OTHER=FILE, TSV of `syntax.agreement`.
        ledger: SPLIT=FILE, JSON of `corpus.clean`.
        code: ROOM.STAGE=HASH, of its code.
        version: PACKAGE=VERSION.
        command: makes the results again.

    Raises:
        InputError: if a file is malformed, or belongs to nothing of the experiment.
    """
    from pipeline_py.config.base import from_json
    from pipeline_py.config.experiment import Experiment
    from pipeline_py.report.page_sources import read_sources

    known = from_json(Experiment, experiment, "--experiment")
    sources = read_sources(
        {
            "table": table,
            "facts": facts,
            "published": published,
            "comparisons": comparisons,
            "intervals": intervals,
            "breakdown": breakdown,
            "sentence_scores": sentence_scores,
            "words": words,
            "ngrams": ngrams,
            "examples": examples,
            "source_tree": source_tree,
            "attended": attended,
            "curve": curve,
            "figure": figure,
            "accuracy": accuracy,
            "parser": parser,
            "agreement": agreement,
            "ledger": ledger,
        },
        [*known.tables],
        [*known.corpora.splits],
    )
    from pipeline_py.report.page import page

    made = page(
        known,
        sources,
        published=_several(published_table or [], "--published-table"),
        code=_pairs(code or [], "--code"),
        versions=_pairs(version or [], "--version"),
        command=command,
    )
    with writing(output) as file:
        file.write(made)


def _pairs(pairs: Sequence[str], option: str) -> dict[str, str]:
    """Read NAME=TEXT."""
    found = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not name or not equals:
            raise InputError(f"{option} {pair!r} has no '='; write it as NAME=TEXT")
        found[name] = text
    return found


def _several(pairs: Sequence[str], option: str) -> Mapping[str, tuple[str, ...]]:
    """Read NAME=TEXT, where a name may come several times."""
    found: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        for name, text in _pairs([pair], option).items():
            found[name] = (*found.get(name, ()), text)
    return found


if __name__ == "__main__":
    stage.run(report)
