"""Tables of counts: of parses (tree2seq Tables 1 and 2), of words (hierarchical Table 2), of attention (Table 12)."""

from pathlib import Path

from pipeline_py.config.tables import AttentionTable, ParseTable, VocabularyTable
from pipeline_py.files.artifacts import Counts
from pipeline_py.files.text import read_lines, tokens_of
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.tables.sheet import Cell, Column, Files, Sheet
from pipeline_py.run.progress import progress
from pipeline_py.syntax.binarize import FAILED

NAMES_OF_SPLITS = {"train": "Train", "dev": "Development"}
FORMS = {"original": "Original", "generalised": "Generalization", "bpe": "BPE"}


def parses_sheet(options: ParseTable, files: Files) -> Sheet:
    """Lay out how many sentences of every split have a tree, and for how many words alone are used.

    `counts` of each split is what `syntax.binarize` counted.
    """
    heads = {"sentences": "Sentences", "parsed": "Parsed successfully", "failed": "Parsed unsuccessfully"}
    rows = []
    for (split,), path in files.of("counts").items():
        name = NAMES_OF_SPLITS.get(split, split)
        rows.append([Cell(name), *map(_count, _counts(path))])
    return Sheet(options.title, [Column("split", ""), *(Column(*head) for head in heads.items())], rows)


def vocabulary_sheet(options: VocabularyTable, files: Files) -> Sheet:
    """Lay out how many different words the training text of each language has: the files of each of `FORMS`."""
    languages = dict.fromkeys(language for form in FORMS for (language,) in files.of(form))
    rows = []
    for language in languages:
        counts = [_count(_types(files.of(form)[language,])) for form in FORMS]
        rows.append([Cell(f"|V| in {language}", language), *counts])
    return Sheet(options.title, [Column("language", ""), *(Column(*form) for form in FORMS.items())], rows)


def attention_sheet(options: AttentionTable, files: Files) -> Sheet:
    """Lay out shares of high attention weights: a row for each threshold, words and phrases of each system.

    `shares` is the TSV of `evaluation.attention_shares`.

    Raises:
        InputError: there is another number of such files.
    """
    path = files.one("shares")
    table = read_table(path, ["words", "phrases"], ["generated_words"])
    systems = [*table["system"].unique()]
    called = {system: options.labels.get(system, system) for system in systems}
    columns = [
        Column(f"{part}_{system}", f"{head} (%)" if len(systems) == 1 else f"{called[system]} {head} (%)")
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
        *(f"{called[system]} generated {words:,} words." for system, words in generated.items()),
    ]
    return Sheet(options.title, [Column("threshold", ""), *columns], [*rows.values()], notes)


def _count(value: int) -> Cell:
    return Cell(f"{value:,}", str(value))


def _counts(path: Path) -> tuple[int, int, int]:
    """Sentences that were counted, parsed ones, failed ones."""
    counts = Counts.of(path)
    failed = counts.noted[FAILED]
    return counts.read, counts.read - failed, failed


def _types(path: Path) -> int:
    return len({token for line in progress(read_lines(path), f"count {path.name}") for token in tokens_of(line)})
