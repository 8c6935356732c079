"""The nouns and pronouns of both languages, with what selectional preference and German inflection need to know."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from embedded_grammar.lexicon.entries import entries

PERSONS = {"1": 1, "2": 2, "3": 3}
NUMBERS = {"sg": False, "pl": True}
GENDERS = {"der": "m", "die": "f", "das": "n"}


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun in both languages; the name of a person or town is not `common`."""

    english: str
    plural: str
    german: str
    gender: str  # m, f, n
    german_plural: str
    genitive: str
    classes: frozenset[str]
    places: Mapping[str, tuple[str, str]]  # of being there (`place`) and of going there (`goal`), English and German
    mass: bool
    common: bool = True

    @property
    def weak(self) -> bool:
        """Whether the noun follows the German n-declension."""
        return self.gender == "m" and self.genitive.endswith("n")


@dataclass(frozen=True, slots=True, eq=False)
class Pronoun:
    """A personal pronoun, which stands for a person: English and German nominative, then objects and possessives."""

    english: str
    object: str
    possessive: str
    person: int
    plural: bool
    german: str
    accusative: str
    dative: str
    german_possessive: str
    reflexive: str
    gender: str

    classes: ClassVar[frozenset[str]] = frozenset({"person"})
    places: ClassVar[Mapping[str, tuple[str, str]]] = {}
    common: ClassVar[bool] = False
    mass: ClassVar[bool] = False

    def in_case(self, case: str) -> str:
        """The German form."""
        return {"nom": self.german, "acc": self.accusative, "dat": self.dative}[case]


Head = Noun | Pronoun


def _noun(
    english: str, plural: str, article: str, german: str, german_plural: str, genitive: str, classes: str, places: str
) -> Noun:
    return Noun(
        english=english,
        plural={"+": english + "s", "-": english}.get(plural, plural),
        german=german,
        gender=GENDERS[article],
        german_plural=german_plural,
        genitive=genitive or german,
        classes=frozenset(classes.split()),
        places=dict(_place(pair) for pair in places.split()),
        mass=plural == "-",
    )


def _place(pair: str) -> tuple[str, tuple[str, str]]:
    english, _, german = pair.partition("=")
    if not german:
        raise KeyError(pair)
    return "goal" if english == "to" else "place", (english, german)


def _name(english: str, article: str, german: str, classes: str, places: str) -> Noun:
    noun = _noun(english, english, article, german, german, german + "s", classes, places)
    return replace(noun, common=False)


def _pronoun(person: str, number: str, **forms: str) -> Pronoun:
    return Pronoun(person=PERSONS[person], plural=NUMBERS[number], **forms)


PRONOUNS = entries("pronouns", _pronoun)
PERSONAL = tuple(pronoun for pronoun in PRONOUNS if pronoun.english != "it")
IT = {pronoun.gender: pronoun for pronoun in PRONOUNS if pronoun.english == "it"}
NOUNS = entries("nouns", _noun)
NAMES = entries("names", _name)
PEOPLE = tuple(name for name in NAMES if "person" in name.classes)
TOWNS = tuple(name for name in NAMES if "town" in name.classes)


def of_classes(classes: str) -> tuple[Noun, ...]:
    """The common nouns in any of the comma-separated classes (a noun is a class of its own), frequent ones first.

    Raises:
        KeyError: a class without nouns.
    """
    wanted = set(classes.split(","))
    for empty in wanted - {name for noun in NOUNS for name in noun.classes | {noun.english}}:
        raise KeyError(empty)
    return tuple(noun for noun in NOUNS if noun.english in wanted or noun.classes & wanted)
