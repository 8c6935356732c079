"""English verb forms."""

from dataclasses import dataclass

from embedded_grammar.lexicon.entries import read_entries


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """The five forms of an English verb."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str


_IRREGULAR_VERBS = {verb.base: verb for verb in read_entries("english_verbs", EnglishVerb)}


def inflect_english_verb(base: str) -> EnglishVerb:
    """Return the forms of a verb, from the list of irregular verbs or by the rules for -e, -y and sibilants."""
    if base in _IRREGULAR_VERBS:
        return _IRREGULAR_VERBS[base]
    if base.endswith("e"):
        return EnglishVerb(base, base + "s", base + "d", base + "d", base[:-1] + "ing")
    if base.endswith("y") and base[-2] not in "aeiou":
        return EnglishVerb(base, base[:-1] + "ies", base[:-1] + "ied", base[:-1] + "ied", base + "ing")
    third = base + ("es" if base.endswith(("s", "sh", "ch", "x", "z")) else "s")
    return EnglishVerb(base, third, base + "ed", base + "ed", base + "ing")
