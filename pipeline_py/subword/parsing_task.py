"""Make the data for parsing as a second task of a translation system (Currey and Heafield 2019)."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword import pieces
from pipeline_py.syntax.trees.constituency import PhraseNode, PhraseTree, TreeNode, read_phrase_trees

TRANSLATE_TAG, PARSE_TAG = "<translate>", "<parse>"
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
    counts = SentenceCounts()
    with open_atomic_text_file(source_output) as sources, open_atomic_text_file(target_output) as targets:
        for sentence, translation, _ in _read_aligned_sentences(source, target, trees):
            print(*add_task_tags(sentence, TRANSLATE_TAG), file=sources)
            print(*translation, file=targets)
        for sentence, _, tree in show_progress(
            _read_aligned_sentences(source, target, trees), f"parsing_task {source.name}"
        ):
            counts.add_kept()
            parse = linearize_tree(tree)
            if not parse:
                counts.add_noted("no parse")
                continue
            print(*add_task_tags(sentence, PARSE_TAG), file=sources)
            print(*parse, file=targets)
    counts.write_json_file(counts_output)


def linearize_tree(tree: PhraseTree) -> list[str]:
    """List the brackets of a tree's phrases from left to right; none where the parse failed."""
    symbols: list[str] = []
    stack: list[TreeNode | str] = [] if tree.root is None or tree.is_failed else [tree.root]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            symbols.append(node)
        elif isinstance(node, PhraseNode):
            symbols.append(f"({node.label}")
            stack += [f"){node.label}", *reversed(node.children)]
    return symbols


def add_task_tags(sentence: list[str], task_tag: str) -> list[str]:
    """Return a source sentence between the tags of a task."""
    return [task_tag, *sentence, task_tag]


def _read_aligned_sentences(
    source: Path, target: Path, trees: Path
) -> Iterator[tuple[list[str], list[str], PhraseTree]]:
    rows = zip_longest(pieces.read_tokens(source), pieces.read_tokens(target), read_phrase_trees(trees))
    for number, (sentence, translation, tree) in enumerate(rows):
        if sentence is None or translation is None or tree is None:
            shorter = source if sentence is None else target if translation is None else trees
            raise InputError(f"the file has {number} sentences and others have more; make all from one text", shorter)
        yield sentence, translation, tree
