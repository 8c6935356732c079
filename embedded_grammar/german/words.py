"""German inflection of articles, adjectives, nouns and relative pronouns; contraction of prepositions.

`column` is the gender of a singular (m, f, n) or `p` for a plural; `case` is nom, acc, dat or gen.
"""

from embedded_grammar.derivation import Determiner
from embedded_grammar.nouns import Noun
from embedded_grammar.senses import CASES


def _paradigm(**columns: str) -> dict[tuple[str, str], str]:
    """A table from four forms a column, in the order of `CASES`; `-` is an empty ending."""
    return {
        (column, case): "" if form == "-" else form
        for column, forms in columns.items()
        for case, form in zip(CASES, forms.split(), strict=True)
    }


DEFINITE = _paradigm(m="der den dem des", f="die die der der", n="das das dem des", p="die die den der")
RELATIVE = _paradigm(m="der den dem dessen", f="die die der deren", n="das das dem dessen", p="die die denen deren")
DIESER = _paradigm(m="er en em es", f="e e er er", n="es es em es", p="e e en er")
EIN = _paradigm(m="- en em es", f="e e er er", n="- - em es", p="e e en er")

STRONG = _paradigm(m="er en em en", f="e e er er", n="es es em en", p="e e en er")
WEAK = _paradigm(m="e en en en", f="e e en en", n="e e en en", p="en en en en")
MIXED = _paradigm(m="er en en en", f="e e en en", n="es es en en", p="en en en en")

# Determiner kind → endings of the determiner, endings of an adjective behind it.
ARTICLES = {"dieser": (DIESER, WEAK), "ein": (EIN, MIXED), "strong": (DIESER, STRONG)}

CONTRACTED = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("bei", "dem"): "beim",
    ("von", "dem"): "vom",
}

GOAL_CASE = {"in": "acc", "an": "acc", "auf": "acc", "zu": "dat", "nach": "dat"}


def column(noun: Noun, plural: bool) -> str:
    """Where a noun stands in the tables above."""
    return "p" if plural else noun.gender


def article(determiner: Determiner | None, place: tuple[str, str]) -> str:
    """The determiner's form in (column, case), empty if there is none."""
    if determiner is None:
        return ""
    if determiner.kind == "der":
        return DEFINITE[place]
    if determiner.kind == "numeral":
        return determiner.german
    return determiner.german + ARTICLES[determiner.kind][0][place]


def adjective_ending(determiner: Determiner | None, place: tuple[str, str]) -> str:
    """The ending of an attributive adjective behind the determiner."""
    if determiner is None or determiner.kind == "numeral":
        return STRONG[place]
    if determiner.kind == "der":
        return WEAK[place]
    return ARTICLES[determiner.kind][1][place]


def noun_form(noun: Noun, plural: bool, case: str) -> str:
    """The noun in a case."""
    if plural:
        form = noun.german_plural
        return form + "n" if case == "dat" and not form.endswith(("n", "s")) else form
    if case == "gen" or (noun.weak and case != "nom"):
        return noun.genitive
    return noun.german
