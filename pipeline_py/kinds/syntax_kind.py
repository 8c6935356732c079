"""Kinds of syntax: their values, the trees they come from, and their files.

Each kind is a module of this package that defines `SYNTAX_KIND`. Modules are imported by name, which keeps a new kind
out of the code hashes of existing systems.
"""

from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal, get_args

from pipeline_py import kinds

TreeFormat = Literal["conllu", "ptb"]
"""Format of dependency trees or phrase trees; also the suffix of their files."""

TREE_FORMATS: tuple[TreeFormat, ...] = get_args(TreeFormat)

TREE_FORMAT_NAMES: dict[TreeFormat, str] = {"conllu": "CoNLL-U", "ptb": "PTB"}
"""Display names of the formats."""


@dataclass(frozen=True)
class PositionTable:
    """Values for the J positions of a sentence, including EOS; row-major (J, columns).

    Attributes:
        column_count: values per position; None for J.
        padding_value: value of padded positions in a batch.
        dtype: dtype of the tensor.
    """

    column_count: int | None
    padding_value: int = 0
    dtype: str = "int64"

    def count_columns(self, position_count: int) -> int:
        """Return the number of columns for a sentence of `position_count` positions."""
        return self.column_count or position_count


@dataclass(frozen=True)
class DistanceMatrix(PositionTable):
    """Distances between all pairs of positions (J, J), with zeros on the diagonal."""

    column_count: int | None = None
    padding_value: int = 255
    dtype: str = "uint8"


@dataclass(frozen=True)
class PositionReferences(PositionTable):
    """Positions of the same sentence, counted from 0, or the padding value."""

    column_count: int | None = 1
    padding_value: int = -1


@dataclass(frozen=True)
class VocabularyIds(PositionTable):
    """Identifiers of vocabulary entries.

    Attributes:
        vocabulary_file: file name of the vocabulary, with the placeholder {parser} if each parser has another one.
        extra_id_count: number of identifiers after those of the vocabulary.
    """

    vocabulary_file: str = ""
    extra_id_count: int = 0


@dataclass(frozen=True)
class BinaryTreeLayout:
    """Binary trees over the pieces of a sentence; `kinds.trees` describes their rows.

    Attributes:
        has_root: whether one tree covers the whole sentence, not several trees parts of it.
    """

    has_root: bool = True


@dataclass(frozen=True)
class SyntaxKind:
    """A kind of syntactic annotation that parts of a network read or learn to predict.

    Attributes:
        name: name of the kind in options and file names, and of its module.
        tree_format: format of the trees that it is computed from; None if it only needs the pieces.
        row_layout: layout of the row of a sentence.
        word_file_suffix: suffix of the files with values for words, which their pieces inherit; None if there are
            values for pieces only.
        is_packed: whether the values for pieces are packed into another file.
    """

    name: str
    tree_format: TreeFormat | None
    row_layout: PositionTable | BinaryTreeLayout
    word_file_suffix: str | None = None
    is_packed: bool = True

    @property
    def vocabulary_ids(self) -> VocabularyIds | None:
        """The row layout, if the values are identifiers; else None."""
        return self.row_layout if isinstance(self.row_layout, VocabularyIds) else None


def load_syntax_kind(name: str) -> SyntaxKind:
    """Import a kind by its name."""
    kind: SyntaxKind = import_module(f"pipeline_py.kinds.{name}").SYNTAX_KIND
    return kind


def load_all_syntax_kinds() -> list[SyntaxKind]:
    """Import all kinds, sorted by name."""
    return [load_syntax_kind(module.name) for module in iter_modules(kinds.__path__) if module.name != "syntax_kind"]
