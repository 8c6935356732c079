"""The workflow on a real SLURM: resources of its jobs, and trainings that continue after their job is lost."""

import csv
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.project_copy import SMALL_CONFIG, ProjectCopy
from tests.slurm.cluster import SlurmCluster, list_missing_programs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(list_missing_programs()),
        reason=f"SLURM is not installed: there is no {', '.join(list_missing_programs())}",
    ),
    pytest.mark.skipif(
        find_spec("snakemake_executor_plugin_slurm") is None,
        reason="needs the extra `slurm`: pip install -e '.[slurm]'",
    ),
]

PROFILE = ["--workflow-profile", "workflow/profiles/slurm", "--slurm-init-seconds-before-status-checks", "2"]
MODEL = "results/nmt/GlobalAtt/seed1/model.safetensors"
LONG_TRAINING = {"training": {"epochs": 40, "patience": 1000, "checkpoint_minutes": 0.001}}
"""A training of some seconds, with many checkpoints."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[SlurmCluster]:
    """Start a cluster for the commands of this module. SLURM counts two GPUs on its node; torch finds none."""
    with SlurmCluster(tmp_path_factory.mktemp("slurm") / "c") as cluster, pytest.MonkeyPatch.context() as patch:
        for name, value in cluster.environment.items():
            patch.setenv(name, value)
        yield cluster


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> ProjectCopy:
    return ProjectCopy(tmp_path_factory.mktemp("workplace"))


@pytest.mark.slow
def test_an_experiment_runs_to_its_table(cluster: SlurmCluster, project: ProjectCopy) -> None:
    table = {"type": "measures", "title": "T", "systems": ["SDAtt"], "columns": ["bleu"]}
    config = {"corpora": {"tests": SMALL_CONFIG["corpora"]["tests"][:1]}, "tables": {"mine": table}}
    result = project.run_snakemake(*PROFILE, "results/mine.tsv", config=config)
    assert result.returncode == 0, result.stderr[-5000:]
    with (project.folder / "results/mine.tsv").open(encoding="utf-8", newline="") as file:
        assert [
            row["system"]
            for row in csv.DictReader((line for line in file if not line.startswith("# ")), delimiter="\t")
        ] == ["SDAtt"]

    jobs = [*cluster.list_jobs().values()]
    assert {job["JobState"] for job in jobs} == {"COMPLETED"} and {job["Requeue"] for job in jobs} == {"1"}
    kinds = Counter(job["Comment"].split("_wildcards_")[0] for job in jobs)
    assert kinds["rule_train"] == 1 and kinds["rule_parse"] == 3
    (text_kind,) = [kind for kind in kinds if kind.startswith("rule_text_")]
    assert (
        kinds[text_kind] == 1
        and "compute_bleu_ceiling" in text_kind
        and "clean" in text_kind
        and "generate" in text_kind
    ), "the comment is cut"
    (evaluation_kind,) = [kind for kind in kinds if "translate" in kind]
    assert (
        kinds[evaluation_kind] == 1
        and "compute_metric_statistics" in evaluation_kind
        and "postprocess" in evaluation_kind
    )
    jobs_by_kind = {job["Comment"].split("_wildcards_")[0]: job for job in jobs}
    assert jobs_by_kind["rule_train"]["TresPerJob"] == "gres:gpu:1" and "TresPerJob" not in jobs_by_kind[text_kind]
    assert 700 < int(jobs_by_kind["rule_train"]["MinMemoryNode"].removesuffix("M")) < 1500
    assert jobs_by_kind["rule_train"]["TimeLimit"] == "1-00:00:00"
    assert jobs_by_kind["rule_train_parser"]["NumCPUs"] == "1"


@pytest.fixture(scope="module")
def uninterrupted_model(cluster: SlurmCluster, project: ProjectCopy) -> bytes:
    """Return the model of an uninterrupted training; its inputs stay in the project."""
    result = project.run_snakemake(MODEL, config=LONG_TRAINING)
    assert result.returncode == 0, result.stderr[-5000:]
    model = (project.folder / MODEL).read_bytes()
    shutil.rmtree((project.folder / MODEL).parent)
    return model


def preempt(cluster: SlurmCluster, job: str) -> None:
    """Preempt a job by another one, which ends at once; SLURM puts the first back in the queue."""
    cluster.run_query("sbatch", "--partition=urgent", "--cpus-per-task=2", "--output=/dev/null", "--wrap=true")


def cancel(cluster: SlurmCluster, job: str) -> None:
    """Cancel a job, as SLURM does if preempted jobs do not go back in the queue."""
    cluster.run_query("scancel", job)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end_job", "expected_states"),
    [(cancel, [("CANCELLED", "0"), ("COMPLETED", "0")]), (preempt, [("COMPLETED", "1")])],
)
def test_a_training_that_loses_its_job_continues_in_another(
    cluster: SlurmCluster,
    project: ProjectCopy,
    uninterrupted_model: bytes,
    tmp_path: Path,
    end_job,
    expected_states: list[tuple[str, str]],
) -> None:
    project_copy = project.copy_to(tmp_path / "copy")
    earlier_jobs = cluster.list_jobs()
    with ThreadPoolExecutor() as pool:
        future = pool.submit(project_copy.run_snakemake, *PROFILE, MODEL, config=LONG_TRAINING)
        while not [*(project_copy.folder / MODEL).parent.glob("checkpoints/*/*.safetensors")]:
            assert not future.done(), future.result().stderr[-5000:]
            time.sleep(0.1)
        (job,) = cluster.list_jobs().keys() - earlier_jobs.keys()
        end_job(cluster, job)
        result = future.result()
    assert result.returncode == 0, result.stderr[-5000:]
    assert (project_copy.folder / MODEL).read_bytes() == uninterrupted_model
    log = (project_copy.folder / "logs/nmt/train/GlobalAtt.seed1.log").read_text(encoding="utf-8")
    match = re.search(r"train GlobalAtt \(seed1\) from update (\d+)", log)
    assert match and int(match[1]) > 0, log
    jobs = [job for name, job in cluster.list_jobs().items() if name not in earlier_jobs]
    trainings = [job for job in jobs if job.get("Comment", "").startswith("rule_train")]
    assert [(job["JobState"], job["Restarts"]) for job in trainings] == expected_states
