"""What a training leaves beside the weights: its learning curve and its facts."""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipeline_py.files.artifacts import write_json, writing
from pipeline_py.nmt.fast import elementwise
from pipeline_py.nmt.training.run import Run
from pipeline_py.run import usage

COLUMNS = {
    "update": "d",
    "epoch": ".4f",
    "train_loss": ".6f",
    "dev_loss": ".6f",
    "dev_bleu": ".4f",
    "best": "d",
    "gradient_norm": ".6f",
    "learning_rate": ".8g",
    "target_words": "d",
    "seconds": ".1f",
    "words_per_second": ".1f",
}
"""Columns of the learning curve and how they are written; only the last two differ between equal runs."""

LARGEST_EXPONENT = 700
"""Above it, a perplexity is no number of double precision."""


def write_curve(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a row for each look at the development set, as `Run` made them."""
    with writing(path) as file:
        file.write("\t".join(COLUMNS) + "\n")
        for row in rows:
            values = ("" if row[column] is None else format(row[column], how) for column, how in COLUMNS.items())
            file.write("\t".join(values) + "\n")


def write_facts(path: Path, run: Run, too_long: int) -> None:
    """Write size, speed, scores and versions, and warn where other work disturbed the time.

    Args:
        path: JSON.
        run: which has ended.
        too_long: pairs that were skipped.
    """
    state, training, system = run.state, run.training, run.model.system
    best, dev_loss, on_card = state.best_score, state.best_validation["dev_loss"], run.device.type == "cuda"
    facts = {
        "parameters": sum(parameter.numel() for parameter in run.model.parameters()),
        "embedding": system.model.embedding,
        "hidden": system.model.hidden,
        "loss": system.loss.type,
        "samples": system.loss.drawn_words,
        "updates": state.update,
        "epochs": state.epoch,
        "best_update": state.best_update,
        "early_stopping": training.early_stopping,
        "best_dev": -best if best is not None and training.early_stopping == "loss" else best,
        "dev_loss": dev_loss,
        "dev_perplexity": math.exp(dev_loss) if dev_loss < LARGEST_EXPONENT else None,
        "target_words": state.words,
        "target_words_per_second": round(state.words_per_second, 1),
        "seconds": round(state.seconds, 1),
        "training_seconds": round(state.training_seconds, 3),
        "seconds_per_epoch": round(state.training_seconds / run.epochs, 3),
        "gpu_hours": round(state.seconds * training.processes / 3600, 4) if on_card else None,
        **usage.facts_of(state.cpu_seconds, state.waited_seconds, state.load_seconds, state.seconds),
        "training_cpu_seconds": _rounded(state.training_cpu_seconds, 3),
        "cpu_seconds_per_epoch": _rounded(state.training_cpu_seconds, 3, run.epochs),
        "target_words_per_cpu_second": None if on_card else _rounded(state.words_per_cpu_second, 1),
        "target_words_per_gpu_second": _rounded(state.words_per_second, 1, training.processes) if on_card else None,
        "seed": run.seed,
        "device": run.device.type,
        "kernels": elementwise.library() is not None if run.device.type == "cpu" else None,
        "threads": training.threads,
        "processes": training.processes,
        "precision": training.precision,
        "skipped": {"too_long": too_long, "non_finite_batches": state.skipped},
        "statistics": run.statistics(),
        "versions": {"torch": torch.__version__, "numpy": np.__version__},
    }
    write_json(path, facts)
    if (share := facts["core_share"]) is not None and share < usage.ENOUGH:
        print(
            f"{run.name}: other work took its cores for {1 - share:.0%} of the time; compare CPU seconds",
            file=sys.stderr,
        )


def _rounded(value: float | None, digits: int, divided_by: float = 1.0) -> float | None:
    return None if value is None else round(value / divided_by, digits)
