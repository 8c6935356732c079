"""A kind of syntax: what its values are, what they are made from and where its files lie.

Each is a module of its own here, called like the kind, with the object `SYNTAX_KIND`; it is found by that name, so that a
further kind trains nothing again.
"""

from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal, get_args

from pipeline_py import kinds

TreeFormat = Literal["conllu", "ptb"]
"""Dependency trees or phrase trees, called by the ending of their file."""

TREE_FORMATS: tuple[TreeFormat, ...] = get_args(TreeFormat)

TREE_FORMAT_NAMES: dict[TreeFormat, str] = {"conllu": "CoNLL-U", "ptb": "PTB"}
"""What people call the formats."""


@dataclass(frozen=True)
class PositionTable:
    """Values of the J positions of a sentence, EOS among them, row-major (J, columns).

    Attributes:
        column_count: values of each position; None: J of them.
        padding_value: what stands in a batch where a sentence has no positions.
        dtype: of the tensor.
    """

    column_count: int | None
    padding_value: int = 0
    dtype: str = "int64"

    def count_columns(self, position_count: int) -> int:
        """Columns of a sentence of so many positions."""
        return self.column_count or position_count


@dataclass(frozen=True)
class DistanceMatrix(PositionTable):
    """From each position to every one, 0 to itself."""

    column_count: int | None = None
    padding_value: int = 255
    dtype: str = "uint8"


@dataclass(frozen=True)
class PositionReferences(PositionTable):
    """A position of the sentence for each, counted from 0, or the padding."""

    column_count: int | None = 1
    padding_value: int = -1


@dataclass(frozen=True)
class VocabularyIds(PositionTable):
    """Tokens of a vocabulary, by number.

    Attributes:
        vocabulary_file: its file beside those of the units, with {parser} open where it is the parser's own.
        extra_id_count: identifiers behind those of the vocabulary.
    """

    vocabulary_file: str = ""
    extra_id_count: int = 0


@dataclass(frozen=True)
class BinaryTreeLayout:
    """Binary trees over the pieces of a sentence, as `kinds.trees` describes their row.

    Attributes:
        has_root: whether one tree stands over the whole sentence; otherwise they stand over parts of it.
    """

    has_root: bool = True


@dataclass(frozen=True)
class SyntaxKind:
    """What a part may read of a sentence, or learn to predict, beside its words.

    Attributes:
        name: in options, in names of files, and of the module.
        tree_format: what it is made from; None: from the pieces alone, without a parser.
        row_layout: what the row of a sentence holds.
        word_file_suffix: how the files end that hold it for words, which pieces inherit; None: made for pieces at once.
        is_packed: whether what pieces have is packed once more, into a file of the kind's name.
    """

    name: str
    tree_format: TreeFormat | None
    row_layout: PositionTable | BinaryTreeLayout
    word_file_suffix: str | None = None
    is_packed: bool = True

    @property
    def vocabulary_ids(self) -> VocabularyIds | None:
        """The values, where they are identifiers."""
        return self.row_layout if isinstance(self.row_layout, VocabularyIds) else None


def load_syntax_kind(name: str) -> SyntaxKind:
    """Find a kind by its name."""
    kind: SyntaxKind = import_module(f"pipeline_py.kinds.{name}").SYNTAX_KIND
    return kind


def load_all_syntax_kinds() -> list[SyntaxKind]:
    """Every kind, in order of the names."""
    return [load_syntax_kind(module.name) for module in iter_modules(kinds.__path__) if module.name != "syntax_kind"]
