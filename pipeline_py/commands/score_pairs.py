"""Score given translations with a trained system."""

import sys

from pipeline_py.application.system import load_from_cli_options
from pipeline_py.files.text_files import split_lines
from pipeline_py.run.errors import InputError


def score_pairs(
    *,
    system: str,
    run: str | None = None,
    configfile: list[str] | None = None,
    config: list[str] | None = None,
) -> None:
    """Write log p(translation | source) for each line of stdin: a source, a tab and its translation.

    Args:
        system: The folder of a run, e.g. results/nmt/SDAtt/seed2, here or moved; or a system of the experiment.
        run: A run of the system, e.g. seed2; by default the first.
        configfile: Configuration file, like Snakemake's option of the same name.
        config: KEY=VALUE, like Snakemake's option of the same name.

    Raises:
        InputError: the system is not trained, or a line is not a pair.
    """
    trained_system = load_from_cli_options(system, run, configfile or [], config or [])
    pairs = []
    for number, line in enumerate(split_lines(sys.stdin.buffer), start=1):
        source, separator, translation = line.decode("utf-8", errors="replace").partition("\t")
        if not separator or "\t" in translation:
            raise InputError(f"line {number} of standard input: write a source, one tab and its translation")
        pairs.append((source, translation))
    for log_probability in trained_system.score(pairs):
        print(f"{log_probability:.6f}")
