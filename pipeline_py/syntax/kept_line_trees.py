"""Assignment of the trees of a raw text to the lines that cleaning kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from pipeline_py.corpus.characters import count_words, replace_control_characters
from pipeline_py.files.text_files import read_byte_lines, read_parallel, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.tree_formats import TreeType


@dataclass(frozen=True)
class TreeWithPath(Generic[TreeType]):
    """A tree and the path of its file."""

    tree: TreeType
    path: Path


@dataclass(frozen=True)
class KeptLine:
    """A line that cleaning kept.

    Attributes:
        raw_number: Line number in the raw text, counted from 1.
        kept_number: Line number among the kept lines.
        tokens: Tokens of the line.
    """

    raw_number: int
    kept_number: int
    tokens: tuple[str, ...]


def match_trees_to_kept_lines(
    located_trees: Iterator[TreeWithPath[TreeType]],
    text_path: Path,
    lines_path: Path,
    tokens_path: Path,
    first_line: int = 1,
) -> Iterator[tuple[KeptLine, TreeWithPath[TreeType] | None]]:
    """Yield each kept line with its tree.

    Tree k belongs to the kth line of the raw text from `first_line` on. A line without words may have an empty tree
    (CoNLL-U: a block of only comments) or no tree, since most formats cannot represent empty trees. The caller must
    compare the words.

    Args:
        located_trees: Trees of all lines, in order.
        text_path: Raw text, before cleaning.
        lines_path: Number of each kept line in the raw text.
        tokens_path: Kept lines, tokenized.
        first_line: The first line of the raw text that has a tree; lines before it have none.

    Raises:
        InputError: There are more or fewer trees than lines.
    """
    kept_lines = _read_kept_lines(lines_path, tokens_path)
    line = next(kept_lines, None)
    next_tree = next(located_trees, None)
    path = None if next_tree is None else next_tree.path
    number = tree_count = empty_count = 0
    for number, raw in enumerate(read_byte_lines(text_path), start=1):
        is_kept = line is not None and line.raw_number == number
        has_words = bool(line.tokens) if line is not None and is_kept else _has_words(raw)
        empty_count += not has_words
        may_have_tree = number >= first_line and next_tree is not None and (has_words or not next_tree.tree.words)
        tree = next_tree if may_have_tree else None
        if tree is not None:
            tree_count, path = tree_count + 1, tree.path
            next_tree = next(located_trees, None)
        elif has_words and number >= first_line:
            break
        if line is not None and is_kept:
            yield line, tree
            line = next(kept_lines, None)
    else:
        if next_tree is not None:
            tree_count += 1 + sum(1 for _ in located_trees)
            raise InputError(
                f"{tree_count} trees, but {text_path} has {number} lines ({empty_count} of them empty); "
                "remove the trees that belong to no line",
                next_tree.path,
            )
        return
    total = sum(1 for _ in read_byte_lines(text_path))
    raise InputError(
        f"the trees end here after {tree_count}, but {text_path} has {total} lines and line {number} has no tree; "
        "give a tree for each line that has words",
        path,
    )


def _has_words(line: bytes) -> bool:
    # Cleaning drops lines with bytes that are not UTF-8, but they have trees.
    return count_words(replace_control_characters(line.decode("utf-8", "replace"))) > 0


def _read_kept_lines(lines_path: Path, tokens_path: Path) -> Iterator[KeptLine]:
    for number, (raw, line) in enumerate(read_parallel(lines_path, tokens_path), start=1):
        yield KeptLine(int(raw), number, tuple(split_tokens(line)))
