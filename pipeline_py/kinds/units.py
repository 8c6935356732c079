"""What a dependency unit is made of (SDRNMT, Chen et al. 2017, section 3)."""

from pipeline_py.kinds.syntax_kind import SyntaxKind, VocabularyIds

WORDS_PER_UNIT = 10
"""Words of a unit, n; the poolings of its network leave one row of so many, and of no others."""

EPSILON_POSITION = 0
"""ε, which stands for an empty part: no word has this place."""

PADDING_POSITION = -1
"""/, which fills a unit up."""

SYNTAX_KIND = SyntaxKind(
    "units",
    "conllu",
    # One more for the padding.
    VocabularyIds(WORDS_PER_UNIT, vocabulary_file="vocabulary.units", extra_id_count=1),
    word_file_suffix="units.arrow",
)
