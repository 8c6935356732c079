"""What profiles say alike, and what they leave to rules."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
FILES = {file.parent.name: file for file in sorted(ROOT.glob("workflow/profiles/*/config.yaml"))}
PROFILES = {name: yaml.safe_load(file.read_text("utf-8")) for name, file in FILES.items()}
DEFAULT = yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text("utf-8"))
OF_THE_MACHINE = {"cores", "resources"}
RULE = re.compile(r'^rule (\w+):|^ *use rule \w+ as (\w+) with:|^ *name:\n +"(\w+)"', flags=re.MULTILINE)
RULES = "".join(
    file.read_text("utf-8").split('"""', maxsplit=2)[2] for file in (ROOT / "workflow/rules").rglob("*.smk")
)


@pytest.mark.parametrize("name", PROFILES)
def test_what_is_no_matter_of_the_machine_is_as_by_default(name: str) -> None:
    shared = DEFAULT.keys() - OF_THE_MACHINE
    assert len(shared) > 3
    assert {key: PROFILES[name].get(key) for key in shared} == {key: DEFAULT[key] for key in shared}


def test_no_profile_lists_rules() -> None:
    """What is said of a rule stands at the rule, so that a new one is known everywhere."""
    names = {rule or copy or name for rule, copy, name in RULE.findall(RULES)} - {""}
    assert len(names) > 50
    for name, profile in {**PROFILES, "default": DEFAULT}.items():
        assert not names & {*re.findall(r"\w+(?=:)", str(profile))}, name
        assert not {"groups", "set-resources", "set-threads"} & profile.keys(), name


def test_groups_that_are_joined_are_those_of_rules() -> None:
    groups = {*re.findall(r'^ +on_cluster\("(\w+)"\)$', RULES, flags=re.MULTILINE)}
    joined = [profile["group-components"] for profile in PROFILES.values() if "executor" in profile]
    assert len(joined) == 3 and all(components == joined[0] for components in joined)
    assert joined[0].keys() < groups


def test_what_takes_no_card_is_in_a_group() -> None:
    """But for long jobs, the page and what stands at no rule of its own."""
    alone = {
        "train_smt",
        "train_parser",
        "learn_segmenter",
        "learn_parser_segmenter",
        "count_word_frequencies",
        "write_page",
    }
    bodies = re.split(r"^(?= *rule\b.*:$)|^(?= *use rule )", RULES, flags=re.MULTILINE)
    without = {
        next(filter(None, found.groups()))
        for body in bodies
        if (found := RULE.search(body))
        and "job=call_of(" in body
        and re.search(r"^ *(rule|use rule (?!network)\w+_job as)\b", body)  # others inherit all this
        and "gpu=" not in body
        and "on_cluster(" not in body
    }
    assert without == alone
