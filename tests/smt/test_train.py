"""Training phrase-based systems: what they learn, that dev is only tuned on, limits, odd words, bad input."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu import corpus_bleu

from pipeline_py.config.systems.phrase_based import PhraseBasedSystemConfig, TuningConfig
from pipeline_py.run.errors import InputError
from pipeline_py.smt import thot
from pipeline_py.smt.progress_log import ProgressLog
from pipeline_py.smt.train import train
from pipeline_py.smt.weight_tuning import WeightTuner

ADJECTIVES = [f"adjective{number}" for number in range(6)]
NOUNS = [f"noun{number}" for number in range(12)]
OPTIONS = {"type": "phrase_based", "tuning": {"evaluations": 9}}


@pytest.fixture(autouse=True)
def same_environment_afterwards(monkeypatch):
    """The stage owns its process and limits its threads; here it shares one."""
    monkeypatch.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))


def apart(adjective, noun):
    """Return whether an adjective and a noun occur together only in dev and test."""
    return (ADJECTIVES.index(adjective) + NOUNS.index(noun)) % 4 == 0


def has_unmet(words):
    return any(apart(*pair) for pair in pairwise(words) if pair[0] in ADJECTIVES)


def language(pairs, seed, *, only_met_pairs):
    """Sentence pairs of a language without ambiguity whose adjectives stand after the noun."""
    chance = random.Random(seed)

    def noun_phrase():
        determiner, adjective, noun = (
            chance.choice(["the", "my", "this"]),
            chance.choice(ADJECTIVES),
            chance.choice(NOUNS),
        )
        while only_met_pairs and apart(adjective, noun):
            noun = chance.choice(NOUNS)
        if chance.random() < 0.3:
            return [determiner, noun], [determiner, noun]
        return [determiner, adjective, noun], [determiner, noun, adjective]

    sentence_pairs = []
    for _ in range(pairs):
        (subject, its), (thing, its_own) = noun_phrase(), noun_phrase()
        verb = f"verb{chance.randrange(6)}"
        words, target_words = [*subject, verb, *thing], [*its, verb, *its_own]
        sentence_pairs.append((words, [f"q{word}" for word in target_words]))
    return sentence_pairs


def write(directory, name, pairs):
    for side, sentences in zip(("source", "target"), zip(*pairs, strict=True), strict=True):
        text = "".join(" ".join(words) + "\n" for words in sentences)
        (directory / f"{name}.{side}").write_text(text, encoding="utf-8", newline="\n")


def arguments(folder, **changes):
    files = {f"{name}_{side}": folder / f"{name}.{side}" for name in ("train", "dev") for side in ("source", "target")}
    outputs = {"model_output": folder / "model", "facts_output": folder / "facts.json"}
    return {"system": options(), **files, **outputs, **changes}


def options(**changes):
    return PhraseBasedSystemConfig.model_validate({**OPTIONS, **changes})


def contents(directory):
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def exactly_right(model, pairs):
    return sum(model.translate(words).words == target_words for words, target_words in pairs) / len(pairs)


@pytest.fixture(scope="module")
def corpus():
    return {
        "train": language(200, 1, only_met_pairs=True),
        "dev": language(15, 2, only_met_pairs=False),
        "test": language(60, 3, only_met_pairs=True),
        "unmet": [pair for pair in language(60, 3, only_met_pairs=False) if has_unmet(pair[0])],
    }


@pytest.fixture(scope="module")
def trained(tmp_path_factory, corpus):
    """A folder with a corpus and a trained model."""
    folder = tmp_path_factory.mktemp("trained")
    for name in ("train", "dev"):
        write(folder, name, corpus[name])
    train(**arguments(folder))
    return folder


@pytest.fixture
def folder(tmp_path, trained):
    """A folder with the corpus alone."""
    for path in trained.glob("*.*"):
        if path.suffix in (".source", ".target"):
            shutil.copy(path, tmp_path)
    return tmp_path


def test_words_and_their_order_are_learnt_and_hold_for_unseen_sentences(trained, corpus):
    training_sentences = {tuple(words) for words, _ in corpus["train"]}
    unseen = [(words, target_words) for words, target_words in corpus["test"] if tuple(words) not in training_sentences]
    assert len(unseen) > 50
    assert exactly_right(thot.load_translator(trained / "model"), unseen) > 0.95


def test_the_decoder_reorders_words_that_never_met(trained, corpus):
    weights = list(json.loads((trained / "model" / "config.json").read_text())["weights"].values())
    free, monotone = (thot.ThotTranslator(trained / "model", reordering, weights) for reordering in (6, 0))
    assert len(corpus["unmet"]) > 15
    # Without a phrase for the two, only the language model can tell that the determiner is followed by the noun.
    assert exactly_right(monotone, corpus["unmet"]) == 0
    assert exactly_right(free, corpus["unmet"]) > 0.4


def test_equal_inputs_give_equal_bytes(trained, folder):
    train(**arguments(folder))
    assert contents(folder / "model") == contents(trained / "model")
    facts, expected_facts = (json.loads((place / "facts.json").read_text()) for place in (folder, trained))
    of_time = dict.fromkeys(("seconds", "cpu_seconds", "core_share", "machine_load"))
    assert {**facts, **of_time} == {**expected_facts, **of_time}


def test_facts(trained, corpus):
    facts = json.loads((trained / "facts.json").read_text())
    model = thot.load_translator(trained / "model")
    translations = [" ".join(model.translate(words).words) for words, _ in corpus["dev"]]
    references = [" ".join(target_words) for _, target_words in corpus["dev"]]
    bleu = corpus_bleu(translations, [references], tokenize="none", lowercase=True, force=True).score
    assert facts.pop("best_dev") == pytest.approx(bleu)
    # What the process did before, other tests, does not count. The seconds are whole, and threads are few.
    seconds = facts.pop("seconds")
    assert 0 < seconds < 600 and 0 < facts.pop("cpu_seconds") <= 2 * (seconds + 1)
    assert 0 < facts.pop("core_share") <= 1 and facts.pop("machine_load") >= 0
    (statistics,) = facts.pop("statistics")
    table = (trained / "model" / "translation.ttable").read_text(encoding="utf-8").splitlines()
    assert statistics == {"phrase_pairs": len(table), "tuning_evaluations": 9}
    assert set(facts.pop("versions")) == {"sil-machine", "sil-thot"}
    empty = ("parameters", "updates", "epochs", "best_update", "target_words", "target_words_per_second", "seed")
    assert facts == {
        **dict.fromkeys((*empty, "precision")),
        "early_stopping": "bleu",
        "device": "cpu",
        "threads": 1,
        "skipped": {"empty": 0, "too_long": 0},
    }


def test_model_has_only_files_needed_for_translation(trained, corpus):
    files = contents(trained / "model")
    assert not any(name.endswith((".bestal", ".final", ".wp")) for name in files)
    sentence = " ".join(corpus["train"][0][0]).encode()
    assert not any(sentence in content for name, content in files.items() if name != "translation.ttable")
    assert not any(str(trained).encode() in content for content in files.values())


def test_dev_is_used_for_tuning_but_not_for_training(folder, corpus):
    strange = [(["strange", *words], ["qstrange", *target_words]) for words, target_words in corpus["dev"]]
    write(folder, "dev", strange)
    limited = options(tuning={"evaluations": 4, "sentences": 10})
    train(**arguments(folder, system=limited))
    first = contents(folder / "model")
    assert not any(b"strange" in content for content in first.values())
    model = thot.load_translator(folder / "model")
    translation = model.translate(["strange", "noun1"])
    assert (translation.words, translation.unknown_count) == (["strange", "qnoun1"], 1)

    write(folder, "dev", [*strange[:10], (["other"], ["qother"])])
    train(**arguments(folder, system=limited))
    assert contents(folder / "model") == first

    write(folder, "dev", [(words, target_words[::-1]) for words, target_words in strange])
    train(**arguments(folder, system=limited))
    assert contents(folder / "model")["config.json"] != first["config.json"]


@pytest.mark.parametrize("tuning", [{"evaluations": 1}, {"evaluations": 50, "minutes": 1e-6}])
def test_first_weights_are_always_evaluated(folder, tuning, capfd):
    train(**arguments(folder, system=options(tuning=tuning)))
    (statistics,) = json.loads((folder / "facts.json").read_text())["statistics"]
    config = json.loads((folder / "model" / "config.json").read_text())
    assert list(config["weights"].values()) == [1.0, 1.0, 1.0, 0.1, 1.0, 1.0, 1.0, 0.0]
    assert statistics["tuning_evaluations"] <= 2
    assert "used up" in capfd.readouterr().err


class FakeTranslator:
    """Translates well where the language model weighs much, and takes a second for each sentence."""

    def __init__(self):
        self.seconds = 0.0
        self.tried = []

    def set_weights(self, weights):
        self.tried.append(weights)

    def translate(self, words):
        self.seconds += 1
        right = min(len(words), max(0, round(2 * self.tried[-1][1])))
        return thot.ThotTranslation(
            words=words[:right] + ["wrong"] * (len(words) - right), unknown_count=0, part_count=1
        )


def tuned(monkeypatch, **limits):
    translator = FakeTranslator()
    monkeypatch.setattr(time, "monotonic", lambda: translator.seconds)
    sentences = [[f"{letter}{number}" for number in range(8)] for letter in "abcdefghij"]
    tuner = WeightTuner(translator, sentences, sentences, TuningConfig(**limits), ProgressLog("test"))
    tuner.tune_weights()
    return tuner, translator


def bleu_of(tuner, weights):
    tuner.deadline = None
    return tuner._compute_bleu(weights)


@pytest.mark.parametrize("evaluations", [1, 3, 8, 9, 25])
def test_tuning_ends_at_the_number_of_evaluations_with_the_best_weights(monkeypatch, capsys, evaluations):
    tuner, translator = tuned(monkeypatch, evaluations=evaluations)
    assert tuner.evaluation_count == evaluations
    assert len(translator.tried) <= evaluations
    tried = list(translator.tried)
    assert tuner.best_bleu == max(bleu_of(tuner, weights) for weights in tried) == bleu_of(tuner, tuner.best_weights)
    assert capsys.readouterr().err.count("\n") <= 1 + translator.seconds / 30


@pytest.mark.parametrize("seconds", [1, 35, 55, 155])
def test_tuning_ends_at_the_time_with_the_best_weights_so_far(monkeypatch, seconds):
    # 10 seconds for an evaluation: the eight first corners take 80.
    tuner, translator = tuned(monkeypatch, evaluations=1000, minutes=seconds / 60)
    assert max(10, seconds) <= translator.seconds <= max(10, seconds) + 2
    assert tuner.evaluation_count == max(1, -(-seconds // 10))
    finished = translator.tried[: max(1, seconds // 10)]
    assert tuner.best_bleu == max(bleu_of(tuner, weights) for weights in finished) == bleu_of(tuner, tuner.best_weights)


def test_weights_with_a_wrong_sign_are_not_evaluated(monkeypatch):
    _, translator = tuned(monkeypatch, evaluations=60)
    assert all(weight >= 0 for weights in translator.tried for n, weight in enumerate(weights) if n not in (0, 2))


ODD = ["|||", "<unk>", "<s>", "</s>", "a\u00a0b", "100%", "#", "NULL", "UNKNOWN_WORD", "({", "<3bars>", "%7c;"]


def test_odd_words_are_words_like_any_other(tmp_path, capfd):
    odd = dict(zip(NOUNS, ODD, strict=True))

    def with_odd_words(pairs, translated):
        return [
            ([odd.get(word, word) for word in words], [translated.get(word, word) for word in target_words])
            for words, target_words in pairs
        ]

    translated = {f"q{noun}": word for noun, word in zip(NOUNS, [*ODD[1:], ODD[0]], strict=True)}
    write(tmp_path, "train", with_odd_words(language(200, 1, only_met_pairs=True), translated))
    write(tmp_path, "dev", with_odd_words(language(15, 2, only_met_pairs=False), translated))
    train(**arguments(tmp_path))
    model = thot.load_translator(tmp_path / "model")
    assert exactly_right(model, with_odd_words(language(60, 3, only_met_pairs=True), translated)) > 0.9
    unknown = ["%", "x|||y", "<src_segm>", "tab\there", "\u2028", "<number>", "\x1f"]
    translation = model.translate(unknown)
    assert (translation.words, translation.unknown_count) == (unknown, len(unknown))
    assert "rror" not in capfd.readouterr().err


@given(st.text(st.characters(exclude_characters=" \n", exclude_categories=["Cs"]), min_size=1))
def test_an_escaped_word_has_no_meaning_and_can_be_read_back(word):
    escaped = thot.escape_word(word)
    assert thot.unescape_word(escaped) == word
    assert escaped.split() == [escaped]
    assert not set(escaped) & set("|<>{}#\x00") and escaped not in ("NULL", "UNKNOWN_WORD")


def test_pairs_that_are_too_long_or_empty_are_left_out_and_counted(folder, corpus, trained):
    longest = ["noun1"] * thot.MAX_SENTENCE_WORDS
    unfit = [([], ["qnoun1"]), (["noun1"], []), ([], []), ([*longest, "noun1"], ["qnoun1"]), (["noun1"], ["x"] * 201)]
    write(folder, "train", [*unfit[:3], *corpus["train"], *unfit[3:]])
    train(**arguments(folder))
    assert json.loads((folder / "facts.json").read_text())["skipped"] == {"empty": 3, "too_long": 2}
    assert contents(folder / "model") == contents(trained / "model")


def empty_train(folder):
    write(folder, "train", [([], [])])


def no_train(folder):
    for side in ("source", "target"):
        (folder / f"train.{side}").write_text("")


def longer_train(folder):
    with (folder / "train.source").open("a") as file:
        file.write("one more\n")


def empty_dev(folder):
    write(folder, "dev", [(["noun1"], []), ([], ["qnoun1"])])


def empty_beginning_of_dev(folder):
    write(folder, "dev", [([], [])] * 100 + [(["noun1"], ["qnoun1"])])


def no_dev(folder):
    for side in ("source", "target"):
        (folder / f"dev.{side}").write_text("")


def longer_dev(folder):
    with (folder / "dev.target").open("a") as file:
        file.write("one more\n")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (empty_train, r"train.source: no sentence pair with 1 to 200 words on each side; give more text"),
        (no_train, r"train.source: no sentence pair with 1 to 200 words"),
        (longer_train, r"train.target: the file has 200 lines and .*train.source has more"),
        (empty_dev, r"dev.source: no sentence pair with words on both sides; give a development set"),
        (empty_beginning_of_dev, r"dev.source: .* among the first 100, which are tuned on; give"),
        (no_dev, r"dev.source: no sentence pair with words on both sides; "),
        (longer_dev, r"dev.source: the file has 15 lines and .*dev.target has more"),
    ],
)
def test_files_at_fault(folder, spoil, message):
    spoil(folder)
    with pytest.raises(InputError, match=message):
        train(**arguments(folder, system=options(tuning={"sentences": 100})))
    assert not (folder / "model").exists() and not list(folder.glob(".*"))


def test_other_orders_and_a_corpus_of_one_pair(tmp_path):
    write(tmp_path, "train", [(["noun1"], ["qnoun1"])])
    write(tmp_path, "dev", [(["noun1"], ["qnoun1"]), ([], [])])
    for order in (1, 5):
        tiny = options(language_model_order=order, iterations=1, reordering=0, tuning={"evaluations": 2})
        train(**arguments(tmp_path, system=tiny))
        model = thot.load_translator(tmp_path / "model")
        assert model.translate(["noun1", "noun1"]).words == ["qnoun1", "qnoun1"]


def test_a_job(folder):
    def run(system):
        files = {name: str(path) for name, path in arguments(folder).items() if name != "system"}
        stage_arguments = {"name": "PB", "system": system, **files}
        job = {"stage": "smt.train", "arguments": stage_arguments, "calls": [{}], "results": str(folder), "process": ""}
        command = [sys.executable, "-m", "pipeline_py.run", json.dumps(job)]
        return subprocess.run(command, capture_output=True, text=True)

    process = run({**OPTIONS, "tuning": {"evaluations": 2}})
    assert process.returncode == 0, process.stderr
    assert Path(folder / "model" / "config.json").is_file()
    lines = process.stderr.splitlines()
    assert all(line.startswith("train PB: ") for line in lines)
    assert any("best BLEU" in line and "evaluation 2 of 2" in line for line in lines)
    assert 8 < len(lines) < 15

    failed = run({"type": "neural"})
    assert failed.returncode == 1
    assert failed.stderr.startswith("error: smt.train: system.type: ") and failed.stderr.count("\n") == 1
