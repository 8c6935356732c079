"""Training as a whole: it learns, it resumes bit by bit, it names what is wrong with its input."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from pipeline_py.nmt.saved import load
from pipeline_py.nmt.train import train
from pipeline_py.ragged import write_rows
from pipeline_py.stage import InputError

WORDS = 12
OUTPUTS = {"model": "model.safetensors", "config": "config.json", "curve": "curve.tsv", "facts": "facts.json"}


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


def make_corpus(folder: Path, pairs: dict[str, int], seed: int = 0) -> dict[str, object]:
    """Sentences to be copied word by word, with the distances of a chain of words; returns stage arguments."""
    random = np.random.default_rng(seed)
    arguments: dict[str, object] = {}
    for split, count in pairs.items():
        sentences = [np.append(random.integers(2, WORDS, random.integers(1, 8)), 0) for _ in range(count)]
        positions = [np.arange(len(sentence)) for sentence in sentences]
        distances = [np.abs(p[:, None] - p[None, :]).flatten() for p in positions]
        write_rows(folder / f"{split}.source.arrow", sentences, "int32")
        write_rows(folder / f"{split}.target.arrow", sentences, "int32")
        write_rows(folder / f"{split}.distances.arrow", (d.astype(np.uint8) for d in distances), "uint8")
        arguments |= {f"{split}_{side}": folder / f"{split}.{side}.arrow" for side in ("source", "target")}
    for side in ("source", "target"):
        words = ["</s>", "<unk>", *(f"w{number}" for number in range(2, WORDS))]
        (folder / f"vocabulary.{side}").write_text("".join(f"{word} 1\n" for word in words))
        arguments[f"{side}_vocabulary"] = folder / f"vocabulary.{side}"
    return arguments


def options(folder: Path, system: dict, training: dict, name: str = "out", **more: object) -> dict[str, object]:
    folder = folder / name
    small = {"model": {"embedding": 16, "hidden": 24, "dropout": 0.1}}
    return {
        "system": json.dumps(small | system),
        "training": json.dumps({"optimizer": {"name": "adam", "learning_rate": 0.01}, "batch_size": 8} | training),
        "checkpoints": folder / "checkpoints",
        **{f"{output}_output": folder / file for output, file in OUTPUTS.items()},
        **more,
    }


def command(arguments: dict[str, object]) -> list[str]:
    flags = [sys.executable, "-m", "pipeline_py.nmt.train"]
    for key, value in arguments.items():
        for item in value if isinstance(value, list) else [value]:
            flags += [f"--{key.replace('_', '-')}", str(item)]
    return flags


def timeless(curve: Path) -> list[list[str]]:
    return [line.split("\t")[:-2] for line in curve.read_text().splitlines()]


SYNTAX = {"contexts": ["global", "syntax"], "parser": "any"}


def syntax_files(folder: Path) -> dict[str, object]:
    return {f"{split}_syntax": [f"distances={folder}/{split}.distances.arrow"] for split in ("train", "dev")}


def test_outputs_are_whole_and_repeatable(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 60, "dev": 10}) | syntax_files(tmp_path)
    for name in ("first", "second"):
        train(**corpus, **options(tmp_path, SYNTAX, {"epochs": 2, "max_length": 6}, name))
    first, second = tmp_path / "first", tmp_path / "second"
    assert (first / "model.safetensors").read_bytes() == (second / "model.safetensors").read_bytes()
    assert (first / "config.json").read_bytes() == (second / "config.json").read_bytes()
    assert timeless(first / "curve.tsv") == timeless(second / "curve.tsv")
    assert len(timeless(first / "curve.tsv")) == 3
    assert not list((first / "checkpoints").iterdir())

    facts = json.loads((first / "facts.json").read_text())
    model = load(first / "model.safetensors", first / "config.json")
    assert facts["parameters"] == sum(p.numel() for p in model.parameters())
    lengths = np.array([len(sentence) - 1 for sentence in _rows(corpus["train_source"])])
    assert facts["skipped"] == {"too_long": int((lengths > 6).sum()), "non_finite_batches": 0}
    assert facts["target_words"] == 2 * lengths[lengths <= 6].sum()
    assert facts["updates"] == 2 * -(-int((lengths <= 6).sum()) // 8)
    assert 0 <= facts["statistics"][1]["negative_scores"] <= 1


def _rows(path: object) -> list[np.ndarray]:
    from pipeline_py.ragged import Ragged

    rows = Ragged(Path(str(path)))
    return [rows[number] for number in range(len(rows))]


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["adam", "adadelta"])
def test_a_killed_run_ends_as_one_never_killed(tmp_path: Path, optimizer: str) -> None:
    corpus = make_corpus(tmp_path, {"train": 400, "dev": 20}) | syntax_files(tmp_path)
    training = {
        "optimizer": {"name": optimizer},
        "epochs": 3,
        "batch_size": 8,
        "validate_every": 70,
        "checkpoint_minutes": 0.0005,
    }
    train(**corpus, **options(tmp_path, SYNTAX, training, "whole"))

    arguments = corpus | options(tmp_path, SYNTAX, training, "killed")
    checkpoint = tmp_path / "killed" / "checkpoints" / "rolling.safetensors"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    for kill in range(2):
        process = subprocess.Popen(command(arguments), stderr=subprocess.PIPE, env=environment)
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else None
        while not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.005)
        time.sleep(0.1 + 0.07 * kill)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    finished = subprocess.run(command(arguments), stderr=subprocess.PIPE, text=True, env=environment, check=True)
    assert "from update" in finished.stderr
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert (whole / "model.safetensors").read_bytes() == (killed / "model.safetensors").read_bytes()
    assert timeless(whole / "curve.tsv") == timeless(killed / "curve.tsv")
    assert not list((killed / "checkpoints").iterdir())


@pytest.mark.parametrize("change", ["code", "training", "system", "input"])
def test_a_checkpoint_of_another_run_is_set_aside(tmp_path: Path, capfd: pytest.CaptureFixture, change: str) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 5})
    first = options(tmp_path, {}, {"epochs": 1}, code="a")
    stop = {"facts_output": tmp_path / "train.source.arrow" / "facts.json"}  # a file where a folder has to be
    with pytest.raises((FileExistsError, NotADirectoryError)):
        train(**corpus, **(first | stop))
    rolling = tmp_path / "out" / "checkpoints" / "rolling.safetensors"
    assert rolling.exists()

    second = dict(first)
    if change == "code":
        second["code"] = "b"
    elif change == "training":
        second = options(tmp_path, {}, {"epochs": 2}, code="a")
    elif change == "system":
        second = options(tmp_path, {"contexts": ["local"]}, {"epochs": 1}, code="a")
    else:
        make_corpus(tmp_path, {"train": 40}, seed=1)
    capfd.readouterr()
    train(**corpus, **second)
    assert "is not resumed: it belongs to other inputs, settings or code" in capfd.readouterr().err
    assert len(list(rolling.parent.iterdir())) == 1  # what was set aside

    fresh = dict(second) | {"checkpoints": tmp_path / "fresh", "model_output": tmp_path / "fresh.safetensors"}
    train(**corpus, **fresh)
    assert (tmp_path / "fresh.safetensors").read_bytes() == (tmp_path / "out" / "model.safetensors").read_bytes()


def test_an_unreadable_checkpoint_is_set_aside(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    corpus = make_corpus(tmp_path, {"train": 20, "dev": 5})
    arguments = options(tmp_path, {}, {"epochs": 1})
    rolling = tmp_path / "out" / "checkpoints" / "rolling.safetensors"
    rolling.parent.mkdir(parents=True)
    rolling.write_bytes(b"half a file")
    train(**corpus, **arguments)
    assert "it cannot be read" in capfd.readouterr().err


def test_patience_ends_training_and_the_best_weights_are_kept(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    # Such a rate ruins the model at once, so the best look is an early one.
    training = {"optimizer": {"name": "sgd", "learning_rate": 30}, "patience": 2, "clip": 5}
    train(**corpus, **options(tmp_path, {}, training))
    rows = [line.split("\t") for line in (tmp_path / "out" / "curve.tsv").read_text().splitlines()]
    losses = [float(row[rows[0].index("dev_loss")]) for row in rows[1:]]
    best = losses.index(min(losses))
    assert len(losses) == best + 3
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    assert facts["best_dev"] == pytest.approx(min(losses), abs=1e-6)


def test_batches_that_are_not_finite_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline_py.nmt.model import Model

    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    loss = Model.loss

    def broken(self: Model, batch) -> torch.Tensor:
        return loss(self, batch) * (torch.nan if self.training else 1)

    monkeypatch.setattr(Model, "loss", broken)
    train(**corpus, **options(tmp_path, {}, {"epochs": 1}))
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    assert facts["skipped"]["non_finite_batches"] == facts["updates"] == 5
    system = load(tmp_path / "out" / "model.safetensors", tmp_path / "out" / "config.json").system
    torch.manual_seed(1)  # the default of `training.seed`
    fresh = Model(system, {"source": WORDS, "target": WORDS})
    trained = load_file(tmp_path / "out" / "model.safetensors")
    assert all(torch.equal(trained[name], tensor) for name, tensor in fresh.state_dict().items())


@pytest.mark.slow
@pytest.mark.parametrize("contexts", [["global"], ["flexible", "syntax"]])
def test_copying_is_learned(tmp_path: Path, contexts: list[str]) -> None:
    corpus = make_corpus(tmp_path, {"train": 1000, "dev": 60}) | (
        syntax_files(tmp_path) if "syntax" in contexts else {}
    )
    system = {"contexts": contexts, "model": {"embedding": 24, "hidden": 32, "dropout": 0.0}}
    rate = {"name": "adam", "learning_rate": 0.005}
    training = {"epochs": 20, "early_stopping": "bleu", "batch_size": 16, "optimizer": rate}
    train(**corpus, **options(tmp_path, system, training))
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    assert facts["best_dev"] > 80  # BLEU


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"system": '{"contexts": ["lokal"]}'}, "--system: contexts.0: "),
        ({"training": "{"}, "--training: the value: Invalid JSON"),
        ({"system": '{"contexts": ["syntax"]}'}, "the system reads distances; give --train-syntax distances=FILE"),
        (
            {"train_syntax": ["units=x"]},
            "--train-syntax units=x: the system reads no syntax; give KIND=FILE for that alone",
        ),
    ],
)
def test_wrong_options(tmp_path: Path, change: dict, message: str) -> None:
    corpus = make_corpus(tmp_path, {"train": 5, "dev": 5})
    with pytest.raises(InputError) as error:
        train(**corpus | options(tmp_path, {}, {}) | change)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_command_line_says_one_sentence(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 5, "dev": 5, "test": 4})
    arguments = corpus | options(tmp_path, {}, {}) | {"train_target": corpus["test_target"]}
    arguments = {key: value for key, value in arguments.items() if not key.startswith("test_")}
    result = subprocess.run(command(arguments), capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == (
        f"error: {tmp_path}/test.target.arrow: the file has 4 sentences and {tmp_path}/train.source.arrow has 5; "
        "make both from the same text\n"
    )
