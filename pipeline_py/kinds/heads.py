"""Heads in the dependency tree, which an encoder learns to predict.

A row over n pieces has n + 1 values, one for each piece and one for EOS: the position of the head, counted from 0. A
child of ROOT is its own head; EOS is one too.
"""

from pipeline_py.kinds.syntax_kind import PositionReferences, SyntaxKind

NO_HEAD = -1
"""Value of every position of a sentence without a parse."""

SYNTAX_KIND = SyntaxKind("heads", "conllu", PositionReferences(padding_value=NO_HEAD))
