"""Binary phrase trees over the pieces of sentences, and what a row of such trees holds.

A row over n pieces is [root, left, right, level, left, right, level, …], with three numbers for each of k inner nodes.
Nodes are called by numbers: the pieces are 0 … n − 1 (EOS is no leaf), the inner nodes n … n + k − 1 in order of level,
then from left to right. The level of a node is its height: 0 for a piece, and for an inner node 1 more than the higher
of its children's. `root` is the number of the node over the whole sentence, the piece itself where there is only one.
A tree over all n pieces has n − 1 inner nodes; where the parse failed, there are none and no root.
"""

from pipeline_py.kinds.syntax_kind import BinaryTreeLayout, SyntaxKind

NO_ROOT = -1
"""Root of a sentence that has no parse, or only trees over the pieces of its words."""

VALUES_PER_NODE = 3
"""Numbers of each inner node."""

SYNTAX_KIND = SyntaxKind("trees", "ptb", BinaryTreeLayout(), word_file_suffix="binary.ptb")
