"""A kind of syntax: what its values are, what they are made from and where its files lie.

Each is a module of its own here, called like the kind, with the object `KIND`; it is found by that name, so that a
further kind trains nothing again.
"""

from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal, get_args

from pipeline_py import kinds

Trees = Literal["conllu", "ptb"]
"""Dependency trees or phrase trees, called by the ending of their file."""

TREES: tuple[Trees, ...] = get_args(Trees)

NAMES_OF_TREES: dict[Trees, str] = {"conllu": "CoNLL-U", "ptb": "PTB"}
"""What people call the formats."""


@dataclass(frozen=True)
class Table:
    """Values of the J positions of a sentence, EOS among them, row-major (J, columns).

    Attributes:
        columns: values of each position; None: J of them.
        padding: what stands in a batch where a sentence has no positions.
        dtype: of the tensor.
    """

    columns: int | None
    padding: int = 0
    dtype: str = "int64"

    def width(self, positions: int) -> int:
        """Columns of a sentence of so many positions."""
        return self.columns or positions


@dataclass(frozen=True)
class Distances(Table):
    """From each position to every one, 0 to itself."""

    columns: int | None = None
    padding: int = 255
    dtype: str = "uint8"


@dataclass(frozen=True)
class Positions(Table):
    """A position of the sentence for each, counted from 0, or the padding."""

    columns: int | None = 1
    padding: int = -1


@dataclass(frozen=True)
class Identifiers(Table):
    """Tokens of a vocabulary, by number.

    Attributes:
        vocabulary: its file beside those of the units, with {parser} open where it is the parser's own.
        further: identifiers behind those of the vocabulary.
    """

    vocabulary: str = ""
    further: int = 0


@dataclass(frozen=True)
class BinaryTrees:
    """Binary trees over the pieces of a sentence, as `kinds.trees` describes their row.

    Attributes:
        rooted: whether one tree stands over the whole sentence; otherwise they stand over parts of it.
    """

    rooted: bool = True


@dataclass(frozen=True)
class Kind:
    """What a part may read of a sentence, or learn to predict, beside its words.

    Attributes:
        name: in options, in names of files, and of the module.
        trees: what it is made from; None: from the pieces alone, without a parser.
        values: what the row of a sentence holds.
        of_words: how the files end that hold it for words, which pieces inherit; None: made for pieces at once.
        packed: whether what pieces have is packed once more, into a file of the kind's name.
    """

    name: str
    trees: Trees | None
    values: Table | BinaryTrees
    of_words: str | None = None
    packed: bool = True

    @property
    def identifiers(self) -> Identifiers | None:
        """The values, where they are identifiers."""
        return self.values if isinstance(self.values, Identifiers) else None


def kind_of(name: str) -> Kind:
    """Find a kind by its name."""
    kind: Kind = import_module(f"pipeline_py.kinds.{name}").KIND
    return kind


def all_kinds() -> list[Kind]:
    """Every kind, in order of the names."""
    return [kind_of(module.name) for module in iter_modules(kinds.__path__) if module.name != "kind"]
