"""Translating with phrase-based systems: order, counts, long sentences, models that were moved or are broken."""

import json
import os
import random
import shutil
import subprocess
import sys

import pytest

from pipeline_py.input_error import InputError
from pipeline_py.smt import thot
from pipeline_py.smt.train import train
from pipeline_py.smt.translate import translate

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


def trained(room, translation):
    with pytest.MonkeyPatch.context() as patch:
        # The stage owns its process and limits its threads; here it shares one.
        patch.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
        for name, pairs in {"train": sentences(200, 1), "dev": sentences(10, 2)}.items():
            write(room / f"{name}.source", pairs)
            write(room / f"{name}.target", map(translation, pairs))
        train(
            options='{"type": "phrase_based", "reordering": 0, "tuning": {"evaluations": 2}}',
            **{f"{name}_{side}": room / f"{name}.{side}" for name in ("train", "dev") for side in ("source", "target")},
            model_output=room / "model",
            facts_output=room / "facts.json",
        )
    for path in room.glob("*.*"):
        path.unlink()
    return room / "model"


@pytest.fixture
def room(tmp_path, model):
    """A directory with a copy of the model and sentences to translate."""
    shutil.copytree(model, tmp_path / "model")
    long = [WORDS[number % 15] for number in range(2 * thot.LONGEST + 3)]
    made = [[], *sentences(20, 3), ["new", "word1", "newer"], [], long, ["new"], ["word2"]]
    write(tmp_path / "test.source", made)
    return tmp_path


def arguments(room, **changes):
    return {
        "model": room / "model",
        "source": room / "test.source",
        "output": room / "out.pieces",
        "counts_output": room / "out.json",
        **changes,
    }


def test_every_line_belongs_to_its_sentence_and_nothing_is_dropped(room):
    translate(**arguments(room))
    sources = [line.split() for line in lines(room / "test.source")]
    assert lines(room / "out.pieces") == [" ".join(translated(words)) for words in sources]
    assert json.loads((room / "out.json").read_text()) == {
        "in": 26,
        "kept": 26,
        "dropped": {},
        "noted": {"cut into parts": 1, "empty source": 2, "unknown words copied": 3},
    }


def test_a_moved_model_gives_the_same_bytes(room, model):
    translate(**arguments(room, model=model))
    before = [(room / name).read_bytes() for name in ("out.pieces", "out.json")]
    (room / "far" / "away").mkdir(parents=True)
    (room / "model").rename(room / "far" / "away" / "other name")
    translate(**arguments(room, model=room / "far" / "away" / "other name"))
    assert [(room / name).read_bytes() for name in ("out.pieces", "out.json")] == before


def test_what_was_translated_before_does_not_matter(room, model):
    translate(**arguments(room))
    forwards = lines(room / "out.pieces")
    write(room / "test.source", [line.split() for line in reversed(lines(room / "test.source"))])
    translate(**arguments(room))
    assert lines(room / "out.pieces") == forwards[::-1]


def test_weights_that_are_set_reach_the_decoder(tmp_path):
    """Tuning changes the weights of a translator that has already translated: it must be as one made with them."""
    chance = random.Random(4)
    model = trained(tmp_path, lambda words: [chance.choice(["q", "q", "r"]) + word for word in words])
    usual = [1.0] * 7 + [0.0]
    other = [*usual[:5], -1.0, -1.0, 0.0]  # improbable translations win
    texts = sentences(20, 5)

    def outputs(translator):
        return [translator.translate(words).words for words in texts]

    with_usual = outputs(thot.Translator(model, 0, usual))
    with_other = outputs(thot.Translator(model, 0, other))
    assert with_usual != with_other
    live = thot.Translator(model, 0, usual)
    assert outputs(live) == with_usual
    live.set_weights(other)
    assert outputs(live) == with_other
    live.set_weights(usual)
    assert outputs(live) == with_usual


def test_a_file_without_sentences(room):
    (room / "test.source").write_text("")
    translate(**arguments(room))
    assert (room / "out.pieces").read_bytes() == b""
    assert json.loads((room / "out.json").read_text())["in"] == 0


@pytest.mark.parametrize("length", [0, 1, 199, 200, 201, 399, 400, 401, 1000])
def test_parts_are_as_few_as_can_be_and_of_nearly_equal_length(length):
    words = list(range(length))
    parts = thot.in_parts(words)
    assert [word for part in parts for word in part] == words
    assert len(parts) == -(-length // 200)
    assert all(length // len(parts) <= len(part) <= 200 for part in parts)


def missing(room):
    shutil.rmtree(room / "model")


def without_config(room):
    (room / "model" / "config.json").unlink()


def other_config(room):
    (room / "model" / "config.json").write_text('{"system": {}}')


def no_json(room):
    (room / "model" / "config.json").write_text("[")


def not_a_mapping(room):
    (room / "model" / "config.json").write_text("[]")


def without_a_weight(room):
    path = room / "model" / "config.json"
    config = json.loads(path.read_text())
    del config["weights"]["source_jump"]
    path.write_text(json.dumps(config))


def half_a_table(room):
    path = room / "model" / "translation.ttable"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def without_language_model(room):
    (room / "model" / "language").unlink()


def other_table(room):
    path = room / "model" / "translation.ttable"
    path.write_bytes(path.read_bytes().replace(b"qword1", b"qword2"))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (missing, r"model: not a phrase-based model, which needs a config.json; train the system again"),
        (without_config, r"model: not a phrase-based model"),
        (other_config, r"config.json: not the config.json of a phrase-based model \(KeyError: 'reordering'\); train"),
        (no_json, r"config.json: not the config.json of a phrase-based model \(JSONDecodeError: "),
        (not_a_mapping, r"config.json: not the config.json of a phrase-based model \(TypeError: "),
        (without_a_weight, r"config.json: not the config.json of a phrase-based model \(KeyError: 'source_jump'\)"),
        (half_a_table, r"translation.ttable: the file of the model is missing or not as it was written; train"),
        (without_language_model, r"language: the file of the model is missing"),
        (other_table, r"translation.ttable: the file of the model is missing or not as it was written; train"),
    ],
)
def test_a_model_at_fault(room, spoil, message):
    spoil(room)
    with pytest.raises(InputError, match=message):
        translate(**arguments(room))
    assert not list(room.glob("out.*"))


def test_a_model_that_thot_cannot_read(room, monkeypatch):
    def fail(*_):
        raise RuntimeError("Unable to load translation model.")

    monkeypatch.setattr(thot, "load_smt_model", fail)
    with pytest.raises(InputError, match=r"model: Thot cannot read the model \(Unable to load .*\); train the system"):
        translate(**arguments(room))


def test_command_line(room):
    def run(**changes):
        command = [sys.executable, "-m", "pipeline_py.smt.translate"]
        for name, value in arguments(room, **changes).items():
            command += [f"--{name.replace('_', '-')}", str(value)]
        return subprocess.run(command, capture_output=True, text=True)

    done = run()
    assert done.returncode == 0, done.stderr
    assert len(lines(room / "out.pieces")) == 26
    assert "translate test.source: 26/26" in done.stderr

    failed = run(model=room / "nowhere")
    assert failed.returncode == 1
    assert failed.stderr.startswith("error: ") and failed.stderr.count("\n") == 1
