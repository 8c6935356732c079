"""The workflow on a real SLURM: what its jobs ask for, and that a training outlives its job."""

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
LONG = {"training": {"epochs": 40, "patience": 1000, "checkpoint_minutes": 0.001}}
"""A training of some seconds, with many checkpoints."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[SlurmCluster]:
    """A SLURM that commands of this module see. Snakemake takes its node for one with cards; torch finds none there."""
    with SlurmCluster(tmp_path_factory.mktemp("slurm") / "c") as cluster, pytest.MonkeyPatch.context() as patch:
        for name, value in cluster.environment.items():
            patch.setenv(name, value)
        yield cluster


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> ProjectCopy:
    return ProjectCopy(tmp_path_factory.mktemp("workplace"))


def test_an_experiment_runs_to_its_table(cluster: SlurmCluster, workplace: ProjectCopy) -> None:
    table = {"type": "measures", "title": "T", "systems": ["SDAtt"], "columns": ["bleu"]}
    config = {"corpora": {"tests": SMALL_CONFIG["corpora"]["tests"][:1]}, "tables": {"mine": table}}
    done = workplace.run_snakemake(*PROFILE, "results/mine.tsv", config=config)
    assert done.returncode == 0, done.stderr[-5000:]
    with (workplace.folder / "results/mine.tsv").open(encoding="utf-8", newline="") as file:
        assert [
            row["system"]
            for row in csv.DictReader((line for line in file if not line.startswith("# ")), delimiter="\t")
        ] == ["SDAtt"]

    jobs = [*cluster.list_jobs().values()]
    assert {job["JobState"] for job in jobs} == {"COMPLETED"} and {job["Requeue"] for job in jobs} == {"1"}
    kinds = Counter(job["Comment"].split("_wildcards_")[0] for job in jobs)
    assert kinds["rule_train"] == 1 and kinds["rule_parse"] == 3
    (text,) = [kind for kind in kinds if kind.startswith("rule_text_")]
    assert kinds[text] == 1 and "compute_bleu_ceiling" in text and "clean" in text and "generate" in text, (
        "the comment is cut"
    )
    (evaluation,) = [kind for kind in kinds if "translate" in kind]
    assert kinds[evaluation] == 1 and "compute_metric_statistics" in evaluation and "postprocess" in evaluation
    asked = {job["Comment"].split("_wildcards_")[0]: job for job in jobs}
    assert asked["rule_train"]["TresPerJob"] == "gres:gpu:1" and "TresPerJob" not in asked[text]
    assert asked["rule_train"]["MinMemoryNode"] == "16000M" and asked["rule_train"]["TimeLimit"] == "1-00:00:00"
    assert asked["rule_train_parser"]["NumCPUs"] == "1"


@pytest.fixture(scope="module")
def undisturbed(cluster: SlurmCluster, workplace: ProjectCopy) -> bytes:
    """The model of a training that nobody disturbs; what it needs is left in the workplace."""
    done = workplace.run_snakemake(MODEL, config=LONG)
    assert done.returncode == 0, done.stderr[-5000:]
    model = (workplace.folder / MODEL).read_bytes()
    shutil.rmtree((workplace.folder / MODEL).parent)
    return model


def preempt(cluster: SlurmCluster, job: str) -> None:
    """Take the processors of a job for another one, which ends at once; SLURM puts the first back in the queue."""
    cluster.run_query("sbatch", "--partition=urgent", "--cpus-per-task=2", "--output=/dev/null", "--wrap=true")


def cancel(cluster: SlurmCluster, job: str) -> None:
    """End a job as SLURM does where preempted jobs do not go back in the queue."""
    cluster.run_query("scancel", job)


@pytest.mark.parametrize(
    ("lose", "ends"), [(cancel, [("CANCELLED", "0"), ("COMPLETED", "0")]), (preempt, [("COMPLETED", "1")])]
)
def test_a_training_that_loses_its_job_goes_on_in_another(
    cluster: SlurmCluster, workplace: ProjectCopy, undisturbed: bytes, tmp_path: Path, lose, ends: list[tuple[str, str]]
) -> None:
    place = workplace.copy_to(tmp_path / "copy")
    before = cluster.list_jobs()
    with ThreadPoolExecutor() as pool:
        run = pool.submit(place.run_snakemake, *PROFILE, MODEL, config=LONG)
        while not [*(place.folder / MODEL).parent.glob("checkpoints/*/*.safetensors")]:
            assert not run.done(), run.result().stderr[-5000:]
            time.sleep(0.1)
        (job,) = cluster.list_jobs().keys() - before.keys()
        lose(cluster, job)
        done = run.result()
    assert done.returncode == 0, done.stderr[-5000:]
    assert (place.folder / MODEL).read_bytes() == undisturbed
    log = (place.folder / "logs/nmt/train/GlobalAtt.seed1.log").read_text(encoding="utf-8")
    resumed = re.search(r"train GlobalAtt \(seed1\) from update (\d+)", log)
    assert resumed and int(resumed[1]) > 0, log
    jobs = [job for name, job in cluster.list_jobs().items() if name not in before]
    trainings = [job for job in jobs if job.get("Comment", "").startswith("rule_train")]
    assert [(job["JobState"], job["Restarts"]) for job in trainings] == ends
