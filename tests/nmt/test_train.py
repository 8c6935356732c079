"""Training as a whole: it learns, it resumes bit by bit, it names what is wrong with its input."""

import itertools
import json
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.model import TranslationModel as Network
from pipeline_py.nmt.saved_model import load_model, save_weights
from pipeline_py.nmt.train import train
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_runner import run_job
from pipeline_py.run.output_cache import OutputCache
from pipeline_py.run.processor_name import get_cpu_name
from tests.nmt.stage_jobs import assert_restored, build_job, change_content, get_job_command

WORDS = 12
OUTPUTS = {"model": "model.safetensors", "config": "config.json", "curve": "curve.tsv", "facts": "facts.json"}


pytestmark = pytest.mark.usefixtures("one_thread")


def make_corpus(folder: Path, pairs: dict[str, int], seed: int = 0) -> dict[str, object]:
    """Sentences to be copied word by word, with the distances of a chain of words; returns stage arguments."""
    random = np.random.default_rng(seed)
    arguments: dict[str, object] = {}
    for split, count in pairs.items():
        sentences = [np.append(random.integers(2, WORDS, random.integers(1, 8)), 0) for _ in range(count)]
        positions = [np.arange(len(sentence)) for sentence in sentences]
        distances = [np.abs(p[:, None] - p[None, :]).flatten() for p in positions]
        write_ragged_rows(folder / f"{split}.source.arrow", sentences, "int32")
        write_ragged_rows(folder / f"{split}.target.arrow", sentences, "int32")
        write_ragged_rows(folder / f"{split}.distances.arrow", (d.astype(np.uint8) for d in distances), "uint8")
        arguments |= {f"{split}_{side}": folder / f"{split}.{side}.arrow" for side in ("source", "target")}
    for side in ("source", "target"):
        words = ["</s>", "<unk>", *(f"w{number}" for number in range(2, WORDS))]
        (folder / f"vocabulary.{side}").write_text("".join(f"{word} 1\n" for word in words))
        arguments[f"{side}_vocabulary"] = folder / f"vocabulary.{side}"
    return arguments | {name: {} for name in ("train_syntax", "dev_syntax", "syntax_vocabularies")}


def options(folder: Path, system: dict, training: dict, name: str = "out", **more: object) -> dict[str, object]:
    folder = folder / name
    small = {"model": {"embedding": 16, "hidden": 24, "dropout": 0.1}}
    return {
        "system": CompositionConfig.model_validate(small | system),
        "training": TrainingConfig.model_validate({"optimizer": ADAM, "batch_size": 8} | training),
        "checkpoints": folder / "checkpoints",
        **{f"{output}_output": folder / file for output, file in OUTPUTS.items()},
        **more,
    }


def timeless(curve: Path) -> list[list[str]]:
    return [line.split("\t")[:-2] for line in curve.read_text().splitlines()]


def column(curve: Path, name: str) -> list[float]:
    rows = [line.split("\t") for line in curve.read_text().splitlines()]
    return [float(row[rows[0].index(name)]) for row in rows[1:]]


SYNTAX = {"contexts": ["global", "syntax"]}
TRANSFORMER = {
    "encoders": [{"type": "transformer", "layers": 2, "heads": 2, "attention": ["deps_san"]}],
    "decoder": {"type": "transformer", "layers": 2, "heads": 2},
    "loss": {"type": "softmax", "label_smoothing": 0.1},
    "model": {"embedding": 16, "hidden": 16, "dropout": 0.1, "initialization": "glorot", "tied_embeddings": "all"},
}
FALLING = {"name": "adam", "learning_rate": 0.01, "schedule": "inverse_square_root", "warmup": 20}
ADAM = {"name": "adam", "learning_rate": 0.01}
STEEP = {"name": "sgd", "learning_rate": 4.0, "decay": 0.5}


def syntax_files(folder: Path) -> dict[str, object]:
    return {f"{split}_syntax": {"distances": folder / f"{split}.distances.arrow"} for split in ("train", "dev")}


def test_outputs_are_complete_and_reproducible(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 60, "dev": 10}) | syntax_files(tmp_path)
    for name in ("first", "second"):
        train(**corpus, **options(tmp_path, SYNTAX, {"epochs": 2, "max_length": 6}, name))
    first, second = tmp_path / "first", tmp_path / "second"
    assert (first / "model.safetensors").read_bytes() == (second / "model.safetensors").read_bytes()
    assert (first / "config.json").read_bytes() == (second / "config.json").read_bytes()
    assert timeless(first / "curve.tsv") == timeless(second / "curve.tsv")
    assert len(timeless(first / "curve.tsv")) == 3

    facts = json.loads((first / "facts.json").read_text())
    model = load_model(first / "model.safetensors", first / "config.json")
    assert facts["parameters"] == sum(p.numel() for p in model.parameters())
    lengths = np.array([len(sentence) - 1 for sentence in _rows(corpus["train_source"])])
    assert facts["skipped"] == {"too_long": int((lengths > 6).sum()), "non_finite_batches": 0}
    assert facts["target_words"] == 2 * lengths[lengths <= 6].sum()
    assert facts["updates"] == 2 * -(-int((lengths <= 6).sum()) // 8)
    assert 0 <= facts["statistics"][1]["negative_scores"] <= 1
    assert (facts["device"], facts["processor"]) == ("cpu", get_cpu_name())


def _rows(path: object) -> list[np.ndarray]:
    from pipeline_py.files.ragged_arrays import RaggedArrayFile

    rows = RaggedArrayFile(Path(str(path)))
    return [rows[number] for number in range(len(rows))]


def get_checkpoint_time(checkpoints: Path) -> int | None:
    """Return the modification time of the only checkpoint, or None if there is none."""
    times = [file.stat().st_mtime_ns for file in checkpoints.glob("*/rolling.safetensors")]
    return times[0] if times else None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "optimizer"),
    [(SYNTAX, {"name": "adadelta"}), (TRANSFORMER, FALLING)],
    ids=["adadelta", "transformer"],
)
def test_killed_run_ends_like_uninterrupted_run(tmp_path: Path, system: dict, optimizer: dict) -> None:
    corpus = make_corpus(tmp_path, {"train": 400, "dev": 20}) | syntax_files(tmp_path)
    training = {
        "optimizer": optimizer,
        "epochs": 3,
        "batch_size": 8,
        "validate_every": 70,
        "checkpoint_minutes": 0.0005,
    }
    train(**corpus, **options(tmp_path, system, training, "whole"))

    job = build_job("nmt.train", tmp_path, corpus | options(tmp_path, system, training, "killed"))
    checkpoints, cache = tmp_path / "killed" / "checkpoints", tmp_path / "killed" / "cache"
    (checkpoints / "of another training").mkdir(parents=True)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    for kill in range(2):
        process = subprocess.Popen(get_job_command(job), stderr=subprocess.PIPE, env=environment)
        before = get_checkpoint_time(checkpoints)
        while get_checkpoint_time(checkpoints) == before:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.005)
        time.sleep(0.1 + 0.07 * kill)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not cache.exists()
    finished = subprocess.run(get_job_command(job), stderr=subprocess.PIPE, text=True, env=environment, check=True)
    assert "from update" in finished.stderr
    uninterrupted, killed = tmp_path / "whole", tmp_path / "killed"
    assert (uninterrupted / "model.safetensors").read_bytes() == (killed / "model.safetensors").read_bytes()
    assert timeless(uninterrupted / "curve.tsv") == timeless(killed / "curve.tsv")
    assert not checkpoints.exists(), "checkpoints of other settings, too"
    again = subprocess.run(get_job_command(job), stderr=subprocess.PIPE, text=True, env=environment, check=True)
    assert "from the cache" in again.stderr


def interrupted(tmp_path: Path, job: dict[str, object]) -> list[Path]:
    """Run a job that cannot write its facts; return its checkpoint."""
    arguments = {**job["arguments"], "facts_output": str(tmp_path / "train.source.arrow" / "facts.json")}
    with pytest.raises((FileExistsError, NotADirectoryError)):  # a file where a folder has to be
        run_job({**job, "arguments": arguments})
    return [*tmp_path.glob("out/checkpoints/*/rolling.safetensors")]


@pytest.mark.parametrize("change", ["process", "input"])
def test_checkpoint_of_another_training_is_not_resumed(
    tmp_path: Path, capfd: pytest.CaptureFixture, change: str
) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 5})
    job = build_job("nmt.train", tmp_path, corpus | options(tmp_path, {}, {"epochs": 1}))
    (first,) = interrupted(tmp_path, job)
    if change == "process":
        job["process"] = "other settings"
    else:
        make_corpus(tmp_path, {"train": 40}, seed=1)
    assert len(interrupted(tmp_path, job)) == 2 and first.exists()
    capfd.readouterr()
    run_job(job)
    assert "from update 5" in capfd.readouterr().err
    assert not (tmp_path / "out" / "checkpoints").exists()
    content = (tmp_path / "out" / "model.safetensors").read_bytes()
    train(**corpus, **options(tmp_path, {}, {"epochs": 1}, "fresh"))
    assert (tmp_path / "fresh" / "model.safetensors").read_bytes() == content


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"threads": 2}, {"training": {"precision": "bfloat16"}}], ids=str)
def test_checkpoint_with_other_rounding_is_renamed(tmp_path: Path, capfd: pytest.CaptureFixture, change: dict) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 5})
    train(**corpus, **options(tmp_path, {}, {"epochs": 1}))
    arguments = options(tmp_path, {}, {"epochs": 1} | change.pop("training", {}))
    capfd.readouterr()
    train(**corpus, **arguments, **change)
    assert "is not resumed: it was computed with cpu, float32, graphs" in capfd.readouterr().err
    assert len(list((tmp_path / "out" / "checkpoints").iterdir())) == 2


def test_unreadable_checkpoint_is_renamed(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    corpus = make_corpus(tmp_path, {"train": 20, "dev": 5})
    arguments = options(tmp_path, {}, {"epochs": 1})
    rolling = tmp_path / "out" / "checkpoints" / "rolling.safetensors"
    rolling.parent.mkdir(parents=True)
    rolling.write_bytes(b"half a file")
    train(**corpus, **arguments)
    assert "it is damaged, so the training starts from the beginning" in capfd.readouterr().err


def test_patience_ends_training_with_best_weights(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    # Such a rate ruins the model at once, so the best look is an early one.
    training = {"optimizer": {"name": "sgd", "learning_rate": 30}, "patience": 2, "clip": 5}
    train(**corpus, **options(tmp_path, {}, training))
    losses = column(tmp_path / "out" / "curve.tsv", "dev_loss")
    best = losses.index(min(losses))
    assert len(losses) == best + 3
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    assert facts["best_dev"] == pytest.approx(min(losses), abs=1e-6)


@pytest.mark.parametrize("loss_per", ["sentence", "word"])
def test_accumulated_batches_equal_full_batches(tmp_path: Path, loss_per: str) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    system = {"model": {"embedding": 16, "hidden": 24, "dropout": 0.0}}
    rule = {"name": "sgd", "learning_rate": 0.5}
    for accumulate in (1, 3):
        training = {"optimizer": rule, "epochs": 2, "accumulate": accumulate, "loss_per": loss_per}
        train(**corpus, **options(tmp_path, system, training, f"{accumulate} parts"))
    uninterrupted, parts = (load_file(tmp_path / f"{count} parts" / "model.safetensors") for count in (1, 3))
    torch.testing.assert_close(parts, uninterrupted, rtol=1e-4, atol=1e-5)
    losses = [column(tmp_path / f"{count} parts" / "curve.tsv", "train_loss") for count in (1, 3)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert losses[0][-1] < np.log(WORDS), "the training loss is one of words, whatever it is divided by"


def test_training_loss_is_per_word_whatever_the_updates_are_divided_by(tmp_path: Path) -> None:
    """With steps too small to change a weight, both divisors give the dev loss of the training text."""
    corpus = make_corpus(tmp_path, {"train": 40})
    corpus |= {name.replace("train", "dev"): path for name, path in corpus.items() if name.startswith("train_")}
    system = {"model": {"embedding": 16, "hidden": 24, "dropout": 0.0}}
    for loss_per in ("sentence", "word"):
        training = {"optimizer": {"name": "sgd", "learning_rate": 1e-12}, "epochs": 1, "loss_per": loss_per}
        train(**corpus, **options(tmp_path, system, training, loss_per))
        (train_loss,), (dev_loss,) = (
            column(tmp_path / loss_per / "curve.tsv", f"{name}_loss") for name in ("train", "dev")
        )
        assert train_loss == pytest.approx(dev_loss, rel=1e-5)


def test_selected_precision_is_used_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline_py.nmt import precision

    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})

    def weights_and_facts(named: str, is_fast: bool) -> tuple[bytes, str]:
        monkeypatch.setattr(precision, "has_bfloat16_instructions", lambda: is_fast)
        out = tmp_path / f"{named} {is_fast}"
        train(**corpus, **options(tmp_path, {}, {"epochs": 1, "precision": named}, out.name))
        precision_in_facts = json.loads((out / "facts.json").read_text())["precision"]
        return (out / "model.safetensors").read_bytes(), precision_in_facts

    monkeypatch.setattr(precision, "MIN_HIDDEN_SIZE", 24)
    single, half = weights_and_facts("float32", False), weights_and_facts("bfloat16", False)
    assert single[0] != half[0]
    assert weights_and_facts("auto", False) == single and weights_and_facts("auto", True) == half


def test_checkpoint_average_survives_interruptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline_py.nmt.training.training_run import TrainingRun

    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    training = {"optimizer": STEEP, "epochs": 5, "average": 3}
    recorded: list[dict[str, torch.Tensor]] = []
    validate, interruptions = TrainingRun._validate, iter(["after the first", "after the third", "after the fourth"])

    def remember(self: TrainingRun) -> None:
        recorded.append({name: tensor.clone() for name, tensor in self.model.state_dict().items()})
        validate(self)

    def interrupt(self: TrainingRun) -> None:
        remember(self)
        if len(recorded) != 2 and next(interruptions, None):
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingRun, "_validate", interrupt)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            train(**corpus, **options(tmp_path, {}, training, "interrupted"))
    train(**corpus, **options(tmp_path, {}, training, "interrupted"))
    assert len(recorded) == 5
    interrupted = load_file(tmp_path / "interrupted" / "model.safetensors")
    for name, tensor in interrupted.items():
        expected = sum(weights[name].double() for weights in recorded[-3:]) / 3
        torch.testing.assert_close(tensor.double(), expected, rtol=1e-6, atol=1e-8)
    monkeypatch.undo()
    train(**corpus, **options(tmp_path, {}, training, "whole"))
    uninterrupted = tmp_path / "whole"
    assert (uninterrupted / "model.safetensors").read_bytes() == (
        tmp_path / "interrupted" / "model.safetensors"
    ).read_bytes()
    facts, losses = (
        json.loads((uninterrupted / "facts.json").read_text()),
        column(uninterrupted / "curve.tsv", "dev_loss"),
    )
    model = load_model(uninterrupted / "model.safetensors", uninterrupted / "config.json")
    pairs = [*zip(_rows(corpus["dev_source"]), _rows(corpus["dev_target"]), strict=True)]
    with torch.no_grad():
        summed = sum(float(model.compute_loss(collate_batch([source], [target]))) for source, target in pairs)
    assert len(losses) == 6 and losses[-1] != losses[-2]
    assert facts["dev_loss"] == facts["best_dev"] == pytest.approx(losses[-1], abs=1e-6)
    assert losses[-1] == pytest.approx(summed / sum(len(target) for _, target in pairs), rel=1e-5)


@pytest.mark.parametrize("tied", ["none", "target"])
def test_moving_average_is_scored_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tied: str) -> None:
    from pipeline_py.nmt.training.training_run import TrainingRun
    from pipeline_py.nmt.training.update import Updater, UpdateResult

    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    system = {"model": {"embedding": 16, "hidden": 24, "tied_embeddings": tied}}
    optimizer = {"name": "sgd", "learning_rate": 0.5}
    training = {"optimizer": optimizer, "epochs": 8, "batch_size": 10, "moving_average": 0.6}
    finish, validate = Updater.apply_gradients, TrainingRun._validate
    average: dict[int, torch.Tensor] = {}
    at_validations: list[dict[int, torch.Tensor]] = []
    updates, interruptions = 0, iter(["after the second", "after the sixth"])

    def follow(self: Updater) -> UpdateResult:
        nonlocal updates
        result = finish(self)
        for number, parameter in enumerate(self._parameters):
            decay = min(0.6, (1 + updates) / (10 + updates)) if updates else 0.0
            before = average.get(number, torch.zeros(()))
            average[number] = decay * before + (1 - decay) * parameter.detach().double()
        updates += 1
        return result

    def interrupt(self: TrainingRun) -> None:
        at_validations.append(dict(average))
        validate(self)
        if updates in (8, 24) and next(interruptions, None):
            raise KeyboardInterrupt

    monkeypatch.setattr(Updater, "apply_gradients", follow)
    monkeypatch.setattr(TrainingRun, "_validate", interrupt)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            train(**corpus, **options(tmp_path, system, training, "interrupted"))
    train(**corpus, **options(tmp_path, system, training, "interrupted"))
    monkeypatch.undo()
    assert updates == 32
    losses = column(tmp_path / "interrupted" / "curve.tsv", "dev_loss")
    best = losses.index(min(losses))
    assert best > 5, "the best weights come after both interruptions"
    model = load_model(tmp_path / "interrupted" / "model.safetensors", tmp_path / "interrupted" / "config.json")
    for number, parameter in enumerate(model.parameters()):
        torch.testing.assert_close(parameter.detach().double(), at_validations[best][number], rtol=1e-5, atol=1e-7)
    train(**corpus, **options(tmp_path, system, training, "whole"))
    uninterrupted, interrupted = (tmp_path / name / "model.safetensors" for name in ("whole", "interrupted"))
    assert uninterrupted.read_bytes() == interrupted.read_bytes()
    pairs = [*zip(_rows(corpus["dev_source"]), _rows(corpus["dev_target"]), strict=True)]
    with torch.no_grad():
        summed = sum(float(model.compute_loss(collate_batch([source], [target]))) for source, target in pairs)
    assert min(losses) == pytest.approx(summed / sum(len(target) for _, target in pairs), rel=1e-5)


def test_tied_embeddings_need_equal_vocabularies(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 20, "dev": 5}) | syntax_files(tmp_path)
    lines = corpus["source_vocabulary"].read_text().splitlines()
    (tmp_path / "other").write_text("\n".join([*lines[:-1], "else 1"]) + "\n")
    with pytest.raises(InputError, match=r"the system ties both sides' embeddings, but .*vocabulary\.target differs"):
        train(**corpus | {"source_vocabulary": tmp_path / "other"}, **options(tmp_path, TRANSFORMER, {"epochs": 1}))


def test_linear_schedule_ends_at_zero(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    rule = {"name": "adam", "learning_rate": 0.01, "schedule": "linear"}
    train(**corpus, **options(tmp_path, {}, {"optimizer": rule, "epochs": 2, "batch_size": 10}))
    # Of four updates an epoch, the last of the first epoch and the last of all.
    np.testing.assert_allclose(
        column(tmp_path / "out" / "curve.tsv", "learning_rate")[-2:], [0.00625, 0.00125], rtol=1e-7
    )


@pytest.mark.parametrize("name", ["sgd", "adam", "adadelta"])
def test_learning_rate_decays_after_each_worse_validation(tmp_path: Path, name: str) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    first = {"sgd": 8.0, "adam": 0.1, "adadelta": 30.0}[name]
    for decay in (0.3, None):
        rule = {"name": name, "learning_rate": first, "decay": decay}
        training = {"optimizer": rule, "epochs": 10, "patience": 10}
        train(**corpus, **options(tmp_path, {}, training, f"decay {decay}"))
    curve, steady = tmp_path / "decay 0.3" / "curve.tsv", tmp_path / "decay None" / "curve.tsv"
    losses = column(curve, "dev_loss")
    rates = [first]
    for before, after in itertools.pairwise(losses[:-1]):
        rates.append(rates[-1] * (0.3 if after > before else 1))
    # The rate of the first epoch and of the second, whose end is the first look that can be worse.
    rates = [first, *rates]
    assert len(losses) == len(rates) == 10
    assert 1 < len({*rates}) < 9, "some looks were worse and some were not"
    np.testing.assert_allclose(column(curve, "learning_rate"), rates, rtol=1e-7)
    assert {*column(steady, "learning_rate")} == {first}
    changed = rates.index(rates[1] * 0.3)
    assert column(steady, "dev_loss")[:changed] == losses[:changed]
    assert column(steady, "dev_loss")[changed] != losses[changed]


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["softmax", {"type": "blackout", "samples": 4}], ids=["softmax", "blackout"])
def test_interrupted_run_keeps_learning_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: object) -> None:
    from pipeline_py.nmt.training.training_run import TrainingRun

    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    training = {"optimizer": STEEP | {"learning_rate": 8.0}, "epochs": 9, "patience": 9}
    train(**corpus, **options(tmp_path, {"loss": loss}, training, "whole"))
    uninterrupted, interrupted = tmp_path / "whole", tmp_path / "interrupted"
    rates = column(uninterrupted / "curve.tsv", "learning_rate")
    assert rates[-1] < rates[3] < rates[0], "the rate falls before the interruption and after it"

    update = TrainingRun._make_update

    def interrupt(self: TrainingRun) -> None:
        if self.state.update == 3 * 5 + 2:
            raise KeyboardInterrupt
        update(self)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(TrainingRun, "_make_update", interrupt)
        train(**corpus, **options(tmp_path, {"loss": loss}, training, "interrupted"))
    train(**corpus, **options(tmp_path, {"loss": loss}, training, "interrupted"))
    assert (uninterrupted / "model.safetensors").read_bytes() == (interrupted / "model.safetensors").read_bytes()
    assert timeless(uninterrupted / "curve.tsv") == timeless(interrupted / "curve.tsv")


@pytest.mark.slow
@pytest.mark.parametrize("early_stopping", ["loss", "bleu"])
@pytest.mark.parametrize("samples", [None, 5])
def test_facts_describe_saved_weights(tmp_path: Path, early_stopping: str, samples: int | None) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    rule = {"name": "adam", "learning_rate": 0.05}
    updates = 97  # so many that it knows the training data by heart, and is far past the best
    training = {"optimizer": rule, "updates": updates, "validate_every": 8, "early_stopping": early_stopping}
    loss = {"type": "blackout", "samples": samples} if samples else "softmax"
    train(**corpus, **options(tmp_path, {"loss": loss}, training))
    out = tmp_path / "out"
    facts = json.loads((out / "facts.json").read_text())
    losses, looks = column(out / "curve.tsv", "dev_loss"), column(out / "curve.tsv", "update")
    assert facts["best_update"] < updates
    assert facts["dev_loss"] == pytest.approx(losses[looks.index(facts["best_update"])], abs=1e-6)

    model = load_model(out / "model.safetensors", out / "config.json")
    pairs = [*zip(_rows(corpus["dev_source"]), _rows(corpus["dev_target"]), strict=True)]
    with torch.no_grad():
        summed = sum(float(model.compute_loss(collate_batch([source], [target]))) for source, target in pairs)
    expected = summed / sum(len(target) for _, target in pairs)
    assert facts["dev_loss"] == pytest.approx(expected, rel=1e-5)
    assert facts["dev_perplexity"] == pytest.approx(np.exp(expected), rel=1e-4)
    assert facts["seconds_per_epoch"] == pytest.approx(facts["training_seconds"] / (updates / 5), abs=2e-3)
    assert 0 < facts["training_seconds"] < facts["seconds"] + 0.1
    assert 0 < facts["training_cpu_seconds"] < facts["cpu_seconds"] + 0.1
    speed = facts["target_words"] / facts["training_cpu_seconds"]
    assert facts["target_words_per_cpu_second"] == pytest.approx(speed, rel=0.01)
    assert facts["target_words_per_gpu_second"] is None and 0 < facts["core_share"] <= 1 and facts["machine_load"] > 0
    sizes = {"embedding": 16, "hidden": 24, "loss": "blackout" if samples else "softmax", "samples": samples}
    assert {name: facts[name] for name in sizes} == sizes


def test_system_matches_size_of_another(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 20, "dev": 5})
    (tmp_path / "vocabulary.labels").write_text("</s> 0\n<unk> 0\nnsubj 3\n")
    inputs = ["words", {"type": "labels", "size": 4}]
    like = {"model": {"embedding": 30, "hidden": 20}, "encoders": [{"inputs": inputs}]}
    arguments = options(tmp_path, {}, {"epochs": 1}, like=CompositionConfig.model_validate(like))
    train(**corpus | arguments | {"syntax_vocabularies": {"labels": tmp_path / "vocabulary.labels"}})
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    model = load_model(tmp_path / "out" / "model.safetensors", tmp_path / "out" / "config.json")
    size = model.composition.model.hidden
    assert facts["embedding"] == facts["hidden"] == model.composition.model.embedding == size
    assert model.vocabulary_sizes == {"source": WORDS, "target": WORDS}
    wanted = Network(CompositionConfig.model_validate(like), {**model.vocabulary_sizes, "labels": 3})
    below = model.composition.model_copy(
        update={"model": model.composition.model.model_copy(update={"embedding": size - 1, "hidden": size - 1})}
    )
    counts = [
        sum(p.numel() for p in net.parameters()) for net in (Network(below, model.vocabulary_sizes), wanted, model)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[1]
    assert facts["parameters"] == counts[2]


def test_training_starts_from_initial_weights(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 20, "dev": 5})
    still = {"optimizer": {"name": "sgd", "learning_rate": 1e-12}, "epochs": 1}
    train(**corpus, **options(tmp_path, {}, still, "drawn"))
    initial = load_file(tmp_path / "drawn" / "model.safetensors")
    table = next(name for name in initial if name.endswith("embedding.weight"))
    replaced = {table: torch.full_like(initial[table], 0.25)}
    save_weights(tmp_path / "initial", replaced)
    stop = {"facts_output": tmp_path / "train.source.arrow" / "facts.json"}  # a file where a folder has to be
    with pytest.raises((FileExistsError, NotADirectoryError)):
        train(**corpus, **options(tmp_path, {}, still, initial=tmp_path / "initial") | stop)
    started = load_file(tmp_path / "out" / "model.safetensors")
    for name, tensor in started.items():
        torch.testing.assert_close(tensor, (initial | replaced)[name], rtol=0, atol=1e-9)


def test_word_frequencies_are_set_from_training_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 5})
    counts_per_call = []
    monkeypatch.setattr(Network, "set_word_frequencies", lambda self, counts: counts_per_call.append(counts.tolist()))
    train(**corpus, **options(tmp_path, {}, {"epochs": 1, "max_length": 5}))
    short = [sentence for sentence in _rows(corpus["train_target"]) if len(sentence) <= 6]
    assert 0 < len(short) < 40
    counted = Counter(int(word) for sentence in short for word in sentence)
    assert counts_per_call == [[max(counted[word], 1) for word in range(WORDS)]]
    assert counts_per_call[0][:2] == [len(short), 1]


@pytest.mark.slow
def test_unigram_bias_and_initial_weights(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 20, "dev": 5})
    still = {"optimizer": {"name": "sgd", "learning_rate": 1e-12}, "epochs": 1}
    unigram = {"model": {"softmax_bias": "unigram"}}
    train(**corpus, **options(tmp_path, unigram, still, "drawn"))
    initial = load_file(tmp_path / "drawn" / "model.safetensors")["decoder.softmax.bias"]
    counted = Counter(int(word) for sentence in _rows(corpus["train_target"]) for word in sentence)
    counts = torch.tensor([max(counted[word], 1) for word in range(WORDS)])
    torch.testing.assert_close(initial, (counts / counts.sum()).log())

    save_weights(tmp_path / "initial", {"decoder.softmax.bias": initial + 1})
    train(**corpus, **options(tmp_path, unigram, still, initial=tmp_path / "initial"))
    started = load_file(tmp_path / "out" / "model.safetensors")["decoder.softmax.bias"]
    torch.testing.assert_close(started, initial + 1)


def test_non_finite_batches_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline_py.nmt.model import TranslationModel

    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    loss, recorded, weights = TranslationModel.compute_loss, [], []

    def broken(self: TranslationModel, batch) -> torch.Tensor:
        if self.training:
            recorded.append(len(recorded))
            weights.append(self.decoder.softmax.weight.detach().clone())
        return loss(self, batch) * (torch.nan if self.training and recorded[-1] > 0 else 1)

    monkeypatch.setattr(TranslationModel, "compute_loss", broken)
    train(**corpus, **options(tmp_path, {}, {"epochs": 1}))
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    assert (facts["skipped"]["non_finite_batches"], facts["updates"]) == (4, 5)
    assert not torch.equal(weights[0], weights[1])
    assert all(torch.equal(weights[1], later_weights) for later_weights in weights[2:])


def never(network: Network, loss: torch.Tensor) -> torch.Tensor:
    return loss * torch.nan if network.training else loss


def on_dev(network: Network, loss: torch.Tensor) -> torch.Tensor:
    return loss if network.training else loss + torch.inf


def in_a_weight(network: Network, loss: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        network.encoders[0].inputs[0].embedding.weight[0, 0] = torch.inf
    return loss


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (never, "no batch since the last look at the development set had a finite loss and gradient"),
        (on_dev, "the loss on the development set is inf"),
        (in_a_weight, "`encoders.0.inputs.0.embedding.weight` has values that are not finite"),
    ],
)
def test_divergence_raises_error_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil, message: str
) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    loss = Network.compute_loss
    monkeypatch.setattr(Network, "compute_loss", lambda self, batch: spoil(self, loss(self, batch)))
    training = {"epochs": 3}
    with pytest.raises(InputError, match=f"diverged by update 5: .*{message}; lower"):
        train(**corpus, **options(tmp_path, {}, training))
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file() and "checkpoints" not in path.parts]
    assert not [path for path in tmp_path.rglob("checkpoints/*")]


@pytest.mark.slow
@pytest.mark.parametrize("contexts", [["global"], ["flexible", "syntax"]])
def test_copying_is_learned(tmp_path: Path, contexts: list[str]) -> None:
    corpus = make_corpus(tmp_path, {"train": 1000, "dev": 60}) | (
        syntax_files(tmp_path) if "syntax" in contexts else {}
    )
    system = {"contexts": contexts, "model": {"embedding": 24, "hidden": 32, "dropout": 0.0}}
    rate = {"name": "adam", "learning_rate": 0.01}
    training = {"epochs": 12, "early_stopping": "bleu", "batch_size": 16, "optimizer": rate}
    train(**corpus, **options(tmp_path, system, training))
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    assert facts["best_dev"] > 80  # BLEU


def test_job_reports_bad_input_in_one_sentence(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 5, "dev": 5, "test": 4})
    arguments = corpus | options(tmp_path, {}, {}) | {"train_target": corpus["test_target"]}
    arguments = {key: value for key, value in arguments.items() if not key.startswith("test_")}
    result = subprocess.run(
        get_job_command(build_job("nmt.train", tmp_path, arguments)), capture_output=True, text=True
    )
    assert result.returncode == 1
    assert result.stderr == (
        f"error: {tmp_path}/test.target.arrow: the file has 4 sentences and {tmp_path}/train.source.arrow has 5; "
        "make both from the same text\n"
    )


# --- outputs from the cache ---

READER = {"contexts": ["global", "syntax"], "encoders": [{"inputs": ["words", {"type": "labels", "size": 4}]}]}
LIKE = {"model": {"embedding": 8, "hidden": 6}, "encoders": [{"inputs": ["words", {"type": "units", "size": 4}]}]}
INPUTS = [
    *(f"{split}.{kind}.arrow" for split in ("train", "dev") for kind in ("source", "target", "distances", "labels")),
    *(f"vocabulary.{kind}" for kind in ("source", "target", "labels", "units")),
    "initial.safetensors",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The folder of a finished training that reads files of every kind, and its arguments."""
    folder = tmp_path_factory.mktemp("finished")
    arguments = make_corpus(folder, {"train": 20, "dev": 5})
    for split in ("train", "dev"):
        labels = [np.ones(len(row), dtype=np.int32) for row in _rows(arguments[f"{split}_source"])]
        write_ragged_rows(folder / f"{split}.labels.arrow", labels, "int32")
        arguments[f"{split}_syntax"] = {kind: folder / f"{split}.{kind}.arrow" for kind in ("distances", "labels")}
    for kind in ("labels", "units"):
        (folder / f"vocabulary.{kind}").write_text("</s> 0\n<unk> 0\nw 3\n")
    arguments["syntax_vocabularies"] = {kind: folder / f"vocabulary.{kind}" for kind in ("labels", "units")}
    initial = folder / "initial.safetensors"
    save_weights(initial, {"decoder.softmax.bias": torch.full((WORDS,), 0.25)})
    more = {"like": CompositionConfig.model_validate(LIKE), "initial": initial}
    arguments |= options(folder, READER, {"epochs": 1}, **more) | {"name": "system"}
    command = get_job_command(build_job("nmt.train", folder, arguments))
    subprocess.run(command, check=True, stderr=subprocess.PIPE, env=os.environ | {"OMP_NUM_THREADS": "1"})
    return folder, arguments


@pytest.fixture
def trained(finished: tuple[Path, dict[str, object]], copied) -> dict[str, object]:
    return copied(*finished)


def outputs_of(arguments: dict[str, object]) -> list[Path]:
    return [Path(str(arguments[f"{name}_output"])) for name in OUTPUTS]


def test_outputs_are_restored_without_torch(tmp_path: Path, trained: dict[str, object], without_torch) -> None:
    start_time = time.time()
    for path in tmp_path.glob("*.arrow"):
        path.touch()  # parsed anew, with the same trees
    job = build_job("nmt.train", tmp_path, trained | {"name": "another name"})
    assert_restored(without_torch, job, outputs_of(trained))
    assert all(output.stat().st_mtime > start_time - 0.1 for output in outputs_of(trained))
    assert not (tmp_path / "out" / "checkpoints").exists()

    (tmp_path / "out" / "cache" / "model.safetensors" / "last" / "1.model.safetensors").write_bytes(b"other weights")
    assert "torch is imported" in without_torch(job).stderr


@pytest.mark.parametrize("file", INPUTS)
def test_changed_input_is_trained_again(tmp_path: Path, trained: dict[str, object], works, file: str) -> None:
    job = build_job("nmt.train", tmp_path, trained)
    assert not works(job)
    change_content(tmp_path / file)
    assert works(job)


def test_changed_inputs_cover_all_files(tmp_path: Path, trained: dict[str, object]) -> None:
    files = {path.name for path in tmp_path.iterdir() if path.is_file() and not path.name.startswith(".")}
    assert files == {*INPUTS}


def test_swapped_syntax_kinds_are_trained_again(tmp_path: Path, trained: dict[str, object], works) -> None:
    files = trained["train_syntax"]
    swapped = {"distances": files["labels"], "labels": files["distances"]}
    assert works(build_job("nmt.train", tmp_path, trained | {"train_syntax": swapped}))


def test_other_initial_weights_or_settings_are_trained_again(tmp_path: Path, trained: dict[str, object], works) -> None:
    assert works(build_job("nmt.train", tmp_path, trained | {"initial": None}))
    assert works(build_job("nmt.train", tmp_path, trained, process="other settings"))


def test_irrelevant_changes_use_cache(tmp_path: Path, trained: dict[str, object], works) -> None:
    moved = tmp_path / "moved.arrow"
    moved.write_bytes(Path(str(trained["dev_target"])).read_bytes())
    change = {"name": "another name", "checkpoints": tmp_path / "elsewhere", "dev_target": moved}
    assert not works(build_job("nmt.train", tmp_path, trained | change))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.slow
def test_repeated_training_is_cached(tmp_path: Path, trained: dict[str, object], works) -> None:
    first = outputs_of(trained)[0].read_bytes()
    again = build_job("nmt.train", tmp_path, trained | {"seed": 2}, process="seed 2")
    run_job(again)
    second = outputs_of(trained)[0].read_bytes()
    train(**trained | {"seed": 2, "model_output": tmp_path / "fresh"})
    assert first != second == (tmp_path / "fresh").read_bytes()
    assert not works(again)
    assert works(build_job("nmt.train", tmp_path, trained))


def test_run_killed_before_caching_is_resumed(
    tmp_path: Path, trained: dict[str, object], capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = outputs_of(trained)[0].read_bytes()
    job = build_job("nmt.train", tmp_path, trained, process="not cached yet")

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(OutputCache, "store", interrupt)
        run_job(job)
    capfd.readouterr()
    run_job(job)
    assert "from update" in capfd.readouterr().err
    assert outputs_of(trained)[0].read_bytes() == first
