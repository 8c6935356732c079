"""Heads in the dependency tree, which some encoder learns to predict.

A row over n pieces has n + 1 values, one for each piece and one for EOS: the position of the head, counted from 0. A
position that is its own head hangs under ROOT, as EOS does.
"""

from pipeline_py.kinds.syntax_kind import PositionReferences, SyntaxKind

NO_HEAD = -1
"""Every value of a sentence that has no parse."""

SYNTAX_KIND = SyntaxKind("heads", "conllu", PositionReferences(padding_value=NO_HEAD))
