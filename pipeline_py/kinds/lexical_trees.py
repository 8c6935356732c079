"""Left-branching trees over the pieces of each split word, without a root."""

from pipeline_py.kinds.syntax_kind import BinaryTreeLayout, SyntaxKind

SYNTAX_KIND = SyntaxKind("lexical_trees", None, BinaryTreeLayout(has_root=False))
