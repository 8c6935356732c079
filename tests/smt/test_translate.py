"""Translating with phrase-based systems: order, counts, long sentences, models that were moved or are broken."""

import json
import os
import random
import shutil
import subprocess
import sys

import pytest

from pipeline_py.config.systems.phrase_based import PhraseBasedSystemConfig
from pipeline_py.run.errors import InputError
from pipeline_py.smt import thot
from pipeline_py.smt.train import train
from pipeline_py.smt.translate import load, translate

WORDS = [f"word{number}" for number in range(15)]


def sentences(number, seed):
    chance = random.Random(seed)
    return [[chance.choice(WORDS) for _ in range(chance.randint(1, 8))] for _ in range(number)]


def translated(words):
    return [f"q{word}" if word in WORDS else word for word in words]


def write(path, lines):
    path.write_text("".join(" ".join(words) + "\n" for words in lines), encoding="utf-8", newline="\n")


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of a language that has other words in the same order."""
    return trained(tmp_path_factory.mktemp("model"), translated)


def trained(folder, translation):
    with pytest.MonkeyPatch.context() as patch:
        # The stage owns its process and limits its threads; here it shares one.
        patch.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
        for name, pairs in {"train": sentences(200, 1), "dev": sentences(10, 2)}.items():
            write(folder / f"{name}.source", pairs)
            write(folder / f"{name}.target", map(translation, pairs))
        train(
            system=PhraseBasedSystemConfig.model_validate(
                {"type": "phrase_based", "reordering": 0, "tuning": {"evaluations": 2}}
            ),
            **{
                f"{name}_{side}": folder / f"{name}.{side}"
                for name in ("train", "dev")
                for side in ("source", "target")
            },
            model_output=folder / "model",
            facts_output=folder / "facts.json",
        )
    for path in folder.glob("*.*"):
        path.unlink()
    return folder / "model"


@pytest.fixture
def folder(tmp_path, model):
    """A directory with a copy of the model and sentences to translate."""
    shutil.copytree(model, tmp_path / "model")
    long = [WORDS[number % 15] for number in range(2 * thot.MAX_SENTENCE_WORDS + 3)]
    new_model = [[], *sentences(20, 3), ["new", "word1", "newer"], [], long, ["new"], ["word2"]]
    write(tmp_path / "test.source", new_model)
    return tmp_path


def arguments(folder, **changes):
    return {
        "model": folder / "model",
        "source": folder / "test.source",
        "pieces_output": folder / "out.pieces",
        "counts_output": folder / "out.json",
        **changes,
    }


def translate_with(model, **files):
    translate(translator=load(model=model), model=model, **files)


def test_every_line_belongs_to_its_sentence_and_nothing_is_dropped(folder):
    translate_with(**arguments(folder))
    sources = [line.split() for line in lines(folder / "test.source")]
    assert lines(folder / "out.pieces") == [" ".join(translated(words)) for words in sources]
    assert json.loads((folder / "out.json").read_text()) == {
        "in": 26,
        "kept": 26,
        "dropped": {},
        "noted": {"cut into parts": 1, "empty source": 2, "unknown words copied": 3},
    }


def test_a_moved_model_gives_the_same_bytes(folder, model):
    translate_with(**arguments(folder, model=model))
    before = [(folder / name).read_bytes() for name in ("out.pieces", "out.json")]
    (folder / "far" / "away").mkdir(parents=True)
    (folder / "model").rename(folder / "far" / "away" / "other name")
    translate_with(**arguments(folder, model=folder / "far" / "away" / "other name"))
    assert [(folder / name).read_bytes() for name in ("out.pieces", "out.json")] == before


def test_translation_does_not_depend_on_earlier_sentences(folder, model):
    translate_with(**arguments(folder))
    forwards = lines(folder / "out.pieces")
    write(folder / "test.source", [line.split() for line in reversed(lines(folder / "test.source"))])
    translate_with(**arguments(folder))
    assert lines(folder / "out.pieces") == forwards[::-1]


def test_set_weights_changes_translations(tmp_path):
    """Tuning changes the weights of a translator that has already translated: it must be as one made with them."""
    chance = random.Random(4)
    model = trained(tmp_path, lambda words: [chance.choice(["q", "q", "r"]) + word for word in words])
    usual = [1.0] * 7 + [0.0]
    other_model = [*usual[:5], -1.0, -1.0, 0.0]  # improbable translations win
    texts = sentences(20, 5)

    def outputs(translator):
        return [translator.translate(words).words for words in texts]

    with_usual = outputs(thot.ThotTranslator(model, 0, usual))
    with_other = outputs(thot.ThotTranslator(model, 0, other_model))
    assert with_usual != with_other
    live = thot.ThotTranslator(model, 0, usual)
    assert outputs(live) == with_usual
    live.set_weights(other_model)
    assert outputs(live) == with_other
    live.set_weights(usual)
    assert outputs(live) == with_usual


def test_a_file_without_sentences(folder):
    (folder / "test.source").write_text("")
    translate_with(**arguments(folder))
    assert (folder / "out.pieces").read_bytes() == b""
    assert json.loads((folder / "out.json").read_text())["in"] == 0


@pytest.mark.parametrize("length", [0, 1, 199, 200, 201, 399, 400, 401, 1000])
def test_parts_are_as_few_as_can_be_and_of_nearly_equal_length(length):
    words = list(range(length))
    parts = thot.split_long_sentence(words)
    assert [word for part in parts for word in part] == words
    assert len(parts) == -(-length // 200)
    assert all(length // len(parts) <= len(part) <= 200 for part in parts)


def half_a_table(folder):
    path = folder / "model" / "translation.ttable"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def without_language_model(folder):
    (folder / "model" / "language").unlink()


def other_table(folder):
    path = folder / "model" / "translation.ttable"
    path.write_bytes(path.read_bytes().replace(b"qword1", b"qword2"))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (half_a_table, r"translation.ttable: a file of the model is missing or was changed; train"),
        (without_language_model, r"language: a file of the model is missing"),
        (other_table, r"translation.ttable: a file of the model is missing or was changed; train"),
    ],
)
def test_a_model_at_fault(folder, spoil, message):
    spoil(folder)
    with pytest.raises(InputError, match=message):
        translate_with(**arguments(folder))
    assert not list(folder.glob("out.*"))


def test_a_model_that_thot_cannot_read(folder, monkeypatch):
    def fail(*_):
        raise RuntimeError("Unable to load translation model.")

    monkeypatch.setattr(thot, "load_smt_model", fail)
    with pytest.raises(InputError, match=r"model: Thot cannot read the model \(Unable to load .*\); train the system"):
        translate_with(**arguments(folder))


def test_a_job(folder):
    def run(**changes):
        stage_arguments = {name: str(path) for name, path in arguments(folder, **changes).items()}
        job = {
            "stage": "smt.translate",
            "arguments": stage_arguments,
            "calls": [{}],
            "results": str(folder),
            "process": "",
        }
        command = [sys.executable, "-m", "pipeline_py.run", json.dumps(job)]
        return subprocess.run(command, capture_output=True, text=True)

    process = run()
    assert process.returncode == 0, process.stderr
    assert len(lines(folder / "out.pieces")) == 26
    assert "translate test.source: 26/26" in process.stderr

    failed = run(model=folder / "nowhere")
    assert failed.returncode == 1
    assert failed.stderr.startswith("error: ") and failed.stderr.count("\n") == 1
