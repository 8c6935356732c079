"""Files of trees of either kind, their alignment with the lines of a text, and how they were made.

Times and versions differ from run to run, unlike the trees. So they are in a file of their own, which is read only by
the stages that join shards and by those of the report.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, Generic, Protocol, Self, TypeVar

from pipeline_py.files.artifacts import SentenceCounts, write_json
from pipeline_py.files.text_files import open_regular_file, read_lines, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.constituency import (
    PhraseTree,
    build_failed_phrase_tree,
    read_phrase_treebank,
    read_phrase_trees,
    write_phrase_trees,
)
from pipeline_py.syntax.trees.dependency import (
    DependencyTree,
    build_failed_dependency_tree,
    read_dependency_trees,
    write_dependency_trees,
)


class SyntaxTree(Protocol):
    """A tree of either kind."""

    @property
    def words(self) -> tuple[str, ...]: ...

    @property
    def line_number(self) -> int: ...


TreeType = TypeVar("TreeType", bound=SyntaxTree)

REPARSE_HINT = "parse the text again, the trees belong to another version of it"


def check_trees_against_tokens(trees: Iterable[TreeType], trees_path: Path, tokens_path: Path) -> Iterator[TreeType]:
    """Yield `trees` after comparing the words of the k-th with the tokens of line k.

    A bracket may be spelt `(` or `-LRB-` on either side.

    Raises:
        InputError: at the first sentence whose words differ, or when one file has more sentences.
    """
    lines = read_lines(tokens_path)
    for number, (tree, line) in enumerate(zip_longest(trees, lines), start=1):
        if line is None:
            raise InputError(
                f"the file has more trees than {tokens_path} has lines ({number - 1}); {REPARSE_HINT}", trees_path
            )
        if tree is None:
            raise InputError(
                f"the file has {number - 1} trees, but {tokens_path} has more lines; {REPARSE_HINT}", trees_path
            )
        tokens = tuple(split_tokens(line))
        if not has_same_words(tree.words, tokens):
            raise InputError(
                f"{_describe_word_difference(tree.words, tokens)} in {tokens_path}, line {number}; {REPARSE_HINT}",
                trees_path,
                tree.line_number,
            )
        yield tree


def pair_trees(
    trees: Iterable[TreeType],
    other_trees: Iterable[TreeType],
    trees_path: Path,
    other_trees_path: Path,
    hint: str,
    normalize_word: Callable[[str], str] = str,
) -> Iterator[tuple[TreeType, TreeType]]:
    """Yield the trees of two files side by side after making sure that they are about the same words.

    Args:
        trees: of the first file.
        other_trees: of the second file.
        trees_path: the first file.
        other_trees_path: the second file.
        hint: what to do where they are not.
        normalize_word: what of a word is compared.

    Raises:
        InputError: at the first sentence whose words differ, or when one file has more sentences.
    """
    for number, (tree, other) in enumerate(zip_longest(trees, other_trees), start=1):
        if tree is None or other is None:
            longer, shorter = (other_trees_path, trees_path) if tree is None else (trees_path, other_trees_path)
            raise InputError(f"the file ends after {number - 1} sentences, {longer} goes on; {hint}", shorter)
        if not has_same_words(tuple(map(normalize_word, tree.words)), tuple(map(normalize_word, other.words))):
            raise InputError(
                f"the words of sentence {number} are not those of {trees_path}, line {tree.line_number}; {hint}",
                other_trees_path,
                other.line_number,
            )
        yield tree, other


def has_same_words(words: tuple[str, ...], other_words: tuple[str, ...]) -> bool:
    """Whether two sentences have the same words, whichever way their brackets are spelt."""
    return words == other_words or _restore_brackets(words) == _restore_brackets(other_words)


def _restore_brackets(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.replace("-LRB-", "(").replace("-RRB-", ")") for word in words)


def _describe_word_difference(words: tuple[str, ...], tokens: tuple[str, ...]) -> str:
    if len(words) != len(tokens):
        return f"the tree has {len(words)} words and the text {len(tokens)}"
    place = next(
        k for k in range(len(words)) if _restore_brackets(words[k : k + 1]) != _restore_brackets(tokens[k : k + 1])
    )
    return f"word {place + 1} of the tree is {words[place]!r} and of the text {tokens[place]!r}"


DEFAULT_FAILURE_REASON = "marked as failed"

_FALLBACK_NOTE_PREFIX = "parsed by fallback: "


class TreeKind(StrEnum):
    """The two kinds of trees, which are separate artifacts everywhere."""

    DEPENDENCY = "dependency"
    CONSTITUENCY = "constituency"


@dataclass(frozen=True)
class TreeFileFormat(Generic[TreeType]):
    """Trees of one kind.

    Attributes:
        read_trees: the trees of a file as this project writes it.
        read_treebank: those of a treebank as it comes, plain or gzipped.
        write_trees: writes trees to an open file.
        empty_tree: of a sentence without words.
        build_failed_tree: the marked fallback for some words that could not be parsed, and the reason.
        get_failure_reason: why a tree is such a fallback; None: it is none.
    """

    read_trees: Callable[[Path], Iterator[TreeType]]
    read_treebank: Callable[[Path], Iterator[TreeType]]
    write_trees: Callable[[IO[str], Iterable[TreeType]], None]
    empty_tree: TreeType
    build_failed_tree: Callable[[Sequence[str], str], TreeType]
    get_failure_reason: Callable[[TreeType], str | None]


TREE_FILE_FORMATS: Mapping[TreeKind, TreeFileFormat[Any]] = {
    TreeKind.DEPENDENCY: TreeFileFormat(
        read_dependency_trees,
        read_dependency_trees,
        write_dependency_trees,
        DependencyTree((), (), (), ()),
        build_failed_dependency_tree,
        lambda tree: None if tree.failure_reason is None else tree.failure_reason or DEFAULT_FAILURE_REASON,
    ),
    TreeKind.CONSTITUENCY: TreeFileFormat(
        read_phrase_trees,
        read_phrase_treebank,
        write_phrase_trees,
        PhraseTree(None),
        lambda words, _: build_failed_phrase_tree(words),
        lambda tree: DEFAULT_FAILURE_REASON if tree.is_failed else None,
    ),
}


def count_fallback(counts: SentenceCounts, reason: str) -> None:
    """Count a sentence without a parse."""
    counts.add_noted(_FALLBACK_NOTE_PREFIX + reason)


def select_fallback_counts(note_counts: Mapping[str, int]) -> dict[str, int]:
    """Sentences without a parse by reason, of all that were noted."""
    return {
        what.removeprefix(_FALLBACK_NOTE_PREFIX): sentences
        for what, sentences in note_counts.items()
        if what.startswith(_FALLBACK_NOTE_PREFIX)
    }


NO_DEVICE = "none"


@dataclass(frozen=True)
class TreeMetadata:
    """Facts of one file of trees.

    Attributes:
        sentences: how many trees.
        seconds: time spent on making them, without starting up and loading models.
        device: cpu or cuda; none where there was nothing to parse.
        versions: of the libraries that decide the trees, by name.
        models: SHA-256 of each file that decides the trees (models, or trees that were given), by the names that
            `compute_checksums` gives them.
    """

    sentences: int
    seconds: float
    device: str = "cpu"
    versions: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write the facts as JSON."""
        write_json(path, {**asdict(self), "seconds": round(self.seconds, 3)})

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what `write` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    @classmethod
    def merge(cls, parts: Sequence[Self]) -> Self:
        """The facts of all parts of a text; where parts differ in device, version or model, each is named.

        Parts without sentences used no device and no model, and do not count.
        """
        parts = [part for part in parts if part.sentences] or parts
        return cls(
            sentences=sum(part.sentences for part in parts),
            seconds=sum(part.seconds for part in parts),
            device=", ".join(dict.fromkeys(part.device for part in parts)),
            versions=_join_values_by_name([part.versions for part in parts]),
            models=_join_values_by_name([part.models for part in parts]),
        )


def compute_checksums(paths: Iterable[Path]) -> dict[str, str]:
    """SHA-256 of files by their paths below the folder that holds them all: `tagger.pt`, or `pos/ewt.pt`."""
    paths = [path.absolute() for path in paths]
    folder = os.path.commonpath([path.parent for path in paths]) if paths else ""
    return {str(path.relative_to(folder)): _compute_sha256(path) for path in paths}


def _compute_sha256(path: Path) -> str:
    with open_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _join_values_by_name(value_maps: Sequence[dict[str, str]]) -> dict[str, str]:
    """For each name its values in all parts, without repetition."""
    names = dict.fromkeys(name for part in value_maps for name in part)
    return {name: ", ".join(dict.fromkeys(part[name] for part in value_maps if name in part)) for name in names}
