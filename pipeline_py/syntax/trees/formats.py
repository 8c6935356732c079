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

from pipeline_py.files.artifacts import Counts, write_json
from pipeline_py.files.text import open_regular_file, read_lines, tokens_of
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.constituency import PhraseTree, read_treebank, read_trees, unparsed_phrase, write_trees
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependencies, unparsed, write_dependencies


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


NO_REASON = "marked as failed"

_NOTE = "parsed by fallback: "


class Annotation(StrEnum):
    """The two kinds of trees, which are separate artifacts everywhere."""

    DEPENDENCY = "dependency"
    CONSTITUENCY = "constituency"


@dataclass(frozen=True)
class Format(Generic[AnyTree]):
    """Trees of one kind.

    Attributes:
        read: the trees of a file as this project writes it.
        read_treebank: those of a treebank as it comes, plain or gzipped.
        write: writes trees to an open file.
        empty: of a sentence without words.
        unparsed: the marked fallback for some words that could not be parsed, and the reason.
        reason: why a tree is such a fallback; None: it is none.
    """

    read: Callable[[Path], Iterator[AnyTree]]
    read_treebank: Callable[[Path], Iterator[AnyTree]]
    write: Callable[[IO[str], Iterable[AnyTree]], None]
    empty: AnyTree
    unparsed: Callable[[Sequence[str], str], AnyTree]
    reason: Callable[[AnyTree], str | None]


FORMATS: Mapping[Annotation, Format[Any]] = {
    Annotation.DEPENDENCY: Format(
        read_dependencies,
        read_dependencies,
        write_dependencies,
        DependencyTree((), (), (), ()),
        unparsed,
        lambda tree: None if tree.failed is None else tree.failed or NO_REASON,
    ),
    Annotation.CONSTITUENCY: Format(
        read_trees,
        read_treebank,
        write_trees,
        PhraseTree(None),
        lambda words, _: unparsed_phrase(words),
        lambda tree: NO_REASON if tree.failed else None,
    ),
}


def note_fallback(counts: Counts, reason: str) -> None:
    """Count a sentence without a parse."""
    counts.note(_NOTE + reason)


def fallbacks(noted: Mapping[str, int]) -> dict[str, int]:
    """Sentences without a parse by reason, of all that were noted."""
    return {what.removeprefix(_NOTE): sentences for what, sentences in noted.items() if what.startswith(_NOTE)}


NO_DEVICE = "none"


@dataclass(frozen=True)
class TreeFacts:
    """Facts of one file of trees.

    Attributes:
        sentences: how many trees.
        seconds: time spent on making them, without starting up and loading models.
        device: cpu or cuda; none where there was nothing to parse.
        versions: of the libraries that decide the trees, by name.
        models: SHA-256 of each file that decides the trees (models, or trees that were given), by the names that
            `checksums` gives them.
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
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The facts of all parts of a text; where parts differ in device, version or model, each is named.

        Parts without sentences used no device and no model, and do not count.
        """
        parts = [part for part in parts if part.sentences] or parts
        return cls(
            sentences=sum(part.sentences for part in parts),
            seconds=sum(part.seconds for part in parts),
            device=", ".join(dict.fromkeys(part.device for part in parts)),
            versions=_all([part.versions for part in parts]),
            models=_all([part.models for part in parts]),
        )


def checksums(files: Iterable[Path]) -> dict[str, str]:
    """SHA-256 of files by their paths below the folder that holds them all: `tagger.pt`, or `pos/ewt.pt`."""
    files = [path.absolute() for path in files]
    folder = os.path.commonpath([path.parent for path in files]) if files else ""
    return {str(path.relative_to(folder)): _checksum(path) for path in files}


def _checksum(path: Path) -> str:
    with open_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _all(parts: Sequence[dict[str, str]]) -> dict[str, str]:
    """For each name its values in all parts, without repetition."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: ", ".join(dict.fromkeys(part[name] for part in parts if name in part)) for name in names}
