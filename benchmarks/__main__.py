"""Measure the speed of training and translation, compared with OpenNMT-py and JoeyNMT.

    python -m benchmarks
    python -m benchmarks --embedding 256 --hidden 512

Each part is also a command: `benchmarks.training` and `benchmarks.translation`. Together they take about half an hour
on two idle cores, and less if the data, the environment of the peers and the weights for translation exist.
"""

from benchmarks.settings import BenchmarkSettings, build_command
from benchmarks.training import measure_training
from benchmarks.translation import measure_translation
from pipeline_py.run.command_line import run_command


def measure_speed(settings: BenchmarkSettings) -> None:
    """Measure training and translation, and write their tables."""
    measure_training(settings)
    measure_translation(settings)


if __name__ == "__main__":
    run_command(build_command(measure_speed))
