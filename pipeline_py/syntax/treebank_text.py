"""Extract the words of a treebank as tokenized text, to measure a parser on it."""

from pathlib import Path

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.input_error import InputError
from pipeline_py.progress import progress
from pipeline_py.syntax.trees.formats import FORMATS, Annotation
from pipeline_py.syntax.trees.treebank_lines import WITHOUT_TEXT, has_text


def treebank_text(*, annotation: Annotation, treebank: Path, lowercase: bool = False, output: Path) -> None:
    """Write the words of each tree on a line.

    The words are syntactic words, not multi-word tokens. Traces are left out; a space inside a word becomes U+00A0.

    Args:
        annotation: Kind of trees: CoNLL-U (`dependency`) or Penn Treebank brackets (`constituency`).
        treebank: Plain or gzipped.
        lowercase: Lower-case the words, for a parser of lower-cased text.
        output: Tokenized text, one sentence a line.

    Raises:
        InputError: if a tree is malformed, or all of its words are `_`.
    """
    with writing(output) as file:
        for tree in progress(FORMATS[annotation].read_treebank(treebank), "treebank text"):
            if not has_text(tree.words):
                raise InputError(WITHOUT_TEXT, treebank, tree.line)
            line = " ".join(tree.words)
            file.write((line.lower() if lowercase else line) + "\n")


if __name__ == "__main__":
    stage.run(treebank_text)
