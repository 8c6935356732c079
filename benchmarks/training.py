"""Compare training with OpenNMT-py and JoeyNMT: target words per second, alternating on the same batches.

    python -m benchmarks.training
    python -m benchmarks.training --embedding 256 --hidden 512 --peers none
    python -m benchmarks.training --architecture transformer --embedding 256 --hidden 256

Target words include the end of each sentence, and no padding.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks import chosen, peers, table
from benchmarks.contest import Contest
from benchmarks.material import Material, prepared
from benchmarks.setting import Architecture, Setting, Shape, command
from benchmarks.sides import JOEYNMT, OPENNMT, OURS, Side
from pipeline_py import stage

SYSTEMS = {Architecture.RECURRENT: "GlobalAtt", Architecture.TRANSFORMER: "Transformer-base"}
COUNTED = "target words, ends of sentences included, padding excluded"

COLUMNS = {
    "side": ("", ""),
    "precision": ("", ""),
    "parameters": ("parameters", ",d"),
    "words_per_second": ("words/s", ",.0f"),
    "to_opennmt_float32": ("to OpenNMT-py float32", ".2f"),
    "to_opennmt_bfloat16": ("to OpenNMT-py bfloat16", ".2f"),
    "to_joeynmt_float32": ("to JoeyNMT float32", ".2f"),
    "peak_megabytes": ("peak MB", ",.0f"),
}


def training(setting: Setting) -> list[table.Row]:
    """Time updates of all toolkits on the same batches, and write `training.tsv`.

    An update is the forward pass, the loss, the backward pass, gradient clipping and the step of Adam. For our system
    the time includes making batches from the packed files; the peers' batches are made before. Our system is measured
    in the peers' nominal size and, if it is a different one, in the smallest size with at least as many parameters as
    each peer. JoeyNMT is also measured with its own sampler's batches of the same sentences, which ignore lengths.
    Finally, as many trainings as threads run at the same time.
    """
    material, python = prepared(setting), peers.interpreter(setting)
    rows: list[table.Row] = [row for shape in setting.shapes for row in _of_shape(shape, setting, material, python)]
    table.write(setting.results / "training.tsv", rows)
    print(f"\nTraining: {COUNTED}, a second; {material.name};")
    print(
        f"batches of {setting.batch_size}, medians of {setting.rounds} rounds (lowest–highest); ratios within rounds;"
    )
    print("ours makes its batches within its time, the peers find theirs made")
    for shape in setting.shapes:
        print(f"\nembedding {shape.embedding}, hidden {shape.hidden}")
        table.show([row for row in rows if row["shape"] == str(shape)], COLUMNS)
    return rows


def _of_shape(shape: Shape, setting: Setting, material: Material, python: Path | None) -> list[dict[str, Any]]:
    """Measure all sides whose nominal sizes are these."""
    same, own = setting.work / "batches" / "training.npz", setting.work / "batches" / "training.shuffled.npz"
    chosen.training_batches(material, setting, setting.batches, same)
    chosen.shuffled(same, own)
    first, system = setting.precision[0], SYSTEMS[setting.architecture]
    with ExitStack() as running:
        contest = Contest(setting, material, python, running)
        if python is not None:
            for precision in setting.precision:
                contest.add(Side("OpenNMT-py", OPENNMT, shape, precision), same)
            joeynmt = contest.add(Side("JoeyNMT", JOEYNMT, shape), same)
            contest.again(joeynmt, "JoeyNMT, batches as it makes them", own)
        peer_names = [*contest.contenders]
        for precision in setting.precision:
            contest.add(Side(system, OURS, shape, precision, system), same)
        for peer in peer_names:
            if contest.contenders[peer].batches == same:
                contest.match(peer, system)
        if setting.threads > 1:
            at_once = Side(f"{system}, {setting.threads} trainings of 1 thread", OURS, shape, first, system)
            contest.add(at_once, same, threads=1, processes=setting.threads)
        measured = contest.run(f"training {shape}", "train", first=0, count=setting.batches)
        references = {
            "to_opennmt_float32": "OpenNMT-py float32",
            "to_opennmt_bfloat16": "OpenNMT-py bfloat16",
            "to_joeynmt_float32": "JoeyNMT float32",
            "to_joeynmt_own_batches": "JoeyNMT, batches as it makes them float32",
            f"to_ours_{first}": f"{system} {first}",
        }
        return [
            {"shape": str(shape), **contest.row(name, measured, "words", references), "counted": COUNTED}
            for name in contest.contenders
        ]


if __name__ == "__main__":
    stage.run(command(training))
