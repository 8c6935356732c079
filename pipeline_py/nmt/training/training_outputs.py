"""The learning curve and the metadata of a training."""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipeline_py.files.artifacts import open_atomic_text_file, write_json
from pipeline_py.nmt.fast import elementwise
from pipeline_py.nmt.torch_setup import get_processor_name
from pipeline_py.nmt.training.training_run import TrainingRun
from pipeline_py.run import cpu_usage

CURVE_COLUMN_FORMATS = {
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
"""Columns of the learning curve and their formats; only the last two differ between repeated runs."""

MAX_LOG_PERPLEXITY = 700
"""Largest loss whose perplexity is finite in double precision."""


def write_learning_curve(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write one row for each validation."""
    with open_atomic_text_file(path) as file:
        file.write("\t".join(CURVE_COLUMN_FORMATS) + "\n")
        for row in rows:
            values = (
                "" if row[column] is None else format(row[column], column_format)
                for column, column_format in CURVE_COLUMN_FORMATS.items()
            )
            file.write("\t".join(values) + "\n")


def write_training_metadata(path: Path, run: TrainingRun, too_long_pairs: int) -> None:
    """Write size, speed, scores and versions; warn if other processes slowed down the training.

    Args:
        path: JSON file to write.
        run: the finished training.
        too_long_pairs: number of skipped pairs.
    """
    state, training, system = run.state, run.training, run.model.composition
    best, dev_loss, is_on_gpu = state.best_score, state.best_validation["dev_loss"], run.device.type == "cuda"
    metadata = {
        "parameters": sum(parameter.numel() for parameter in run.model.parameters()),
        "embedding": system.model.embedding,
        "hidden": system.model.hidden,
        "loss": system.loss.type,
        "samples": system.loss.sampled_word_count,
        "updates": state.update,
        "epochs": state.epoch,
        "best_update": state.best_update,
        "early_stopping": training.early_stopping,
        "best_dev": -best if best is not None and training.early_stopping == "loss" else best,
        "dev_loss": dev_loss,
        "dev_perplexity": math.exp(dev_loss) if dev_loss < MAX_LOG_PERPLEXITY else None,
        "target_words": state.target_words,
        "target_words_per_second": round(state.words_per_second, 1),
        "seconds": round(state.elapsed_seconds, 1),
        "training_seconds": round(state.training_seconds, 3),
        "seconds_per_epoch": round(state.training_seconds / run.completed_epochs, 3),
        "gpu_hours": round(state.elapsed_seconds * training.processes / 3600, 4) if is_on_gpu else None,
        **cpu_usage.build_usage_metadata(
            state.cpu_seconds, state.cpu_wait_seconds, state.load_weighted_seconds, state.elapsed_seconds
        ),
        "training_cpu_seconds": _round_or_none(state.training_cpu_seconds, 3),
        "cpu_seconds_per_epoch": _round_or_none(state.training_cpu_seconds, 3, run.completed_epochs),
        "target_words_per_cpu_second": None if is_on_gpu else _round_or_none(state.words_per_cpu_second, 1),
        "target_words_per_gpu_second": _round_or_none(state.words_per_second, 1, training.processes)
        if is_on_gpu
        else None,
        "seed": run.seed,
        "device": run.device.type,
        "processor": get_processor_name(run.device),
        "kernels": elementwise.load_kernels() is not None if run.device.type == "cpu" else None,
        "threads": training.threads,
        "processes": training.processes,
        "precision": training.precision,
        "skipped": {"too_long": too_long_pairs, "non_finite_batches": state.skipped_updates},
        "statistics": run.compute_context_statistics(),
        "versions": {"torch": torch.__version__, "numpy": np.__version__},
    }
    write_json(path, metadata)
    if (share := metadata["core_share"]) is not None and share < cpu_usage.MIN_CORE_SHARE:
        print(
            f"{run.system_name} had its CPU cores only {share:.0%} of the time; compare systems by CPU seconds, not by "
            "wall-clock time",
            file=sys.stderr,
        )


def _round_or_none(value: float | None, digits: int, divisor: float = 1.0) -> float | None:
    return None if value is None else round(value / divisor, digits)
