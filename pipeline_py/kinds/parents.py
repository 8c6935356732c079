"""Positions of the pieces of each piece's head word.

A row over n pieces has 2 (n + 1) values: for each piece and for EOS, the first and last position of the pieces of its
head word, counted from 0. A root is its own head, and so is EOS.
"""

from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.kinds.syntax_kind import PositionReferences, SyntaxKind

SYNTAX_KIND = SyntaxKind("parents", "conllu", PositionReferences(column_count=2, padding_value=NO_HEAD))
