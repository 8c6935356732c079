"""The counter includes every product of a network, also those within its loops over time and trees."""

from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.network_specs import ARBITREE, NetworkSpec, build_worker_options
from benchmarks.packed_corpus import PackedCorpus
from benchmarks.random_corpus import draw_tree_row
from benchmarks.settings import BenchmarkSettings, NetworkSize
from benchmarks.toolkits import batch_file
from benchmarks.toolkits.arbitree import ArbitreeAdapter
from benchmarks.toolkits.batch_file import SentenceBatch
from benchmarks.toolkits.worker_server import RequestHandler, configure_torch
from pipeline_py.files.ragged_arrays import read_ragged_rows, write_ragged_rows

PAIRS, SOURCE, TARGET, HIDDEN = 3, 40, 30, 16
"""Sentences all have the same length, their end included, so that there is no padding."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> PackedCorpus:
    folder = tmp_path_factory.mktemp("packed")
    random = np.random.default_rng(1)
    files = {name: folder / f"{name}.arrow" for name in ("source", "target", "trees")}
    for side, length in (("source", SOURCE), ("target", TARGET)):
        rows = [np.array([*random.integers(2, 50, length - 1), 0]) for _ in range(PAIRS)]
        write_ragged_rows(files[side], rows, "int32")
    trees = [draw_tree_row(random, SOURCE - 1) for _ in range(PAIRS)]
    write_ragged_rows(files["trees"], trees, "int32")
    return PackedCorpus("pairs of one length", files, files["source"], {"source": 50, "target": 50})


def build_request_handler(system: str, corpus: PackedCorpus, precision: str = "float32") -> RequestHandler:
    settings = BenchmarkSettings(device="cpu", dropout=0.0)
    options = build_worker_options(
        NetworkSpec(system, ARBITREE, NetworkSize(12, HIDDEN), precision, system), settings, corpus, threads=1
    )
    return RequestHandler(ArbitreeAdapter(options), configure_torch(options))


def count_matrix_multiply_adds(network: torch.nn.Module, rows: dict[str, int]) -> float:
    """Count multiply-adds of all matrices per target word: forward, for the gradients of the input and of the weight.

    Args:
        network: network whose matrices are counted.
        rows: prefix of a parameter's name → number of vectors of a sentence that the matrix is applied to.
    """
    total = 0
    for name, weight in network.named_parameters():
        if weight.dim() == 2 and "embedding" not in name:
            applied = next(count for prefix, count in rows.items() if name.startswith(prefix))
            total += 3 * applied * weight.numel()
    return total / TARGET


@pytest.mark.parametrize(
    ("system", "rows"),
    [
        ("GlobalAtt", {"encoders": SOURCE, "decoder.scores.0.key": SOURCE, "decoder.initial": 1, "decoder": TARGET}),
        ("Seq2Seq", {"encoders": SOURCE, "decoder": TARGET}),
        # Words are one fewer than positions, phrases one fewer than words; another unit makes the first state.
        (
            "Tree2Seq",
            {"encoders.0.tree": SOURCE - 2, "encoders.0.summarize": 1, "encoders": SOURCE, "decoder": TARGET},
        ),
        (
            "Sequential-bidirectional",
            {"encoders": SOURCE, "decoder.scores.0.key": SOURCE, "decoder.initial": 1, "decoder": TARGET},
        ),
    ],
)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_products_are_those_of_all_matrices_and_of_attention(
    precision: str, system: str, rows: dict[str, int], corpus: PackedCorpus, tmp_path: Path
) -> None:
    handler = build_request_handler(system, corpus, precision)
    file = tmp_path / "pairs.npz"
    source, target = (list(read_ragged_rows(corpus.train_files[side])) for side in ("source", "target"))
    batch_file.write_batches(file, [SentenceBatch(np.arange(PAIRS), source, target)])
    counted = handler.handle_request("count_multiply_adds", batches=str(file), count=1)["multiply_adds"]
    # For each target word the context is a sum over annotations, which has three products, and some scores have theirs.
    least, most = 3 * SOURCE * HIDDEN, 3 * 4 * 2 * SOURCE * 2 * HIDDEN
    matrices = count_matrix_multiply_adds(handler.adapter.model, rows)
    # A first state that is known to be zero may be left out of products.
    assert 0.97 * matrices + least <= counted <= 1.01 * matrices + most, (counted, matrices)
