"""Which determiners a noun phrase draws from."""

from embedded_grammar.derivation import Determiner
from embedded_grammar.nouns import PERSONAL
from embedded_grammar.weighted_choice import WeightedChoice

THE = Determiner("the", "der", "der")
A = Determiner("a", "ein", "ein")
THIS = Determiner("this", "dies", "dieser")
THESE = Determiner("these", "dies", "dieser")
EVERY = Determiner("every", "jed", "dieser")
ALL = Determiner("all", "all", "dieser")
NO = Determiner("no", "kein", "ein")
MANY = Determiner("many", "viel", "strong", "JJ")
SOME = Determiner("some", "einig", "strong")
SEVERAL = Determiner("several", "mehrer", "strong", "JJ")
TWO = Determiner("two", "zwei", "numeral", "CD")
THREE = Determiner("three", "drei", "numeral", "CD")
FOUR = Determiner("four", "vier", "numeral", "CD")
# Stands for a number in digits, which is drawn when a noun phrase is.
NUMBER = Determiner("", "", "numeral", "CD")
POSSESSIVES = tuple(Determiner(p.possessive, p.german_possessive, "ein", "PRP$") for p in PERSONAL)
BARE = None

_OWN = [(possessive, 2.0) for possessive in POSSESSIVES]


def _weighted(*pairs: tuple[Determiner | None, float]) -> WeightedChoice[Determiner | None]:
    return WeightedChoice([determiner for determiner, _ in pairs], [weight for _, weight in pairs])


SINGULAR = _weighted((THE, 45), (A, 25), (THIS, 6), (EVERY, 4), *_OWN)
_IN_WORDS = (
    *((THE, 38.0), (BARE, 14.0), (THESE, 5.0), (ALL, 4.0), (MANY, 6.0)),
    *((SOME, 5.0), (SEVERAL, 3.0), (TWO, 5.0), (THREE, 3.0), (FOUR, 2.0)),
)
PLURAL = _weighted(*_IN_WORDS, (NUMBER, 9), *_OWN)
PLURAL_IN_WORDS = _weighted(*_IN_WORDS, *_OWN)
MASS = _weighted((THE, 40), (BARE, 35), (THIS, 5), *_OWN)

# Under a negation, and in a genitive, quantifiers would need scope or a paraphrase with `von`.
PLAIN_SINGULAR = _weighted((THE, 55), (A, 15), (THIS, 6), *_OWN)
PLAIN_PLURAL = _weighted((THE, 60), (THESE, 8), *_OWN)
DEFINITE_SINGULAR = _weighted((THE, 70), (THIS, 6), *_OWN)
