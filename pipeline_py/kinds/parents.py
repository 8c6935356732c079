"""Where the pieces of a piece's head word stand.

A row over n pieces has 2 (n + 1) values, for each piece, and for EOS, the first and the last position of the pieces of
its head word, counted from 0. A root has its own word there, and EOS itself.
"""

from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.kinds.syntax_kind import PositionReferences, SyntaxKind

SYNTAX_KIND = SyntaxKind("parents", "conllu", PositionReferences(column_count=2, padding_value=NO_HEAD))
