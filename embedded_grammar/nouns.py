"""The nouns and pronouns of the lexicon, with semantic classes and German inflection."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from embedded_grammar.lexicon.entries import read_entries

PERSON_BY_CODE = {"1": 1, "2": 2, "3": 3}
IS_PLURAL_BY_CODE = {"sg": False, "pl": True}
GENDER_BY_ARTICLE = {"der": "m", "die": "f", "das": "n"}


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun in both languages; `is_common` is False for the name of a person or town."""

    english: str
    english_plural: str
    german: str
    gender: str  # m, f, n
    german_plural: str
    german_genitive: str
    semantic_classes: frozenset[str]
    place_prepositions: Mapping[str, tuple[str, str]]  # `place` and `goal` to English and German preposition
    is_mass: bool
    is_common: bool = True

    @property
    def is_weak(self) -> bool:
        """True if the noun follows the German n-declension."""
        return self.gender == "m" and self.german_genitive.endswith("n")


@dataclass(frozen=True, slots=True, eq=False)
class Pronoun:
    """A personal pronoun with its forms in both languages."""

    english: str
    object: str
    possessive: str
    person: int
    is_plural: bool
    german: str
    accusative: str
    dative: str
    german_possessive: str
    reflexive: str
    gender: str

    semantic_classes: ClassVar[frozenset[str]] = frozenset({"person"})
    place_prepositions: ClassVar[Mapping[str, tuple[str, str]]] = {}
    is_common: ClassVar[bool] = False
    is_mass: ClassVar[bool] = False

    def get_case_form(self, case: str) -> str:
        """Return the German form in a case."""
        return {"nom": self.german, "acc": self.accusative, "dat": self.dative}[case]


NominalHead = Noun | Pronoun


def _build_noun(
    english: str, plural: str, article: str, german: str, german_plural: str, genitive: str, classes: str, places: str
) -> Noun:
    return Noun(
        english=english,
        english_plural={"+": english + "s", "-": english}.get(plural, plural),
        german=german,
        gender=GENDER_BY_ARTICLE[article],
        german_plural=german_plural,
        german_genitive=genitive or german,
        semantic_classes=frozenset(classes.split()),
        place_prepositions=dict(_parse_place_preposition(pair) for pair in places.split()),
        is_mass=plural == "-",
    )


def _parse_place_preposition(preposition_pair: str) -> tuple[str, tuple[str, str]]:
    english, _, german = preposition_pair.partition("=")
    if not german:
        raise KeyError(preposition_pair)
    return "goal" if english == "to" else "place", (english, german)


def _build_name(english: str, article: str, german: str, classes: str, places: str) -> Noun:
    noun = _build_noun(english, english, article, german, german, german + "s", classes, places)
    return replace(noun, is_common=False)


def _build_pronoun(person: str, number: str, **forms: str) -> Pronoun:
    return Pronoun(person=PERSON_BY_CODE[person], is_plural=IS_PLURAL_BY_CODE[number], **forms)


PRONOUNS = read_entries("pronouns", _build_pronoun)
PERSONAL_PRONOUNS = tuple(pronoun for pronoun in PRONOUNS if pronoun.english != "it")
IT_BY_GENDER = {pronoun.gender: pronoun for pronoun in PRONOUNS if pronoun.english == "it"}
NOUNS = read_entries("nouns", _build_noun)
PROPER_NAMES = read_entries("names", _build_name)
PERSON_NAMES = tuple(name for name in PROPER_NAMES if "person" in name.semantic_classes)
TOWN_NAMES = tuple(name for name in PROPER_NAMES if "town" in name.semantic_classes)


def select_nouns(classes: str) -> tuple[Noun, ...]:
    """Select the common nouns in any of the comma-separated classes, frequent ones first.

    An English noun is also the name of a class that contains only itself.

    Raises:
        KeyError: a class has no nouns.
    """
    class_names = set(classes.split(","))
    for unknown_class in class_names - {name for noun in NOUNS for name in noun.semantic_classes | {noun.english}}:
        raise KeyError(unknown_class)
    return tuple(noun for noun in NOUNS if noun.english in class_names or noun.semantic_classes & class_names)
