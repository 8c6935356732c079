"""Portable configurations: their jobs for a text are those of the experiment."""

from pathlib import Path

import pytest

from pipeline_py.application.experiment_reader import UNSHARDED_PARSING, read_experiment
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.plan.plan import ExperimentPlan
from pipeline_py.plan.text_jobs import TextJobFinder, choose_replaced_set, find_text_files
from tests.project_copy import ROOT


def plan_experiment(experiment: ExperimentConfig, folder: Path) -> ExperimentPlan:
    return ExperimentPlan(experiment, ROOT, folder / "contents.json")


def collect_text_jobs(plan: ExperimentPlan, system: str, split: str) -> list:
    """Return what decides the translation of a text by the last run of a system."""
    run = plan.corpus.experiment.get_runs(system)[-1]
    jobs, files = TextJobFinder(plan, split).resolve_jobs([*find_text_files(plan, system, run, split).values()])
    return [
        files,
        *(
            (job.job_name, job.input_paths, job.output_paths, job.job.settings, job.job.execution_settings)
            for job in jobs
        ),
    ]


@pytest.mark.parametrize("experiment_file", [None, "multi30k.yaml", "enja.yaml", "docs_ende.yaml"])
def test_portable_configurations_plan_the_same_jobs(experiment_file, tmp_path):
    """The data does not exist, as in a folder that was moved, except for the index of the parsers' models."""
    (tmp_path / "data/stanza_en").mkdir(parents=True)
    (tmp_path / "data/stanza_en/resources.json").write_text("{}")
    files = [f"workflow/experiments/{experiment_file}"] if experiment_file else []
    overrides = [f"data={tmp_path}/data"] if experiment_file else []
    experiment = read_experiment(ROOT, files, overrides, UNSHARDED_PARSING | {"training": {"seeds": [1, 2]}})
    plan, split = plan_experiment(experiment, tmp_path), choose_replaced_set(experiment)
    systems = [name for name in experiment.systems if not experiment.find_external_system(name)]
    assert len(systems) > 10
    for system in systems:
        config = plan.bundles.build_portable_config(system, experiment.get_runs(system)[-1], split) | {
            "data": experiment.data
        }
        portable = plan_experiment(load_experiment(config, UNSHARDED_PARSING, should_check_files=False), tmp_path)
        assert collect_text_jobs(portable, system, split) == collect_text_jobs(plan, system, split), system


def test_files_of_a_run_are_in_place_copied_or_external(build_plan):
    plan = build_plan(subword={"scheme": "bpe"})
    files = plan.bundles.build_bundle_system_job("nmt", "SDAtt", "seed1").files
    assert {*files["run_files"]} == {"nmt/SDAtt/seed1/model.safetensors", "nmt/SDAtt/seed1/config.json"}
    assert {*files["copied_files"]} == {
        f"subword/default/{name}.{side}" for name in ("codes", "vocabulary") for side in ("source", "target")
    }
    assert {*files["parser_files"]} == {
        f"syntax/embedded/model/{name}.pt" for name in ("tagger", "depparse", "depparse.pretrain")
    }


def test_tables_have_the_cards_of_their_systems(build_plan):
    cards = build_plan().bundles.get_card_paths("table1")
    assert "<results>/smt/PBSMT/single/README.md" in cards and "<results>/nmt/SDAtt/seed1/README.md" in cards
