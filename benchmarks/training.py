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

from benchmarks import batch_selection, peer_environment, result_table
from benchmarks.network_specs import ARBITREE, JOEYNMT, OPENNMT, NetworkSpec
from benchmarks.packed_corpus import PackedCorpus, prepare_corpus
from benchmarks.rounds import NOT_MEASURED
from benchmarks.settings import BenchmarkSettings, NetworkSize, build_command
from benchmarks.speed_comparison import SpeedComparison
from pipeline_py.run.command_line import run_command
from pipeline_py.run.device_selection import select_device

WORD_COUNT_NOTE = "target words, ends of sentences included, padding excluded"

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


def measure_training(settings: BenchmarkSettings) -> list[result_table.TableRow]:
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
    material, python = prepare_corpus(settings), peer_environment.find_peer_python(settings)
    rows: list[result_table.TableRow] = [
        row for shape in settings.network_sizes for row in _measure_networks(shape, settings, material, python)
    ]
    title = (
        f"Training: {WORD_COUNT_NOTE}, a second; {material.name};\n"
        f"batches of {settings.batch_size}, medians of {settings.rounds} rounds (range); ratios within rounds;\n"
        "ours makes its batches within its time, the peers find theirs made"
    )
    result_table.write_and_print_table("training", rows, COLUMNS, title, settings)
    return rows


def _measure_networks(
    size: NetworkSize, settings: BenchmarkSettings, corpus: PackedCorpus, peer_python: Path | None
) -> list[dict[str, Any]]:
    """Measure all sides whose nominal sizes are these."""
    same, shuffled_path = (
        settings.work / "batches" / "training.npz",
        settings.work / "batches" / "training.shuffled.npz",
    )
    batch_selection.write_training_batches(corpus, settings, settings.batches, same)
    batch_selection.write_shuffled_batches(same, shuffled_path)
    on_gpu = select_device(settings.device) == "cuda"
    with ExitStack() as running:
        contest = SpeedComparison(settings, corpus, peer_python, running)
        if peer_python is not None:
            for precision in settings.precision:
                contest.start_network(NetworkSpec("OpenNMT-py", OPENNMT, size, precision), same)
            joeynmt = contest.start_network(NetworkSpec("JoeyNMT", JOEYNMT, size), same)
            contest.reuse_with_batches(joeynmt, "JoeyNMT, batches as it makes them", shuffled_path)
        peer_names = [name for name, contender in contest.networks.items() if contender.batches_path == same]
        first = NetworkSpec(settings.system_names[0], ARBITREE, size, settings.precision[0], settings.system_names[0])
        for precision in settings.precision:
            for system in settings.system_names:
                contest.start_network(NetworkSpec(system, ARBITREE, size, precision, system), same)
            if on_gpu:
                contest.start_network(
                    replace(first, name=f"{first.name}, one by one", precision=precision, uses_cuda_graphs=False), same
                )
        for peer in peer_names:
            contest.start_size_matched(peer, first.system_name)
        if settings.threads > 1 and not on_gpu:
            at_once = replace(first, name=f"{first.name}, {settings.threads} trainings of 1 thread")
            contest.start_network(at_once, same, threads=1, process_count=settings.threads)
        products = {name: contest.count_multiply_adds(name) for name in contest.networks}
        measured = contest.run_rounds(f"training {size}", "train", first=0, count=settings.batches)
        rows = []
        for name, contender in contest.networks.items():
            precision = contender.spec.precision
            reference = f"{first.name} {precision}"
            references = {
                "to_opennmt_float32": "OpenNMT-py float32",
                "to_opennmt": f"OpenNMT-py {precision}",
                "to_joeynmt_float32": "JoeyNMT float32",
                "to_joeynmt_own_batches": "JoeyNMT, batches as it makes them float32",
            }
            rows.append(
                {
                    "shape": str(size),
                    **contest.build_table_row(name, measured, "words", references),
                    "time_ratio": (
                        measured[reference].summarize_speedup(measured[name], "words")
                        if reference in measured
                        else NOT_MEASURED
                    ),
                    "multiply_adds": products[name],
                    "multiply_adds_ratio": products[name] / products.get(reference, nan),
                    "counted": WORD_COUNT_NOTE,
                }
            )
        return rows


if __name__ == "__main__":
    run_command(build_command(measure_training))
