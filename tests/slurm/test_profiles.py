"""What profiles say alike, and that they speak of rules that there are."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
FILES = {file.parent.name: file for file in sorted(ROOT.glob("workflow/profiles/*/config.yaml"))}
PROFILES = {name: yaml.safe_load(file.read_text("utf-8")) for name, file in FILES.items()}
DEFAULT = yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text("utf-8"))
OF_THE_MACHINE = {"cores", "resources"}
RULES = "".join(file.read_text("utf-8") for file in (ROOT / "workflow/rules").rglob("*.smk"))


@pytest.mark.parametrize("name", PROFILES)
def test_what_is_no_matter_of_the_machine_is_as_by_default(name: str) -> None:
    shared = DEFAULT.keys() - OF_THE_MACHINE
    assert len(shared) > 3
    assert {key: PROFILES[name].get(key) for key in shared} == {key: DEFAULT[key] for key in shared}


def test_every_profile_for_several_machines_has_the_same_groups() -> None:
    groups = [profile["groups"] for profile in PROFILES.values() if "executor" in profile]
    assert len(groups) == 3 and all(group == groups[0] for group in groups)


def test_a_group_is_made_of_rules() -> None:
    names = set(re.findall(r"^rule (\w+):|^use rule \w+ as (\w+) with:", RULES, flags=re.MULTILINE))
    rules = {rule or copy for rule, copy in names} | set(re.findall(r'^ *name:\n +"(\w+)"', RULES, flags=re.MULTILINE))
    grouped = {re.sub(r"_\d_references$", "", rule) for rule in PROFILES["slurm"]["groups"]}
    assert grouped - rules == {"clean_held_out_with"}, "one for each number of references"
    assert 'f"clean_held_out_with_' in RULES
