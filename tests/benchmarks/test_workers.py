"""Sides as processes: what they are given, what they compute, and what they tell."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import chosen
from benchmarks.material import Material, prepared
from benchmarks.processes import ROOT, Worker
from benchmarks.setting import Architecture, Corpus, Setting, Shape
from benchmarks.sides import JOEYNMT, OPENNMT, OURS, Side, job, worker
from benchmarks.toolkits import batches
from benchmarks.toolkits.batches import Sentences
from benchmarks.toolkits.special_words import END, PADDING, START, renumbered
from pipeline_py.files.ragged import write_rows
from pipeline_py.run.errors import InputError

EMBEDDING, HIDDEN, VOCABULARY = 6, 8, 30
SMALL = Shape(EMBEDDING, HIDDEN)
PEERS = Path(os.environ.get("BENCHMARK_PEERS", ROOT / "benchmarks" / "work" / "peers" / "bin" / "python"))
needs_peers = pytest.mark.skipif(
    not PEERS.exists(),
    reason="no environment has OpenNMT-py and JoeyNMT; `python -m benchmarks.training` makes one, or name its Python "
    "in BENCHMARK_PEERS",
)
TOOLKITS = [OURS, pytest.param(OPENNMT, marks=needs_peers), pytest.param(JOEYNMT, marks=needs_peers)]


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    work = tmp_path_factory.mktemp("work")
    sizes = {"vocabulary": VOCABULARY, "batch_size": 3, "batches": 2, "sentences": 5, "threads": 1}
    return Setting(corpus=Corpus.RANDOM, dropout=0.0, device="cpu", work=work, **sizes)


@pytest.fixture(scope="module")
def material(setting: Setting) -> Material:
    return prepared(setting)


@pytest.fixture(scope="module")
def given(setting: Setting, material: Material) -> dict[str, Path]:
    files = {name: setting.work / f"{name}.npz" for name in ("train", "test")}
    chosen.training_batches(material, setting, 2, files["train"])
    chosen.test_batches(material, setting, files["test"])
    return files


@contextmanager
def started(
    toolkit: str,
    setting: Setting,
    material: Material,
    sizes: Shape = SMALL,
    precision: str = "float32",
    **options: Any,
) -> Iterator[Worker]:
    side = Side(toolkit, toolkit, sizes, precision, setting.systems[0], **options)
    with worker(side, setting, material, PEERS, threads=1) as process:
        yield process


def parameters_of(toolkit: str) -> int:
    """Count them by the toolkit's description: one matrix for each of a GRU's three gates, and biases."""
    e, h, words = EMBEDDING, HIDDEN, VOCABULARY + 2
    if toolkit == OPENNMT:  # h is that of both directions together; biases on both sides of a GRU
        encoder = 2 * 3 * (h // 2 * (e + h // 2) + 2 * (h // 2))
        decoder = 3 * (h * (e + h + h) + 2 * h)
        attention = h * h + (h * h + h) + h + (2 * h * h + h)
        return 2 * words * e + encoder + decoder + attention + (words * h + words)
    encoder = 2 * 3 * (h * (e + h) + 2 * h)
    decoder = 3 * (h * (e + h + h) + 2 * h) + (2 * h * h + h)  # with the bridge
    attention = 2 * h * h + h * h + h
    return 2 * words * e + encoder + decoder + attention + (3 * h * h + h) + words * h


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_a_worker_trains_and_translates(
    toolkit: str, setting: Setting, material: Material, given: dict[str, Path], tmp_path: Path
) -> None:
    words = sum(batch.words for batch in batches.read(given["train"]))
    with started(toolkit, setting, material) as process:
        if toolkit != OURS:
            assert process.facts["parameters"] == parameters_of(toolkit)
        trained = process.asked("train", batches=given["train"], first=0, count=2)
        assert trained["words"] == words and trained["seconds"] > 0 and trained["peak_memory"] > 1e7
        # After the last batch comes the first one again.
        assert process.asked("train", batches=given["train"], first=1, count=2)["words"] == words
        process.asked("save", weights=tmp_path / "weights.pt")
        found = process.asked("translate", batches=given["test"], beam=3)
        assert found["sentences"] == 5
        longest = sum(len(batch.source) * batch.longest_translation for batch in batches.read(given["test"]))
        assert 5 <= found["words"] <= longest
    with started(toolkit, setting, material, precision="bfloat16") as process:
        assert process.asked("train", batches=given["train"], first=0, count=2)["words"] == words
    with started(toolkit, setting, material) as process:
        process.asked("load", weights=tmp_path / "weights.pt")
        again = process.asked("translate", batches=given["test"], beam=3)
        assert again["words"] == found["words"]


@pytest.mark.parametrize("architecture", Architecture)
@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_a_side_that_sees_translations_of_one_length_ends_its_own_there(
    toolkit: str, architecture: Architecture, setting: Setting, tmp_path: Path
) -> None:
    """Update and search agree on what ends a sentence, and an update lowers the loss of its batch."""
    rows = [np.array(row) for row in ([7, 5, 9, 0], [9, 4, 0], [6, 6, 8, 4, 0])]
    packed = {"source": tmp_path / "source.arrow", "target": tmp_path / "target.arrow"}
    for side, sentences in (("source", rows), ("target", [row[-3:] for row in rows])):
        write_rows(packed[side], sentences, "int32")
    material = Material("three pairs", packed, packed["source"], {"source": VOCABULARY, "target": VOCABULARY})
    numbers = np.arange(3)
    batches.write(tmp_path / "pairs.npz", [Sentences(numbers, rows, [row[-3:] for row in rows])])
    batches.write(tmp_path / "sources.npz", [Sentences(numbers, rows)])
    sizes = Shape(32, 64 if architecture is Architecture.RECURRENT else 32)
    setting = replace(setting, architecture=architecture, embedding=[sizes.embedding], hidden=[sizes.hidden])
    with started(toolkit, setting, material, sizes=sizes) as process:
        before = process.asked("translate", batches=tmp_path / "sources.npz", beam=2)["words"]
        process.asked("train", batches=tmp_path / "pairs.npz", first=0, count=298)
        for _ in range(2):
            studied = process.asked("study", batches=tmp_path / "pairs.npz", seed=1, first=0, rates=[0.001])
            assert studied["words"] == 9 and studied["cpu_seconds"] > 0
        after = process.asked("translate", batches=tmp_path / "sources.npz", beam=2)["words"]
        said = []
        for rate in (None, 0.0, 1e3):
            if rate is not None:
                process.asked("study", batches=tmp_path / "pairs.npz", seed=1, first=0, rates=[rate])
            said.append(dict(process.asked("translate", batches=tmp_path / "sources.npz", beam=2)["translations"]))
    assert after == 9 != before
    assert said[0] == said[1] == {number: row[-3:].tolist() for number, row in enumerate(rows)} != said[2]


@pytest.mark.parametrize("toolkit", TOOLKITS[:2])
def test_a_moving_average_of_weights_translates(
    toolkit: str, setting: Setting, material: Material, given: dict[str, Path], tmp_path: Path
) -> None:
    def said(process: Worker) -> list[Any]:
        return process.asked("translate", batches=given["test"], beam=2)["translations"]

    average: dict[str, torch.Tensor] = {}
    batches.write(tmp_path / "one.npz", batches.read(given["train"])[:1])
    with started(toolkit, setting, material, moving_average=0.9) as process:
        for update, rate in enumerate([*[0.02] * 30, 0.3]):
            process.asked("study", batches=tmp_path / "one.npz", seed=update, first=0, rates=[rate])
            process.asked("save", weights=tmp_path / "weights.pt")
            decay = min(0.9, (1 + update) / (10 + update))
            for name, weight in torch.load(tmp_path / "weights.pt").items():
                before = average.get(name, weight)
                average[name] = decay * before + (1 - decay) * weight
        found = said(process)
        assert said(process) == found
        process.asked("save", weights=tmp_path / "again.pt")
    with started(toolkit, setting, material) as process:
        process.asked("load", weights=tmp_path / "weights.pt")
        of_weights = said(process)
        torch.save(average, tmp_path / "average.pt")
        process.asked("load", weights=tmp_path / "average.pt")
        assert said(process) == found != of_weights
    last, again = (torch.load(tmp_path / f"{name}.pt") for name in ("weights", "again"))
    assert all(torch.equal(last[name], again[name]) for name in last)


@needs_peers
def test_transformers_have_as_many_parameters_in_all_toolkits(setting: Setting, material: Material) -> None:
    sizes = Shape(64, 64)
    setting = replace(setting, architecture=Architecture.TRANSFORMER, embedding=[64], hidden=[64])
    found = {}
    for toolkit in (OURS, OPENNMT, JOEYNMT):
        with started(toolkit, setting, material, sizes=sizes) as process:
            found[toolkit] = process.facts["parameters"]
    assert max(found.values()) < 1.02 * min(found.values()), found


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_tied_embeddings_are_the_weights_of_the_softmax_in_all_toolkits(
    toolkit: str, setting: Setting, material: Material
) -> None:
    sizes, words = Shape(HIDDEN, HIDDEN), VOCABULARY + (0 if toolkit == OURS else 2)  # peers have padding and a start
    found = []
    for tied in (False, True):
        with started(toolkit, setting, material, sizes=sizes, tied=tied) as process:
            found.append(process.facts["parameters"])
    assert found[0] - found[1] == words * HIDDEN


def test_peers_of_unequal_sizes_tie_nothing(setting: Setting, material: Material) -> None:
    assert not job(Side("peer", OPENNMT, SMALL, tied=True), setting, material, 1)["tied"]


@needs_peers
@pytest.mark.parametrize(("toolkit", "built"), [(OPENNMT, "OpenNMT"), (JOEYNMT, "JoeyNMT")])
def test_peers_are_given_the_same_sentences_with_their_own_special_words(
    toolkit: str, built: str, setting: Setting, material: Material, given: dict[str, Path]
) -> None:
    code = f"""
import json, sys
from benchmarks.toolkits.batches import read
from benchmarks.toolkits.{toolkit} import {built}
side = {built}(json.loads(sys.argv[1]))
for batch in read(sys.argv[2]):
    prepared, _ = side.prepared(batch)
    if {toolkit!r} == "opennmt":
        source, lengths, target = prepared["src"][:, :, 0], prepared["srclen"], prepared["tgt"][:, :, 0]
    else:
        source, lengths, target = prepared.src, prepared.src_length, prepared.trg
    print("batch", json.dumps([source.tolist(), lengths.tolist(), target.tolist()]))
"""
    made = job(Side(toolkit, toolkit, SMALL), setting, material, threads=1)
    command = [PEERS, "-c", code, json.dumps(made), given["train"]]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    told = [json.loads(line[6:]) for line in done.stdout.splitlines() if line.startswith("batch ")]
    for batch, (source, lengths, target) in zip(batches.read(given["train"]), told, strict=True):
        # OpenNMT-py has no end on the source side; JoeyNMT sorts a batch, and splits the start from the target.
        own = [row[:-1] for row in batch.source] if toolkit == OPENNMT else batch.source
        expected = batches.padded([renumbered(row) for row in own], PADDING).tolist()
        starts = [[START, *renumbered(row)] for row in batch.target]
        targets = batches.padded([np.array(row[toolkit == JOEYNMT :]) for row in starts], PADDING).tolist()
        assert sorted(zip(source, lengths, target, strict=True)) == sorted(
            zip(expected, map(len, own), targets, strict=True)
        )


def test_identifiers_of_the_pipeline_and_of_the_peers_are_one_to_one() -> None:
    assert renumbered(np.array([2, 3, 29, 1, 0])).tolist() == [4, 5, 31, 0, END]


def test_a_worker_that_fails_is_named_with_its_log(setting: Setting, material: Material, tmp_path: Path) -> None:
    broken = {**job(Side("ours", OURS, Shape(4, 4)), setting, material, threads=1), "packed": {}}
    log = tmp_path / "log.txt"
    with (
        pytest.raises(InputError, match=r"log\.txt: broken has ended"),
        Worker("broken", sys.executable, OURS, broken, log) as process,
    ):
        process.asked("train", batches=tmp_path, first=0, count=1)
    assert "KeyError" in log.read_text()
