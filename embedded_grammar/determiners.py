"""The determiners, and their distributions by kind of noun phrase."""

from embedded_grammar.derivation import Determiner
from embedded_grammar.nouns import PERSONAL_PRONOUNS
from embedded_grammar.weighted_choice import WeightedChoice

DETERMINER_THE = Determiner("the", "der", "der")
DETERMINER_A = Determiner("a", "ein", "ein")
DETERMINER_THIS = Determiner("this", "dies", "dieser")
DETERMINER_THESE = Determiner("these", "dies", "dieser")
DETERMINER_EVERY = Determiner("every", "jed", "dieser")
DETERMINER_ALL = Determiner("all", "all", "dieser")
DETERMINER_NO = Determiner("no", "kein", "ein")
DETERMINER_MANY = Determiner("many", "viel", "strong", "JJ")
DETERMINER_SOME = Determiner("some", "einig", "strong")
DETERMINER_SEVERAL = Determiner("several", "mehrer", "strong", "JJ")
DETERMINER_TWO = Determiner("two", "zwei", "numeral", "CD")
DETERMINER_THREE = Determiner("three", "drei", "numeral", "CD")
DETERMINER_FOUR = Determiner("four", "vier", "numeral", "CD")
# Replaced by a random number in digits when a noun phrase is drawn.
NUMBER_PLACEHOLDER = Determiner("", "", "numeral", "CD")
POSSESSIVES = tuple(Determiner(p.possessive, p.german_possessive, "ein", "PRP$") for p in PERSONAL_PRONOUNS)
NO_DETERMINER = None

_WEIGHTED_POSSESSIVES = [(possessive, 2.0) for possessive in POSSESSIVES]


def _build_weighted_choice(*pairs: tuple[Determiner | None, float]) -> WeightedChoice[Determiner | None]:
    return WeightedChoice([determiner for determiner, _ in pairs], [weight for _, weight in pairs])


SINGULAR_DETERMINERS = _build_weighted_choice(
    (DETERMINER_THE, 45), (DETERMINER_A, 25), (DETERMINER_THIS, 6), (DETERMINER_EVERY, 4), *_WEIGHTED_POSSESSIVES
)
_WEIGHTED_PLURAL_WORDS = (
    *(
        (DETERMINER_THE, 38.0),
        (NO_DETERMINER, 14.0),
        (DETERMINER_THESE, 5.0),
        (DETERMINER_ALL, 4.0),
        (DETERMINER_MANY, 6.0),
    ),
    *(
        (DETERMINER_SOME, 5.0),
        (DETERMINER_SEVERAL, 3.0),
        (DETERMINER_TWO, 5.0),
        (DETERMINER_THREE, 3.0),
        (DETERMINER_FOUR, 2.0),
    ),
)
PLURAL_DETERMINERS = _build_weighted_choice(*_WEIGHTED_PLURAL_WORDS, (NUMBER_PLACEHOLDER, 9), *_WEIGHTED_POSSESSIVES)
PLURAL_WORD_DETERMINERS = _build_weighted_choice(*_WEIGHTED_PLURAL_WORDS, *_WEIGHTED_POSSESSIVES)
MASS_NOUN_DETERMINERS = _build_weighted_choice(
    (DETERMINER_THE, 40), (NO_DETERMINER, 35), (DETERMINER_THIS, 5), *_WEIGHTED_POSSESSIVES
)

# Without quantifiers, which are ambiguous in scope under negation and need a paraphrase with `von` in a genitive.
PLAIN_SINGULAR_DETERMINERS = _build_weighted_choice(
    (DETERMINER_THE, 55), (DETERMINER_A, 15), (DETERMINER_THIS, 6), *_WEIGHTED_POSSESSIVES
)
PLAIN_PLURAL_DETERMINERS = _build_weighted_choice((DETERMINER_THE, 60), (DETERMINER_THESE, 8), *_WEIGHTED_POSSESSIVES)
DEFINITE_SINGULAR_DETERMINERS = _build_weighted_choice(
    (DETERMINER_THE, 70), (DETERMINER_THIS, 6), *_WEIGHTED_POSSESSIVES
)
