"""What is known of parsers, as tables of a page: accuracy, what became of the texts, and how far parsers agree."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline_py.report.page_parts import Chapter, Manifest, Part
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.tables.sheet import Sheet, listed
from pipeline_py.syntax.measures import ALL, read_accuracies, warn_of_whole_tokens

PLACE = 20


def chapters(manifest: Manifest) -> Iterator[Chapter]:
    """What is known of the parsers."""
    parts = [
        Part("Accuracy", tables=[accuracies(found)] if (found := manifest.all("accuracy")) else []),
        *(
            Part(f"Trees of {name}", tables=measures(path, f"Trees of {name} in each text"), folded=True)
            for name, path in manifest.all("parser").items()
        ),
        *(
            Part(
                f"Agreement of {' and '.join(name.split(':'))}",
                tables=measures(path, f"Agreement of {' and '.join(name.split(':'))}"),
                folded=True,
            )
            for name, path in manifest.all("agreement").items()
        ),
    ]
    if known := [part for part in parts if not part.is_empty]:
        yield Chapter("parsers", "Parsers", known)


def accuracies(files: Mapping[str, Path]) -> Sheet:
    """How good parsers are on gold trees that they have not seen, a row for each metric of each."""
    tables = {parser: read_accuracies(path) for parser, path in files.items()}
    warnings = {parser: warn_of_whole_tokens(table) for parser, table in tables.items()}
    return listed(
        "Accuracy on held-out gold trees: UPOS, UAS and LAS in percent of words, brackets as evalb counts them. With "
        "raw text, the parser reads the words that the pipeline makes of the text, and values are F1.",
        ["Parser", "Metric", "Value", "Sentences", "Words"],
        [
            [parser, found.metric, found.value, found.sentences, found.words]
            for parser, table in tables.items()
            for found in table
        ],
        texts=["Metric"],
        notes=[f"Warning: {parser}: {warning}." for parser, warning in warnings.items() if warning is not None],
    )


def measures(path: Path, what: str) -> list[Sheet]:
    """What was measured of the trees of a parser, or of two: a table for each kind, a column for each text."""
    rows = read_table(path).to_dict("records")
    tables = []
    for trees in dict.fromkeys(row["trees"] for row in rows):
        of_kind = [row for row in rows if row["trees"] == trees]
        values = {(row["measure"], row["split"]): row["value"] for row in of_kind if row["split"] != ALL}
        of_all = [f"{row['measure']}: {row['value']}" for row in of_kind if row["split"] == ALL]
        splits = dict.fromkeys(split for _, split in values)
        tables.append(
            listed(
                f"{what}: {trees} trees.",
                ["Measure", *splits],
                [
                    [measure, *(values.get((measure, split), "") for split in splits)]
                    for measure in dict.fromkeys(measure for measure, _ in values)
                ],
                notes=[f"The same for all texts: {'; '.join(of_all)}."] if of_all else [],
            )
        )
    return tables
