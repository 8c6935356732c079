"""Compare beam search with OpenNMT-py and JoeyNMT: sentences per second, alternating on the same batches.

    python -m benchmarks.translation
    python -m benchmarks.translation --embedding 256 --hidden 512 --peers none

Each toolkit is first trained on the same batches, so that its translations have realistic lengths; the weights are
kept.
"""

import hashlib
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks import batch_selection, peer_environment, result_table
from benchmarks.network_specs import ARBITREE, JOEYNMT, OPENNMT, NetworkSpec, compose_system
from benchmarks.packed_corpus import PackedCorpus, prepare_corpus
from benchmarks.settings import BenchmarkSettings, NetworkSize, build_command
from benchmarks.speed_comparison import ComparedNetwork, SpeedComparison
from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.nmt.fast.matrix_products import detect_bfloat16_mode
from pipeline_py.run.command_line import run_command
from pipeline_py.run.device_selection import select_device
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.run.provenance import hash_stage_code

SENTENCE_COUNT_NOTE = "sentences; length is that of the best translations, end of sentence included"

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


def measure_translation(settings: BenchmarkSettings) -> list[result_table.TableRow]:
    """Time beam search of all toolkits on the same batches, and write `translation.tsv`.

    Loading models is not timed. On a CPU ours is measured in each precision, and the peers in the first, since they
    search in float32 alone; on a GPU all are measured in float32. Networks of different toolkits make translations of
    different lengths, so the table also gives the mean length. The maximum length of a translation is twice the words
    of the longest source of its batch, plus ten.
    """
    material, python = prepare_corpus(settings), peer_environment.find_peer_python(settings)
    rows: list[result_table.TableRow] = [
        row for shape in settings.network_sizes for row in _measure_networks(shape, settings, material, python)
    ]
    title = (
        f"Translation: {SENTENCE_COUNT_NOTE}; {material.name};\n"
        f"beam {settings.beam}, batches of {settings.together}, {settings.sentences} sentences, networks after\n"
        f"{settings.updates} updates, medians of {settings.rounds} rounds (lowest–highest); ratios within rounds"
    )
    result_table.write_and_print_table("translation", rows, COLUMNS, title, settings)
    return rows


def _measure_networks(
    size: NetworkSize, settings: BenchmarkSettings, corpus: PackedCorpus, peer_python: Path | None
) -> list[dict[str, Any]]:
    """Measure all sides whose nominal sizes are these."""
    learned, translated = (settings.work / "batches" / f"{name}.npz" for name in ("learned", "translated"))
    batch_selection.write_training_batches(corpus, settings, settings.updates, learned)
    batch_selection.write_test_batches(corpus, settings, translated)
    peer_toolkits = {} if peer_python is None else {"OpenNMT-py": OPENNMT, "JoeyNMT": JOEYNMT}
    with ExitStack() as running:
        contest = SpeedComparison(settings, corpus, peer_python, running)
        precisions = settings.precision if select_device(settings.device) == "cpu" else ["float32"]
        if "bfloat16" in precisions and detect_bfloat16_mode() is None:
            precisions = [precision for precision in precisions if precision != "bfloat16"]
            if not precisions:
                raise InputError("this processor computes no products in bfloat16; use --precision float32")
            print("note: this processor computes no products in bfloat16; these rows are left out", file=sys.stderr)
        first = precisions[0]
        peer_names = [
            contest.start_network(NetworkSpec(name, toolkit, size, first), translated)
            for name, toolkit in peer_toolkits.items()
        ]
        for precision in precisions:
            for system in settings.system_names:
                contest.start_network(NetworkSpec(system, ARBITREE, size, precision, system), translated)
            for peer in peer_names:
                contest.start_size_matched(peer, settings.system_names[0], precision)
        for contender in contest.networks.values():
            _train_or_load_weights(contender, settings, learned)
        measured = contest.run_rounds(f"translation {size}", "translate", beam=settings.beam)
        references = {"to_opennmt": f"OpenNMT-py {first}", "to_joeynmt": f"JoeyNMT {first}"}
        return [
            {
                "shape": str(size),
                **contest.build_table_row(name, measured, "sentences", references),
                "mean_length": measured[name].measurements[0]["words"] / measured[name].measurements[0]["sentences"],
                "words_per_second": measured[name].summarize_rates("words"),
                **contest.compute_speedups(
                    name, measured, "words", {f"words_{key}": side for key, side in references.items()}
                ),
                **{
                    "beam": settings.beam,
                    "together": settings.together,
                    "translated": settings.sentences,
                    "updates": settings.updates,
                },
                "counted": SENTENCE_COUNT_NOTE,
            }
            for name in contest.networks
        ]


def _train_or_load_weights(network: ComparedNetwork, settings: BenchmarkSettings, batches_path: Path) -> None:
    """Train a side, or take back the weights that it had after the same training."""
    (worker,) = network.workers
    side = network.spec
    made_from = [side.toolkit, worker.network_metadata, *side.size, side.precision, settings.dropout, settings.updates]
    if side.toolkit == ARBITREE:
        modules = CompositionConfig.model_validate(
            compose_system(side.system_name, side.size, settings.dropout)
        ).module_names
        made_from.append(hash_stage_code("nmt.model", *modules))
    content = json.dumps(made_from).encode() + batches_path.read_bytes()
    weights = settings.work / "weights" / f"{side.toolkit}.{hashlib.sha256(content).hexdigest()[:16]}.pt"
    weights.parent.mkdir(parents=True, exist_ok=True)
    if weights.exists():
        worker.request("load_weights", weights=weights)
        return
    for update in show_progress(range(settings.updates), f"train {side.name} {side.size}", settings.updates, "updates"):
        worker.request("train", batches=batches_path, first=update, count=1)
    worker.request("save_weights", weights=weights)


if __name__ == "__main__":
    run_command(build_command(measure_translation))
