"""Compare training with OpenNMT-py and JoeyNMT, and systems with each other: target words per second.

    python -m benchmarks.training
    python -m benchmarks.training --embedding 256 --hidden 512 --peers none
    python -m benchmarks.training --peers none --system GlobalAtt --system SDAtt
    python -m benchmarks.training --architecture transformer --embedding 256 --hidden 256

Sides alternate on the same batches. Target words include the end of each sentence, and no padding.
"""

from contextlib import ExitStack
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

from benchmarks import chosen, peers, table
from benchmarks.contest import Contest
from benchmarks.material import Material, prepared
from benchmarks.rounds import NOT_MEASURED
from benchmarks.setting import Setting, Shape, command
from benchmarks.sides import JOEYNMT, OPENNMT, OURS, Side
from pipeline_py.run.command import run_command
from pipeline_py.run.device import device_named

COUNTED = "target words, ends of sentences included, padding excluded"

COLUMNS = {
    "side": ("", ""),
    "precision": ("", ""),
    "parameters": ("parameters", ",d"),
    "words_per_second": ("words/s", ",.0f"),
    "to_opennmt_float32": ("to OpenNMT-py float32", ".2f"),
    "to_opennmt": ("to it in this precision", ".2f"),
    "to_joeynmt_float32": ("to JoeyNMT float32", ".2f"),
    "time_ratio": ("time to the first's", ".2f"),
    "multiply_adds": ("multiply-adds a word", ",.0f"),
    "multiply_adds_ratio": ("to the first's", ".2f"),
    "peak_megabytes": ("peak MB", ",.0f"),
}


def training(setting: Setting) -> list[table.Row]:
    """Time updates of all sides on the same batches, and write `training.tsv`.

    An update is the forward pass, the loss, the backward pass, gradient clipping and the step of Adam. For our systems
    the time includes making batches from the packed files; the peers' batches are made before. The first system is
    measured in the peers' nominal size and, if it is a different one, in the smallest size with at least as many
    parameters as each peer. JoeyNMT is also measured with its own sampler's batches of the same sentences, which ignore
    lengths. On a CPU, as many trainings of the first system as threads run at the same time in the end; on a GPU it is
    also measured without recorded graphs.

    Each system is compared with the first one in the same precision, by the time and, on a CPU, by the multiply-adds of
    matrix products for each target word. These leave out all other operations (sums, exponentials, gathering).
    """
    material, python = prepared(setting), peers.interpreter(setting)
    rows: list[table.Row] = [row for shape in setting.shapes for row in _measure(shape, setting, material, python)]
    title = (
        f"Training: {COUNTED}, a second; {material.name};\n"
        f"batches of {setting.batch_size}, medians of {setting.rounds} rounds (lowest–highest); ratios within rounds;\n"
        "ours makes its batches within its time, the peers find theirs made"
    )
    table.report("training", rows, COLUMNS, title, setting)
    return rows


def _measure(shape: Shape, setting: Setting, material: Material, python: Path | None) -> list[dict[str, Any]]:
    """Measure all sides whose nominal sizes are these."""
    same, own = setting.work / "batches" / "training.npz", setting.work / "batches" / "training.shuffled.npz"
    chosen.training_batches(material, setting, setting.batches, same)
    chosen.shuffled(same, own)
    on_gpu = device_named(setting.device) == "cuda"
    with ExitStack() as running:
        contest = Contest(setting, material, python, running)
        if python is not None:
            for precision in setting.precision:
                contest.add(Side("OpenNMT-py", OPENNMT, shape, precision), same)
            joeynmt = contest.add(Side("JoeyNMT", JOEYNMT, shape), same)
            contest.again(joeynmt, "JoeyNMT, batches as it makes them", own)
        peer_names = [name for name, contender in contest.contenders.items() if contender.batches == same]
        first = Side(setting.systems[0], OURS, shape, setting.precision[0], setting.systems[0])
        for precision in setting.precision:
            for system in setting.systems:
                contest.add(Side(system, OURS, shape, precision, system), same)
            if on_gpu:
                contest.add(replace(first, name=f"{first.name}, one by one", precision=precision, graphs=False), same)
        for peer in peer_names:
            contest.match(peer, first.system)
        if setting.threads > 1 and not on_gpu:
            at_once = replace(first, name=f"{first.name}, {setting.threads} trainings of 1 thread")
            contest.add(at_once, same, threads=1, processes=setting.threads)
        products = {name: contest.multiply_adds(name) for name in contest.contenders}
        measured = contest.run(f"training {shape}", "train", first=0, count=setting.batches)
        rows = []
        for name, contender in contest.contenders.items():
            precision = contender.side.precision
            reference = f"{first.name} {precision}"
            references = {
                "to_opennmt_float32": "OpenNMT-py float32",
                "to_opennmt": f"OpenNMT-py {precision}",
                "to_joeynmt_float32": "JoeyNMT float32",
                "to_joeynmt_own_batches": "JoeyNMT, batches as it makes them float32",
            }
            rows.append(
                {
                    "shape": str(shape),
                    **contest.row(name, measured, "words", references),
                    "time_ratio": (
                        measured[reference].times_as_fast_as(measured[name], "words")
                        if reference in measured
                        else NOT_MEASURED
                    ),
                    "multiply_adds": products[name],
                    "multiply_adds_ratio": products[name] / products.get(reference, nan),
                    "counted": COUNTED,
                }
            )
        return rows


if __name__ == "__main__":
    run_command(command(training))
