"""Which of the trees of a raw text belong to the lines of it that cleaning kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from pipeline_py.corpus.characters import without_controls, words
from pipeline_py.files.text import read_bytes, read_parallel, tokens_of
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.formats import AnyTree


@dataclass(frozen=True)
class Located(Generic[AnyTree]):
    """A tree and the file it stands in."""

    tree: AnyTree
    path: Path


@dataclass(frozen=True)
class KeptLine:
    """A line that cleaning kept.

    Attributes:
        raw: its number in the raw text, counted from 1.
        number: its number among the kept lines.
        tokens: its tokens.
    """

    raw: int
    number: int
    tokens: tuple[str, ...]


def filtered_trees(
    trees: Iterator[Located[AnyTree]], text: Path, lines: Path, tokens: Path
) -> Iterator[tuple[KeptLine, Located[AnyTree] | None]]:
    """Yield each kept line with its tree.

    Tree k belongs to line k of the raw text. A line without words may have an empty tree (CoNLL-U: a block of
    comments only) or none at all, since most formats cannot say "no words": there an empty tree is taken, and a tree
    with words belongs to a line further down. Whether the words are those of the line is for the caller to see.

    Args:
        trees: of all lines, in order.
        text: the raw text, before cleaning.
        lines: the number of each kept line in the raw text.
        tokens: the kept lines, tokenized.

    Raises:
        InputError: there are more or fewer trees than lines.
    """
    kept = _kept_lines(lines, tokens)
    line = next(kept, None)
    following = next(trees, None)
    path = None if following is None else following.path
    number = taken = empty = 0
    for number, raw in enumerate(read_bytes(text), start=1):
        is_kept = line is not None and line.raw == number
        has_words = bool(line.tokens) if line is not None and is_kept else _has_words(raw)
        empty += not has_words
        found = following if following is not None and (has_words or not following.tree.words) else None
        if found is not None:
            taken, path = taken + 1, found.path
            following = next(trees, None)
        elif has_words:
            break
        if line is not None and is_kept:
            yield line, found
            line = next(kept, None)
    else:
        if following is not None:
            raise InputError(
                f"{taken + 1 + sum(1 for _ in trees)} trees, but {text} has {number} lines ({empty} of them empty); "
                "remove the trees that belong to no line",
                following.path,
            )
        return
    total = sum(1 for _ in read_bytes(text))
    raise InputError(
        f"the trees end here after {taken}, but {text} has {total} lines and line {number} has no tree; "
        "give a tree for each line that has words",
        path,
    )


def _has_words(line: bytes) -> bool:
    # Bytes that are not UTF-8 stand for letters of some word: cleaning drops such a line, but it has a tree.
    return words(without_controls(line.decode("utf-8", "replace"))) > 0


def _kept_lines(lines: Path, tokens: Path) -> Iterator[KeptLine]:
    for number, (raw, line) in enumerate(read_parallel(lines, tokens), start=1):
        yield KeptLine(int(raw), number, tuple(tokens_of(line)))
