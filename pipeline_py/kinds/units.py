"""What a dependency unit is made of (SDRNMT, Chen et al. 2017, section 3)."""

from pipeline_py.kinds.kind import Identifiers, Kind

UNIT_SIZE = 10
"""Words of a unit, n; the poolings of its network leave one row of so many, and of no others."""

NOTHING = 0
"""ε, which stands for an empty part: no word has this place."""

PADDING = -1
"""/, which fills a unit up."""

KIND = Kind(
    "units",
    "conllu",
    # One more for the padding.
    Identifiers(UNIT_SIZE, vocabulary="vocabulary.units", further=1),
    of_words="units.arrow",
)
