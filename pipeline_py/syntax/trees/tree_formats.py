"""Tree files of both kinds, their alignment with the lines of a text, and their metadata.

Metadata such as times and versions are stored in separate files, because they differ from run to run.
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
    """Yield trees after comparing the words of the k-th tree with the tokens of line k.

    The spellings `(` and `-LRB-` are equal.

    Raises:
        InputError: The words of a sentence differ, or one file has more sentences.
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
    """Yield pairs of trees of two files after checking that they have the same words.

    Args:
        trees: Trees of the first file.
        other_trees: Trees of the second file.
        trees_path: The first file.
        other_trees_path: The second file.
        hint: Hint for the user in error messages.
        normalize_word: Function applied to words before they are compared.

    Raises:
        InputError: The words of a sentence differ, or one file has more sentences.
    """
    for number, (tree, other_tree) in enumerate(zip_longest(trees, other_trees), start=1):
        if tree is None or other_tree is None:
            longer, shorter = (other_trees_path, trees_path) if tree is None else (trees_path, other_trees_path)
            raise InputError(f"the file ends after {number - 1} sentences, {longer} goes on; {hint}", shorter)
        if not has_same_words(tuple(map(normalize_word, tree.words)), tuple(map(normalize_word, other_tree.words))):
            raise InputError(
                f"the words of sentence {number} are not those of {trees_path}, line {tree.line_number}; {hint}",
                other_trees_path,
                other_tree.line_number,
            )
        yield tree, other_tree


def has_same_words(words: tuple[str, ...], other_words: tuple[str, ...]) -> bool:
    """Compare the words of two sentences; the spellings `(` and `-LRB-` are equal."""
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
    """The kind of a syntax tree."""

    DEPENDENCY = "dependency"
    CONSTITUENCY = "constituency"


@dataclass(frozen=True)
class TreeFileFormat(Generic[TreeType]):
    """Functions to read, write and build trees of one kind.

    Attributes:
        read_trees: Read the trees of a file that this project wrote.
        read_treebank: Read the trees of a treebank, plain or gzipped.
        write_trees: Write trees to an open file.
        empty_tree: Tree of a sentence without words.
        build_failed_tree: Build the marked tree of a failed sentence from its words and the reason.
        get_failure_reason: Return the reason of a failed parse; None if it did not fail.
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
    """Count a sentence that could not be parsed."""
    counts.add_noted(_FALLBACK_NOTE_PREFIX + reason)


def select_fallback_counts(note_counts: Mapping[str, int]) -> dict[str, int]:
    """Select the numbers of sentences that could not be parsed, by reason."""
    return {
        note.removeprefix(_FALLBACK_NOTE_PREFIX): sentences
        for note, sentences in note_counts.items()
        if note.startswith(_FALLBACK_NOTE_PREFIX)
    }


NO_DEVICE = "none"


@dataclass(frozen=True)
class TreeMetadata:
    """Metadata of a file of trees.

    Attributes:
        sentences: Number of trees.
        seconds: Time spent on parsing, without loading models.
        device: cpu or cuda; none if there was nothing to parse.
        versions: Versions of the libraries that determine the trees, by name.
        models: SHA-256 of the files that determine the trees (models or imported trees), by name (see
            `compute_checksums`).
    """

    sentences: int
    seconds: float
    device: str = "cpu"
    versions: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write the metadata as JSON."""
        write_json(path, {**asdict(self), "seconds": round(self.seconds, 3)})

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read metadata from a file that `write` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    @classmethod
    def merge(cls, parts: Sequence[Self]) -> Self:
        """Merge the metadata of all parts of a text; differing devices, versions and models are listed.

        Parts without sentences are ignored, since they used no device and no model.
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
    """Compute SHA-256 of files by their paths relative to their common folder: `tagger.pt`, or `pos/ewt.pt`."""
    paths = [path.absolute() for path in paths]
    folder = os.path.commonpath([path.parent for path in paths]) if paths else ""
    return {str(path.relative_to(folder)): _compute_sha256(path) for path in paths}


def _compute_sha256(path: Path) -> str:
    with open_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _join_values_by_name(value_maps: Sequence[dict[str, str]]) -> dict[str, str]:
    names = dict.fromkeys(name for part in value_maps for name in part)
    return {name: ", ".join(dict.fromkeys(part[name] for part in value_maps if name in part)) for name in names}
