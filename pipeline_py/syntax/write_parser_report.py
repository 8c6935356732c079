"""Report on a parser: failures, shapes of trees, speed, versions, models and accuracy."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.set_names import ALL_SPLITS
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.compute_tree_statistics import read_tree_statistics
from pipeline_py.syntax.parser_measures import (
    MEASURE_COLUMNS,
    MeasureRow,
    format_undivided_warning,
    read_accuracy_rows,
)
from pipeline_py.syntax.tree_origins import select_origin_notes
from pipeline_py.syntax.trees.tree_formats import TreeKind, TreeMetadata, select_fallback_counts
from pipeline_py.syntax.words.parser_words import (
    OTHER_WORDS_NOTE,
    SEVERAL_WORDS_NOTE,
    SHARED_WORD_NOTE,
    WORD_PART_NOTE,
    select_word_difference_counts,
)

MeasureIterator: TypeAlias = Iterator[tuple[str, str]]


def write_parser_report(
    *,
    statistics: dict[str, dict[TreeKind, Path]],
    counts: dict[str, dict[TreeKind, Path]],
    facts: dict[str, dict[TreeKind, Path]],
    output: Path,
    accuracy: dict[TreeKind, Path] | None = None,
) -> None:
    """Report measures of the trees of a parser, one per row.

    The TSV has the columns `split`, `trees` (dependency, constituency), `measure` and `value`. The rows of each split
    come in the given order, followed by rows for the split `all`: versions of libraries, SHA-256 of models, accuracy on
    held-out trees, and a warning if many multi-word tokens of the held-out text are left whole. If splits differ in a
    version or model, each has its own row. Means and shares are over parsed sentences only (for dependency lengths,
    over dependencies); a mean over nothing is empty. Seconds per sentence are over all sentences, without loading
    models.

    Args:
        statistics: JSON of `syntax.compute_tree_statistics` by split and kind of trees.
        counts: The counts of the same trees.
        facts: The metadata of the same trees.
        output: The report as TSV.
        accuracy: TSV of `syntax.measure_accuracy` by kind of trees.

    Raises:
        InputError: Files of the same trees differ in their number of sentences.
    """
    trees = [(split, kind) for split, kinds in statistics.items() for kind in kinds]
    metadata = {(split, kind): TreeMetadata.read(facts[split][kind]) for split, kind in trees}
    rows: list[MeasureRow] = []
    for split, kind in trees:
        files = statistics[split][kind], counts[split][kind], facts[split][kind]
        rows += [(split, kind, *row) for row in _measure_split(kind, *files, metadata[split, kind])]
    for annotation in dict.fromkeys(kind for _, kind in trees):
        rows += _list_software_rows(
            annotation, {split: metadata[split, kind] for split, kind in trees if kind is annotation}
        )
    for kind, path in (accuracy or {}).items():
        accuracies = read_accuracy_rows(path)
        rows += [(ALL_SPLITS, kind, row.metric, row.value) for row in accuracies]
        if (warning := format_undivided_warning(accuracies)) is not None:
            rows.append((ALL_SPLITS, kind, "warning", warning))
    write_tsv(output, MEASURE_COLUMNS, rows)


def _measure_split(
    annotation: TreeKind, statistics_path: Path, counts_path: Path, metadata_path: Path, tree_metadata: TreeMetadata
) -> MeasureIterator:
    sums = read_tree_statistics(statistics_path)
    counts = SentenceCounts.from_json_file(counts_path)
    noted = counts.noted_by_reason
    for path, sentences in ((counts_path, counts.read_count), (metadata_path, tree_metadata.sentences)):
        if sentences != sums["sentences"]:
            difference = f"about {sentences} sentences and {statistics_path} about {sums['sentences']}"
            raise InputError(f"the file is {difference}; make the trees again", path)
    trees, words = sums["trees"], sums["words"]
    yield "sentences", str(sums["sentences"])
    yield "empty lines", str(sums["empty"])
    yield "failed", str(sums["failed"])
    for reason, sentences in select_fallback_counts(noted).items():
        yield f"failed: {reason}", str(sentences)
    yield from ((note, str(count)) for note, count in select_origin_notes(noted).items())
    yield from _measure_word_differences(noted, trees, words)
    yield "mean words per tree", _format_mean(words, trees)
    yield "mean depth", _format_mean(sums["depth"], trees)
    if annotation is TreeKind.DEPENDENCY:
        yield "mean dependency length", _format_mean(sums["dependency_length"], sums["dependencies"])
        yield "non-projective trees (%)", _format_mean(100 * sums["non_projective"], trees)
        yield "trees with several roots (%)", _format_mean(100 * sums["several_roots"], trees)
    else:
        yield "mean phrases per tree", _format_mean(sums["phrases"], trees)
        # Every node except the topmost is a child of one phrase.
        yield "mean children per phrase", _format_mean(sums["phrases"] + words - trees, sums["phrases"])
    yield (
        "seconds per sentence",
        f"{tree_metadata.seconds / tree_metadata.sentences:.3g}" if tree_metadata.sentences else "",
    )
    yield "device", tree_metadata.device


def _measure_word_differences(note_counts: Mapping[str, int], tree_count: int, token_count: int) -> MeasureIterator:
    """Yield measures of the differences between tokens and words of the parser, if it did not read the tokens."""
    counts = select_word_difference_counts(note_counts)
    if not counts:
        return
    yield f"{OTHER_WORDS_NOTE} (%)", _format_mean(100 * counts.pop(OTHER_WORDS_NOTE), tree_count)
    differing = sum(counts[note] for note in (SEVERAL_WORDS_NOTE, WORD_PART_NOTE, SHARED_WORD_NOTE))
    yield "tokens that are not parser words (%)", _format_mean(100 * differing, token_count)
    yield from ((note, str(count)) for note, count in counts.items())


def _list_software_rows(annotation: TreeKind, metadata_by_split: Mapping[str, TreeMetadata]) -> Iterator[MeasureRow]:
    """List versions of libraries and checksums of models; differing values have a row for each split."""
    values_by_split = {
        split: metadata.versions | {f"sha256 of {name}": checksum for name, checksum in metadata.models.items()}
        for split, metadata in metadata_by_split.items()
    }
    for name in dict.fromkeys(name for values in values_by_split.values() for name in values):
        if len({values.get(name) for values in values_by_split.values()}) == 1:
            yield ALL_SPLITS, annotation, name, next(iter(values_by_split.values()))[name]
        else:
            yield from (
                (split, annotation, name, values[name]) for split, values in values_by_split.items() if name in values
            )


def _format_mean(total: int, count: int) -> str:
    return f"{total / count:.2f}" if count else ""
