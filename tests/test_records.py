"""Results are those of the plan, whatever Snakemake still knows of them."""

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
CHANGED = {"subword": {"scheme": "bpe", "merges": 60}}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> ProjectCopy:
    place = ProjectCopy(tmp_path_factory.mktemp("made"))
    done = place.run_snakemake(TARGET, "results/subword/default/packed/two.source.arrow", config=BPE)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def place(made, tmp_path) -> ProjectCopy:
    return made.copied(tmp_path / "place")


def forget(place: ProjectCopy) -> None:
    """Remove all that Snakemake knows of earlier runs."""
    shutil.rmtree(place.folder / ".snakemake")


def test_whole_results_are_kept(place):
    assert not place.planned(TARGET, config=BPE)
    forget(place)
    assert not place.planned(TARGET, config=BPE)


def test_results_of_other_settings_are_made_again_without_metadata(place):
    forget(place)
    jobs = place.planned(TARGET, config=CHANGED)
    assert {"learn_bpe", "apply_bpe", "pack"} <= jobs.keys() and not {"generate", "clean"} & jobs.keys()


def test_a_cut_record_of_snakemake_hides_no_change(place):
    for file in (place.folder / ".snakemake/metadata").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:-1])
    assert place.planned(TARGET, config=CHANGED)["learn_bpe"] == 1


def test_restored_older_results_are_made_again(place, tmp_path):
    older = shutil.copytree(place.folder / "results", tmp_path / "older")
    assert place.snakemake(TARGET, config=CHANGED).returncode == 0
    shutil.rmtree(place.folder / "results")
    shutil.copytree(older, place.folder / "results")
    assert place.planned(TARGET, config=CHANGED)["learn_bpe"] == 1


def test_files_that_are_exchanged_with_their_records_are_made_again(place):
    one, two = (place.folder / f"results/subword/default/pieces/{name}.source" for name in ("one", "two"))
    for first, second in ((one, two), (get_record_path(one), get_record_path(two))):
        first.rename(place.folder / "exchanged")
        second.rename(first)
        (place.folder / "exchanged").rename(second)
    jobs = place.planned(TARGET, "results/subword/default/packed/two.source.arrow", config=BPE)
    assert jobs == {"apply_bpe": 2, "pack": 2}


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"outputs": {}}'])
def test_a_result_without_a_record_is_made_again(place, content):
    codes = place.folder / "results/subword/default/codes.source"
    get_record_path(codes).unlink()
    if content is not None:
        get_record_path(codes).write_text(content)
    assert place.planned(TARGET, config=BPE)["learn_bpe"] == 1


def test_an_input_that_changes_during_a_run_ends_it(place):
    """The plan was made before; the job finds it."""
    codes = place.folder / "results/subword/default/codes.source"
    for file in ("results/subword/default/pieces/one.source", TARGET):
        (place.folder / file).unlink()
    record = json.loads(get_record_path(codes).read_text())
    record["outputs"] = dict.fromkeys(record["outputs"], "0" * 16)
    get_record_path(codes).write_text(json.dumps(record))
    done = place.snakemake(TARGET, config=BPE)
    log = next((place.folder / "logs/subword/apply_bpe").glob("*one.source.log")).read_text()
    assert done.returncode == 1 and "codes.source: damaged: its content is not that of its record" in log


def test_results_of_other_inputs_are_made_again_without_metadata(place):
    """The setting names another file to read and is no setting of the job."""
    truecased = {"corpora": {"source": {"language": "en", "tokenizer": "none", "case": "true"}}}
    assert place.snakemake("results/corpus/truecased/one.source", config={**BPE, **truecased}).returncode == 0
    forget(place)
    assert place.planned(TARGET, config={**BPE, **truecased})["apply_bpe"] >= 1


def test_a_record_of_a_job_that_the_plan_does_not_have_ends_no_run(place):
    codes = get_record_path(place.folder / "results/subword/default/codes.source")
    record = json.loads(codes.read_text())
    for plan, wildcards in (("nmt.attend", {"system": "PBSMT", "run": "single", "split": "one"}), ("gone.away", {})):
        codes.write_text(json.dumps({**record, "plan": plan, "wildcards": wildcards}))
        assert place.planned(TARGET, config=BPE)["learn_bpe"] == 1


def test_a_job_that_is_run_again_with_other_code_is_no_result_of_the_plan(place):
    vocabulary = place.folder / "results/subword/default/vocabulary.source"
    stage = place.folder / "pipeline_py/subword/vocabulary.py"
    text = stage.read_text(encoding="utf-8")
    changed = text.replace("    counts: Counter[str] = Counter()\n", "    counts: Counter[str] = Counter(changed=9)\n")
    assert changed != text
    stage.write_text(changed, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(place.folder)}
    command = [sys.executable, "-m", "pipeline_py.run", str(get_record_path(vocabulary).relative_to(place.folder))]
    subprocess.run(command, cwd=place.folder, env=environment, check=True)
    stage.write_text(text, encoding="utf-8")
    assert place.planned(TARGET, config=BPE)["vocabulary"] == 1


def test_a_folder_of_other_settings_is_made_again_without_metadata(tmp_path):
    place, model = ProjectCopy(tmp_path / "place"), "results/smt/PBSMT/single/model"
    assert place.run_snakemake(model).returncode == 0
    forget(place)
    assert not place.count_planned_jobs(model)
    assert "train_smt" in place.count_planned_jobs(model, config={"systems": {"PBSMT": {"iterations": 2}}})
