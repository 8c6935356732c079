"""Learning curves for TensorBoard, while a network is trained."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_py.input_error import InputError

SHOWN = {
    "train_loss": "loss/train",
    "dev_loss": "loss/dev",
    "dev_bleu": "BLEU/dev",
    "gradient_norm": "update/gradient norm",
    "learning_rate": "update/learning rate",
    "words_per_second": "speed/target words per second",
}
"""Columns of the learning curve → names in TensorBoard."""


def board(folder: Path, curve: Sequence[Mapping[str, Any]]) -> Callable[[Mapping[str, Any]], None]:
    """Begin to write for TensorBoard.

    Args:
        folder: one run is one folder.
        curve: rows that are there already; what an interrupted run wrote after them is not shown.

    Returns:
        What is given each further row.

    Raises:
        InputError: TensorBoard is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InputError(
            "training.tensorboard is true and TensorBoard is not installed; pip install tensorboard, or set it to false"
        ) from None

    writer = SummaryWriter(str(folder), purge_step=curve[-1]["update"] + 1 if curve else 0)

    def show(row: Mapping[str, Any]) -> None:
        for column, name in SHOWN.items():
            if row[column] is not None:
                writer.add_scalar(name, row[column], row["update"])
        writer.flush()

    return show
