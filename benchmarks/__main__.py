"""Measure the speed of training and translation, compared with OpenNMT-py and JoeyNMT.

    python -m benchmarks
    python -m benchmarks --embedding 256 --hidden 512

Each part is also a command: `benchmarks.training` and `benchmarks.translation`. Both take about half an hour on two
idle cores, and less if the data, the peers' environment and the weights for translation already exist.
"""

from benchmarks.setting import Setting, command
from benchmarks.training import training
from benchmarks.translation import translation
from pipeline_py.run.command import run_command


def benchmarks(setting: Setting) -> None:
    """Measure training and translation, and write their tables."""
    training(setting)
    translation(setting)


if __name__ == "__main__":
    run_command(command(benchmarks))
