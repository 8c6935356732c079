"""Binary phrase trees over the pieces of sentences.

A row over n pieces is [root, left, right, level, left, right, level, …], with three numbers for each of k inner nodes.
Nodes are numbered: the pieces are 0 … n − 1 (EOS is not a leaf), the inner nodes n … n + k − 1, sorted by level and
then from left to right. The level of a node is its height: 0 for a piece, and 1 more than that of the higher child for
an inner node. `root` is the node over the whole sentence; for a single piece, it is that piece. A tree over all n
pieces has n − 1 inner nodes. After a failed parse there are no inner nodes and no root.
"""

from pipeline_py.kinds.syntax_kind import BinaryTreeLayout, SyntaxKind

NO_ROOT = -1
"""Root of a sentence without a parse, or with trees over the pieces of its words only."""

VALUES_PER_NODE = 3
"""Numbers for each inner node."""

SYNTAX_KIND = SyntaxKind("trees", "ptb", BinaryTreeLayout(), word_file_suffix="binary.ptb")
