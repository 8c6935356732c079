"""Replace failed trees of a text by those of another parser."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.tree_origins import (
    attribute_failures,
    count_failures,
    count_trees,
    find_failure_reason,
    select_tree_counts,
)
from pipeline_py.syntax.trees.tree_formats import (
    REPARSE_HINT,
    TREE_FILE_FORMATS,
    SyntaxTree,
    TreeKind,
    TreeMetadata,
    has_same_words,
)


def replace_failed_trees(
    *,
    annotation: TreeKind,
    parser: str,
    fallback: str,
    trees: Path,
    counts: Path,
    facts: Path,
    fallback_trees: Path,
    fallback_counts: Path | None = None,
    fallback_facts: Path,
    output: Path,
    counts_output: Path,
    facts_output: Path,
) -> None:
    """Replace the trees that are marked as failed by the trees of a fallback for the same sentences.

    A sentence on which the fallback has failed, too, keeps its marked tree. As in Eriguchi et al. (2019, Table 1), the
    sentences are counted by the parser of their trees.

    Args:
        annotation: `dependency` (CoNLL-U) or `constituency` (brackets, one tree a line).
        parser: Name of the parser of the text.
        fallback: Name of the fallback.
        trees: The trees of the text.
        counts: The counts of these trees.
        facts: The facts of these trees.
        fallback_trees: Trees of the fallback.
        fallback_counts: The counts of `fallback_trees` if they are of the failed sentences alone. By default there is
            one for every sentence of the text.
        fallback_facts: The facts of `fallback_trees`.
        output: All trees.
        counts_output: JSON counts of sentences, of trees by parser, and of failures by parser and reason.
        facts_output: The facts of the trees; names of the fallback's models begin with its name.

    Raises:
        InputError: The fallback's trees are of other sentences.
    """
    total = SentenceCounts.from_json_file(counts)
    attribute_failures(total, parser)
    tree_format = TREE_FILE_FORMATS[annotation]
    replacement = _TreeReplacement(annotation, trees, fallback_trees, has_all_trees=fallback_counts is None)
    with open_atomic_text_file(output) as file:
        tree_format.write_trees(file, show_progress(replacement.iterate_trees(), "replace failed trees"))
    if not select_tree_counts(total.noted_by_reason):  # no other fallback before this one
        count_trees(total, parser, replacement.intact_count)
    count_trees(total, fallback, replacement.replaced_count)
    if fallback_counts is None:
        count_failures(total, fallback, replacement.failure_counts)
    else:
        additional_counts = SentenceCounts.from_json_file(fallback_counts)
        attribute_failures(additional_counts, fallback)
        total.noted_by_reason.update(additional_counts.noted_by_reason)
    total.write_json_file(counts_output)
    _merge_metadata(
        TreeMetadata.read(facts), TreeMetadata.read(fallback_facts), fallback, has_all_trees=fallback_counts is None
    ).write(facts_output)


class _TreeReplacement:
    """The trees of a text, of which failed ones are replaced, with counts of the trees that were yielded.

    Attributes:
        intact_count: Number of trees of the text that have not failed.
        replaced_count: Number of trees that were replaced.
        failure_counts: Number of trees that have failed in both files, by the reason in the second one.
    """

    def __init__(self, annotation: TreeKind, path: Path, fallback_path: Path, has_all_trees: bool) -> None:
        self.intact_count = self.replaced_count = 0
        self.failure_counts: Counter[str] = Counter()
        self._annotation, self._path, self._fallback_path = annotation, path, fallback_path
        self._has_all_trees = has_all_trees

    def iterate_trees(self) -> Iterator[SyntaxTree]:
        """Yield the trees of the text, with those of the fallback in the place of failed ones.

        Raises:
            InputError: The fallback's trees are of other sentences.
        """
        read_trees = TREE_FILE_FORMATS[self._annotation].read_trees
        has_fallback_trees = self._fallback_path.stat().st_size > 0  # an empty file is not CoNLL-U
        fallback_trees: Iterator[SyntaxTree] = read_trees(self._fallback_path) if has_fallback_trees else iter(())
        for number, tree in enumerate(read_trees(self._path), start=1):
            has_failed = find_failure_reason(self._annotation, tree) is not None
            self.intact_count += not has_failed
            if not has_failed and not self._has_all_trees:
                yield tree
                continue
            fallback_tree = next(fallback_trees, None)
            if fallback_tree is None or not has_same_words(tree.words, fallback_tree.words):
                raise InputError(f"no tree of sentence {number} of {self._path}; {REPARSE_HINT}", self._fallback_path)
            yield self._choose_tree(tree, fallback_tree) if has_failed else tree
        if next(fallback_trees, None) is not None:
            raise InputError(f"more trees than {self._path} needs; {REPARSE_HINT}", self._fallback_path)

    def _choose_tree(self, failed_tree: SyntaxTree, fallback_tree: SyntaxTree) -> SyntaxTree:
        reason = find_failure_reason(self._annotation, fallback_tree)
        if reason is not None:
            self.failure_counts[reason] += 1
            return failed_tree
        self.replaced_count += 1
        return fallback_tree


def _merge_metadata(
    metadata: TreeMetadata, fallback_metadata: TreeMetadata, fallback: str, has_all_trees: bool
) -> TreeMetadata:
    """Merge the metadata of both parsers; time and device of a fallback only if it parsed failed sentences alone."""
    merged = metadata if has_all_trees else TreeMetadata.merge([metadata, fallback_metadata])
    fallback_models = {f"{fallback}/{name}": checksum for name, checksum in fallback_metadata.models.items()}
    return replace(merged, sentences=metadata.sentences, models=metadata.models | fallback_models)
