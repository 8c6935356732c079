"""Tests of the lexicon: verb forms, unambiguous word forms, and ambiguities that only the structure resolves."""

import itertools

import pytest

from embedded_grammar.english.verbs import inflect_english_verb
from embedded_grammar.english.word_leaves import choose_indefinite_article
from embedded_grammar.german.verbs import inflect_german_verb
from embedded_grammar.modifiers import ADJECTIVES_BY_NOUN, ATTRIBUTE_SLOTS_BY_NOUN
from embedded_grammar.nouns import NOUNS
from embedded_grammar.senses import SENSES, VerbSense


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("auf+heben", "hebe hebt heben hob hoben aufgehoben aufheben"),
        ("zurück+geben", "gebe gibt geben gab gaben zurückgegeben zurückgeben"),
        ("ein+schalten", "schalte schaltet schalten schaltete schalteten eingeschaltet einschalten"),
        ("warten", "warte wartet warten wartete warteten gewartet warten"),
        ("öffnen", "öffne öffnet öffnen öffnete öffneten geöffnet öffnen"),
        ("sich erinnern", "erinnere erinnert erinnern erinnerte erinnerten erinnert erinnern"),
        ("reparieren", "repariere repariert reparieren reparierte reparierten repariert reparieren"),
        ("bellen", "belle bellt bellen bellte bellten gebellt bellen"),
        ("besuchen", "besuche besucht besuchen besuchte besuchten besucht besuchen"),
        ("lächeln", "lächle lächelt lächeln lächelte lächelten gelächelt lächeln"),
        ("übernehmen", "übernehme übernimmt übernehmen übernahm übernahmen übernommen übernehmen"),
        ("wissen", "weiß weiß wissen wusste wussten gewusst wissen"),
        ("sein", "bin ist sind war waren gewesen sein"),
        ("lesen", "lese liest lesen las lasen gelesen lesen"),
    ],
)
def test_german_verbs(name: str, forms: str) -> None:
    verb = inflect_german_verb(name)
    assert [*verb.present, *verb.past[1:], verb.participle, verb.infinitive] == forms.split()


def test_zu_is_between_prefix_and_verb() -> None:
    assert inflect_german_verb("auf+heben").zu_infinitive == ("aufzuheben",)
    assert inflect_german_verb("lesen").zu_infinitive == ("zu", "lesen")


@pytest.mark.parametrize(
    "forms",
    [
        "give gives gave given giving",
        "carry carries carried carried carrying",
        "play plays played played playing",
        "plan plans planned planned planning",
        "watch watches watched watched watching",
        "close closes closed closed closing",
        "refuse refuses refused refused refusing",
        "travel travels traveled traveled traveling",
        "lie lies lay lain lying",
    ],
)
def test_english_verbs(forms: str) -> None:
    verb = inflect_english_verb(forms.split()[0])
    assert [verb.base, verb.third, verb.past, verb.participle, verb.gerund] == forms.split()


def test_indefinite_articles() -> None:
    words = ("old", "car", "umbrella", "university", "hour", "useful")
    assert [choose_indefinite_article(word) for word in words] == ["an", "a", "an", "a", "an", "a"]


def test_a_verb_form_belongs_to_one_verb() -> None:
    """Otherwise, a sentence could have two lexical cores and belong to two shares."""
    verbs_by_form: dict[str, set[str]] = {}
    for sense in SENSES:
        verb = sense.english_verb
        for form in {verb.base, verb.third, verb.past, verb.participle, verb.gerund}:
            verbs_by_form.setdefault(form, set()).add(verb.base)
    assert not {form: verbs for form, verbs in verbs_by_form.items() if len(verbs) > 1}


def test_a_noun_form_belongs_to_one_noun() -> None:
    forms = [form for noun in NOUNS for form in {noun.english, noun.english_plural}]
    assert len(forms) == len(set(forms))


def get_english_frame(sense: VerbSense) -> tuple[object, ...]:
    return sense.english_verb, sense.particle, *(slot.english_role for slot in sense.slots)


def test_arguments_determine_the_german_verb_of_an_english_verb() -> None:
    for first, second in itertools.combinations(SENSES, 2):
        if get_english_frame(first) != get_english_frame(second) or first.german_verb == second.german_verb:
            continue
        pairs = [(first.subject_nouns, second.subject_nouns)]
        pairs += [(a.fillers, b.fillers) for a, b in zip(first.slots, second.slots, strict=True)]
        assert any(not set(a) & set(b) for a, b in pairs), (get_english_frame(first), first.german_verb.infinitive)


def test_verbs_are_ambiguous_without_their_structure() -> None:
    translations: dict[str, set[str]] = {}
    for sense in SENSES:
        translations.setdefault(sense.english_verb.base, set()).add(sense.german_verb.infinitive)
    assert sum(len(german) >= 2 for german in translations.values()) >= 25
    assert len(translations["take"]) >= 5 and len(translations["put"]) >= 6 and len(translations["give"]) >= 4
    separable = [sense for sense in SENSES if sense.german_verb.prefix]
    assert len(separable) >= 50


def test_an_adjective_has_one_translation_for_a_noun() -> None:
    for noun, adjectives in ADJECTIVES_BY_NOUN.items():
        words = [adjective.english for adjective in adjectives]
        assert len(words) == len(set(words)), noun.english


def test_instruments_are_no_attributes_of_the_objects_of_their_verbs() -> None:
    for sense in SENSES:
        slot = sense.object_slot
        if not sense.instrument_nouns or slot is None:
            continue
        for noun in slot.fillers:
            with_nouns = {
                filler for a in ATTRIBUTE_SLOTS_BY_NOUN[noun] if a.english_role == "with" for filler in a.fillers
            }
            assert not with_nouns & set(sense.instrument_nouns), (sense.english_verb.base, noun.english)


def test_the_grammar_has_more_than_a_million_pairs() -> None:
    """Count `the/a SUBJECT VERBed the/a [ADJECTIVE] OBJECT .` for transitive verbs, as a lower bound.

    Since a form belongs to one verb or noun (tests above), every choice gives another sentence.
    """
    cores = {
        (subject, sense.english_verb, sense.particle, thing)
        for sense in SENSES
        if [slot.english_role for slot in sense.slots] == ["obj"]
        for subject in sense.subject_nouns
        for thing in sense.slots[0].fillers
        if subject is not thing and not thing.is_mass
    }
    assert sum(4 * (1 + len(ADJECTIVES_BY_NOUN[thing])) for *_, thing in cores) > 1_000_000
