"""Lengths of the paths between words in the dependency tree (SDAtt section 3.1)."""

from pipeline_py.kinds.syntax_kind import DistanceMatrix, SyntaxKind

SYNTAX_KIND = SyntaxKind("distances", "conllu", DistanceMatrix(), word_file_suffix="distances.arrow", is_packed=False)
