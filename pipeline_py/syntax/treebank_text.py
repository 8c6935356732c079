"""The words of a treebank as tokenized text, so that held-out trees can be parsed again and measured."""

from pathlib import Path

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.progress import progress
from pipeline_py.syntax.trees.formats import FORMATS, Annotation


def treebank_text(*, annotation: Annotation, treebank: Path, lowercase: bool = False, output: Path) -> None:
    """Write the words of every tree on one line.

    Syntactic words, not multi-word tokens; traces are left out; a space inside a word becomes U+00A0.

    Args:
        annotation: what the treebank holds: CoNLL-U (dependency) or Penn Treebank brackets (constituency).
        treebank: plain or gzipped.
        lowercase: lower-case the words, for a parser of lower-cased text.
        output: one sentence a line, tokens separated by one space.
    """
    with writing(output) as file:
        for tree in progress(FORMATS[annotation].read_treebank(treebank), "treebank text"):
            line = " ".join(tree.words)
            file.write((line.lower() if lowercase else line) + "\n")


if __name__ == "__main__":
    stage.run(treebank_text)
