"""The ceiling of BLEU: 100 where text survives tokenizing and detokenizing, and a warning with the cause elsewhere."""

from pathlib import Path

import pytest

from pipeline_py.corpus.tokenize import tokenize
from pipeline_py.evaluation.compute_bleu_ceiling import BleuCeiling, compute_bleu_ceiling
from pipeline_py.report.stage_results import read_ceilings

FRENCH = ["L'homme que voit Marie n'est pas là.", "L'homme dort ; c'est bien !", "Elle dit : « J'y vais. »"] * 4
CHINESE = ["我们在New York买了3本书。", "他说：“你好！”", "今天天气很好，我们去公园。"] * 4
JAPANESE = ["私 は 本 を 読む 。", "彼 は 学生 で は ない 。"] * 4
TURKISH = ["Ankara'nın nüfusu 2019'da arttı.", "İstanbul'da Ali'yi gördüm."] * 4
CAUSES = {"corpora.target.language": "x", "corpora.target.tokenizer": "y"}
SETTINGS = [f"{key}: {value}" for key, value in CAUSES.items()]


def measured(folder: Path, text: list[str], language: str, words: str = "moses", **options) -> BleuCeiling:
    reference, tokens, output = folder / "reference", folder / "tokens", folder / "ceiling.tsv"
    reference.write_text("\n".join(text) + "\n", encoding="utf-8")
    tokenize(input=reference, output=tokens, language=language, tokenizer=words, lowercase=options.pop("low", False))
    compute_bleu_ceiling(
        tokens={"test": tokens},
        references={"test": [reference]},
        output=output,
        causes=CAUSES,
        language=language,
        **options,
    )
    (ceiling,) = read_ceilings(output)
    assert (ceiling.set, ceiling.sentences) == ("test", len(text))
    return ceiling


@pytest.mark.parametrize(
    ("text", "language", "words", "options"),
    [
        (FRENCH, "fr", "moses", {}),
        (CHINESE, "zh", "jieba", {"detokenizer": "chinese", "tokenizer": "zh"}),
        (CHINESE, "zh", "jieba", {"detokenizer": "chinese", "tokenizer": "char"}),
        (JAPANESE, "ja", "none", {"detokenizer": "none", "tokenizer": "none"}),
        (JAPANESE, "ja", "none", {"detokenizer": "none", "tokenizer": "char"}),
        (FRENCH, "fr", "moses", {"low": True}),
    ],
)
def test_fitting_settings_change_nothing(tmp_path, capsys, text, language, words, options):
    ceiling = measured(tmp_path, text, language, words, **options)
    assert ceiling.bleu == pytest.approx(100) and not ceiling.is_low and (ceiling.causes, ceiling.example) == ("", "")
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "language", "words", "options", "causes", "example"),
    [
        (
            FRENCH,
            "fr",
            "moses",
            {"detokenizer": "none"},
            "`evaluation.detokenizer: none` (`moses` gives 100.0)",
            "`l'homme` becomes `l' homme`",
        ),
        (
            JAPANESE,
            "ja",
            "none",
            {"detokenizer": "chinese", "tokenizer": "none"},
            "`evaluation.detokenizer: chinese` (`none` gives 100.0)",
            "`私 は 本 を 読む 。` becomes `私は本を読む。`",
        ),
        (
            FRENCH,
            "fr",
            "moses",
            {"low": True, "lowercase": False},
            "`corpora.target.case` and `evaluation.lowercase: false` (`true` gives 100.0)",
            "`L'homme` becomes `l'homme`",
        ),
        # Codes and languages without rules of Moses, as English.
        (FRENCH, "fra", "moses", {}, ", ".join(f"`{setting}`" for setting in SETTINGS), "`l'homme` becomes `l 'homme`"),
        (
            TURKISH,
            "tr",
            "moses",
            {},
            ", ".join(f"`{setting}`" for setting in SETTINGS),
            "`ankara'nın` becomes `ankara 'nın`",
        ),
    ],
)
def test_a_wrong_setting_is_warned_of(tmp_path, capsys, text, language, words, options, causes, example):
    ceiling = measured(tmp_path, text, language, words, **options)
    assert ceiling.bleu < 95 and ceiling.is_low and (ceiling.causes, ceiling.example) == (causes, example)
    assert f"warning: {ceiling.warning_message}" in capsys.readouterr().err
    assert ceiling.warning_message.startswith(
        f"test: the ceiling of BLEU is {ceiling.bleu:.1f}; even a perfect translation"
    )
    assert ceiling.warning_message.endswith(f"e.g. {example}. Check {causes}.")


def test_chinese_with_words_between_spaces_scores_nothing(tmp_path):
    assert measured(tmp_path, CHINESE, "zh", "jieba", detokenizer="moses", tokenizer="13a").bleu < 5


def test_truecased_tokens_get_their_capital_again(tmp_path):
    reference, tokens, output = (tmp_path / name for name in ("reference", "tokens", "ceiling.tsv"))
    reference.write_text("The cat saw Anna.\n")
    tokens.write_text("the cat saw Anna .\n")
    options = {"tokens": {"a": tokens}, "references": {"a": [reference]}, "output": output, "lowercase": False}
    compute_bleu_ceiling(**options, truecased=True)
    assert read_ceilings(output)[0].bleu == pytest.approx(100)
    compute_bleu_ceiling(**options)
    assert read_ceilings(output)[0].bleu < 90


def test_each_set_uses_its_references(tmp_path):
    for name, text in (
        ("a", "eins zwei drei vier ."),
        ("b", "fünf sechs sieben acht ."),
        ("c", "neun zehn elf zwölf ."),
    ):
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    options = {"tokens": {"one": tmp_path / "a", "two": tmp_path / "b"}, "output": tmp_path / "ceiling.tsv"}
    references = {"one": [tmp_path / "a"], "two": [tmp_path / "c", tmp_path / "b"]}
    compute_bleu_ceiling(**options, references=references)
    assert [(ceiling.set, ceiling.bleu) for ceiling in read_ceilings(tmp_path / "ceiling.tsv")] == [
        ("one", pytest.approx(100)),
        ("two", pytest.approx(100)),
    ]
