"""Tests of German sentences by an independent agreement checker and by worked examples.

The checker has its own tables of the agreements (gender or plural, and case) of articles, adjective endings and nouns.
It finds noun phrases whose words have no agreement in common.
"""

import re

import pytest

from embedded_grammar.derivation import (
    Adverbial,
    Clause,
    Determiner,
    NounPhrase,
    RelativeGap,
    SubordinateClause,
)
from embedded_grammar.determiners import DETERMINER_A, DETERMINER_MANY, DETERMINER_THE
from embedded_grammar.english import build_trees as english
from embedded_grammar.german import realize_sentences as german
from embedded_grammar.german.verbs import inflect_german_verb
from embedded_grammar.lexicon.lexicon_size import LexiconSize
from embedded_grammar.modifiers import ADJECTIVES_BY_NOUN, ADVERBS, ATTRIBUTE_SLOTS_BY_NOUN, SUBORDINATORS, Adverb
from embedded_grammar.nouns import IT_BY_GENDER, NOUNS, PERSON_NAMES, PERSONAL_PRONOUNS, select_nouns
from embedded_grammar.pair_generation import PairGenerator
from embedded_grammar.senses import SENSES, VerbSense
from embedded_grammar.sentence_limits import LengthDistribution, SentenceLimits
from embedded_grammar.syntactic_phenomena import Phenomenon
from pipeline_py.files.artifacts import SentenceCounts

SENTENCES = 1500
HE, SHE, THEY = PERSONAL_PRONOUNS[:3]

ARTICLES = {
    "der": "mn fd fg pg",
    "die": "fn fa pn pa",
    "das": "nn na",
    "den": "ma pd",
    "dem": "md nd",
    "des": "mg ng",
}
EIN = {"": "mn nn na", "e": "fn fa pn pa", "en": "ma pd", "em": "md nd", "er": "fd fg pg", "es": "mg ng"}
DIES = {"er": "mn fd fg pg", "e": "fn fa pn pa", "es": "nn na mg ng", "en": "ma pd", "em": "md nd"}
CONTRACTIONS = {
    "im": "md nd",
    "am": "md nd",
    "zum": "md nd",
    "beim": "md nd",
    "vom": "md nd",
    "zur": "fd",
    "ins": "na",
    "ans": "na",
}
for _stem in ("ein", "kein", "mein", "sein", "ihr", "Ihr", "unser"):
    ARTICLES |= {_stem + ending: places for ending, places in EIN.items()}
for _stem in ("dies", "jed", "all"):
    ARTICLES |= {_stem + ending: places for ending, places in DIES.items()}
ARTICLES |= CONTRACTIONS

ALL = {gender + case for gender in "mfnp" for case in "nadg"}
# Adjective endings: after der/dieser (weak), after ein-words (mixed), without an inflected article (strong).
WEAK = {"e": {"mn", "fn", "fa", "nn", "na"}}
WEAK["en"] = ALL - WEAK["e"]
MIXED = {"er": {"mn"}, "es": {"nn", "na"}, "e": {"fn", "fa"}}
MIXED["en"] = ALL - {"mn", "nn", "na", "fn", "fa"}
STRONG = {
    "er": {"mn", "fd", "fg", "pg"},
    "e": {"fn", "fa", "pn", "pa"},
    "es": {"nn", "na"},
    "en": {"ma", "mg", "ng", "pd"},
    "em": {"md", "nd"},
}
QUANTIFIERS = {stem + ending for stem in ("viel", "einig", "mehrer") for ending in ("e", "en", "er")}
NUMERALS = {"zwei", "drei", "vier"}
DEGREES = {"sehr", "ziemlich", "zu"}

GOVERNED = {
    "mit": "d", "aus": "d", "von": "d", "bei": "d", "zu": "d", "nach": "d", "vom": "d", "zum": "d", "zur": "d",
    "beim": "d",
    "im": "d", "am": "d", "ins": "a", "ans": "a", "um": "a", "für": "a", "ohne": "a", "während": "g",
    "in": "ad", "an": "ad", "auf": "ad", "über": "ad", "unter": "ad", "neben": "ad", "hinter": "ad", "vor": "ad",
}  # fmt: skip


def compute_noun_agreements() -> dict[str, set[str]]:
    """Return the agreements of each noun form, by the rules of German declension."""
    agreements: dict[str, set[str]] = {}
    for noun in NOUNS:
        singular_cases = {"n": noun.german, "a": noun.german, "d": noun.german, "g": noun.german_genitive}
        if noun.gender == "m" and noun.german_genitive[-1] == "n":
            singular_cases = {case: noun.german_genitive if case != "n" else noun.german for case in "nadg"}
        for case, form in singular_cases.items():
            agreements.setdefault(form, set()).add(noun.gender + case)
        dative = noun.german_plural if noun.german_plural[-1] in "ns" else noun.german_plural + "n"
        for case in "nadg":
            agreements.setdefault(dative if case == "d" else noun.german_plural, set()).add("p" + case)
    return agreements


NOUN_AGREEMENTS = compute_noun_agreements()
RELATIVE = {"der", "die", "das", "den", "dem"}
ADJECTIVE_STEMS = {a.german_stem.removesuffix("e") for group in ADJECTIVES_BY_NOUN.values() for a in group}


def get_ending(word: str) -> str | None:
    """Return the ending of an inflected adjective; None for other words."""
    for ending in ("en", "em", "er", "es", "e"):
        if word.endswith(ending) and word.removesuffix(ending) in ADJECTIVE_STEMS:
            return ending
    return None


def get_ending_table(article: str) -> dict[str, set[str]]:
    if is_quantifier(article) or not article:
        return STRONG
    if article.startswith(("ein", "kein", "mein", "sein", "ihr", "Ihr", "unser")) and article not in (
        "einige",
        "einigen",
    ):
        return MIXED
    return WEAK


def is_quantifier(word: str) -> bool:
    return word in QUANTIFIERS or word in NUMERALS or word.isdigit()


def get_quantifier_agreements(word: str) -> set[str]:
    agreements = STRONG[re.sub("^(viel|einig|mehrer)", "", word)] if word in QUANTIFIERS else ALL
    return {agreement for agreement in agreements if agreement[0] == "p"}


def get_agreements(noun: str, article: str, endings: list[str | None]) -> set[str]:
    """Return the agreements of a noun phrase; the article is empty if there is a pronoun or a name in the genitive."""
    agreements = set(NOUN_AGREEMENTS[noun])
    if is_quantifier(article):
        agreements &= get_quantifier_agreements(article)
    elif article:
        agreements &= set(ARTICLES[article].split())
    for ending in endings:
        agreements &= get_ending_table(article).get(ending or "", set())
    return agreements


def find_disagreements(text: str) -> list[str]:
    """Return the noun phrases with their prepositions whose words have no gender, number and case in common."""
    tokens = text.split()
    if tokens[0] not in NOUN_AGREEMENTS:
        tokens[0] = tokens[0][0].lower() + tokens[0][1:]
    wrong_phrases = []
    for end, word in enumerate(tokens):
        if word not in NOUN_AGREEMENTS:
            continue
        start = end
        while start and (tokens[start - 1] in DEGREES or get_ending(tokens[start - 1])):
            start -= 1
        endings = [get_ending(token) for token in tokens[start:end] if token not in DEGREES]
        previous = tokens[start - 1] if start else ""
        article = previous if previous in ARTICLES or is_quantifier(previous) else ""
        has_possessor = previous.endswith("s") and previous.removesuffix("s") in {name.german for name in PERSON_NAMES}
        agreements = get_agreements(word, "" if has_possessor else article, endings)
        has_determiner = (article and article not in CONTRACTIONS) or has_possessor
        governor = start - (2 if has_determiner else 1)
        # After a comma and at the start, `während` is a conjunction.
        is_conjunction = tokens[governor] == "während" and (governor == 0 or tokens[governor - 1] == ",")
        if governor >= 0 and tokens[governor] in GOVERNED and not is_conjunction:
            agreements &= {gender + case for gender in "mfnp" for case in GOVERNED[tokens[governor]]}
        # After a comma, or a comma and a preposition, `die` can be a relative pronoun instead of an article.
        if article in RELATIVE and "," in tokens[max(start - 3, 0) : start - 1]:
            agreements |= get_agreements(word, "", endings)
        if not agreements:
            wrong_phrases.append(" ".join(tokens[max(governor, 0) : end + 1]))
    return wrong_phrases


@pytest.fixture(scope="module", params=[*LexiconSize])
def sentences(request: pytest.FixtureRequest) -> list[tuple[str, str]]:
    is_full = request.param is LexiconSize.full
    limits = SentenceLimits(
        0, 1, 3, 45, LengthDistribution.uniform, Phenomenon.any, request.param, is_full, 0 if is_full else 0.2
    )
    pairs = PairGenerator(11, limits).generate_distinct_pairs(SENTENCES, SentenceCounts())
    return [(pair.english, pair.german) for pair in pairs]


def test_the_checker_finds_disagreements() -> None:
    assert not find_disagreements("Er gab dem alten Mann mit den neuen Schuhen ein gutes Buch .")
    assert not find_disagreements("17 alte Männer gingen am 2019-05-03 mit 100 neuen Büchern zum Bahnhof .")
    for text in (
        "Er gab den alter Mann das Buch .",
        "Er sah ein guter Buch .",
        "Er ging mit die Frau .",
        "Viele alten Häuser .",
        "17 alten Häuser .",
        "Er sah 17 Haus .",
        "mit 17 neue Büchern",
        "mit 17 Bücher",
        "Er half dem Student .",
        "mit den alten Häuser",
        "die Farbe des alten Haus",
        "kaltes Milch",
    ):
        assert find_disagreements(text), text


def test_noun_phrases_agree_in_gender_number_and_case(sentences: list[tuple[str, str]]) -> None:
    assert [phrase for _, text in sentences for phrase in find_disagreements(text)] == []


SUBJUNCTIONS = {"dass", "ob", "weil", "wenn", "als", "obwohl", "nachdem", "bevor", "bis", "da"}
FINITE_FORMS = {
    prefix + form
    for name in {"sein", "haben", "werden", "können", "müssen", "sollen", "wollen"}
    | {("+".join(filter(None, (s.german_verb.prefix, s.german_verb.base)))) for s in SENSES}
    for verb in [inflect_german_verb(name)]
    for prefix in {"", verb.prefix}
    for form in (*verb.present, *verb.past)
}


def test_subordinate_clauses_end_in_their_finite_verb(sentences: list[tuple[str, str]]) -> None:
    clause_count = 0
    for _, text in sentences:
        for part, end in re.findall(r"(?<=, )([^,.]+) ([,.])", text):
            words = part.split()
            # A clause with another one inside, or with two predicates, does not end with this part.
            if words[0] in SUBJUNCTIONS and end == "." and not {"und", "oder"} & set(words):
                clause_count += 1
                assert words[-1] in FINITE_FORMS, text
    assert clause_count > 100


def test_the_finite_verb_follows_a_fronted_adverb(sentences: list[tuple[str, str]]) -> None:
    adverbs = {"Heute", "Gestern", "Morgen", "Jetzt", "Bald", "Vielleicht", "Leider", "Plötzlich", "Endlich"}
    second_words = [text.split()[1] for _, text in sentences if text.split()[0] in adverbs]
    assert len(second_words) > 100 and {*second_words} <= FINITE_FORMS


def test_commas_surround_subordinate_clauses(sentences: list[tuple[str, str]]) -> None:
    for _, text in sentences:
        words = text.split()
        assert words[0] != "," and words[-2] != ","
        for position, word in enumerate(words):
            if word in {"dass", "ob", "weil", "obwohl", "nachdem", "bevor"} and position:
                assert words[position - 1] == ",", text
            if word == "aber":
                assert words[position - 1] == ",", text


def test_contractions_are_obligatory_except_before_relative_clauses(sentences: list[tuple[str, str]]) -> None:
    """`in dem Haus , das …`, but `im Haus`."""
    contraction_count = article_count = 0
    for _, text in sentences:
        contraction_count += len(re.findall(r" (im|am|zum|zur|beim|vom|ins|ans) ", text))
        for rest in re.findall(r"(?<!,) (?:in|an|zu|bei|von) dem (.*)", text):
            article_count += 1
            assert "," in rest, text
    assert contraction_count > 250 and article_count < contraction_count / 2


# Prefixes that are also prepositions, articles or predicates.
AMBIGUOUS_PREFIXES = {"an", "auf", "aus", "mit", "nach", "vor", "zu", "ein", "kaputt"}


def test_a_separated_prefix_ends_its_clause(sentences: list[tuple[str, str]]) -> None:
    prefixes = {sense.german_verb.prefix for sense in SENSES if sense.german_verb.prefix} - AMBIGUOUS_PREFIXES
    for _, text in sentences:
        for match in re.finditer(rf" ({'|'.join(sorted(prefixes))})(?= )", text):
            assert text[match.end() + 1 :].startswith((",", ".", "und ", "oder ")), text


# Worked examples


def noun(name: str, determiner: object = DETERMINER_THE, plural: bool = False, *adjectives: str) -> NounPhrase:
    entry = next(entry for entry in (*NOUNS, *PERSON_NAMES) if entry.english == name)
    phrase = NounPhrase(entry, plural, determiner if entry.is_common else None)  # type: ignore[arg-type]
    for adjective in adjectives:
        phrase.adjectives.append((next(a for a in ADJECTIVES_BY_NOUN[entry] if a.english == adjective), None))
    return phrase


def sense(verb: str, particle: str = "", german_infinitive: str = "", slots: int | None = None) -> VerbSense:
    return next(
        s
        for s in SENSES
        if s.english_verb.base == verb
        and s.particle == particle
        and (not german_infinitive or s.german_verb.infinitive == german_infinitive)
        and (slots is None or len(s.slots) == slots)
    )


def clause(
    meaning: VerbSense, subject: object, tense: str, *arguments: object, past: bool = False, **fields: object
) -> Clause:
    pairs = list(zip(meaning.slots, arguments, strict=True))
    return Clause(meaning, subject, tense, past, pairs, **fields)  # type: ignore[arg-type]


def realize(main: Clause) -> tuple[str, str]:
    """Return the English and the German sentence."""
    english_text = " ".join(leaf.form for leaf in english.build_sentence(main).iterate_leaves())
    return english_text, " ".join(german.realize_sentence(main))


def test_the_object_precedes_particle_and_prefix() -> None:
    book = noun("book", DETERMINER_THE, False, "old")
    main = clause(sense("pick", "up"), noun("man"), "present", book, has_separated_particle=True)
    assert realize(main) == ("The man picks the old book up .", "Der Mann hebt das alte Buch auf .")
    main.tense = "perfect"
    assert realize(main) == ("The man has picked the old book up .", "Der Mann hat das alte Buch aufgehoben .")
    report = clause(sense("say"), NounPhrase(SHE), "past", main, past=True)
    main.tense, main.is_past_frame = "past", True
    assert realize(report)[1] == "Sie sagte , dass der Mann das alte Buch aufhob ."


@pytest.mark.parametrize(
    ("particle", "thing", "german_text"),
    [
        ("up", "dream", "Er gab einen Traum auf ."),
        ("back", "key", "Er gab einen Schlüssel zurück ."),
        ("away", "key", "Er verschenkte einen Schlüssel ."),
    ],
)
def test_the_particle_decides_the_german_verb(particle: str, thing: str, german_text: str) -> None:
    main = clause(
        sense("give", particle),
        NounPhrase(HE),
        "past",
        noun(thing, DETERMINER_A),
        past=True,
        has_separated_particle=True,
    )
    assert realize(main) == (f"He gave a {thing} {particle} .", german_text)


def test_german_word_order_shows_the_attachment() -> None:
    hit = sense("hit")
    stick = NounPhrase(select_nouns("stick")[0], False, DETERMINER_THE)
    instrument = Adverbial("instrument", "with", "mit", "dat", stick)
    high = clause(hit, NounPhrase(HE), "progressive", noun("man"), adverbials=[instrument])
    assert realize(high) == ("He is hitting the man with the stick .", "Er schlägt mit dem Stock den Mann .")
    man = noun("man")
    with_hat = next(a for a in ATTRIBUTE_SLOTS_BY_NOUN[man.head] if a.english_role == "with")  # type: ignore[index]
    man.attribute = with_hat, noun("hat")
    low = clause(hit, NounPhrase(HE), "progressive", man)
    assert realize(low) == ("He is hitting the man with the hat .", "Er schlägt den Mann mit dem Hut .")


def test_case_distinguishes_goal_from_place() -> None:
    goal = clause(sense("put", "", "legen"), NounPhrase(HE), "perfect", noun("book"), noun("table"))
    assert realize(goal)[1] == "Er hat das Buch auf den Tisch gelegt ."
    book = noun("book")
    book.attribute = next(a for a in ATTRIBUTE_SLOTS_BY_NOUN[book.head] if a.english_role == "on"), noun("table")  # type: ignore[index]
    place = clause(sense("buy"), NounPhrase(HE), "perfect", book)
    assert realize(place)[1] == "Er hat das Buch auf dem Tisch gekauft ."


@pytest.mark.parametrize(
    ("name", "plural", "text"),
    [
        ("man", False, "Der Mann , dem er hilft , schläft ."),
        ("woman", False, "Die Frau , der er hilft , schläft ."),
        ("child", False, "Das Kind , dem er hilft , schläft ."),
        ("child", True, "Die Kinder , denen er hilft , schlafen ."),
    ],
)
def test_relative_pronoun_agrees_and_takes_the_case_of_its_role(name: str, plural: bool, text: str) -> None:
    subject = noun(name, DETERMINER_THE, plural)
    subject.relative_clause = clause(sense("help", slots=1), NounPhrase(HE), "present", RelativeGap(subject, "that"))
    assert realize(clause(sense("sleep"), subject, "present"))[1] == text


def test_extraposed_relative_clause() -> None:
    subject = noun("man", DETERMINER_A)
    subject.relative_clause = clause(
        sense("know", "", "kennen"), RelativeGap(subject, "who"), "past", NounPhrase(SHE), past=True
    )
    main = clause(sense("come", "in"), subject, "past", past=True, has_extraposed_relative=True)
    assert realize(main) == ("A man came in who knew her .", "Ein Mann kam herein , der sie kannte .")
    leaves = list(english.build_sentence(main).iterate_leaves())
    knew = next(leaf for leaf in leaves if leaf.form == "knew")
    assert knew.relation == "acl:relcl" and knew.governor is not None and knew.governor.form == "man"


def test_it_has_the_gender_of_its_noun() -> None:
    because = next(s for s in SUBORDINATORS if s.english == "because")
    for name, pronoun in (("key", "ihn"), ("bag", "sie"), ("book", "es")):
        thing = noun(name)
        it = NounPhrase(IT_BY_GENDER[thing.head.gender])  # type: ignore[union-attr]
        inner = clause(sense("lose"), NounPhrase(SHE), "past", it, past=True)
        main = clause(
            sense("find"), NounPhrase(HE), "past", thing, past=True, final_subordinate=SubordinateClause(because, inner)
        )
        assert realize(main)[1].endswith(f", weil sie {pronoun} verlor .")


def test_inversion_contraction_and_kein() -> None:
    today = next(time for time in ADVERBS if time.english == "today")
    go = clause(
        sense("go", "", "gehen"),
        NounPhrase(THEY),
        "present",
        noun("station"),
        time_adverb=today,
        fronted_element="time",
    )
    assert realize(go) == ("Today they go to the station .", "Heute gehen sie zum Bahnhof .")
    buy = clause(sense("buy"), NounPhrase(HE), "past", noun("car", DETERMINER_A), past=True, is_negated=True)
    assert realize(buy) == ("He did not buy a car .", "Er kaufte kein Auto .")
    see = clause(sense("see"), NounPhrase(HE), "past", noun("house"), past=True, is_negated=True)
    assert realize(see)[1] == "Er sah das Haus nicht ."


def test_haben_and_sein_and_strong_adjectives() -> None:
    main = clause(sense("run", "", "laufen", 0), noun("horse", DETERMINER_MANY, True, "young"), "perfect")
    assert realize(main) == ("Many young horses have run .", "Viele junge Pferde sind gelaufen .")
    drink = clause(sense("drink"), NounPhrase(HE), "perfect", noun("water", None, False, "cold"))
    assert realize(drink)[1] == "Er hat kaltes Wasser getrunken ."


def test_numbers_times_and_dates_in_digits() -> None:
    seventeen = Determiner("17", "17", "numeral", "CD")
    half_past_two = Adverb("at 14:30", "um 14:30", "digits")
    third_of_may = Adverb("on 2019-05-03", "am 2019-05-03", "digits")
    buy = clause(
        sense("buy"), NounPhrase(HE), "perfect", noun("box", seventeen, True, "wooden"), time_adverb=half_past_two
    )
    assert realize(buy) == (
        "He has bought 17 wooden boxes at 14:30 .",
        "Er hat um 14:30 17 hölzerne Kisten gekauft .",
    )
    give = clause(
        sense("give", "", "geben"), NounPhrase(THEY), "past", noun("child"), noun("key", DETERMINER_A), past=True
    )
    give.time_adverb, give.fronted_element = third_of_may, "time"
    assert realize(give) == (
        "On 2019-05-03 they gave the child a key .",
        "Am 2019-05-03 gaben sie dem Kind einen Schlüssel .",
    )
    helped = clause(sense("help", slots=1), noun("man", seventeen, True, "old"), "past", noun("child"), past=True)
    assert realize(helped) == ("17 old men helped the child .", "17 alte Männer halfen dem Kind .")
    helped.arguments = [(helped.arguments[0][0], noun("man", seventeen, True, "old"))]
    helped.subject = NounPhrase(SHE)
    report = clause(sense("say"), NounPhrase(HE), "past", helped, past=True)
    helped.time_adverb = third_of_may
    assert realize(report)[1] == "Er sagte , dass sie am 2019-05-03 17 alten Männern half ."


def test_it_never_follows_a_german_preposition(sentences: list[tuple[str, str]]) -> None:
    """German has `daran` instead of `an es`; the grammar builds neither."""
    assert not [text for _, text in sentences if re.search(r" (an|auf|über|um|von|mit|nach|für) es ", text)]
    assert not [text for source, text in sentences if re.search(r" (remember\w*|point\w*) it ", source)]
