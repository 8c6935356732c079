"""German inflection of articles, adjectives, nouns and relative pronouns, and contraction of prepositions.

Paradigms are indexed by column (m, f, n for singulars; p for plurals) and case (nom, acc, dat, gen).
"""

from embedded_grammar.derivation import Determiner
from embedded_grammar.nouns import Noun
from embedded_grammar.senses import CASES


def _build_paradigm(**columns: str) -> dict[tuple[str, str], str]:
    """Build a paradigm from four forms for each column, in the order of `CASES`; `-` is an empty ending."""
    return {
        (column, case): "" if form == "-" else form
        for column, forms in columns.items()
        for case, form in zip(CASES, forms.split(), strict=True)
    }


DEFINITE_ARTICLES = _build_paradigm(m="der den dem des", f="die die der der", n="das das dem des", p="die die den der")
RELATIVE_PRONOUNS = _build_paradigm(
    m="der den dem dessen", f="die die der deren", n="das das dem dessen", p="die die denen deren"
)
DIESER_ENDINGS = _build_paradigm(m="er en em es", f="e e er er", n="es es em es", p="e e en er")
EIN_ENDINGS = _build_paradigm(m="- en em es", f="e e er er", n="- - em es", p="e e en er")

STRONG_ENDINGS = _build_paradigm(m="er en em en", f="e e er er", n="es es em en", p="e e en er")
WEAK_ENDINGS = _build_paradigm(m="e en en en", f="e e en en", n="e e en en", p="en en en en")
MIXED_ENDINGS = _build_paradigm(m="er en en en", f="e e en en", n="es es en en", p="en en en en")

# Endings of the determiner, and of an adjective after it.
ENDINGS_BY_PARADIGM = {
    "dieser": (DIESER_ENDINGS, WEAK_ENDINGS),
    "ein": (EIN_ENDINGS, MIXED_ENDINGS),
    "strong": (DIESER_ENDINGS, STRONG_ENDINGS),
}

CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("bei", "dem"): "beim",
    ("von", "dem"): "vom",
}

GOAL_CASE_BY_PREPOSITION = {"in": "acc", "an": "acc", "auf": "acc", "zu": "dat", "nach": "dat"}


def get_paradigm_column(noun: Noun, is_plural: bool) -> str:
    """Return the column of a noun in the paradigms: its gender, or `p` if it is plural."""
    return "p" if is_plural else noun.gender


def inflect_determiner(determiner: Determiner | None, column_and_case: tuple[str, str]) -> str:
    """Return the form of a determiner in (column, case); empty if there is no determiner."""
    if determiner is None:
        return ""
    if determiner.german_paradigm == "der":
        return DEFINITE_ARTICLES[column_and_case]
    if determiner.german_paradigm == "numeral":
        return determiner.german
    return determiner.german + ENDINGS_BY_PARADIGM[determiner.german_paradigm][0][column_and_case]


def get_adjective_ending(determiner: Determiner | None, column_and_case: tuple[str, str]) -> str:
    """Return the ending of an attributive adjective after a determiner."""
    if determiner is None or determiner.german_paradigm == "numeral":
        return STRONG_ENDINGS[column_and_case]
    if determiner.german_paradigm == "der":
        return WEAK_ENDINGS[column_and_case]
    return ENDINGS_BY_PARADIGM[determiner.german_paradigm][1][column_and_case]


def inflect_noun(noun: Noun, is_plural: bool, case: str) -> str:
    """Return the form of a noun in a case."""
    if is_plural:
        form = noun.german_plural
        return form + "n" if case == "dat" and not form.endswith(("n", "s")) else form
    if case == "gen" or (noun.is_weak and case != "nom"):
        return noun.german_genitive
    return noun.german
