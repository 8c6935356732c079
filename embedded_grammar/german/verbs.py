"""German verb forms: finite forms, participle and infinitives.

A verb name is its infinitive, with `+` after a separable prefix and `sich` before a reflexive verb: `sich hin+setzen`.
"""

from dataclasses import dataclass
from functools import cache

from embedded_grammar.lexicon.entries import read_entries

# The present (ich, er, wir), the past (er) and the participle.
VerbForms = tuple[tuple[str, str, str], str, str]

INSEPARABLE_PREFIXES = ("be", "emp", "ent", "er", "ge", "miss", "ver", "zer")


@dataclass(frozen=True, slots=True)
class GermanVerb:
    """The forms of a German verb."""

    prefix: str  # separable prefix, or empty
    base: str  # infinitive without the prefix
    present: tuple[str, str, str]  # ich, er, wir/sie; without the prefix
    past: tuple[str, str, str]
    base_participle: str
    is_reflexive: bool

    @property
    def infinitive(self) -> str:
        """The infinitive: `aufheben`."""
        return self.prefix + self.base

    @property
    def zu_infinitive(self) -> tuple[str, ...]:
        """The words of the infinitive with `zu`: (`aufzuheben`,) or (`zu`, `lesen`)."""
        return (self.prefix + "zu" + self.base,) if self.prefix else ("zu", self.base)

    @property
    def participle(self) -> str:
        """The past participle: `aufgehoben`."""
        return self.prefix + self.base_participle


def _needs_linking_e(stem: str) -> bool:
    """Return whether -t needs a linking e: arbeit-et, öffn-et, but lern-t."""
    return stem.endswith(("t", "d")) or (stem[-1] in "nm" and stem[-2] not in "aeiouäöürlhmn")


def _inflect_weak_verb(infinitive: str) -> VerbForms:
    stem = infinitive.removesuffix("n") if infinitive.endswith(("eln", "ern")) else infinitive.removesuffix("en")
    third = stem + ("et" if _needs_linking_e(stem) else "t")
    has_no_ge = infinitive.endswith("ieren") or infinitive.startswith(INSEPARABLE_PREFIXES)
    return (_inflect_first_person(infinitive), third, infinitive), third + "e", ("" if has_no_ge else "ge") + third


def _inflect_first_person(infinitive: str) -> str:
    if infinitive.endswith("eln"):
        return infinitive[:-3] + "le"
    return infinitive.removesuffix("n").removesuffix("e") + "e"


def _parse_irregular_verb(
    infinitive: str, present: str, past: str, participle: str, first: str, plural: str
) -> tuple[str, VerbForms]:
    return infinitive, ((first or _inflect_first_person(infinitive), present, plural or infinitive), past, participle)


_IRREGULAR_VERBS = dict(read_entries("german_verbs", _parse_irregular_verb))


@cache
def inflect_german_verb(verb_name: str) -> GermanVerb:
    """Return the forms of a verb; a verb that is not in the list of irregular verbs is weak."""
    reflexive = verb_name.startswith("sich ")
    prefix, _, base = verb_name.removeprefix("sich ").rpartition("+")
    present, past, participle = _IRREGULAR_VERBS.get(base) or _inflect_weak_verb(base)
    plural = past + ("n" if past.endswith("e") else "en")
    return GermanVerb(prefix, base, present, (past, past, plural), participle, reflexive)
