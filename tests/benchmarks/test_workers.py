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

from benchmarks import batch_selection
from benchmarks.network_specs import ARBITREE, JOEYNMT, OPENNMT, NetworkSpec, build_worker_options, start_worker
from benchmarks.packed_corpus import PackedCorpus, prepare_corpus
from benchmarks.settings import Architecture, BenchmarkSettings, CorpusName, NetworkSize
from benchmarks.toolkits import batch_file
from benchmarks.toolkits.batch_file import SentenceBatch
from benchmarks.toolkits.peer_vocabulary import END_ID, PADDING_ID, START_ID, to_peer_ids
from benchmarks.worker_process import ROOT, WorkerProcess
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.run.errors import InputError

EMBEDDING, HIDDEN, VOCABULARY = 6, 8, 30
SMALL = NetworkSize(EMBEDDING, HIDDEN)
PEERS = Path(os.environ.get("BENCHMARK_PEERS", ROOT / "benchmarks" / "work" / "peers" / "bin" / "python"))
needs_peers = pytest.mark.skipif(
    not PEERS.exists(),
    reason="no environment has OpenNMT-py and JoeyNMT; `python -m benchmarks.training` makes one, or name its Python "
    "in BENCHMARK_PEERS",
)
TOOLKITS = [ARBITREE, pytest.param(OPENNMT, marks=needs_peers), pytest.param(JOEYNMT, marks=needs_peers)]


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkSettings:
    work = tmp_path_factory.mktemp("work")
    sizes = {"vocabulary": VOCABULARY, "batch_size": 3, "batches": 2, "sentences": 5, "threads": 1}
    return BenchmarkSettings(corpus=CorpusName.RANDOM, dropout=0.0, device="cpu", work=work, **sizes)


@pytest.fixture(scope="module")
def material(setting: BenchmarkSettings) -> PackedCorpus:
    return prepare_corpus(setting)


@pytest.fixture(scope="module")
def given(setting: BenchmarkSettings, material: PackedCorpus) -> dict[str, Path]:
    files = {name: setting.work / f"{name}.npz" for name in ("train", "test")}
    batch_selection.write_training_batches(material, setting, 2, files["train"])
    batch_selection.write_test_batches(material, setting, files["test"])
    return files


@contextmanager
def started(
    toolkit: str,
    setting: BenchmarkSettings,
    material: PackedCorpus,
    sizes: NetworkSize = SMALL,
    precision: str = "float32",
    **options: Any,
) -> Iterator[WorkerProcess]:
    side = NetworkSpec(toolkit, toolkit, sizes, precision, setting.system_names[0], **options)
    with start_worker(side, setting, material, PEERS, threads=1) as process:
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
    toolkit: str, setting: BenchmarkSettings, material: PackedCorpus, given: dict[str, Path], tmp_path: Path
) -> None:
    words = sum(batch.target_word_count for batch in batch_file.read_batches(given["train"]))
    with started(toolkit, setting, material) as process:
        if toolkit != ARBITREE:
            assert process.network_metadata["parameters"] == parameters_of(toolkit)
        trained = process.request("train", batches=given["train"], first=0, count=2)
        assert trained["words"] == words and trained["seconds"] > 0 and trained["peak_memory"] > 1e7
        # After the last batch comes the first one again.
        assert process.request("train", batches=given["train"], first=1, count=2)["words"] == words
        process.request("save_weights", weights=tmp_path / "weights.pt")
        found = process.request("translate", batches=given["test"], beam=3)
        assert found["sentences"] == 5
        longest = sum(
            len(batch.source) * batch.max_translation_length for batch in batch_file.read_batches(given["test"])
        )
        assert 5 <= found["words"] <= longest
    with started(toolkit, setting, material, precision="bfloat16") as process:
        assert process.request("train", batches=given["train"], first=0, count=2)["words"] == words
    with started(toolkit, setting, material) as process:
        process.request("load_weights", weights=tmp_path / "weights.pt")
        again = process.request("translate", batches=given["test"], beam=3)
        assert again["words"] == found["words"]


@pytest.mark.parametrize("architecture", Architecture)
@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_a_side_that_sees_translations_of_one_length_ends_its_own_there(
    toolkit: str, architecture: Architecture, setting: BenchmarkSettings, tmp_path: Path
) -> None:
    """Update and search agree on what ends a sentence, and an update lowers the loss of its batch."""
    rows = [np.array(row) for row in ([7, 5, 9, 0], [9, 4, 0], [6, 6, 8, 4, 0])]
    packed = {"source": tmp_path / "source.arrow", "target": tmp_path / "target.arrow"}
    for side, sentences in (("source", rows), ("target", [row[-3:] for row in rows])):
        write_ragged_rows(packed[side], sentences, "int32")
    material = PackedCorpus("three pairs", packed, packed["source"], {"source": VOCABULARY, "target": VOCABULARY})
    numbers = np.arange(3)
    batch_file.write_batches(tmp_path / "pairs.npz", [SentenceBatch(numbers, rows, [row[-3:] for row in rows])])
    batch_file.write_batches(tmp_path / "sources.npz", [SentenceBatch(numbers, rows)])
    sizes = NetworkSize(32, 64 if architecture is Architecture.RECURRENT else 32)
    setting = replace(setting, architecture=architecture, embedding=[sizes.embedding], hidden=[sizes.hidden])
    with started(toolkit, setting, material, sizes=sizes) as process:
        before = process.request("translate", batches=tmp_path / "sources.npz", beam=2)["words"]
        process.request("train", batches=tmp_path / "pairs.npz", first=0, count=298)
        for _ in range(2):
            studied = process.request(
                "train_with_rates", batches=tmp_path / "pairs.npz", seed=1, first=0, rates=[0.001]
            )
            assert studied["words"] == 9 and studied["cpu_seconds"] > 0
        after = process.request("translate", batches=tmp_path / "sources.npz", beam=2)["words"]
        said = []
        for rate in (None, 0.0, 1e3):
            if rate is not None:
                process.request("train_with_rates", batches=tmp_path / "pairs.npz", seed=1, first=0, rates=[rate])
            said.append(dict(process.request("translate", batches=tmp_path / "sources.npz", beam=2)["translations"]))
    assert after == 9 != before
    assert said[0] == said[1] == {number: row[-3:].tolist() for number, row in enumerate(rows)} != said[2]


@pytest.mark.parametrize("toolkit", TOOLKITS[:2])
def test_a_moving_average_of_weights_translates(
    toolkit: str, setting: BenchmarkSettings, material: PackedCorpus, given: dict[str, Path], tmp_path: Path
) -> None:
    def said(process: WorkerProcess) -> list[Any]:
        return process.request("translate", batches=given["test"], beam=2)["translations"]

    average: dict[str, torch.Tensor] = {}
    batch_file.write_batches(tmp_path / "one.npz", batch_file.read_batches(given["train"])[:1])
    with started(toolkit, setting, material, average_decay=0.9) as process:
        for update, rate in enumerate([*[0.02] * 30, 0.3]):
            process.request("train_with_rates", batches=tmp_path / "one.npz", seed=update, first=0, rates=[rate])
            process.request("save_weights", weights=tmp_path / "weights.pt")
            decay = min(0.9, (1 + update) / (10 + update))
            for name, weight in torch.load(tmp_path / "weights.pt").items():
                before = average.get(name, weight)
                average[name] = decay * before + (1 - decay) * weight
        found = said(process)
        assert said(process) == found
        process.request("save_weights", weights=tmp_path / "again.pt")
    with started(toolkit, setting, material) as process:
        process.request("load_weights", weights=tmp_path / "weights.pt")
        of_weights = said(process)
        torch.save(average, tmp_path / "average.pt")
        process.request("load_weights", weights=tmp_path / "average.pt")
        assert said(process) == found != of_weights
    last, again = (torch.load(tmp_path / f"{name}.pt") for name in ("weights", "again"))
    assert all(torch.equal(last[name], again[name]) for name in last)


@needs_peers
def test_transformers_have_as_many_parameters_in_all_toolkits(
    setting: BenchmarkSettings, material: PackedCorpus
) -> None:
    sizes = NetworkSize(64, 64)
    setting = replace(setting, architecture=Architecture.TRANSFORMER, embedding=[64], hidden=[64])
    found = {}
    for toolkit in (ARBITREE, OPENNMT, JOEYNMT):
        with started(toolkit, setting, material, sizes=sizes) as process:
            found[toolkit] = process.network_metadata["parameters"]
    assert max(found.values()) < 1.02 * min(found.values()), found


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_tied_embeddings_are_the_weights_of_the_softmax_in_all_toolkits(
    toolkit: str, setting: BenchmarkSettings, material: PackedCorpus
) -> None:
    sizes, words = (
        NetworkSize(HIDDEN, HIDDEN),
        VOCABULARY + (0 if toolkit == ARBITREE else 2),
    )  # peers have padding and a start
    found = []
    for tied in (False, True):
        with started(toolkit, setting, material, sizes=sizes, has_tied_embeddings=tied) as process:
            found.append(process.network_metadata["parameters"])
    assert found[0] - found[1] == words * HIDDEN


def test_peers_of_unequal_sizes_tie_nothing(setting: BenchmarkSettings, material: PackedCorpus) -> None:
    assert not build_worker_options(
        NetworkSpec("peer", OPENNMT, SMALL, has_tied_embeddings=True), setting, material, 1
    )["tied"]


@needs_peers
@pytest.mark.parametrize(("toolkit", "built"), [(OPENNMT, "OpenNMT"), (JOEYNMT, "JoeyNMT")])
def test_peers_are_given_the_same_sentences_with_their_own_special_words(
    toolkit: str, built: str, setting: BenchmarkSettings, material: PackedCorpus, given: dict[str, Path]
) -> None:
    code = f"""
import json, sys
from benchmarks.toolkits.batch_file import read
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
    made = build_worker_options(NetworkSpec(toolkit, toolkit, SMALL), setting, material, threads=1)
    command = [PEERS, "-c", code, json.dumps(made), given["train"]]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    told = [json.loads(line[6:]) for line in done.stdout.splitlines() if line.startswith("batch ")]
    for batch, (source, lengths, target) in zip(batch_file.read_batches(given["train"]), told, strict=True):
        # OpenNMT-py has no end on the source side; JoeyNMT sorts a batch, and splits the start from the target.
        own = [row[:-1] for row in batch.source] if toolkit == OPENNMT else batch.source
        expected = batch_file.pad_rows([to_peer_ids(row) for row in own], PADDING_ID).tolist()
        starts = [[START_ID, *to_peer_ids(row)] for row in batch.target]
        targets = batch_file.pad_rows([np.array(row[toolkit == JOEYNMT :]) for row in starts], PADDING_ID).tolist()
        assert sorted(zip(source, lengths, target, strict=True)) == sorted(
            zip(expected, map(len, own), targets, strict=True)
        )


def test_identifiers_of_the_pipeline_and_of_the_peers_are_one_to_one() -> None:
    assert to_peer_ids(np.array([2, 3, 29, 1, 0])).tolist() == [4, 5, 31, 0, END_ID]


def test_a_worker_that_fails_is_named_with_its_log(
    setting: BenchmarkSettings, material: PackedCorpus, tmp_path: Path
) -> None:
    broken = {
        **build_worker_options(NetworkSpec("arbitree", ARBITREE, NetworkSize(4, 4)), setting, material, threads=1),
        "packed": {},
    }
    log = tmp_path / "log.txt"
    with (
        pytest.raises(InputError, match=r"log\.txt: broken has ended"),
        WorkerProcess("broken", sys.executable, ARBITREE, broken, log) as process,
    ):
        process.request("train", batches=tmp_path, first=0, count=1)
    assert "KeyError" in log.read_text()
