"""Compare the time until a quality: CPU minutes of training until the translated development set has a given BLEU.

    python -m benchmarks.quality --embedding 256 --hidden 256 --dropout 0.1 --beam 1 --threads 1

All sides train on the same batches and are searched with the same beam, each by its own code, as many at a time as the
processors have threads for. After every half of an epoch each translates the development set; only training counts.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sacrebleu import corpus_bleu

from benchmarks import batch_selection, machine_metadata, peer_environment, result_table
from benchmarks.network_specs import ARBITREE, JOEYNMT, OPENNMT, NetworkSpec, find_matching_size, start_worker
from benchmarks.packed_corpus import PackedCorpus, prepare_corpus
from benchmarks.settings import Architecture, BenchmarkSettings, NetworkSize, build_command
from benchmarks.worker_process import WorkerProcess
from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.nmt.precision import resolve_precision
from pipeline_py.report.figures import figure_files, line_figure
from pipeline_py.report.figures.line_figure import LINE_FIGURE_STYLE, LineSeries, get_line_style
from pipeline_py.run.command_line import run_command
from pipeline_py.run.cpu_usage import count_processors
from pipeline_py.run.device_selection import select_device
from pipeline_py.run.errors import InputError
from pipeline_py.subword import pieces
from pipeline_py.subword.vocabulary import EOS, UNK, Vocabulary

SHARED_RECIPE: dict[str, Any] = {
    "learning_rate": 0.005,
    "warmup_updates": 100,
    "decay_epochs": 4,
    "has_tied_embeddings": True,
    "average_decay": 0.99,
}
"""Settings of Arbitree and OpenNMT-py with Adam."""

EVALUATIONS_PER_EPOCH = 2
"""In an epoch: so often the development set is translated."""

JOEYNMT_RECIPE = SHARED_RECIPE | {"learning_rate": 0.001, "average_decay": 0.0}
"""With a higher rate it learns nothing here, and it has no moving average of weights."""

OUT_OF_VOCABULARY = "<outside>"
"""Replaces pieces of a reference that are not in the vocabulary; no translation contains it."""

COLUMNS = {
    "side": ("", ""),
    "precision": ("", ""),
    "parameters": ("parameters", ",d"),
    "level": ("BLEU", ".0f"),
    "cpu_minutes": ("CPU minutes", ".1f"),
    "epochs": ("epochs", ".1f"),
    "to_faster_peer": ("of the faster peer's", ".2f"),
}


def build_specs(system_name: str, size: NetworkSize, settings: BenchmarkSettings, has_peers: bool) -> list[NetworkSpec]:
    """Say what takes part: ours, and each peer with a recipe like ours and with the one that its documentation has.

    Ours has the precision that `training.precision: auto` takes on this machine, OpenNMT-py each one of the setting,
    JoeyNMT the first. Ours drops where OpenNMT-py does in a network of one layer, before the softmax alone; JoeyNMT
    drops in its own places.

    Documented are SGD with rate 1 and gradients up to 5 (OpenNMT-py's defaults), and Adam with rate 0.0002 without a
    limit (JoeyNMT's configuration for IWSLT14); their rates fall later than what is measured here.
    """
    auto = resolve_precision(TrainingConfig(), size.hidden, torch.device(select_device(settings.device))).precision
    model = {"dropout": {"readout": settings.dropout}, "softmax_bias": "unigram"}
    ours = [NetworkSpec(system_name, ARBITREE, size, auto, system_name, model_options=model, **SHARED_RECIPE)]
    if not has_peers:
        return ours
    first, unlimited = settings.precision[0], 1e9
    return [
        *ours,
        *(
            NetworkSpec(f"OpenNMT-py, {precision}", OPENNMT, size, precision, **SHARED_RECIPE)
            for precision in settings.precision
        ),
        NetworkSpec("JoeyNMT", JOEYNMT, size, first, **JOEYNMT_RECIPE),
        NetworkSpec(
            "OpenNMT-py, its defaults", OPENNMT, size, first, optimizer="sgd", learning_rate=1.0, max_gradient_norm=5.0
        ),
        NetworkSpec("JoeyNMT, its recipe", JOEYNMT, size, first, learning_rate=0.0002, max_gradient_norm=unlimited),
    ]


def measure_time_to_quality(settings: BenchmarkSettings) -> list[result_table.TableRow]:
    """Train all networks up to the highest level, and write `curves.tsv`, `quality.tsv` and `quality.svg`.

    BLEU is that of words, case-insensitive, of the text as it is tokenized. A side has reached a level when its
    translations first have that BLEU; between two translations, CPU minutes and epochs are interpolated.
    Ours takes part in the peers' nominal size and, if it is another one, in that with OpenNMT-py's parameters.
    """
    material, python = prepare_corpus(settings), peer_environment.find_peer_python(settings)
    if material.target_vocabulary_file is None:
        raise InputError("random sentences have no quality; give --corpus multi30k or embedded")
    curves: list[result_table.TableRow] = []
    rows: list[result_table.TableRow] = []
    for shape in settings.network_sizes:
        taking_part = build_specs(settings.system_names[0], shape, settings, python is not None)
        if python is not None and settings.architecture is Architecture.RECURRENT:  # Transformers have as many
            taking_part[1:1] = _build_size_matched_specs(taking_part, settings, material, python)
        with ThreadPoolExecutor(max(count_processors() // settings.threads, 1)) as pool:
            of_shape = [*pool.map(lambda side: _measure_learning_curve(side, settings, material, python), taking_part)]
        curves += [{"shape": str(shape), **point} for curve in of_shape for point in curve]
        rows += [{"shape": str(shape), **row} for row in compute_level_times(of_shape, settings.level)]
    result_table.write_table(settings.results / "curves.tsv", curves)
    title = (
        f"Time to quality: {material.name};\nbatches of {settings.batch_size}, beam {settings.beam},\n"
        f"BLEU of tokenized lower-cased words, {EVALUATIONS_PER_EPOCH} times an epoch"
    )
    result_table.write_and_print_table("quality", rows, COLUMNS, title, settings)
    _draw_curves(curves, settings.results / "quality.svg")
    return rows


def compute_level_times(
    curves: Sequence[Sequence[result_table.TableRow]], bleu_levels: Sequence[float]
) -> list[result_table.TableRow]:
    """Find when each side has reached each level; what it never reached is not a number.

    Args:
        curves: of each side, a point for each translation of the development set.
        bleu_levels: of BLEU.
    """
    rows: list[result_table.TableRow] = []
    for level in sorted(bleu_levels):
        times = {curve[0]["side"]: _interpolate_level_time(curve, level) for curve in curves}
        of_peers = [times[curve[0]["side"]][0] for curve in curves if curve[0]["toolkit"] != ARBITREE]
        faster = min((minutes for minutes in of_peers if minutes > 0), default=float("nan"))
        for curve in curves:
            first = curve[0]
            minutes, epochs = times[first["side"]]
            rows.append(
                {
                    **{key: first[key] for key in ("side", "toolkit", "precision", "parameters")},
                    **{"level": level, "cpu_minutes": minutes, "epochs": epochs, "to_faster_peer": minutes / faster},
                }
            )
    return rows


def _interpolate_level_time(curve: Sequence[result_table.TableRow], bleu_level: float) -> tuple[float, float]:
    """Interpolate the CPU minutes and the epochs until a level, or say that it took none in all the epochs."""
    before, epochs_before, bleu_before = 0.0, 0.0, 0.0
    for point in curve:
        minutes, epochs, bleu = point["cpu_minutes"], point["epoch"], point["bleu"]
        if bleu >= bleu_level:
            share = (bleu_level - bleu_before) / (bleu - bleu_before) if bleu > bleu_before else 1.0
            return before + (minutes - before) * share, epochs_before + (epochs - epochs_before) * share
        before, epochs_before, bleu_before = minutes, epochs, bleu
    return float("nan"), epochs_before


def _build_size_matched_specs(
    specs: Sequence[NetworkSpec], settings: BenchmarkSettings, corpus: PackedCorpus, peer_python: Path
) -> list[NetworkSpec]:
    """Make of ours one that has as many parameters as OpenNMT-py, if its size is another then."""
    own_spec, peer = specs[0], next(side for side in specs if side.toolkit == OPENNMT)
    with start_worker(peer, settings, corpus, peer_python, settings.threads) as process:
        sized = find_matching_size(process.network_metadata["parameters"], own_spec, corpus.vocabulary_sizes)
    return (
        []
        if sized == own_spec.size
        else [replace(own_spec, name=f"{own_spec.name}, as large as OpenNMT-py", size=sized)]
    )


def _measure_learning_curve(
    spec: NetworkSpec, settings: BenchmarkSettings, corpus: PackedCorpus, peer_python: Path | None
) -> list[result_table.TableRow]:
    """Train a side, a part of an epoch after the other."""
    folder = settings.work / "batches" / re.sub(r"\W+", "_", spec.name)
    folder.mkdir(parents=True, exist_ok=True)
    studied, dev = folder / "epoch.npz", folder / "dev.npz"
    batch_selection.write_dev_batches(corpus, settings, dev)
    assert corpus.target_vocabulary_file is not None
    vocabulary = Vocabulary.load(corpus.target_vocabulary_file)
    references = [
        _decode_text(row.tolist(), vocabulary, OUT_OF_VOCABULARY) for row in _read_rows(corpus.dev_files["target"])
    ]
    points: list[result_table.TableRow] = []
    minutes = bleu = 0.0
    with ExitStack() as running:
        process: WorkerProcess = running.enter_context(
            start_worker(spec, settings, corpus, peer_python, settings.threads)
        )
        for of_epoch, part in _write_epoch_parts(corpus, settings, studied):
            rates = [spec.compute_learning_rate(update, of_epoch) for update in part]
            first = part.start % of_epoch
            answer = process.request(
                "train_with_rates", batches=studied, seed=len(points) + 1, first=first, rates=rates
            )
            minutes += answer["cpu_seconds"] / 60
            epoch = part.stop / of_epoch
            translations = dict(process.request("translate", batches=dev, beam=settings.beam)["translations"])
            texts = [
                _decode_text(translations[number], vocabulary, vocabulary.tokens[UNK])
                for number in range(len(references))
            ]
            bleu = corpus_bleu(texts, [references], tokenize="none", lowercase=True, force=True).score
            print(f"{spec.name} {spec.size}: {epoch:.1f} epochs, {minutes:.1f} CPU minutes, BLEU {bleu:.2f}")
            measured = {"epoch": epoch, "cpu_minutes": minutes, "bleu": bleu}
            points.append({**_describe_training(spec, settings, process), "learning_rate": rates[-1], **measured})
            if minutes >= settings.minutes or bleu >= max(settings.level):
                break
    return points


def _write_epoch_parts(
    corpus: PackedCorpus, settings: BenchmarkSettings, batches_path: Path
) -> Iterator[tuple[int, range]]:
    """Write the batches of an epoch after the other, and give the numbers of the updates of each of its parts.

    Yields:
        How many updates an epoch has, and those of the part, counted from 0 over all epochs.
    """
    for epoch in count():
        updates = batch_selection.write_epoch_batches(corpus, settings, epoch + 1, batches_path)
        ends = np.linspace(0, updates, min(EVALUATIONS_PER_EPOCH, updates) + 1).astype(int) + epoch * updates
        yield from ((updates, range(*part)) for part in pairwise(ends.tolist()))


def _describe_training(spec: NetworkSpec, settings: BenchmarkSettings, worker: WorkerProcess) -> dict[str, Any]:
    return {
        **{"side": spec.name, "toolkit": spec.toolkit, "precision": spec.precision},
        **{"parameters": worker.network_metadata["parameters"], "version": worker.network_metadata["version"]},
        **{"optimizer": spec.optimizer, "clip": spec.max_gradient_norm, "moving_average": spec.average_decay},
        **{"batch_size": settings.batch_size, "dropout": settings.dropout, "beam": settings.beam},
        **machine_metadata.describe_machine(select_device(settings.device), settings.threads),
    }


def _read_rows(path: Path) -> Iterator[np.ndarray]:
    rows = RaggedArrayFile(path)
    return (rows[number] for number in range(len(rows)))


def _decode_text(token_ids: Sequence[int], vocabulary: Vocabulary, unknown_replacement: str) -> str:
    words = [identifier for identifier in token_ids if identifier != EOS]
    decoded = vocabulary.decode(words)
    return " ".join(
        pieces.join_pieces(
            [unknown_replacement if word == UNK else piece for word, piece in zip(words, decoded, strict=True)]
        )
    )


def _draw_curves(points: Sequence[result_table.TableRow], output_path: Path) -> None:
    """Draw BLEU by CPU minutes of training as SVG: a line for each side of the first shape."""
    shape = points[0]["shape"]
    of_shape = [point for point in points if point["shape"] == shape]
    names = list(dict.fromkeys(point["side"] for point in of_shape))
    lines = []
    for number, name in enumerate(names):
        curve = [point for point in of_shape if point["side"] == name]
        lines.append(
            LineSeries(
                get_line_style(number), [point["cpu_minutes"] for point in curve], [point["bleu"] for point in curve]
            )
        )
    with figure_files.use_style(LINE_FIGURE_STYLE):
        figure = line_figure.draw_lines(
            lines,
            x_label="CPU minutes of training",
            y_label="BLEU on the development set",
            title=f"Time to quality, {shape}",
            line_names=names,
        )
        figure_files.save_figure(figure, "Time to quality", output_path, None)


if __name__ == "__main__":
    run_command(build_command(measure_time_to_quality))
