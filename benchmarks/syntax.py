"""Measure what syntax costs: time and multiply-adds of an update, of each system and of its twin without syntax.

    python -m benchmarks.syntax
    python -m benchmarks.syntax --embedding 256 --hidden 512 --precision bfloat16
    python -m benchmarks.syntax --architecture transformer --embedding 256 --hidden 256

All networks are in one process and alternate on the same batches.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_py.device import device_named

from benchmarks import chosen, machine, table
from benchmarks.contest import WARM_UP
from benchmarks.material import Material, prepared
from benchmarks.rounds import alternate
from benchmarks.setting import Architecture, Setting, Shape, command
from benchmarks.sides import OURS, Side, job
from pipeline_py import stage

BESIDE = {
    "GlobalAtt": "GlobalAtt",
    "BiRNN-GCN": "GlobalAtt",
    "LocalAtt": "GlobalAtt",
    "FlexAtt": "GlobalAtt",
    "SDAtt": "GlobalAtt",
    "+SDAtt": "GlobalAtt",
    "SDRNMT-2": "GlobalAtt",
    "Seq2Seq": "Seq2Seq",
    "Tree2Seq": "Seq2Seq",
    "Sequential-bidirectional": "Sequential-bidirectional",
    "Hierarchical": "Sequential-bidirectional",
}
"""System → the sequence model that it is divided by."""

TRANSFORMERS = ("base", "labels", "LISA", "PASCAL", "Deps-SAN")
OF_ARCHITECTURE = {
    Architecture.RECURRENT: BESIDE,
    Architecture.TRANSFORMER: {f"Transformer-{name}": "Transformer-base" for name in TRANSFORMERS},
}

COUNTED = "target words, ends of sentences included, padding excluded; multiply-adds of matrix products alone"

COLUMNS = {
    "system": ("", ""),
    "beside": ("beside", ""),
    "parameters": ("parameters", ",d"),
    "words_per_second": ("words/s", ",.0f"),
    "multiply_adds": ("multiply-adds a word", ",.0f"),
    "times": ("ratio of times", ".2f"),
    "of_multiply_adds": ("of multiply-adds", ".2f"),
    "times_by_multiply_adds": ("one by the other", ".2f"),
}


class Network(NamedTuple):
    """A network in this process.

    Attributes:
        facts: its parameters.
        train: its turn.
        multiply_adds: of an update, for each target word.
    """

    facts: dict[str, Any]
    train: Callable[[], dict[str, Any]]
    multiply_adds: float


def syntax(setting: Setting) -> list[table.Row]:
    """Time updates of systems and of their twins without syntax, and write `syntax.tsv`.

    The ratio of times compares the time per target word within each round. The other ratio compares the multiply-adds
    of all matrix products, forward and backward, on the same batches; it does not include other operations (sums,
    exponentials, gathering).
    """
    material = prepared(setting)
    rows: list[table.Row] = [row for shape in setting.shapes for row in _of_shape(shape, setting, material)]
    table.write(setting.results / "syntax.tsv", rows)
    print(f"\nCost of syntax: {COUNTED}; {material.name};")
    print(
        f"{setting.precision[0]}, batches of {setting.batch_size}, medians of {setting.rounds} rounds (lowest–highest)"
    )
    for shape in setting.shapes:
        print(f"\nembedding {shape.embedding}, hidden {shape.hidden}")
        table.show([row for row in rows if row["shape"] == str(shape)], COLUMNS)
    return rows


def _of_shape(shape: Shape, setting: Setting, material: Material) -> list[dict[str, Any]]:
    """Measure all systems in one size."""
    batches = setting.work / "batches" / "syntax.npz"
    chosen.training_batches(material, setting, setting.batches, batches)
    device, beside_of = device_named(setting.device), OF_ARCHITECTURE[setting.architecture]
    networks = {system: _network(system, shape, setting, material, batches) for system in beside_of}
    turns = {system: network.train for system, network in networks.items()}
    measured = alternate(turns, setting.rounds, WARM_UP[device], f"syntax {shape}")
    rows = []
    for system, beside in beside_of.items():
        times = measured[beside].times_as_fast_as(measured[system], "words")
        products = networks[system].multiply_adds / networks[beside].multiply_adds
        rows.append(
            {
                "shape": str(shape),
                "corpus": material.name,
                "system": system,
                "beside": beside,
                "precision": setting.precision[0],
                **shape._asdict(),
                "parameters": networks[system].facts["parameters"],
                "batch_size": setting.batch_size,
                "dropout": setting.dropout,
                "words_per_second": measured[system].rate("words"),
                "multiply_adds": networks[system].multiply_adds,
                "times": times,
                "of_multiply_adds": products,
                "times_by_multiply_adds": times.median / products,
                **machine.described(device, setting.threads),
                "counted": COUNTED,
            }
        )
    return rows


def _network(system: str, shape: Shape, setting: Setting, material: Material, batches: Path) -> Network:
    """Build a system in this process, and count its multiply-adds."""
    from benchmarks.toolkits.ours import Ours
    from benchmarks.toolkits.worker import Rounds, set_up

    given = job(Side(system, OURS, shape, setting.precision[0], system), setting, material, setting.threads)
    rounds = Rounds(Ours(given), set_up(given))
    # Counted on a CPU, wherever it is trained: what a GPU captures once and repeats is not seen there.
    counted = {**given, "device": "cpu"}
    counting = rounds if given["device"] == "cpu" else Rounds(Ours(counted), set_up(counted))
    products = counting.answer("multiply_adds", batches=str(batches), count=setting.batches)["multiply_adds"]
    turn = partial(rounds.answer, "train", batches=str(batches), first=0, count=setting.batches)
    return Network(rounds.facts, turn, products)


if __name__ == "__main__":
    stage.run(command(syntax))
