"""Settings that profiles share, and settings that they leave to rules."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
FILES = {file.parent.name: file for file in sorted(ROOT.glob("workflow/profiles/*/config.yaml"))}
PROFILES = {name: yaml.safe_load(file.read_text("utf-8")) for name, file in FILES.items()}
DEFAULT = yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text("utf-8"))
MACHINE_SETTINGS = {"cores", "resources"}
RULE_PATTERN = re.compile(r'^rule (\w+):|^ *use rule \w+ as (\w+) with:|^ *name:\n +"(\w+)"', flags=re.MULTILINE)
RULE_CODE = "".join(
    file.read_text("utf-8").split('"""', maxsplit=2)[2] for file in (ROOT / "workflow/rules").rglob("*.smk")
)


@pytest.mark.parametrize("name", PROFILES)
def test_other_settings_equal_those_of_the_default_profile(name: str) -> None:
    shared_keys = DEFAULT.keys() - MACHINE_SETTINGS
    assert len(shared_keys) > 3
    assert {key: PROFILES[name].get(key) for key in shared_keys} == {key: DEFAULT[key] for key in shared_keys}


def test_no_profile_has_settings_of_rules() -> None:
    """Settings of a rule are in its definition, so that every profile knows a new rule."""
    names = {rule or copy or name for rule, copy, name in RULE_PATTERN.findall(RULE_CODE)} - {""}
    assert len(names) > 50
    for name, profile in {**PROFILES, "default": DEFAULT}.items():
        assert not names & {*re.findall(r"\w+(?=:)", str(profile))}, name
        assert not {"groups", "set-resources", "set-threads"} & profile.keys(), name
        unknown_rules = {*profile.get("allowed-rules", [])} - names
        assert unknown_rules <= {"clean_held_out_with_1_references"}, name  # a rule for each number of references


def test_joined_groups_are_groups_of_rules() -> None:
    groups = {*re.findall(r'^ +on_cluster\("(\w+)"\)$', RULE_CODE, flags=re.MULTILINE)}
    joined = [profile["group-components"] for profile in PROFILES.values() if "executor" in profile]
    assert len(joined) == 3 and all(components == joined[0] for components in joined)
    assert joined[0].keys() < groups


def test_rules_without_gpu_are_in_a_group() -> None:
    """Exceptions are long jobs, the page, the export, and rules that inherit their group."""
    expected = {
        "train_smt",
        "train_parser",
        "learn_segmenter",
        "learn_parser_segmenter",
        "count_word_frequencies",
        "export",
        "write_page",
    }
    bodies = re.split(r"^(?= *rule\b.*:$)|^(?= *use rule )", RULE_CODE, flags=re.MULTILINE)
    ungrouped_rules = {
        next(filter(None, match.groups()))
        for body in bodies
        if (match := RULE_PATTERN.search(body))
        and "job=call_of(" in body
        and re.search(r"^ *(rule|use rule (?!network)\w+_job as)\b", body)  # others inherit all this
        and "gpu=" not in body
        and "on_cluster(" not in body
    }
    assert ungrouped_rules == expected


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("echo COMPLETED", "success"),
        ("echo TIMEOUT", "failed"),
        ("echo PENDING", "running"),
        ("echo 'a warning' >&2; echo COMPLETED", "success"),
        ("true", "failed"),
        ("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", "failed"),
        ("echo 'slurm_load_jobs error: Socket timed out on send/recv operation' >&2; exit 1", "running"),
    ],
)
def test_a_job_is_running_while_slurm_does_not_answer(tmp_path: Path, answer: str, state: str) -> None:
    (tmp_path / "squeue").write_text(f"#!/bin/sh\n{answer}\n")
    (tmp_path / "squeue").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    script = ROOT / "workflow/profiles/cluster-generic/status"
    result = subprocess.run([script, "17"], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout == f"{state}\n"
