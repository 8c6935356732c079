"""A stage has the same name everywhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_py.run.job_runner import StageFunction

ROOT = Path(__file__).parent.parent
PLANS = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "pipeline_py" / "plan").glob("*.py")))
JOBS = sorted(
    {tuple(stage.split(".")) for stage in re.findall(r"\b(?:Job|_build_training_job)\(\s*\"(\w+\.\w+)\"", PLANS)}
)
"""Stages that are run as jobs of the plan."""


def find_rule_files(package: str) -> list[Path]:
    """Return the file of a package's rules, or the files of their folder."""
    rules = ROOT / "workflow" / "rules"
    return sorted((rules / package).glob("*.smk")) or [rules / f"{package}.smk"]


def read_rules(package: str) -> str:
    return "".join(file.read_text(encoding="utf-8") for file in find_rule_files(package))


def test_there_are_stages():
    assert len(JOBS) >= 40


@pytest.mark.parametrize(("package", "name"), JOBS, ids=lambda part: part)
def test_the_stage_of_a_job_has_a_rule_a_test_and_a_log_of_its_name(package, name):
    assert callable(StageFunction(f"{package}.{name}").function), "the function is called like the module"
    rules = read_rules(package)
    (rule,) = re.findall(rf"^ *use rule \w+ as {name}(?:_{package})? with:\n(.*?)(?=^\S|\Z)", rules, re.M | re.S)
    assert f"<logs>/{package}/{name}/" in rule
    assert "benchmark:" not in rule or f"<benchmarks>/{package}/{name}/" in rule
    (identity,), (job,) = (re.findall(rf'{function}_of\("([\w.]+)"\)', rule) for function in ("identity", "call"))
    assert identity == job and f'inputs_of("{job}"' in rule
    assert (ROOT / "tests" / package / f"test_{name}.py").is_file()


def test_stages_do_not_import_heavy_libraries_at_the_top():
    modules = [f"pipeline_py.{package}.{name}" for package, name in JOBS]
    heavy_libraries = ["torch", "stanza", "thot", "matplotlib"]
    code = f"import sys, {', '.join(modules)}; print([name for name in {heavy_libraries} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout == "[]\n"


@pytest.mark.parametrize("package", sorted({package for package, _ in JOBS}))
def test_every_rule_declares_its_resources(package):
    for file in find_rule_files(package):
        rules = file.read_text(encoding="utf-8")
        assert rules.startswith('"""') and "REQUIRED INPUTS:" in rules and "OUTPUTS:" in rules
    for rule in re.split(r"^ *rule [a-z_]*:", read_rules(package), flags=re.MULTILINE)[1:]:
        if re.search(r"^ {4}run:", rule, flags=re.MULTILINE):  # of the plan, in Snakemake's own process
            continue
        for key in ("log:", "threads:", "resources:", "mem_mb=", "runtime=", "shell:"):
            assert key in rule
