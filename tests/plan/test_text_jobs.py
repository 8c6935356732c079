"""Jobs of one text: equality of their patterns with the rules, and topological order."""

import re

import pytest

from pipeline_py.plan.text_jobs import CLEAN_JOB_NAME, OUTPUT_PATTERNS, TextJobFinder
from tests.project_copy import ROOT

RULE = re.compile(r'inputs_of\("(?P<job>[\w.]+)".*?\boutput:\n(?P<outputs>.*?)\n +log:', re.DOTALL)
NAMED = re.compile(r'(\w+)=(?:expand\(\s*)?"([^"]+)"')
OF_SEVERAL_SETS = ("nmt.translate", "evaluation.postprocess")


def read_rule_patterns() -> dict[str, dict[str, str]]:
    rules = {}
    for file in sorted((ROOT / "workflow/rules").rglob("*.smk")):
        for match in RULE.finditer(file.read_text(encoding="utf-8")):
            outputs = dict(NAMED.findall(match["outputs"]))
            if match["job"] in OF_SEVERAL_SETS:
                outputs = {name: pattern.replace("{{", "{").replace("}}", "}") for name, pattern in outputs.items()}
            rules[match["job"]] = outputs
    return rules


@pytest.mark.parametrize("job", [job for job in OUTPUT_PATTERNS if job != CLEAN_JOB_NAME])
def test_output_patterns_match_the_rules(job):
    assert read_rule_patterns()[job] == OUTPUT_PATTERNS[job]


def test_cleaning_has_the_outputs_of_the_rule():
    text = (ROOT / "workflow/rules/corpus/texts.smk").read_text(encoding="utf-8").replace("{{", "{").replace("}}", "}")
    assert all(pattern in text for pattern in OUTPUT_PATTERNS[CLEAN_JOB_NAME].values())


def get_job_names(jobs) -> list[str]:
    return [job.job_name for job in jobs]


def test_jobs_are_in_topological_order(build_plan):
    plan = build_plan(subword={"scheme": "bpe"})
    jobs, existing = TextJobFinder(plan, "dev").resolve_jobs(["<results>/evaluation/SDAtt/seed1/dev.txt"])
    assert sorted(get_job_names(jobs)) == sorted(
        [
            *(
                CLEAN_JOB_NAME,
                "corpus.tokenize",
                "subword.apply_bpe",
                "subword.pack",
                "syntax.parse",
                "syntax.compute_distances",
            ),
            *("subword.inherit", "nmt.translate", "evaluation.postprocess"),
        ]
    )
    outputs = {file for job in jobs for file in job.output_paths.values()}
    for place, job in enumerate(jobs):
        before = {file for earlier_job in jobs[:place] for file in earlier_job.output_paths.values()}
        assert not (outputs & {*job.input_paths}) - before
    assert "<results>/nmt/SDAtt/seed1/model.safetensors" in existing
    assert "<results>/subword/default/vocabulary.target" in existing and not outputs & {*existing}


@pytest.mark.parametrize(
    ("system", "stage"),
    [
        ("Tree2Seq", "syntax.binarize"),
        ("SDRNMT-2", "subword.pack_units"),
        ("Sennrich-deponly", "subword.pack_labels"),
        ("Dep2Seq", "nmt.translate"),
        ("Tree2Seq-ensemble", "subword.pack_trees"),
        ("Transformer-parsing-task", "subword.tag_held_out_text"),
        ("Hierarchical", "corpus.generalise"),
        ("SDAtt@random", "syntax.parse"),
    ],
)
def test_every_kind_of_system_finds_its_jobs(build_plan, system, stage):
    plan = build_plan(targets=None)
    jobs, _ = TextJobFinder(plan, "dev").resolve_jobs([f"<results>/evaluation/{system}/seed1/dev.txt"])
    by_name = {job.job_name: job.job.stage for job in jobs}
    if system.endswith("@random"):
        assert "syntax.build_control_trees" in by_name and "syntax.parse" not in by_name
    else:
        assert stage in by_name
    assert get_job_names(jobs)[-1] == "evaluation.postprocess"


def test_permuted_trees_of_a_text_need_its_parse(build_plan):
    plan = build_plan(
        parsers={"permuted": {"type": "control", "shape": "permuted", "parser": "embedded"}},
        systems={"SDAtt": {"parser": "permuted"}},
    )
    jobs, _ = TextJobFinder(plan, "dev").resolve_jobs(["<results>/evaluation/SDAtt/seed1/dev.txt"])
    names = [name for name in get_job_names(jobs) if name.startswith("syntax")]
    assert names == ["syntax.parse", "syntax.permute_trees", "syntax.compute_distances"]
    config = plan.bundles.build_portable_config("SDAtt", "seed1", "dev")
    assert {*config["parsers"]} == {"permuted", "embedded"}


def test_a_phrase_based_system_needs_no_networks(build_plan):
    jobs, existing = TextJobFinder(build_plan(), "dev").resolve_jobs(["<results>/evaluation/PBSMT/single/dev.txt"])
    assert "smt.translate" in get_job_names(jobs) and "nmt.translate" not in get_job_names(jobs)
    assert existing == ["<results>/smt/PBSMT/single/model"]
