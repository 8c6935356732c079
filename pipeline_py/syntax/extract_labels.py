"""Extract the dependency label of each word."""

from pathlib import Path

from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.trees.dependency import read_dependency_trees
from pipeline_py.syntax.trees.tree_formats import check_trees_against_tokens

UNKNOWN_LABEL = "_"
"""Label of all words of a failed parse; CoNLL-U's unspecified value."""


def extract_labels(*, trees: Path, tokens: Path, output: Path, counts_output: Path) -> None:
    """Write the dependency labels of every sentence, one for each word, separated by spaces.

    Args:
        trees: CoNLL-U, one block for each line of the text.
        tokens: The text of the trees, tokenized, one sentence a line.
        output: Line k has the labels of the J words of sentence k.
        counts_output: JSON counts of sentences and of failed parses, whose words have the label `_`.
    """
    counts = SentenceCounts()
    with open_atomic_text_file(output) as file:
        for tree in show_progress(check_trees_against_tokens(read_dependency_trees(trees), trees, tokens), "labels"):
            counts.add_kept()
            if tree.failure_reason is not None:
                counts.add_noted("failed parse, no labels")
            elif not tree.words:
                counts.add_noted("empty line")
            labels = [UNKNOWN_LABEL] * len(tree.words) if tree.failure_reason is not None else tree.labels
            file.write(" ".join(label.replace(" ", "_") or UNKNOWN_LABEL for label in labels) + "\n")
    counts.write_json_file(counts_output)
