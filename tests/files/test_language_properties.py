"""Language codes: canonical codes, unknown codes, and properties of languages."""

import pytest

from pipeline_py.config.language_codes import resolve_language_code
from pipeline_py.files.language_properties import UNSPACED_LANGUAGES, has_moses_rules

SPELLINGS = {
    "en": ["en", "eng", "en-gb", "en_US", "eng_Latn", "EN"],
    "fr": ["fr", "fra", "fre", "fr-ca", "fr_CA", "fra-Latn-CA"],
    "de": ["de", "deu", "ger", "de-AT"],
    "ja": ["ja", "jpn", "jpn_Jpan"],
    "zh": ["zh", "zho", "chi", "cmn", "zh-hans", "zh_CN", "zho_Hans"],
    "zh-hant": ["zh-hant", "zh-TW", "zho_Hant", "cmn-HK"],
    "fa": ["fa", "fas", "per", "pes"],
    "ar": ["ar", "ara", "arb"],
    "cs": ["cs", "ces", "cze"],
    "he": ["he", "heb", "iw"],
    "nb": ["nb", "nob"],
    "et": ["et", "est", "ekk"],
    "tl": ["tl", "tgl", "fil"],
    "kmr": ["kmr"],
    "hsb": ["hsb"],
}


@pytest.mark.parametrize(("code", "language"), [(code, name) for name, codes in SPELLINGS.items() for code in codes])
def test_spellings_of_a_language_resolve_to_one_code(code: str, language: str) -> None:
    assert resolve_language_code(code) == language
    assert resolve_language_code(language) == language


@pytest.mark.parametrize("code", ["xx", "xyz", "zz-ZZ", "und", "mul", "zxx", "english"])
def test_an_unknown_language_code_is_rejected(code: str) -> None:
    with pytest.raises(ValueError, match="language"):
        resolve_language_code(code)


def test_moses_knows_some_languages() -> None:
    assert all(map(has_moses_rules, ("en", "de", "fr", "cs", "fi")))
    assert not any(map(has_moses_rules, ("tr", "fa", "ar", "ko", "th")))


def test_codes_of_unspaced_languages_are_resolved_ones() -> None:
    assert {resolve_language_code(code) for code in UNSPACED_LANGUAGES} == UNSPACED_LANGUAGES


@pytest.mark.parametrize(
    "code", ["zho", "gan", "hsn", "yue", "jpn", "tha", "tts", "mya", "shn", "mnw", "khm", "lao", "bod"]
)
def test_languages_in_unspaced_scripts_are_unspaced(code: str) -> None:
    assert resolve_language_code(code) in UNSPACED_LANGUAGES


@pytest.mark.parametrize("code", ["kor", "vie", "tam", "ksw", "nan-Latn", "mon"])
def test_other_languages_are_spaced(code: str) -> None:
    assert resolve_language_code(code) not in UNSPACED_LANGUAGES
