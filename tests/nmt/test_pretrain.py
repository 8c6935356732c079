"""Pretraining as a whole: the encoder learns to parse, and a translation starts from what it learned."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.files.ragged_arrays import RaggedArrayFile, write_ragged_rows
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.parsing_encoder import ParsingEncoder
from pipeline_py.nmt.pretrain import pretrain
from pipeline_py.nmt.saved_model import load_initial_weights, load_model
from pipeline_py.nmt.train import train
from pipeline_py.run.errors import InputError
from tests.nmt.stage_jobs import assert_restored, build_job, change_content, get_job_command

WORDS, LABELS = 12, 5
NEXT = {"model": {"embedding": 16, "hidden": 16, "dropout": 0.0, "initialization": "lecun"}}
TRAINING = {"optimizer": {"name": "adam", "learning_rate": 0.01}, "batch_size": 8}


pytestmark = pytest.mark.usefixtures("one_thread")


def make_corpus(folder: Path, sizes: dict[str, int]) -> dict[str, object]:
    """Ascending words; each hangs under the next, the last under ROOT; every tenth sentence has no parse.

    A word's label tells its own number modulo 2, and whether its head is ROOT.
    """
    random = np.random.default_rng(0)
    arguments: dict[str, object] = {}
    for split, count in sizes.items():
        words = [
            np.sort(random.choice(np.arange(2, WORDS), random.integers(1, 8), replace=False)) for _ in range(count)
        ]
        sources = [np.append(sentence, 0) for sentence in words]
        heads, labels = [], []
        for number, sentence in enumerate(words):
            n = len(sentence)
            parsed = number % 10 != 9
            heads.append(np.array([*range(1, n), n - 1, n]) if parsed else np.full(n + 1, -1))
            labels.append(np.append(1 + sentence % 2 + 2 * (np.arange(n) == n - 1), 0))
        write_ragged_rows(folder / f"{split}.source.arrow", sources, "int32")
        write_ragged_rows(folder / f"{split}.heads.arrow", (row.astype(np.int16) for row in heads), "int16")
        write_ragged_rows(folder / f"{split}.labels.arrow", labels, "int32")
        arguments[f"{split}_source"] = folder / f"{split}.source.arrow"
        arguments[f"{split}_syntax"] = {kind: folder / f"{split}.{kind}.arrow" for kind in ("heads", "labels")}
    for kind, size in (("source", WORDS), ("labels", LABELS)):
        tokens = ["</s>", "<unk>", *(f"t{number}" for number in range(2, size))]
        (folder / f"vocabulary.{kind}").write_text("".join(f"{token} 1\n" for token in tokens))
    return {
        **arguments,
        "source_vocabulary": folder / "vocabulary.source",
        "syntax_vocabularies": {"labels": folder / "vocabulary.labels"},
    }


def options(folder: Path, epochs: int = 1, training: dict | None = None, **system: object) -> dict[str, object]:
    encoder = {"type": "latent_graph", "pretraining_epochs": epochs}
    return {
        "system": CompositionConfig.model_validate(NEXT | {"encoders": [encoder]} | system),
        "training": TrainingConfig.model_validate(TRAINING | (training or {})),
        "weights_output": folder / "weights.safetensors",
        "facts_output": folder / "facts.json",
    }


def facts_of(folder: Path) -> dict:
    return json.loads((folder / "facts.json").read_text())


def test_divergence_raises_error_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = make_corpus(tmp_path, {"train": 20, "dev": 10})
    loss = ParsingEncoder.compute_parsing_loss
    monkeypatch.setattr(ParsingEncoder, "compute_parsing_loss", lambda self, batch: loss(self, batch) * torch.nan)
    with pytest.raises(InputError, match=r"diverged by update .*: no batch since the last look"):
        pretrain(**corpus, **options(tmp_path, epochs=2))
    assert not [*tmp_path.glob("weights*"), *tmp_path.glob("facts*")]


@torch.no_grad()
def measured(folder: Path, sentences: int) -> tuple[float, float]:
    """Parse dev with the weights that were written, sentence by sentence: loss per word and unlabelled attachment."""
    system = options(folder)["system"]
    model = TranslationModel(system, {"source": WORDS, "target": 7, "labels": LABELS}).eval()
    load_initial_weights(model, folder / "weights.safetensors")
    assert load_file(folder / "weights.safetensors").keys() == {
        name for name in model.state_dict() if name.startswith("encoders.0.")
    }
    files = {kind: folder / f"dev.{kind}.arrow" for kind in ("heads", "labels")}
    sizes = {"source": WORDS, "target": WORDS, "labels": LABELS}
    dev = ParallelDataset(folder / "dev.source.arrow", folder / "dev.source.arrow", files, sizes)
    loss, right, words = 0.0, 0, 0
    for number in range(sentences):
        batch = dev.build_batch(np.array([number]))
        n = batch.source.shape[1] - 1
        gold = batch.get_syntax("heads")[0, :n, 0]
        assert (number % 10 == 9) == bool((gold < 0).all())
        if gold[0] >= 0:
            right += int((model.encoders[0].predict_parse(batch).head_scores[0, :n].argmax(1) == gold).sum())
            words += n
            loss += float(model.encoders[0].compute_parsing_loss(batch))
    return loss / words, right / words


def test_parser_learns(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 100, "dev": 40})
    pretrain(**corpus, **options(tmp_path, epochs=6))
    facts = facts_of(tmp_path)
    curve = facts["curve"]
    assert [row["epoch"] for row in curve] == [1, 2, 3, 4, 5, 6]
    assert facts["dev_unlabelled_attachment"] > 0.97 and facts["dev_labelled_attachment"] > 0.95
    assert facts["dev_labelled_attachment"] <= facts["dev_unlabelled_attachment"]
    assert curve[0]["dev_unlabelled_attachment"] < 0.9
    best = min(curve, key=lambda row: row["dev_loss"])
    assert (facts["best_epoch"], facts["dev_loss"]) == (best["epoch"], best["dev_loss"])
    assert facts["dev_loss"] < 0.3 and facts["skipped"] == {"too_long": 0, "non_finite_batches": 0}

    weights = load_file(tmp_path / "weights.safetensors")
    assert facts["parameters"] == sum(tensor.numel() for tensor in weights.values())
    loss, attachment = measured(tmp_path, 40)
    assert loss == pytest.approx(facts["dev_loss"], rel=1e-4)
    assert attachment == pytest.approx(facts["dev_unlabelled_attachment"])


def test_weights_depend_only_on_seed(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    weights = []
    for seed in (3, 3, 4):
        pretrain(**corpus, **options(tmp_path, model=NEXT["model"] | {"dropout": 0.2}), seed=seed)
        weights.append((tmp_path / "weights.safetensors").read_bytes())
    assert weights[0] == weights[1] != weights[2]


def test_parts_of_a_batch_give_the_updates_of_the_batch(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    curves = []
    for count in (1, 3):
        system = {"model": NEXT["model"] | {"dropout": 0.0}}
        pretrain(**corpus, **options(tmp_path, 2, {"accumulate": count}, **system), seed=3)
        curves.append([row["train_loss"] for row in facts_of(tmp_path)["curve"]])
    assert curves[0] == pytest.approx(curves[1], rel=1e-4) and curves[0][1] < curves[0][0]


def test_training_starts_from_pretrained_weights(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 30, "dev": 10})
    arguments = options(tmp_path, decoder="lstm", scores=["dot"])
    pretrain(**corpus, **arguments)
    outputs = {name: tmp_path / name for name in ("model_output", "config_output", "curve_output", "facts_output")}
    still = TRAINING | {"updates": 1, "optimizer": {"name": "sgd", "learning_rate": 1e-30}}
    train(
        system=arguments["system"],
        training=TrainingConfig.model_validate(still),
        initial=tmp_path / "weights.safetensors",
        train_source=tmp_path / "train.source.arrow",
        train_target=tmp_path / "train.source.arrow",
        dev_source=tmp_path / "dev.source.arrow",
        dev_target=tmp_path / "dev.source.arrow",
        source_vocabulary=tmp_path / "vocabulary.source",
        target_vocabulary=tmp_path / "vocabulary.source",
        train_syntax={},
        dev_syntax={},
        syntax_vocabularies={"labels": tmp_path / "vocabulary.labels"},
        checkpoints=tmp_path / "checkpoints",
        **outputs,
    )
    pretrained, translating = load_file(tmp_path / "weights.safetensors"), load_file(tmp_path / "model_output")
    assert pretrained.keys() < translating.keys()
    for name, tensor in pretrained.items():
        torch.testing.assert_close(translating[name], tensor, rtol=0, atol=1e-25)
    # A translation reads no parse, and knows how many labels there are.
    model = load_model(tmp_path / "model_output", tmp_path / "config_output")
    assert model.composition.required_syntax_names == [] and model.vocabulary_sizes["labels"] == LABELS


def test_best_weights_are_saved_and_learning_rate_decays(tmp_path: Path) -> None:
    """On dev each word hangs under the one before, so that all that is learned makes it worse."""
    corpus = make_corpus(tmp_path, {"train": 100, "dev": 9})
    lengths = [len(row) for row in rows_of(tmp_path / "dev.source.arrow")]
    broken(tmp_path, "heads", [[0, *range(length - 2), length - 1] for length in lengths])
    pretrain(**corpus, **options(tmp_path, 4, {"optimizer": TRAINING["optimizer"] | {"decay": 0.5}}))
    facts = facts_of(tmp_path)
    assert facts["best_epoch"] == 1
    assert measured(tmp_path, 9)[0] == pytest.approx(facts["dev_loss"], rel=1e-4)
    rates, losses = ([row[name] for row in facts["curve"]] for name in ("learning_rate", "dev_loss"))
    assert sorted(losses) == losses
    assert rates == [0.01, 0.01, 0.005, 0.0025]


def test_long_sentences_are_skipped_only_in_training(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 60, "dev": 20})
    pretrain(**corpus, **options(tmp_path, training={"max_length": 3}))
    rows = ParallelDataset(
        tmp_path / "train.source.arrow", tmp_path / "train.source.arrow", {}, {"source": WORDS, "target": WORDS}, 3
    )
    assert facts_of(tmp_path)["skipped"]["too_long"] == rows.skipped_count > 0


def test_parser_with_second_encoder_and_syntax(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 20, "dev": 10})
    inputs = ["words", {"type": "labels", "size": 4}]
    encoders = ["bidirectional_gru", {"type": "latent_graph", "pretraining_epochs": 1, "inputs": inputs}]
    pretrain(**corpus, **options(tmp_path, encoders=encoders))
    names = load_file(tmp_path / "weights.safetensors").keys()
    assert names and all(name.startswith("encoders.1.") for name in names)


def test_half_precision(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, {"train": 40, "dev": 10})
    pretrain(**corpus, **options(tmp_path, 2, {"precision": "bfloat16"}))
    losses = [row["dev_loss"] for row in facts_of(tmp_path)["curve"]]
    assert losses[1] < losses[0]


def rows_of(path: Path) -> list[np.ndarray]:
    rows = RaggedArrayFile(path)
    return [rows[number] for number in range(len(rows))]


def broken(folder: Path, kind: str, rows: list[list[int]]) -> None:
    write_ragged_rows(folder / f"dev.{kind}.arrow", [np.array(row, dtype=np.int16) for row in rows], "int16")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [[0, 1, 2], [0]],
            "dev.heads.arrow, line 2: the sentence has 1 values of heads, but {folder}/dev.source.arrow has 2",
        ),
        ([[-1, -1, -1], [-1, -1]], "dev.heads.arrow: no word has a head, since no sentence has a parse"),
        ([[-1, -1, -1], [-1, 1]], "dev.heads.arrow: no word has a head, since no sentence has a parse"),
        ([[0, 1, 2]], "dev.heads.arrow: the file has 1 sentences and {folder}/dev.source.arrow has 2"),
    ],
)
def test_invalid_heads_raise_error(tmp_path: Path, rows: list[list[int]], message: str) -> None:
    corpus = make_corpus(tmp_path, {"train": 10, "dev": 2})
    write_ragged_rows(tmp_path / "dev.source.arrow", [np.array([3, 4, 0]), np.array([5, 0])], "int32")
    write_ragged_rows(tmp_path / "dev.labels.arrow", [np.array([3, 4, 0]), np.array([1, 0])], "int32")
    broken(tmp_path, "heads", rows)
    with pytest.raises(InputError) as error:
        pretrain(**corpus, **options(tmp_path))
    assert message.format(folder=tmp_path) in str(error.value)
    assert not (tmp_path / "weights.safetensors").exists()


@pytest.mark.parametrize(("encoders", "count"), [(["lstm"], 0), (["latent_graph", "latent_graph"], 2)])
def test_systems_without_single_parser_raise_error(tmp_path: Path, encoders: list[str], count: int) -> None:
    arguments = make_corpus(tmp_path, {"train": 10, "dev": 5}) | options(tmp_path, encoders=encoders)
    message = f"{count} encoders of the system learn to parse; give a composition with one latent_graph"
    with pytest.raises(InputError, match=message):
        pretrain(**arguments)


def test_job_runs(tmp_path: Path) -> None:
    arguments = make_corpus(tmp_path, {"train": 20, "dev": 10}) | options(tmp_path) | {"name": "Dep2Seq", "seed": 7}
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = get_job_command(build_job("nmt.pretrain", tmp_path, arguments, threads=1))
    result = subprocess.run(command, check=True, env=environment, stderr=subprocess.PIPE, text=True)
    assert "Dep2Seq: parsing, epoch 1, dev loss" in result.stderr
    assert (facts_of(tmp_path)["seed"], facts_of(tmp_path)["threads"]) == (7, 1)


# --- outputs from the cache ---

INPUTS = [f"{split}.{kind}.arrow" for split in ("train", "dev") for kind in ("source", "heads", "labels")]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The folder of a finished pretraining, and its arguments."""
    folder = tmp_path_factory.mktemp("finished")
    arguments = make_corpus(folder, {"train": 20, "dev": 10}) | options(folder) | {"name": "system"}
    command = get_job_command(build_job("nmt.pretrain", folder, arguments))
    subprocess.run(command, check=True, stderr=subprocess.PIPE, env=os.environ | {"OMP_NUM_THREADS": "1"})
    return folder, arguments


@pytest.fixture
def pretrained(finished: tuple[Path, dict[str, object]], copied) -> dict[str, object]:
    return copied(*finished)


def test_outputs_are_restored_without_torch(tmp_path: Path, pretrained: dict[str, object], without_torch) -> None:
    job = build_job("nmt.pretrain", tmp_path, pretrained | {"name": "another name"})
    assert_restored(without_torch, job, [tmp_path / "weights.safetensors", tmp_path / "facts.json"])
    (tmp_path / "cache" / "weights.safetensors" / "last" / "2.facts.json").write_text("{}")
    assert "torch is imported" in without_torch(job).stderr


@pytest.mark.parametrize("file", [*INPUTS, "vocabulary.source", "vocabulary.labels"])
def test_changed_input_is_trained_again(tmp_path: Path, pretrained: dict[str, object], works, file: str) -> None:
    job = build_job("nmt.pretrain", tmp_path, pretrained)
    assert not works(job)
    change_content(tmp_path / file)
    assert works(job)


def test_swapped_syntax_kinds_are_trained_again(tmp_path: Path, pretrained: dict[str, object], works) -> None:
    files = pretrained["train_syntax"]
    swapped = {"heads": files["labels"], "labels": files["heads"]}
    assert works(build_job("nmt.pretrain", tmp_path, pretrained | {"train_syntax": swapped}))
