"""Worker processes of benchmarks: their inputs, their computations and their answers."""

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
def settings(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkSettings:
    work = tmp_path_factory.mktemp("work")
    sizes = {"vocabulary": VOCABULARY, "batch_size": 3, "batches": 2, "sentences": 5, "threads": 1}
    return BenchmarkSettings(corpus=CorpusName.RANDOM, dropout=0.0, device="cpu", work=work, **sizes)


@pytest.fixture(scope="module")
def corpus(settings: BenchmarkSettings) -> PackedCorpus:
    return prepare_corpus(settings)


@pytest.fixture(scope="module")
def batch_files(settings: BenchmarkSettings, corpus: PackedCorpus) -> dict[str, Path]:
    files = {name: settings.work / f"{name}.npz" for name in ("train", "test")}
    batch_selection.write_training_batches(corpus, settings, 2, files["train"])
    batch_selection.write_test_batches(corpus, settings, files["test"])
    return files


@contextmanager
def start_test_worker(
    toolkit: str,
    settings: BenchmarkSettings,
    corpus: PackedCorpus,
    sizes: NetworkSize = SMALL,
    precision: str = "float32",
    **options: Any,
) -> Iterator[WorkerProcess]:
    side = NetworkSpec(toolkit, toolkit, sizes, precision, settings.system_names[0], **options)
    with start_worker(side, settings, corpus, PEERS, threads=1) as process:
        yield process


def count_parameters(toolkit: str) -> int:
    """Count parameters from the description of a toolkit: one matrix for each of a GRU's three gates, and biases."""
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


@pytest.mark.slow
@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_a_worker_trains_and_translates(
    toolkit: str, settings: BenchmarkSettings, corpus: PackedCorpus, batch_files: dict[str, Path], tmp_path: Path
) -> None:
    words = sum(batch.target_word_count for batch in batch_file.read_batches(batch_files["train"]))
    with start_test_worker(toolkit, settings, corpus) as process:
        if toolkit != ARBITREE:
            assert process.network_metadata["parameters"] == count_parameters(toolkit)
        trained = process.request("train", batches=batch_files["train"], first=0, count=2)
        assert trained["words"] == words and trained["seconds"] > 0 and trained["peak_memory"] > 1e7
        # After the last batch comes the first one again.
        assert process.request("train", batches=batch_files["train"], first=1, count=2)["words"] == words
        process.request("save_weights", weights=tmp_path / "weights.pt")
        translated = process.request("translate", batches=batch_files["test"], beam=3)
        assert translated["sentences"] == 5
        longest = sum(
            len(batch.source) * batch.max_translation_length for batch in batch_file.read_batches(batch_files["test"])
        )
        assert 5 <= translated["words"] <= longest
    with start_test_worker(toolkit, settings, corpus, precision="bfloat16") as process:
        assert process.request("train", batches=batch_files["train"], first=0, count=2)["words"] == words
    with start_test_worker(toolkit, settings, corpus) as process:
        process.request("load_weights", weights=tmp_path / "weights.pt")
        repeated = process.request("translate", batches=batch_files["test"], beam=3)
        assert repeated["words"] == translated["words"]


@pytest.mark.slow
@pytest.mark.parametrize("architecture", Architecture)
@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_a_network_learns_to_end_its_translations(
    toolkit: str, architecture: Architecture, settings: BenchmarkSettings, tmp_path: Path
) -> None:
    """Training and search use the same end of sentence, and an update lowers the loss of its batch."""
    rows = [np.array(row) for row in ([7, 5, 9, 0], [9, 4, 0], [6, 6, 8, 4, 0])]
    packed = {"source": tmp_path / "source.arrow", "target": tmp_path / "target.arrow"}
    for side, sentences in (("source", rows), ("target", [row[-3:] for row in rows])):
        write_ragged_rows(packed[side], sentences, "int32")
    corpus = PackedCorpus("three pairs", packed, packed["source"], {"source": VOCABULARY, "target": VOCABULARY})
    numbers = np.arange(3)
    batch_file.write_batches(tmp_path / "pairs.npz", [SentenceBatch(numbers, rows, [row[-3:] for row in rows])])
    batch_file.write_batches(tmp_path / "sources.npz", [SentenceBatch(numbers, rows)])
    sizes = NetworkSize(32, 64 if architecture is Architecture.RECURRENT else 32)
    settings = replace(settings, architecture=architecture, embedding=[sizes.embedding], hidden=[sizes.hidden])
    with start_test_worker(toolkit, settings, corpus, sizes=sizes) as process:
        before = process.request("translate", batches=tmp_path / "sources.npz", beam=2)["words"]
        process.request("train", batches=tmp_path / "pairs.npz", first=0, count=298)
        for _ in range(2):
            measurements = process.request(
                "train_with_rates", batches=tmp_path / "pairs.npz", seed=1, first=0, rates=[0.001]
            )
            assert measurements["words"] == 9 and measurements["cpu_seconds"] > 0
        after = process.request("translate", batches=tmp_path / "sources.npz", beam=2)["words"]
        translations = []
        for rate in (None, 0.0, 1e3):
            if rate is not None:
                process.request("train_with_rates", batches=tmp_path / "pairs.npz", seed=1, first=0, rates=[rate])
            translations.append(
                dict(process.request("translate", batches=tmp_path / "sources.npz", beam=2)["translations"])
            )
    assert after == 9 != before
    assert (
        translations[0]
        == translations[1]
        == {number: row[-3:].tolist() for number, row in enumerate(rows)}
        != translations[2]
    )


@pytest.mark.slow
@pytest.mark.parametrize("toolkit", TOOLKITS[:2])
def test_a_moving_average_of_weights_translates(
    toolkit: str, settings: BenchmarkSettings, corpus: PackedCorpus, batch_files: dict[str, Path], tmp_path: Path
) -> None:
    def translate(process: WorkerProcess) -> list[Any]:
        return process.request("translate", batches=batch_files["test"], beam=2)["translations"]

    average: dict[str, torch.Tensor] = {}
    batch_file.write_batches(tmp_path / "one.npz", batch_file.read_batches(batch_files["train"])[:1])
    with start_test_worker(toolkit, settings, corpus, average_decay=0.9) as process:
        for update, rate in enumerate([*[0.02] * 30, 0.3]):
            process.request("train_with_rates", batches=tmp_path / "one.npz", seed=update, first=0, rates=[rate])
            process.request("save_weights", weights=tmp_path / "weights.pt")
            decay = min(0.9, (1 + update) / (10 + update))
            for name, weight in torch.load(tmp_path / "weights.pt").items():
                before = average.get(name, weight)
                average[name] = decay * before + (1 - decay) * weight
        average_translations = translate(process)
        assert translate(process) == average_translations
        process.request("save_weights", weights=tmp_path / "again.pt")
    with start_test_worker(toolkit, settings, corpus) as process:
        process.request("load_weights", weights=tmp_path / "weights.pt")
        last_translations = translate(process)
        torch.save(average, tmp_path / "average.pt")
        process.request("load_weights", weights=tmp_path / "average.pt")
        assert translate(process) == average_translations != last_translations
    last, again = (torch.load(tmp_path / f"{name}.pt") for name in ("weights", "again"))
    assert all(torch.equal(last[name], again[name]) for name in last)


@needs_peers
def test_transformers_have_as_many_parameters_in_all_toolkits(
    settings: BenchmarkSettings, corpus: PackedCorpus
) -> None:
    sizes = NetworkSize(64, 64)
    settings = replace(settings, architecture=Architecture.TRANSFORMER, embedding=[64], hidden=[64])
    parameter_counts = {}
    for toolkit in (ARBITREE, OPENNMT, JOEYNMT):
        with start_test_worker(toolkit, settings, corpus, sizes=sizes) as process:
            parameter_counts[toolkit] = process.network_metadata["parameters"]
    assert max(parameter_counts.values()) < 1.02 * min(parameter_counts.values()), parameter_counts


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_tied_embeddings_are_the_weights_of_the_softmax_in_all_toolkits(
    toolkit: str, settings: BenchmarkSettings, corpus: PackedCorpus
) -> None:
    sizes, words = (
        NetworkSize(HIDDEN, HIDDEN),
        VOCABULARY + (0 if toolkit == ARBITREE else 2),
    )  # peers have padding and a start
    parameter_counts = []
    for is_tied in (False, True):
        with start_test_worker(toolkit, settings, corpus, sizes=sizes, has_tied_embeddings=is_tied) as process:
            parameter_counts.append(process.network_metadata["parameters"])
    assert parameter_counts[0] - parameter_counts[1] == words * HIDDEN


def test_peers_of_unequal_sizes_tie_nothing(settings: BenchmarkSettings, corpus: PackedCorpus) -> None:
    assert not build_worker_options(NetworkSpec("peer", OPENNMT, SMALL, has_tied_embeddings=True), settings, corpus, 1)[
        "tied"
    ]


@needs_peers
@pytest.mark.parametrize(("toolkit", "adapter_name"), [(OPENNMT, "OpenNMTAdapter"), (JOEYNMT, "JoeyNMTAdapter")])
def test_peers_get_the_same_sentences_with_their_special_tokens(
    toolkit: str, adapter_name: str, settings: BenchmarkSettings, corpus: PackedCorpus, batch_files: dict[str, Path]
) -> None:
    code = f"""
import json, sys
from benchmarks.toolkits.batch_file import read_batches
from benchmarks.toolkits.{toolkit} import {adapter_name}
adapter = {adapter_name}(json.loads(sys.argv[1]))
for batch in read_batches(sys.argv[2]):
    prepared, _ = adapter.prepare_batch(batch)
    if {toolkit!r} == "opennmt":
        source, lengths, target = prepared["src"][:, :, 0], prepared["srclen"], prepared["tgt"][:, :, 0]
    else:
        source, lengths, target = prepared.src, prepared.src_length, prepared.trg
    print("batch", json.dumps([source.tolist(), lengths.tolist(), target.tolist()]))
"""
    options = build_worker_options(NetworkSpec(toolkit, toolkit, SMALL), settings, corpus, threads=1)
    command = [PEERS, "-c", code, json.dumps(options), batch_files["train"]]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    batches = [json.loads(line[6:]) for line in result.stdout.splitlines() if line.startswith("batch ")]
    for batch, (source, lengths, target) in zip(batch_file.read_batches(batch_files["train"]), batches, strict=True):
        # OpenNMT-py has no end on the source side; JoeyNMT sorts a batch, and splits the start from the target.
        source_rows = [row[:-1] for row in batch.source] if toolkit == OPENNMT else batch.source
        expected = batch_file.pad_rows([to_peer_ids(row) for row in source_rows], PADDING_ID).tolist()
        starts = [[START_ID, *to_peer_ids(row)] for row in batch.target]
        targets = batch_file.pad_rows([np.array(row[toolkit == JOEYNMT :]) for row in starts], PADDING_ID).tolist()
        assert sorted(zip(source, lengths, target, strict=True)) == sorted(
            zip(expected, map(len, source_rows), targets, strict=True)
        )


def test_identifiers_of_the_pipeline_and_of_the_peers_are_one_to_one() -> None:
    assert to_peer_ids(np.array([2, 3, 29, 1, 0])).tolist() == [4, 5, 31, 0, END_ID]


def test_a_worker_that_fails_is_named_with_its_log(
    settings: BenchmarkSettings, corpus: PackedCorpus, tmp_path: Path
) -> None:
    options = {
        **build_worker_options(NetworkSpec("arbitree", ARBITREE, NetworkSize(4, 4)), settings, corpus, threads=1),
        "packed": {},
    }
    log = tmp_path / "log.txt"
    with (
        pytest.raises(InputError, match=r"log\.txt: broken has ended"),
        WorkerProcess("broken", sys.executable, ARBITREE, options, log) as process,
    ):
        process.request("train", batches=tmp_path, first=0, count=1)
    assert "KeyError" in log.read_text()
