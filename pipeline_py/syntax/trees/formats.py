"""Trees of either kind: their files, and what stands for a sentence that has none."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, Generic

from pipeline_py.artifact import Counts
from pipeline_py.syntax.trees.alignment import AnyTree
from pipeline_py.syntax.trees.constituency import PhraseTree, read_treebank, read_trees, unparsed_phrase, write_trees
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependencies, unparsed, write_dependencies

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
