"""A left-branching tree over the pieces of each split word, and never a root."""

from pipeline_py.kinds.kind import BinaryTrees, Kind

KIND = Kind("lexical_trees", None, BinaryTrees(rooted=False))
