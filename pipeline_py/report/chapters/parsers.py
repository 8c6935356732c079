"""What is known of parsers, as tables of a page: accuracy, what became of the texts, and how far parsers agree."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline_py.report.page_parts import Chapter, PageManifest, PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.tables.sheet import Sheet, build_sheet
from pipeline_py.syntax.parser_measures import ALL_SPLITS, format_undivided_warning, read_accuracy_rows

PAGE_ORDER = 20


def build_chapters(manifest: PageManifest) -> Iterator[Chapter]:
    """What is known of the parsers."""
    parts = [
        PageSection(
            "Accuracy", tables=[build_accuracy_table(found)] if (found := manifest.get_files("accuracy")) else []
        ),
        *(
            PageSection(
                f"Trees of {name}", tables=build_measure_tables(path, f"Trees of {name} in each text"), is_folded=True
            )
            for name, path in manifest.get_files("parser").items()
        ),
        *(
            PageSection(
                f"Agreement of {' and '.join(name.split(':'))}",
                tables=build_measure_tables(path, f"Agreement of {' and '.join(name.split(':'))}"),
                is_folded=True,
            )
            for name, path in manifest.get_files("agreement").items()
        ),
    ]
    if known := [part for part in parts if not part.is_empty]:
        yield Chapter("parsers", "Parsers", known)


def build_accuracy_table(files: Mapping[str, Path]) -> Sheet:
    """How good parsers are on gold trees that they have not seen, a row for each metric of each."""
    tables = {parser: read_accuracy_rows(path) for parser, path in files.items()}
    warnings = {parser: format_undivided_warning(table) for parser, table in tables.items()}
    return build_sheet(
        "Accuracy on held-out gold trees: UPOS, UAS and LAS in percent of words, brackets as evalb counts them. With "
        "raw text, the parser reads the words that the pipeline makes of the text, and values are F1.",
        ["Parser", "Metric", "Value", "Sentences", "Words"],
        [
            [parser, found.metric, found.value, found.sentences, found.words]
            for parser, table in tables.items()
            for found in table
        ],
        text_heads=["Metric"],
        notes=[f"Warning: {parser}: {warning}." for parser, warning in warnings.items() if warning is not None],
    )


def build_measure_tables(path: Path, caption: str) -> list[Sheet]:
    """What was measured of the trees of a parser, or of two: a table for each kind, a column for each text."""
    rows = read_tsv(path).to_dict("records")
    tables = []
    for trees in dict.fromkeys(row["trees"] for row in rows):
        of_kind = [row for row in rows if row["trees"] == trees]
        values = {(row["measure"], row["split"]): row["value"] for row in of_kind if row["split"] != ALL_SPLITS}
        of_all = [f"{row['measure']}: {row['value']}" for row in of_kind if row["split"] == ALL_SPLITS]
        splits = dict.fromkeys(split for _, split in values)
        tables.append(
            build_sheet(
                f"{caption}: {trees} trees.",
                ["Measure", *splits],
                [
                    [measure, *(values.get((measure, split), "") for split in splits)]
                    for measure in dict.fromkeys(measure for measure, _ in values)
                ],
                notes=[f"The same for all texts: {'; '.join(of_all)}."] if of_all else [],
            )
        )
    return tables
