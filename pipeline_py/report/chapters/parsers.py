"""The chapter about parsers: accuracy, statistics of their trees, and agreement."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline_py.files.set_names import ALL_SPLITS
from pipeline_py.report.page_parts import Chapter, PageManifest, PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.tables.sheet import Sheet, build_sheet
from pipeline_py.syntax.parser_measures import format_undivided_warning, read_accuracy_rows

PAGE_ORDER = 20


def build_chapters(manifest: PageManifest) -> Iterator[Chapter]:
    """Yield the chapter about parsers if it has any table."""
    accuracy_files = manifest.get_files("accuracy")
    sections = [
        PageSection("Accuracy", tables=[build_accuracy_table(accuracy_files)] if accuracy_files else []),
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
    if nonempty_sections := [section for section in sections if not section.is_empty]:
        yield Chapter("parsers", "Parsers", nonempty_sections)


def build_accuracy_table(files: Mapping[str, Path]) -> Sheet:
    """Build the table of accuracies on held-out gold trees, a row for each parser and metric."""
    tables = {parser: read_accuracy_rows(path) for parser, path in files.items()}
    warnings = {parser: format_undivided_warning(table) for parser, table in tables.items()}
    return build_sheet(
        "Accuracy on held-out gold trees: UPOS, UAS and LAS in percent of words, bracket F1 as in evalb. With raw "
        "text, the pipeline splits the text into words, and values are F1.",
        ["Parser", "Metric", "Value", "Sentences", "Words"],
        [
            [parser, accuracy.metric, accuracy.value, accuracy.sentences, accuracy.words]
            for parser, table in tables.items()
            for accuracy in table
        ],
        text_heads=["Metric"],
        notes=[f"Warning: {parser}: {warning}." for parser, warning in warnings.items() if warning is not None],
    )


def build_measure_tables(path: Path, caption: str) -> list[Sheet]:
    """Build tables of tree measures of one parser or a pair, one for each kind of tree, a column for each text."""
    rows = read_tsv(path).to_dict("records")
    tables = []
    for trees in dict.fromkeys(row["trees"] for row in rows):
        tree_rows = [row for row in rows if row["trees"] == trees]
        values = {(row["measure"], row["split"]): row["value"] for row in tree_rows if row["split"] != ALL_SPLITS}
        shared_values = [f"{row['measure']}: {row['value']}" for row in tree_rows if row["split"] == ALL_SPLITS]
        splits = dict.fromkeys(split for _, split in values)
        tables.append(
            build_sheet(
                f"{caption}: {trees} trees.",
                ["Measure", *splits],
                [
                    [measure, *(values.get((measure, split), "") for split in splits)]
                    for measure in dict.fromkeys(measure for measure, _ in values)
                ],
                notes=[f"The same for all texts: {'; '.join(shared_values)}."] if shared_values else [],
            )
        )
    return tables
