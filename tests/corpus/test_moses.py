"""Tests of Moses' rules by language, with expected values of tokenizer.perl and detokenizer.perl."""

import pytest
from sacremoses import MosesDetokenizer, MosesTokenizer

from pipeline_py.corpus.moses import build_moses_detokenizer, build_moses_tokenizer


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("fi", "EU:n päätös: 20:een, EU:ssa.", "EU:n päätös : 20:een , EU:ssa ."),
        ("fi", "EU:N (USA:lle) klo 12:30:", "EU : N ( USA:lle ) klo 12 : 30 :"),
        ("sv", "EU:s beslut: S:t Erik, USA:s.", "EU:s beslut : S:t Erik , USA:s ."),
        ("de", "EU:s Beschluss", "EU : s Beschluss"),
        ("ga", "D'fhág sé b'fhéidir 'anois'.", "D' fhág sé b' fhéidir ' anois ' ."),
        ("ca", "L'home d'il·lusió · d'aquí.", "L' home d' il·lusió · d' aquí ."),
        ("it", "L'uomo dell'anno.", "L' uomo dell' anno ."),
        ("so", "Lo'aad 'la ' yaab.", "Lo'aad ' la ' yaab ."),
        ("cs", "Bylo to 5 lidí v roce 2014.", "Bylo to 5 lidí v roce 2014 ."),
    ],
)
def test_text_is_tokenized_by_the_rules_of_its_language(language: str, text: str, tokens: str) -> None:
    assert build_moses_tokenizer(language)(text) == tokens.split()


@pytest.mark.parametrize(
    ("language", "tokens", "text"),
    [
        ("cs", "Bylo to 5 lidí v roce 2014 .", "Bylo to 5 lidí v roce 2014."),
        ("cs", "7 z 10 , ne 8 z 9 ,", "7 z 10, ne 8 z 9,"),
        ("cs", "Asi 3 , 5 nebo 1 . 2 . 2014 lidí .", "Asi 3,5 nebo 1.2.2014 lidí."),
        ("cs", "Bude - li pršet , pošli e – mail domů .", "Bude-li pršet, pošli e–mail domů."),
        ("cs", "Ten a' - li on .", "Ten a' - li on."),
        ("cs", "Řekl : „ Ano “ .", "Řekl: „Ano“."),
        ("fi", "EU : n päätös : EU : ssako ?", "EU:n päätös: EU:ssako?"),
        ("fi", "EU : N ja : se", "EU:N ja: se"),
        ("sv", "EU:s beslut : nej .", "EU:s beslut: nej."),
        ("ga", "D' fhág sé .", "D'fhág sé."),
        ("ca", "L' home d' il·lusió .", "L'home d'il·lusió."),
    ],
)
def test_tokens_are_detokenized_by_the_rules_of_their_language(language: str, tokens: str, text: str) -> None:
    assert build_moses_detokenizer(language)(tokens.split()) == text


@pytest.mark.parametrize("language", ["en", "de", "fr", "tr", "xx"])
def test_languages_without_special_rules_equal_sacremoses(language: str) -> None:
    text = "He said: 'It's 3,5 % of l'homme', U.S. a.m. \"No\" (EU:n) 1990's · x-ray…"
    tokens = MosesTokenizer(lang=language).tokenize(text, escape=False)
    assert build_moses_tokenizer(language)(text) == tokens
    assert build_moses_detokenizer(language)(tokens) == MosesDetokenizer(lang=language).detokenize(
        tokens, unescape=False
    )


def test_an_empty_list_of_tokens_is_an_empty_text() -> None:
    assert [build_moses_detokenizer(language)([]) for language in ("cs", "fi", "de")] == ["", "", ""]
