"""Lengths of the paths between words in the dependency tree (SDAtt section 3.1)."""

from pipeline_py.kinds.kind import Distances, Kind

KIND = Kind("distances", "conllu", Distances(), of_words="distances.arrow", packed=False)
