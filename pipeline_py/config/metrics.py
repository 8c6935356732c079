"""The metrics that may be named: modules of `evaluation/metrics`, found without importing any."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

METRICS = tuple(sorted(file.stem for file in (Path(__file__).parents[1] / "evaluation" / "metrics").glob("[!_]*.py")))

if TYPE_CHECKING:
    MetricName = str
else:
    MetricName = Literal[METRICS]
