"""Keeps what the jobs of the embedded experiment took, for the forecasts of other runs.

snakemake --cores 2 && python -m benchmarks.typical_seconds
"""

from pathlib import Path

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.run_times import TYPICAL, recorded


def typical_seconds(*, folder: Path = Path("benchmarks"), output: Path = TYPICAL) -> None:
    """Write what jobs took.

    Args:
        folder: What Snakemake wrote at `benchmark:`, of a run of `config.yaml` as it is.
        output: Receives a table of `stage`, `job` and `seconds`.
    """
    times = recorded(folder)
    if not times:
        raise stage.InputError("no times of jobs; run the embedded experiment first, without a target", folder)
    with writing(output) as file:
        file.write("stage\tjob\tseconds\n")
        file.writelines(f"{job.stage}\t{job.name}\t{seconds:.1f}\n" for job, seconds in sorted(times.items()))


if __name__ == "__main__":
    stage.run(typical_seconds, checksums=False)
