"""Extract the dependency label of each word."""

from pathlib import Path

from pipeline_py.files.artifacts import Counts, writing
from pipeline_py.run.progress import progress
from pipeline_py.syntax.trees.dependency import read_dependencies
from pipeline_py.syntax.trees.formats import with_tokens

UNKNOWN = "_"
"""Stands for the labels of a sentence without a parse; CoNLL-U's mark for what is not specified."""


def labels(*, trees: Path, tokens: Path, output: Path, counts_output: Path) -> None:
    """Write the dependency labels of every sentence, one for each word, separated by spaces.

    Args:
        trees: CoNLL-U, one block for each line of the text.
        tokens: The text of the trees, tokenized, one sentence a line.
        output: Line k has the labels of the J words of sentence k.
        counts_output: JSON counts of sentences and of failed parses, whose words have the label `_`.
    """
    counts = Counts()
    with writing(output) as file:
        for tree in progress(with_tokens(read_dependencies(trees), trees, tokens), "labels"):
            counts.keep()
            if tree.failed is not None:
                counts.note("failed parse, no labels")
            elif not tree.words:
                counts.note("empty line")
            found = [UNKNOWN] * len(tree.words) if tree.failed is not None else tree.labels
            file.write(" ".join(label.replace(" ", "_") or UNKNOWN for label in found) + "\n")
    counts.write(counts_output)
