"""The words of a treebank as tokenized text, so that held-out trees can be parsed again and measured."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.progress import progress
from pipeline_py.syntax.trees.annotation import Annotation
from pipeline_py.syntax.trees.constituency import read_treebank
from pipeline_py.syntax.trees.dependency import read_dependencies


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
        for words in progress(_words(annotation, treebank), "treebank text"):
            line = " ".join(words)
            file.write((line.lower() if lowercase else line) + "\n")


def _words(annotation: Annotation, treebank: Path) -> Iterator[tuple[str, ...]]:
    if annotation is Annotation.DEPENDENCY:
        yield from (tree.words for tree in read_dependencies(treebank))
    else:
        yield from (tree.words for tree in read_treebank(treebank))


if __name__ == "__main__":
    stage.run(treebank_text)
