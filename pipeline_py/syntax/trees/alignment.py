"""Tree k belongs to line k of the text, whoever made it: the checks that every reader of trees makes."""

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Protocol, TypeVar

from pipeline_py.input_error import InputError
from pipeline_py.text import read_lines, tokens_of


class HasWords(Protocol):
    """A tree of either kind."""

    @property
    def words(self) -> tuple[str, ...]: ...

    @property
    def line(self) -> int: ...


AnyTree = TypeVar("AnyTree", bound=HasWords)

REMEDY = "parse the text again, the trees belong to another version of it"


def with_tokens(trees: Iterable[AnyTree], trees_path: Path, tokens_path: Path) -> Iterator[AnyTree]:
    """Yield `trees` after comparing the words of the k-th with the tokens of line k.

    A bracket may be spelt `(` or `-LRB-` on either side.

    Raises:
        InputError: at the first sentence whose words differ, or when one file has more sentences.
    """
    lines = read_lines(tokens_path)
    for number, (tree, line) in enumerate(zip_longest(trees, lines), start=1):
        if line is None:
            raise InputError(
                f"the file has more trees than {tokens_path} has lines ({number - 1}); {REMEDY}", trees_path
            )
        if tree is None:
            raise InputError(f"the file has {number - 1} trees, but {tokens_path} has more lines; {REMEDY}", trees_path)
        tokens = tuple(tokens_of(line))
        if not same_words(tree.words, tokens):
            raise InputError(
                f"{_difference(tree.words, tokens)} in {tokens_path}, line {number}; {REMEDY}", trees_path, tree.line
            )
        yield tree


def in_pairs(
    trees: Iterable[AnyTree],
    others: Iterable[AnyTree],
    path: Path,
    others_path: Path,
    remedy: str,
    spelling: Callable[[str], str] = str,
) -> Iterator[tuple[AnyTree, AnyTree]]:
    """Yield the trees of two files side by side after making sure that they are about the same words.

    Args:
        trees: of the first file.
        others: of the second file.
        path: the first file.
        others_path: the second file.
        remedy: what to do where they are not.
        spelling: what of a word is compared.

    Raises:
        InputError: at the first sentence whose words differ, or when one file has more sentences.
    """
    for number, (tree, other) in enumerate(zip_longest(trees, others), start=1):
        if tree is None or other is None:
            longer, shorter = (others_path, path) if tree is None else (path, others_path)
            raise InputError(f"the file ends after {number - 1} sentences, {longer} goes on; {remedy}", shorter)
        if not same_words(tuple(map(spelling, tree.words)), tuple(map(spelling, other.words))):
            raise InputError(
                f"the words of sentence {number} are not those of {path}, line {tree.line}; {remedy}",
                others_path,
                other.line,
            )
        yield tree, other


def same_words(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether two sentences have the same words, whichever way their brackets are spelt."""
    return words == others or _spelt_out(words) == _spelt_out(others)


def _spelt_out(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.replace("-LRB-", "(").replace("-RRB-", ")") for word in words)


def _difference(words: tuple[str, ...], tokens: tuple[str, ...]) -> str:
    if len(words) != len(tokens):
        return f"the tree has {len(words)} words and the text {len(tokens)}"
    place = next(k for k in range(len(words)) if _spelt_out(words[k : k + 1]) != _spelt_out(tokens[k : k + 1]))
    return f"word {place + 1} of the tree is {words[place]!r} and of the text {tokens[place]!r}"
