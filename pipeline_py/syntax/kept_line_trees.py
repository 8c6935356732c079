"""Which of the trees of a raw text belong to the lines of it that cleaning kept."""

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
    """A tree and the file it stands in."""

    tree: TreeType
    path: Path


@dataclass(frozen=True)
class KeptLine:
    """A line that cleaning kept.

    Attributes:
        raw_number: its number in the raw text, counted from 1.
        kept_number: its number among the kept lines.
        tokens: its tokens.
    """

    raw_number: int
    kept_number: int
    tokens: tuple[str, ...]


def match_trees_to_kept_lines(
    located_trees: Iterator[TreeWithPath[TreeType]], text_path: Path, lines_path: Path, tokens_path: Path
) -> Iterator[tuple[KeptLine, TreeWithPath[TreeType] | None]]:
    """Yield each kept line with its tree.

    Tree k belongs to line k of the raw text. A line without words may have an empty tree (CoNLL-U: a block of
    comments only) or none at all, since most formats cannot say "no words": there an empty tree is taken, and a tree
    with words belongs to a line further down. Whether the words are those of the line is for the caller to see.

    Args:
        located_trees: of all lines, in order.
        text_path: the raw text, before cleaning.
        lines_path: the number of each kept line in the raw text.
        tokens_path: the kept lines, tokenized.

    Raises:
        InputError: there are more or fewer trees than lines.
    """
    kept = _read_kept_lines(lines_path, tokens_path)
    line = next(kept, None)
    following = next(located_trees, None)
    path = None if following is None else following.path
    number = taken = empty = 0
    for number, raw in enumerate(read_byte_lines(text_path), start=1):
        is_kept = line is not None and line.raw_number == number
        has_words = bool(line.tokens) if line is not None and is_kept else _has_words(raw)
        empty += not has_words
        found = following if following is not None and (has_words or not following.tree.words) else None
        if found is not None:
            taken, path = taken + 1, found.path
            following = next(located_trees, None)
        elif has_words:
            break
        if line is not None and is_kept:
            yield line, found
            line = next(kept, None)
    else:
        if following is not None:
            raise InputError(
                f"{taken + 1 + sum(1 for _ in located_trees)} trees, but {text_path} has {number} lines ({empty} of them empty); "
                "remove the trees that belong to no line",
                following.path,
            )
        return
    total = sum(1 for _ in read_byte_lines(text_path))
    raise InputError(
        f"the trees end here after {taken}, but {text_path} has {total} lines and line {number} has no tree; "
        "give a tree for each line that has words",
        path,
    )


def _has_words(line: bytes) -> bool:
    # Bytes that are not UTF-8 stand for letters of some word: cleaning drops such a line, but it has a tree.
    return count_words(replace_control_characters(line.decode("utf-8", "replace"))) > 0


def _read_kept_lines(lines_path: Path, tokens_path: Path) -> Iterator[KeptLine]:
    for number, (raw, line) in enumerate(read_parallel(lines_path, tokens_path), start=1):
        yield KeptLine(int(raw), number, tuple(split_tokens(line)))
