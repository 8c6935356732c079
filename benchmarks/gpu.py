"""Measure training on a GPU in the papers' sizes: target words per second, and the share of the card's peak.

    python -m benchmarks.gpu
    python -m benchmarks.gpu --embedding 620 --hidden 1000 --vocabulary 50000 --batch-size 80 --precision bfloat16
    python -m benchmarks.gpu --architecture transformer --embedding 512 --hidden 512

Sentences are random. Without a GPU, use `--device cpu` and small sizes.
"""

from contextlib import ExitStack
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

from pipeline_py.device import device_named
from pipeline_py.processors import count_processors

from benchmarks import chosen, machine, peers, table
from benchmarks.contest import Contender, Contest
from benchmarks.material import Material, prepared
from benchmarks.setting import Architecture, Corpus, Setting, Shape, command
from benchmarks.sides import OPENNMT, OURS, Side, worker
from pipeline_py import stage

SYSTEMS = {
    Architecture.RECURRENT: ("GlobalAtt", "SDAtt", "+SDAtt"),
    Architecture.TRANSFORMER: ("Transformer-base", "Transformer-PASCAL", "Transformer-Deps-SAN"),
}
TREE2SEQ_SIZE = 512
"""Of its embeddings and states, if not smaller ones are asked for."""

COUNTED = "target words, ends of sentences included, padding excluded"

COLUMNS = {
    "side": ("", ""),
    "precision": ("", ""),
    "shape": ("sizes", ""),
    "parameters": ("parameters", ",d"),
    "words_per_second": ("words/s", ",.0f"),
    "to_opennmt": ("to OpenNMT-py", ".2f"),
    "teraflops": ("TFLOP/s", ".2f"),
    "share_of_peak": ("of peak", ".1%"),
    "peak_megabytes": ("peak MB", ",.0f"),
}


def gpu(setting: Setting) -> list[table.Row]:
    """Time updates of our systems and of OpenNMT-py in each precision on the same batches, and write `gpu.tsv`.

    The share of the peak is the rate of multiply-adds in matrix products (counted on a CPU), divided by the rate that
    the card's data sheet gives for dense products in that precision; it is empty for an unknown card. Ratios compare
    with OpenNMT-py in the same precision.
    """
    material, python = prepared(setting), peers.interpreter(setting)
    rows: list[table.Row] = [row for shape in setting.shapes for row in _of_shape(shape, setting, material, python)]
    table.write(setting.results / "gpu.tsv", rows)
    print(f"\nTraining on {rows[0]['card'] or rows[0]['processor']}: {COUNTED}, a second; {material.name};")
    print(f"batches of {setting.batch_size}, medians of {setting.rounds} rounds (lowest–highest)\n")
    table.show(rows, COLUMNS)
    return rows


def _of_shape(shape: Shape, setting: Setting, material: Material, python: Path | None) -> list[dict[str, Any]]:
    """Measure all sides in one size, and beside recurrent ones Tree2Seq in its own; its updates cannot be recorded.

    The sides of one precision are on the card together, since those of all would fill it.
    """
    batches = setting.work / "batches" / "gpu.npz"
    chosen.training_batches(material, setting, setting.batches, batches)
    sides = [] if python is None else [Side("OpenNMT-py", OPENNMT, shape)]
    for system in SYSTEMS[setting.architecture]:
        sides.append(Side(system, OURS, shape, system=system))
        if device_named(setting.device) == "cuda":
            sides.append(Side(f"{system}, one by one", OURS, shape, system=system, graphs=False))
    if setting.architecture is Architecture.RECURRENT:
        of_trees = Shape(min(shape.embedding, TREE2SEQ_SIZE), min(shape.hidden, TREE2SEQ_SIZE))
        sides.append(Side("Tree2Seq", OURS, of_trees, system="Tree2Seq"))
    products: dict[tuple[str, str], float] = {}
    rows = []
    for precision in setting.precision:
        with ExitStack() as running:
            contest = Contest(setting, material, python, running)
            for side in sides:
                contest.add(replace(side, precision=precision), batches)
            measured = contest.run(f"training {shape} in {precision}", "train", first=0, count=setting.batches)
            for name, contender in contest.contenders.items():
                network = contender.side.toolkit, contender.side.system
                if network not in products:
                    products[network] = _multiply_adds(contender, setting, material, python)
                row = contest.row(name, measured, "words", {"to_opennmt": f"OpenNMT-py {precision}"})
                flops = 2 * products[network] * row["words_per_second"].median
                peak = machine.peak(row["card"], precision)
                added = {"multiply_adds": products[network], "teraflops": flops / 1e12}
                share = {"share_of_peak": nan if peak is None else flops / peak}
                rows.append({"shape": str(contender.side.shape), **row, **added, **share, "counted": COUNTED})
    return rows


def _multiply_adds(contender: Contender, setting: Setting, material: Material, python: Path | None) -> float:
    """Count the multiply-adds for each target word with one batch, on a CPU: what a GPU replays is not seen there."""
    asked = {"batches": contender.batches, "count": 1}
    if device_named(setting.device) == "cpu":
        return contender.workers[0].asked("multiply_adds", **asked)["multiply_adds"]
    with worker(contender.side, setting, material, python, count_processors(), device="cpu") as process:
        return process.asked("multiply_adds", **asked)["multiply_adds"]


if __name__ == "__main__":
    paper = {"embedding": [620], "hidden": [1000], "vocabulary": 50_000, "corpus": Corpus.RANDOM, "batch_size": 80}
    precisions = ["float32", "tf32", "bfloat16"]
    stage.run(command(gpu, **paper, precision=precisions, device="cuda"))
