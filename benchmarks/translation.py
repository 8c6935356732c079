"""Compare beam search with OpenNMT-py and JoeyNMT: sentences per second, alternating on the same batches.

    python -m benchmarks.translation
    python -m benchmarks.translation --embedding 256 --hidden 512 --peers none

Each toolkit is first trained on the same batches, so that its translations have realistic lengths; the weights are
kept.
"""

import hashlib
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks import chosen, peers, table
from benchmarks.contest import Contender, Contest
from benchmarks.material import Material, prepared
from benchmarks.setting import Setting, Shape, command
from benchmarks.sides import JOEYNMT, OPENNMT, OURS, Side, composition
from pipeline_py.config.systems.composition import System
from pipeline_py.nmt.fast.products import half_products
from pipeline_py.run.command import run_command
from pipeline_py.run.device import device_named
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.run.provenance import code_of

COUNTED = "sentences; length is that of the best translations, end of sentence included"

COLUMNS = {
    "side": ("", ""),
    "precision": ("", ""),
    "parameters": ("parameters", ",d"),
    "sentences_per_second": ("sentences/s", ",.1f"),
    "mean_length": ("length", ".1f"),
    "to_opennmt": ("to OpenNMT-py", ".2f"),
    "to_joeynmt": ("to JoeyNMT", ".2f"),
    "words_to_opennmt": ("words to OpenNMT-py", ".2f"),
    "words_to_joeynmt": ("words to JoeyNMT", ".2f"),
    "peak_megabytes": ("peak MB", ",.0f"),
}


def translation(setting: Setting) -> list[table.Row]:
    """Time beam search of all toolkits on the same batches, and write `translation.tsv`.

    Loading models is not timed. On a CPU ours is measured in each precision, and the peers in the first, since they
    search in float32 alone; on a GPU all are measured in float32. Networks of different toolkits make translations of
    different lengths, so the table also gives the mean length. The maximum length of a translation is twice the words
    of the longest source of its batch, plus ten.
    """
    material, python = prepared(setting), peers.interpreter(setting)
    rows: list[table.Row] = [row for shape in setting.shapes for row in _measure(shape, setting, material, python)]
    title = (
        f"Translation: {COUNTED}; {material.name};\n"
        f"beam {setting.beam}, batches of {setting.together}, {setting.sentences} sentences, networks after\n"
        f"{setting.updates} updates, medians of {setting.rounds} rounds (lowest–highest); ratios within rounds"
    )
    table.report("translation", rows, COLUMNS, title, setting)
    return rows


def _measure(shape: Shape, setting: Setting, material: Material, python: Path | None) -> list[dict[str, Any]]:
    """Measure all sides whose nominal sizes are these."""
    learned, translated = (setting.work / "batches" / f"{name}.npz" for name in ("learned", "translated"))
    chosen.training_batches(material, setting, setting.updates, learned)
    chosen.test_batches(material, setting, translated)
    peer_toolkits = {} if python is None else {"OpenNMT-py": OPENNMT, "JoeyNMT": JOEYNMT}
    with ExitStack() as running:
        contest = Contest(setting, material, python, running)
        precisions = setting.precision if device_named(setting.device) == "cpu" else ["float32"]
        if "bfloat16" in precisions and half_products() is None:
            raise InputError("this processor makes no product in bfloat16; leave out --precision bfloat16")
        first = precisions[0]
        peer_names = [
            contest.add(Side(name, toolkit, shape, first), translated) for name, toolkit in peer_toolkits.items()
        ]
        for precision in precisions:
            for system in setting.systems:
                contest.add(Side(system, OURS, shape, precision, system), translated)
            for peer in peer_names:
                contest.match(peer, setting.systems[0], precision)
        for contender in contest.contenders.values():
            _learn(contender, setting, learned)
        measured = contest.run(f"translation {shape}", "translate", beam=setting.beam)
        references = {"to_opennmt": f"OpenNMT-py {first}", "to_joeynmt": f"JoeyNMT {first}"}
        return [
            {
                "shape": str(shape),
                **contest.row(name, measured, "sentences", references),
                "mean_length": measured[name].turns[0]["words"] / measured[name].turns[0]["sentences"],
                "words_per_second": measured[name].rate("words"),
                **contest.ratios(name, measured, "words", {f"words_{key}": side for key, side in references.items()}),
                **{
                    "beam": setting.beam,
                    "together": setting.together,
                    "translated": setting.sentences,
                    "updates": setting.updates,
                },
                "counted": COUNTED,
            }
            for name in contest.contenders
        ]


def _learn(contender: Contender, setting: Setting, batches: Path) -> None:
    """Train a side, or take back the weights that it had after the same training."""
    (worker,) = contender.workers
    side = contender.side
    made_from = [side.toolkit, worker.facts, *side.shape, side.precision, setting.dropout, setting.updates]
    if side.toolkit == OURS:
        modules = System.model_validate(composition(side.system, side.shape, setting.dropout)).modules
        made_from.append(code_of("nmt.model", *modules))
    content = json.dumps(made_from).encode() + batches.read_bytes()
    weights = setting.work / "weights" / f"{side.toolkit}.{hashlib.sha256(content).hexdigest()[:16]}.pt"
    weights.parent.mkdir(parents=True, exist_ok=True)
    if weights.exists():
        worker.asked("load", weights=weights)
        return
    for update in progress(range(setting.updates), f"train {side.name} {side.shape}", setting.updates, "updates"):
        worker.asked("train", batches=batches, first=update, count=1)
    worker.asked("save", weights=weights)


if __name__ == "__main__":
    run_command(command(translation))
