"""Make the data for parsing as a second task of a translation system (Currey and Heafield 2019)."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from pipeline_py.files.artifacts import Counts, writing
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.subword import pieces
from pipeline_py.syntax.trees.constituency import Node, Phrase, PhraseTree, read_trees

TRANSLATE, PARSE = "<translate>", "<parse>"
"""Tags before and after a source sentence."""


def parsing_task(
    *, source: Path, target: Path, trees: Path, source_output: Path, target_output: Path, counts_output: Path
) -> None:
    """Tag the source sentences of training text, and add each one a second time with its parse as its translation.

    A parse is the sequence of the tree's phrases, without words and their tags: `(S` opens a phrase, `)S` closes it. A
    sentence without a parse, or without a phrase, occurs once.

    Args:
        source: Pieces of the source, one sentence a line.
        target: Pieces of the target.
        trees: Phrase trees of the source in Penn Treebank brackets, one a line.
        source_output: The tagged source: first all sentences to translate, then those to parse.
        target_output: The target: first all translations, then the parses.
        counts_output: JSON counts of training sentences, and of sentences without a parse.

    Raises:
        InputError: files have different numbers of sentences.
    """
    counts = Counts()
    with writing(source_output) as sources, writing(target_output) as targets:
        for sentence, translation, _ in _aligned(source, target, trees):
            print(*tag(sentence, TRANSLATE), file=sources)
            print(*translation, file=targets)
        for sentence, _, tree in progress(_aligned(source, target, trees), f"parsing_task {source.name}"):
            counts.keep()
            parse = linearized(tree)
            if not parse:
                counts.note("no parse")
                continue
            print(*tag(sentence, PARSE), file=sources)
            print(*parse, file=targets)
    counts.write(counts_output)


def linearized(tree: PhraseTree) -> list[str]:
    """List the brackets of a tree's phrases from left to right; none where the parse failed."""
    symbols: list[str] = []
    stack: list[Node | str] = [] if tree.root is None or tree.failed else [tree.root]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            symbols.append(node)
        elif isinstance(node, Phrase):
            symbols.append(f"({node.label}")
            stack += [f"){node.label}", *reversed(node.children)]
    return symbols


def tag(sentence: list[str], task: str) -> list[str]:
    """Return a source sentence between the tags of a task."""
    return [task, *sentence, task]


def _aligned(source: Path, target: Path, trees: Path) -> Iterator[tuple[list[str], list[str], PhraseTree]]:
    rows = zip_longest(pieces.read(source), pieces.read(target), read_trees(trees))
    for number, (sentence, translation, tree) in enumerate(rows):
        if sentence is None or translation is None or tree is None:
            shorter = source if sentence is None else target if translation is None else trees
            raise InputError(f"the file has {number} sentences and others have more; make all from one text", shorter)
        yield sentence, translation, tree
