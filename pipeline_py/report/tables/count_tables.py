"""Tables of counts: parses (tree2seq, Tables 1 and 2), words (hierarchical, Table 2), attention (Table 12)."""

from collections.abc import Sequence
from pathlib import Path

from pipeline_py.config.tables import AttentionTableConfig, ParseTableConfig, VocabularyTableConfig
from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.tables.sheet import Cell, Column, InputFiles, Sheet
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.binarize import FAILED_PARSE_NOTE
from pipeline_py.syntax.tree_origins import select_tree_counts

SPLIT_NAMES = {"train": "Train", "dev": "Development"}
VOCABULARY_FORMS = {"original": "Original", "generalised": "Generalization", "bpe": "BPE"}


def build_parse_sheet(options: ParseTableConfig, files: InputFiles, parsers: Sequence[str]) -> Sheet:
    """Build the table of sentences with and without a parse, by split.

    `counts` of each split is the JSON of `syntax.binarize`; of a parser with fallbacks, that of
    `syntax.replace_failed_trees`.

    Args:
        options: The options of the table.
        files: The input files.
        parsers: The parser and its fallbacks; empty without a fallback.
    """
    parsed_heads = {f"parsed_{parser}": f"Parsed ({parser})" for parser in parsers} or {"parsed": "Parsed successfully"}
    heads = {"sentences": "Sentences", **parsed_heads, "failed": "Parsed unsuccessfully"}
    rows = []
    for (split,), path in files.get_files("counts").items():
        name = SPLIT_NAMES.get(split, split)
        counts = _read_origin_counts(path, parsers) if parsers else [*_read_parse_counts(path)]
        rows.append([Cell(name), *map(_format_count, counts)])
    return Sheet(options.title, [Column("split", ""), *(Column(*head) for head in heads.items())], rows)


def build_vocabulary_sheet(options: VocabularyTableConfig, files: InputFiles) -> Sheet:
    """Build the table of vocabulary sizes by language, for each of `VOCABULARY_FORMS`."""
    languages = dict.fromkeys(language for form in VOCABULARY_FORMS for (language,) in files.get_files(form))
    rows = []
    for language in languages:
        counts = [_format_count(_count_types(files.get_files(form)[language,])) for form in VOCABULARY_FORMS]
        rows.append([Cell(f"|V| in {language}", language), *counts])
    return Sheet(options.title, [Column("language", ""), *(Column(*form) for form in VOCABULARY_FORMS.items())], rows)


def build_attention_sheet(options: AttentionTableConfig, files: InputFiles) -> Sheet:
    """Build the table of shares of high attention weights: a row for each threshold, words and phrases of each system.

    `shares` is the TSV of `evaluation.count_attention_shares`.

    Raises:
        InputError: if there is not exactly one file `shares`.
    """
    path = files.get_single_file("shares")
    table = read_tsv(path, ["words", "phrases"], ["generated_words"])
    systems = [*table["system"].unique()]
    labels = {system: options.labels.get(system, system) for system in systems}
    columns = [
        Column(f"{part}_{system}", f"{head} (%)" if len(systems) == 1 else f"{labels[system]} {head} (%)")
        for system in systems
        for part, head in (("words", "Wrd"), ("phrases", "Phr"))
    ]
    rows: dict[str, list[Cell]] = {}
    for row in table.to_dict("records"):
        cells = rows.setdefault(row["threshold"], [Cell(f"α > {row['threshold']}", row["threshold"])])
        cells += [Cell(f"{row[part]:.1f}") for part in ("words", "phrases")]
    generated = dict(zip(table["system"], table["generated_words"], strict=True))
    notes = [
        "Share of the five highest weights at each generated word that are on a word or phrase and exceed α.",
        *(f"{labels[system]} generated {words:,} words." for system, words in generated.items()),
    ]
    return Sheet(options.title, [Column("threshold", ""), *columns], [*rows.values()], notes)


def _format_count(value: int) -> Cell:
    return Cell(f"{value:,}", str(value))


def _read_parse_counts(path: Path) -> tuple[int, int, int]:
    """Return the number of sentences in total, with a parse and without a parse."""
    counts = SentenceCounts.from_json_file(path)
    failed = counts.noted_by_reason[FAILED_PARSE_NOTE]
    return counts.read_count, counts.read_count - failed, failed


def _read_origin_counts(path: Path, parsers: Sequence[str]) -> list[int]:
    """Return the number of sentences in total, with a tree of each parser, and without a tree."""
    counts = SentenceCounts.from_json_file(path)
    tree_counts = select_tree_counts(counts.noted_by_reason)
    parsed = [tree_counts[parser] for parser in parsers]
    return [counts.read_count, *parsed, counts.read_count - sum(parsed)]


def _count_types(path: Path) -> int:
    return len(
        {token for line in show_progress(read_lines(path), f"count {path.name}") for token in split_tokens(line)}
    )
