"""Measure speed: training and translation beside OpenNMT-py and JoeyNMT, and the cost of syntax.

    python -m benchmarks
    python -m benchmarks --embedding 256 --hidden 512

Each part is also a command: `benchmarks.training`, `benchmarks.translation`, `benchmarks.syntax`; `benchmarks.gpu`
measures the papers' sizes on a GPU. Everything takes about half an hour on two idle cores, and less if the data, the
peers' environment and the weights for translation already exist.
"""

from benchmarks import figure
from benchmarks.setting import Setting, command
from benchmarks.syntax import syntax
from benchmarks.training import training
from benchmarks.translation import translation
from pipeline_py import stage


def benchmarks(setting: Setting) -> None:
    """Measure training, translation and the cost of syntax; write their tables and `speed.svg`."""
    tables = training(setting), translation(setting), syntax(setting)
    output = setting.results / "speed.svg"
    figure.draw(*tables, output)
    print(f"tables and figure are in {setting.results}")


if __name__ == "__main__":
    stage.run(command(benchmarks))
