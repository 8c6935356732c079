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

from benchmarks import chosen, machine, peers, table
from benchmarks.material import Material, prepared
from benchmarks.processes import Worker
from benchmarks.setting import Architecture, Setting, Shape, command
from benchmarks.sides import JOEYNMT, OPENNMT, OURS, Side, as_large_as, worker
from pipeline_py.config.systems.training import Training
from pipeline_py.files.ragged import Ragged
from pipeline_py.nmt.precision import with_precision
from pipeline_py.report.figures import figure_files, line_figure
from pipeline_py.report.figures.line_figure import STYLE, Line, look_of
from pipeline_py.run.command import run_command
from pipeline_py.run.device import device_named
from pipeline_py.run.errors import InputError
from pipeline_py.run.usage import count_processors
from pipeline_py.subword import pieces
from pipeline_py.subword.vocabulary import EOS, UNK, Vocabulary

RECIPE: dict[str, Any] = {
    "learning_rate": 0.005,
    "warmup": 100,
    "falls_over": 4,
    "tied": True,
    "moving_average": 0.99,
}
"""Of ours and OpenNMT-py, with Adam."""

POINTS = 2
"""In an epoch: so often the development set is translated."""

OF_JOEYNMT = RECIPE | {"learning_rate": 0.001, "moving_average": 0.0}
"""With a higher rate it learns nothing here, and it has no moving average of weights."""

OUTSIDE = "<outside>"
"""What a reference has in place of pieces that the vocabulary lacks: no translation has it."""

COLUMNS = {
    "side": ("", ""),
    "precision": ("", ""),
    "parameters": ("parameters", ",d"),
    "level": ("BLEU", ".0f"),
    "cpu_minutes": ("CPU minutes", ".1f"),
    "epochs": ("epochs", ".1f"),
    "to_faster_peer": ("of the faster peer's", ".2f"),
}


def sides(system: str, shape: Shape, setting: Setting, with_peers: bool) -> list[Side]:
    """Say what takes part: ours, and each peer with a recipe like ours and with the one that its documentation has.

    Ours has the precision that `training.precision: auto` takes on this machine, OpenNMT-py each one of the setting,
    JoeyNMT the first. Ours drops where OpenNMT-py does in a network of one layer, before the softmax alone; JoeyNMT
    drops in its own places.

    Documented are SGD with rate 1 and gradients up to 5 (OpenNMT-py's defaults), and Adam with rate 0.0002 without a
    limit (JoeyNMT's configuration for IWSLT14); their rates fall later than what is measured here.
    """
    auto = with_precision(Training(), shape.hidden, torch.device(device_named(setting.device))).precision
    model = {"dropout": {"readout": setting.dropout}, "softmax_bias": "unigram"}
    ours = [Side(system, OURS, shape, auto, system, model=model, **RECIPE)]
    if not with_peers:
        return ours
    first, unlimited = setting.precision[0], 1e9
    return [
        *ours,
        *(Side(f"OpenNMT-py, {precision}", OPENNMT, shape, precision, **RECIPE) for precision in setting.precision),
        Side("JoeyNMT", JOEYNMT, shape, first, **OF_JOEYNMT),
        Side("OpenNMT-py, its defaults", OPENNMT, shape, first, optimizer="sgd", learning_rate=1.0, clip=5.0),
        Side("JoeyNMT, its recipe", JOEYNMT, shape, first, learning_rate=0.0002, clip=unlimited),
    ]


def quality(setting: Setting) -> list[table.Row]:
    """Train all sides until they reach the highest level, and write `curves.tsv`, `quality.tsv` and `quality.svg`.

    BLEU is that of words, case-insensitive, of the text as it is tokenized. A side has reached a level when its
    translations first have that BLEU; between two translations, CPU minutes and epochs are interpolated.
    Ours takes part in the peers' nominal size and, if it is another one, in that with OpenNMT-py's parameters.
    """
    material, python = prepared(setting), peers.interpreter(setting)
    if material.target_vocabulary is None:
        raise InputError("random sentences have no quality; give --corpus multi30k or embedded")
    curves: list[table.Row] = []
    rows: list[table.Row] = []
    for shape in setting.shapes:
        taking_part = sides(setting.systems[0], shape, setting, python is not None)
        if python is not None and setting.architecture is Architecture.RECURRENT:  # Transformers have as many
            taking_part[1:1] = _as_large_as(taking_part, setting, material, python)
        with ThreadPoolExecutor(max(count_processors() // setting.threads, 1)) as pool:
            of_shape = [*pool.map(lambda side: _curve(side, setting, material, python), taking_part)]
        curves += [{"shape": str(shape), **point} for curve in of_shape for point in curve]
        rows += [{"shape": str(shape), **row} for row in reached(of_shape, setting.level)]
    table.write(setting.results / "curves.tsv", curves)
    title = (
        f"Time to quality: {material.name};\nbatches of {setting.batch_size}, beam {setting.beam},\n"
        f"BLEU of tokenized lower-cased words, {POINTS} times an epoch"
    )
    table.report("quality", rows, COLUMNS, title, setting)
    _draw(curves, setting.results / "quality.svg")
    return rows


def reached(curves: Sequence[Sequence[table.Row]], levels: Sequence[float]) -> list[table.Row]:
    """Find when each side has reached each level; what it never reached is not a number.

    Args:
        curves: of each side, a point for each translation of the development set.
        levels: of BLEU.
    """
    rows: list[table.Row] = []
    for level in sorted(levels):
        times = {curve[0]["side"]: _when(curve, level) for curve in curves}
        of_peers = [times[curve[0]["side"]][0] for curve in curves if curve[0]["toolkit"] != OURS]
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


def _when(curve: Sequence[table.Row], level: float) -> tuple[float, float]:
    """Interpolate the CPU minutes and the epochs until a level, or say that it took none in all the epochs."""
    before, epochs_before, bleu_before = 0.0, 0.0, 0.0
    for point in curve:
        minutes, epochs, bleu = point["cpu_minutes"], point["epoch"], point["bleu"]
        if bleu >= level:
            share = (level - bleu_before) / (bleu - bleu_before) if bleu > bleu_before else 1.0
            return before + (minutes - before) * share, epochs_before + (epochs - epochs_before) * share
        before, epochs_before, bleu_before = minutes, epochs, bleu
    return float("nan"), epochs_before


def _as_large_as(sides: Sequence[Side], setting: Setting, material: Material, python: Path) -> list[Side]:
    """Make of ours one that has as many parameters as OpenNMT-py, if its size is another then."""
    own, peer = sides[0], next(side for side in sides if side.toolkit == OPENNMT)
    with worker(peer, setting, material, python, setting.threads) as process:
        sized = as_large_as(process.facts["parameters"], own, material.sizes)
    return [] if sized == own.shape else [replace(own, name=f"{own.name}, as large as OpenNMT-py", shape=sized)]


def _curve(side: Side, setting: Setting, material: Material, python: Path | None) -> list[table.Row]:
    """Train a side, a part of an epoch after the other."""
    folder = setting.work / "batches" / re.sub(r"\W+", "_", side.name)
    folder.mkdir(parents=True, exist_ok=True)
    studied, dev = folder / "epoch.npz", folder / "dev.npz"
    chosen.dev_batches(material, setting, dev)
    assert material.target_vocabulary is not None
    vocabulary = Vocabulary.load(material.target_vocabulary)
    references = [_text(row.tolist(), vocabulary, OUTSIDE) for row in _rows(material.dev["target"])]
    points: list[table.Row] = []
    minutes = bleu = 0.0
    with ExitStack() as running:
        process: Worker = running.enter_context(worker(side, setting, material, python, setting.threads))
        for of_epoch, part in _parts(material, setting, studied):
            rates = [side.rate(update, of_epoch) for update in part]
            first = part.start % of_epoch
            answer = process.asked("study", batches=studied, seed=len(points) + 1, first=first, rates=rates)
            minutes += answer["cpu_seconds"] / 60
            epoch = part.stop / of_epoch
            said = dict(process.asked("translate", batches=dev, beam=setting.beam)["translations"])
            texts = [_text(said[number], vocabulary, vocabulary.tokens[UNK]) for number in range(len(references))]
            bleu = corpus_bleu(texts, [references], tokenize="none", lowercase=True, force=True).score
            print(f"{side.name} {side.shape}: {epoch:.1f} epochs, {minutes:.1f} CPU minutes, BLEU {bleu:.2f}")
            measured = {"epoch": epoch, "cpu_minutes": minutes, "bleu": bleu}
            points.append({**_facts(side, setting, process), "learning_rate": rates[-1], **measured})
            if minutes >= setting.minutes or bleu >= max(setting.level):
                break
    return points


def _parts(material: Material, setting: Setting, path: Path) -> Iterator[tuple[int, range]]:
    """Write the batches of an epoch after the other, and give the numbers of the updates of each of its parts.

    Yields:
        How many updates an epoch has, and those of the part, counted from 0 over all epochs.
    """
    for epoch in count():
        updates = chosen.epoch_batches(material, setting, epoch + 1, path)
        ends = np.linspace(0, updates, min(POINTS, updates) + 1).astype(int) + epoch * updates
        yield from ((updates, range(*part)) for part in pairwise(ends.tolist()))


def _facts(side: Side, setting: Setting, process: Worker) -> dict[str, Any]:
    return {
        **{"side": side.name, "toolkit": side.toolkit, "precision": side.precision},
        **{"parameters": process.facts["parameters"], "version": process.facts["version"]},
        **{"optimizer": side.optimizer, "clip": side.clip, "moving_average": side.moving_average},
        **{"batch_size": setting.batch_size, "dropout": setting.dropout, "beam": setting.beam},
        **machine.described(device_named(setting.device), setting.threads),
    }


def _rows(path: Path) -> Iterator[np.ndarray]:
    rows = Ragged(path)
    return (rows[number] for number in range(len(rows)))


def _text(identifiers: Sequence[int], vocabulary: Vocabulary, unknown: str) -> str:
    words = [identifier for identifier in identifiers if identifier != EOS]
    decoded = vocabulary.decode(words)
    return " ".join(
        pieces.join([unknown if word == UNK else piece for word, piece in zip(words, decoded, strict=True)])
    )


def _draw(points: Sequence[table.Row], output: Path) -> None:
    """Draw BLEU by CPU minutes of training as SVG: a line for each side of the first shape."""
    shape = points[0]["shape"]
    of_shape = [point for point in points if point["shape"] == shape]
    names = list(dict.fromkeys(point["side"] for point in of_shape))
    lines = []
    for number, name in enumerate(names):
        curve = [point for point in of_shape if point["side"] == name]
        lines.append(Line(look_of(number), [one["cpu_minutes"] for one in curve], [one["bleu"] for one in curve]))
    with figure_files.style(STYLE):
        figure = line_figure.draw(
            lines,
            x_label="CPU minutes of training",
            y_label="BLEU on the development set",
            title=f"Time to quality, {shape}",
            names=names,
        )
        figure_files.save(figure, "Time to quality", output, None)


if __name__ == "__main__":
    run_command(command(quality))
