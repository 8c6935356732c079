"""Results agree with the plan, even if the metadata of Snakemake is missing, damaged or of other results."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from pipeline_py.run.job_record import get_record_path
from tests.project_copy import ProjectCopy

TARGET = "results/subword/default/packed/one.source.arrow"
BPE = {"subword": {"scheme": "bpe", "merges": 50}}
CHANGED_BPE = {"subword": {"scheme": "bpe", "merges": 60}}


@pytest.fixture(scope="module")
def finished_project(tmp_path_factory) -> ProjectCopy:
    project = ProjectCopy(tmp_path_factory.mktemp("made"))
    result = project.run_snakemake(TARGET, "results/subword/default/packed/two.source.arrow", config=BPE)
    assert result.returncode == 0, result.stderr
    return project


@pytest.fixture
def project(finished_project, tmp_path) -> ProjectCopy:
    return finished_project.copy_to(tmp_path / "place")


def remove_metadata(project: ProjectCopy) -> None:
    """Remove the metadata of Snakemake about earlier runs."""
    shutil.rmtree(project.folder / ".snakemake")


def test_complete_results_are_kept(project):
    assert not project.count_planned_jobs(TARGET, config=BPE)
    remove_metadata(project)
    assert not project.count_planned_jobs(TARGET, config=BPE)


def test_results_of_other_settings_are_made_again_without_metadata(project):
    remove_metadata(project)
    jobs = project.count_planned_jobs(TARGET, config=CHANGED_BPE)
    assert {"learn_bpe", "apply_bpe", "pack"} <= jobs.keys() and not {"generate", "clean"} & jobs.keys()


def test_truncated_metadata_hides_no_change(project):
    for file in (project.folder / ".snakemake/metadata").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:-1])
    assert project.count_planned_jobs(TARGET, config=CHANGED_BPE)["learn_bpe"] == 1


def test_restored_older_results_are_made_again(project, tmp_path):
    older = shutil.copytree(project.folder / "results", tmp_path / "older")
    assert project.run_snakemake(TARGET, config=CHANGED_BPE).returncode == 0
    shutil.rmtree(project.folder / "results")
    shutil.copytree(older, project.folder / "results")
    assert project.count_planned_jobs(TARGET, config=CHANGED_BPE)["learn_bpe"] == 1


def test_files_that_are_exchanged_with_their_records_are_made_again(project):
    first_pieces, second_pieces = (
        project.folder / f"results/subword/default/pieces/{name}.source" for name in ("one", "two")
    )
    for first, second in (
        (first_pieces, second_pieces),
        (get_record_path(first_pieces), get_record_path(second_pieces)),
    ):
        first.rename(project.folder / "exchanged")
        second.rename(first)
        (project.folder / "exchanged").rename(second)
    jobs = project.count_planned_jobs(TARGET, "results/subword/default/packed/two.source.arrow", config=BPE)
    assert jobs == {"apply_bpe": 2, "pack": 2}


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"outputs": {}}'])
def test_a_result_without_a_record_is_made_again(project, content):
    codes = project.folder / "results/subword/default/codes.source"
    get_record_path(codes).unlink()
    if content is not None:
        get_record_path(codes).write_text(content)
    assert project.count_planned_jobs(TARGET, config=BPE)["learn_bpe"] == 1


def test_an_input_that_changes_during_a_run_ends_it(project):
    """The plan does not notice the change; the job does."""
    codes = project.folder / "results/subword/default/codes.source"
    for file in ("results/subword/default/pieces/one.source", TARGET):
        (project.folder / file).unlink()
    record = json.loads(get_record_path(codes).read_text())
    record["outputs"] = dict.fromkeys(record["outputs"], "0" * 16)
    get_record_path(codes).write_text(json.dumps(record))
    result = project.run_snakemake(TARGET, config=BPE)
    logs = [path.read_text() for path in (project.folder / "logs/subword").rglob("*.log")]  # any job may read it first
    assert result.returncode == 1
    assert any("codes.source: damaged: its content is not that of its record" in log for log in logs)


def test_results_of_other_inputs_are_made_again_without_metadata(project):
    """The setting changes an input of the job, but is not a setting of the job."""
    truecased = {"corpora": {"source": {"language": "en", "tokenizer": "none", "case": "true"}}}
    assert project.run_snakemake("results/corpus/truecased/one.source", config={**BPE, **truecased}).returncode == 0
    remove_metadata(project)
    assert project.count_planned_jobs(TARGET, config={**BPE, **truecased})["apply_bpe"] >= 1


def test_a_record_of_a_job_that_the_plan_does_not_have_ends_no_run(project):
    record_path = get_record_path(project.folder / "results/subword/default/codes.source")
    record = json.loads(record_path.read_text())
    for plan, wildcards in (("nmt.attend", {"system": "PBSMT", "run": "single", "split": "one"}), ("gone.away", {})):
        record_path.write_text(json.dumps({**record, "plan": plan, "wildcards": wildcards}))
        assert project.count_planned_jobs(TARGET, config=BPE)["learn_bpe"] == 1


def test_a_job_that_is_run_again_with_other_code_is_no_result_of_the_plan(project):
    vocabulary = project.folder / "results/subword/default/vocabulary.source"
    stage = project.folder / "pipeline_py/subword/vocabulary.py"
    text = stage.read_text(encoding="utf-8")
    changed = text.replace("    counts: Counter[str] = Counter()\n", "    counts: Counter[str] = Counter(changed=9)\n")
    assert changed != text
    stage.write_text(changed, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(project.folder)}
    command = [sys.executable, "-m", "pipeline_py.run", str(get_record_path(vocabulary).relative_to(project.folder))]
    subprocess.run(command, cwd=project.folder, env=environment, check=True)
    stage.write_text(text, encoding="utf-8")
    assert project.count_planned_jobs(TARGET, config=BPE)["vocabulary"] == 1


@pytest.mark.slow
def test_a_folder_of_other_settings_is_made_again_without_metadata(tmp_path):
    project, model = ProjectCopy(tmp_path / "place"), "results/smt/PBSMT/single/model"
    assert project.run_snakemake(model).returncode == 0
    remove_metadata(project)
    assert not project.count_planned_jobs(model)
    assert "train_smt" in project.count_planned_jobs(model, config={"systems": {"PBSMT": {"iterations": 2}}})
