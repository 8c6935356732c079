"""Dependency units: the parent, siblings and children of a word (SDRNMT, Chen et al. 2017, section 3)."""

from pipeline_py.kinds.syntax_kind import SyntaxKind, VocabularyIds

WORDS_PER_UNIT = 10
"""Words in a unit, n. The pooling layers of the unit CNN reduce exactly this many rows to one."""

EPSILON_POSITION = 0
"""Position of ε, which marks an empty part; no word has it."""

PADDING_POSITION = -1
"""Position of `/`, which pads a unit."""

SYNTAX_KIND = SyntaxKind(
    "units",
    "conllu",
    VocabularyIds(WORDS_PER_UNIT, vocabulary_file="vocabulary.units", extra_id_count=1),  # the padding
    word_file_suffix="units.arrow",
)
