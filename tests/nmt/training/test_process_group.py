"""Several processes train as one does with the same batches."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.nmt.training.process_group import ProcessGroup
from pipeline_py.nmt.training.update import MicroBatch, Updater
from tests.nmt.stage_jobs import build_job, get_job_command

WORDS = 12
SYSTEM = {"model": {"embedding": 8, "hidden": 12, "dropout": 0.0}}
TRAINING = {"optimizer": {"name": "sgd", "learning_rate": 0.5}, "batch_size": 7, "updates": 23, "validate_every": 8}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Sentences to be copied; 50 of them are no multiple of the batches, and the last batch is one sentence."""
    folder = tmp_path_factory.mktemp("corpus")
    random = np.random.default_rng(0)
    arguments = {}
    for split, count in {"train": 50, "dev": 6}.items():
        rows = [np.append(random.integers(2, WORDS, random.integers(1, 8)), 0) for _ in range(count)]
        for side in ("source", "target"):
            write_ragged_rows(folder / f"{split}.{side}.arrow", rows, "int32")
            arguments[f"{split}_{side}"] = folder / f"{split}.{side}.arrow"
    vocabulary = folder / "vocabulary"
    vocabulary.write_text("".join(f"{word} 1\n" for word in ("</s>", "<unk>", *map(str, range(2, WORDS)))))
    return arguments | {"source_vocabulary": vocabulary, "target_vocabulary": vocabulary}


def command(corpus: dict[str, Path], folder: Path, processes: int, **training: object) -> list[str]:
    outputs = {"model": "model.safetensors", "config": "config.json", "curve": "curve.tsv", "facts": "facts.json"}
    arguments = {
        **corpus,
        **{name: {} for name in ("train_syntax", "dev_syntax", "syntax_vocabularies")},
        "system": SYSTEM | training.pop("system", {}),  # type: ignore[operator]
        "training": {**TRAINING, "processes": processes, **training},
        "checkpoints": folder / "checkpoints",
        **{f"{name}_output": folder / file for name, file in outputs.items()},
    }
    return get_job_command(build_job("nmt.train", folder, arguments, threads=processes))


def run(*arguments: object, **training: object) -> subprocess.CompletedProcess:
    return subprocess.run(command(*arguments, **training), capture_output=True, text=True, timeout=300)  # type: ignore[arg-type]


def losses(folder: Path) -> list[float]:
    header, *rows = [line.split("\t") for line in (folder / "curve.tsv").read_text().splitlines()]
    return [float(row[header.index(name)]) for row in rows for name in ("train_loss", "dev_loss", "gradient_norm")]


@pytest.mark.slow
def test_two_processes_make_the_updates_of_one(corpus: dict[str, Path], tmp_path: Path) -> None:
    for name, processes in (("one", 1), ("two", 2)):
        result = run(corpus, tmp_path / name, processes)
        assert result.returncode == 0, result.stderr
    assert result.stderr.count("(best)") <= 3, "one of them tells"
    first_weights, two = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    for name, weights in first_weights.items():
        torch.testing.assert_close(two[name], weights, rtol=1e-4, atol=1e-6)
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), rel=1e-4)
    facts = [json.loads((tmp_path / name / "facts.json").read_text()) for name in ("one", "two")]
    assert [item["processes"] for item in facts] == [1, 2]
    assert facts[0]["target_words"] == facts[1]["target_words"]
    assert all(item["training_cpu_seconds"] > 0 and 0 < item["core_share"] <= 1 for item in facts)


@pytest.mark.slow
def test_a_killed_run_goes_on(corpus: dict[str, Path], tmp_path: Path) -> None:
    training = {"updates": 200, "validate_every": 50, "checkpoint_minutes": 0.001, "system": {}}
    training["system"] = {"model": {"embedding": 8, "hidden": 12, "dropout": 0.3}}
    result = run(corpus, tmp_path / "whole", 2, **training)
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "killed"
    started = subprocess.Popen(
        command(corpus, folder, 2, **training), stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not list(folder.glob("checkpoints/*/rolling.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGKILL)
    started.communicate()
    assert not (folder / "model.safetensors").exists()
    result = run(corpus, folder, 2, **training)
    assert result.returncode == 0 and "from update" in result.stderr
    for file in ("model.safetensors", "config.json"):
        assert (folder / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    assert losses(folder) == losses(tmp_path / "whole")
    assert not (folder / "checkpoints").exists()
    second_result = run(corpus, folder, 2, **training)
    assert second_result.returncode == 0 and "reused from the cache" in second_result.stderr


def test_a_mistake_is_told_in_one_sentence(corpus: dict[str, Path], tmp_path: Path) -> None:
    environment = os.environ | {"WORLD_SIZE": "3"}
    result = subprocess.run(command(corpus, tmp_path, 2), capture_output=True, text=True, env=environment)
    assert result.returncode == 1
    assert result.stderr == "error: training.processes is 2 and 3 were started; start as many\n"


def _update_in_process(rank: int, folder: Path) -> None:
    """Make an update whose batch has no sentence for the second process, and save gradients and parameters."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    torch.manual_seed(0)
    network = torch.nn.ModuleDict({"used": torch.nn.Linear(3, 2), "unused": torch.nn.Linear(2, 2)})
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1, weight_decay=0.1)
    updater = Updater(
        network,
        lambda values: network["used"](values).sum(1),
        optimizer,
        TrainingConfig(),
        torch.device("cpu"),
        ProcessGroup(rank, 2),
    )
    updater.compute_gradients(
        [] if rank else [MicroBatch(torch.ones(4, 3))], 0.0 if rank else 1.0, has_empty_share=True
    )
    updater.apply_gradients()
    torch.save(network.state_dict(), folder / f"{rank}.pt")
    torch.distributed.destroy_process_group()


def test_a_process_without_sentences_makes_the_same_update(tmp_path: Path) -> None:
    """And a parameter without a gradient does not change, as in a single process."""
    torch.multiprocessing.spawn(_update_in_process, (tmp_path,), nprocs=2)
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    torch.manual_seed(0)
    initial = torch.nn.ModuleDict({"used": torch.nn.Linear(3, 2), "unused": torch.nn.Linear(2, 2)}).state_dict()
    for name, weights in first.items():
        assert torch.equal(weights, second[name])
        assert torch.equal(weights, initial[name]) == name.startswith("unused")


def test_every_pair_is_in_one_share() -> None:
    pairs = np.arange(7)
    shares = [ProcessGroup(rank, 3).select_share(pairs).tolist() for rank in range(3)]
    assert sorted(pair for share in shares for pair in share) == pairs.tolist()
    assert [len(share) for share in shares] == [3, 2, 2]
    assert ProcessGroup().select_share(pairs).tolist() == pairs.tolist()


def test_what_is_dropped_out_depends_on_process_and_update_alone() -> None:
    def draw_numbers(rank: int, update: int) -> list[float]:
        ProcessGroup(rank, 2).set_random_seed(5, update)
        return torch.rand(3).tolist()

    assert draw_numbers(0, 1) == draw_numbers(0, 1)
    assert len({tuple(draw_numbers(rank, update)) for rank in (0, 1) for update in (1, 2)}) == 4
    torch.manual_seed(1)
    before = torch.get_rng_state()
    ProcessGroup().set_random_seed(5, 1)
    assert torch.equal(torch.get_rng_state(), before), "a process that is alone draws on"
