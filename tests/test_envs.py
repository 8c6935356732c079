"""Each environment has exactly the distributions that its stages import, in the versions of the package."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
ENVIRONMENT_FILES = {file.stem: file for file in sorted((ROOT / "envs").glob("*.yaml"))}
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    name: yaml.safe_load(file.read_text("utf-8")) for name, file in ENVIRONMENT_FILES.items()
}
RULE_FILES = sorted((ROOT / "workflow/rules").rglob("*.smk"))
PACKAGES = ("corpus", "syntax", "subword", "smt", "nmt", "evaluation", "report")
PACKAGES_OF_PROJECT = ("pipeline_py", "embedded_grammar")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RULE_PATTERN = re.compile(
    r"^ *(?:use rule (?P<of>\w+) as (?P<copy>\w+) with|rule(?: (?P<name>\w+))?):(?:  #.*)?\n", flags=re.MULTILINE
)
STAGE_PATTERN = re.compile("|".join(rf"{package}\.[a-z_]+" for package in PACKAGES))

RUNNER = "pipeline_py.run.__main__"
"""The module that runs all stages."""

OPTIONAL_IMPORTS = {("text", "pipeline_py.corpus.tokenize"): {"stanza"}}
"""(Environment, stage) → imports for options with which the rule uses another environment."""


def parse_requirements(requirements: list[str]) -> dict[str, Requirement]:
    """Parse requirements, by canonical name."""
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, requirements)}


def get_pip_requirements(name: str) -> list[str]:
    (pip,) = [entry["pip"] for entry in ENVIRONMENTS[name]["dependencies"] if isinstance(entry, dict)]
    return pip


# Environments of rules.


@cache
def find_environment_stages() -> dict[str, set[str]]:
    """Map each environment to the modules of all stages that a rule runs there."""
    rules = [(file, head, text) for file in RULE_FILES for head, text in split_rules(file)]
    bases = {name: (file, head, text) for file, head, text in rules if (name := head["copy"] or head["name"])}
    stages_by_environment: dict[str, set[str]] = defaultdict(set)
    for file, head, text in rules:
        stages = {stage for job in re.findall(r'\bcall_of\("([\w.]+)"\)', text) for stage in find_job_stages(job)}
        rule_file, environment_files = file, find_rule_environments(file, text)
        while stages and not environment_files:
            rule_file, head, text = bases[head["of"]]
            environment_files = find_rule_environments(rule_file, text)
        for path in environment_files:
            stages_by_environment[path.stem].update(stages)
    return stages_by_environment


def split_rules(file: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the match of each rule's first line, and the rest of the rule."""
    _, _, text = file.read_text(encoding="utf-8").split('"""', maxsplit=2)
    heads = [*RULE_PATTERN.finditer(text)]
    for head, end in zip(heads, [*(head.start() for head in heads[1:]), len(text)], strict=True):
        yield head, text[head.end() : end]


def find_job_stages(job: str) -> set[str]:
    """Return the modules of the stages that a job's method of the plan names, directly or in methods it calls."""
    package, _, method = job.partition(".")
    stages: set[str] = set()
    visited: set[tuple[str, str]] = set()
    pending = [(package, f"build_{method}_job")]
    while pending:
        key = pending.pop()
        if key in visited or key not in read_plan_functions():
            continue
        visited.add(key)
        for node in ast.walk(read_plan_functions()[key]):
            if isinstance(node, ast.Constant) and STAGE_PATTERN.fullmatch(str(node.value)):
                stages.add(f"pipeline_py.{node.value}")
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                pending.append((key[0], node.attr))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                pending += [(module, node.func.id) for module in ("corpus", key[0])]
    return stages


@cache
def read_plan_functions() -> dict[tuple[str, str], ast.FunctionDef]:
    """Parse the functions and methods of the plan, by module and name."""
    return {
        (file.stem, node.name): node
        for file in (ROOT / "pipeline_py/plan").glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }


def find_rule_environments(file: Path, rule: str) -> list[Path]:
    """Return the environment files of a rule, whose names are relative to its own file or to the Snakefile."""
    match = re.search(r"^ *conda:\n +(.+)\n", rule, flags=re.MULTILINE)
    names = re.findall(r'"([^"]+\.yaml)"', match[1]) if match else []
    return [(file.parent / name.replace("{PROJECT_FOLDER}", str(ROOT))).resolve() for name in names]


# Imports of the code.


def find_module_file(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def find_imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names of imports at any level, except those for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, "imports are absolute"
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        yield from find_imported_names(node)


@cache
def find_imports(module: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the project's modules that a module imports, including lookups by name, and other distributions."""
    file = find_module_file(module)
    assert file is not None
    text = file.read_text(encoding="utf-8")
    names = {*find_imported_names(ast.parse(text)), *list_parent_packages(module)}
    if "import_module(" in text:
        names |= {".".join(part.relative_to(ROOT).with_suffix("").parts) for part in file.parent.rglob("*/*.py")}
    # The outermost package is left out: it imports only on access to its own names, which no stage uses.
    project_modules = {
        name
        for name in names
        if name.startswith(tuple(f"{package}." for package in PACKAGES_OF_PROJECT)) and find_module_file(name)
    }
    packages = {name.split(".")[0] for name in names} - {*PACKAGES_OF_PROJECT} - sys.stdlib_module_names
    return frozenset(project_modules), frozenset(map(find_distribution, packages))


def list_parent_packages(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


@cache
def find_distribution(name: str) -> str:
    (distribution,) = {canonicalize_name(candidate) for candidate in metadata.packages_distributions()[name]}
    return distribution


@cache
def find_stage_distributions(stage: str) -> frozenset[str]:
    """Return the distributions that a stage may import, directly or through modules of the project."""
    distributions: set[str] = set()
    visited: set[str] = set()
    pending = [stage]
    while pending:
        module = pending.pop()
        if module not in visited:
            visited.add(module)
            project_modules, imported_distributions = find_imports(module)
            distributions |= imported_distributions
            pending += project_modules
    return frozenset(distributions)


def find_environment_distributions(environment: str) -> set[str]:
    return {
        distribution
        for stage in [RUNNER, *find_environment_stages()[environment]]
        for distribution in find_stage_distributions(stage) - OPTIONAL_IMPORTS.get((environment, stage), set())
    }


# Comparison of environments and imports.


def test_rules_name_all_environments() -> None:
    named_files = {
        path for file in RULE_FILES for _, text in split_rules(file) for path in find_rule_environments(file, text)
    }
    assert named_files == set(ENVIRONMENT_FILES.values())


def test_every_stage_has_an_environment() -> None:
    stages = set().union(*find_environment_stages().values())
    plans = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "pipeline_py/plan").glob("*.py"))
    planned_stages = {
        f"pipeline_py.{stage}"
        for stage in re.findall(r'\b(?:Job|_build_(?:training|search)_job)\(\s*"([\w.]+)"', plans)
    }
    assert stages == planned_stages and len(planned_stages) > 40


@pytest.mark.parametrize("name", ENVIRONMENT_FILES)
def test_a_file_is_an_environment_of_conda(name: str) -> None:
    content = ENVIRONMENTS[name]
    assert content.keys() == {"channels", "dependencies"}
    assert content["channels"] == ["conda-forge", "nodefaults"]
    python, *dependencies = content["dependencies"]
    version = re.fullmatch(r"python =(3\.\d+)", python)
    assert version and version[1] in SpecifierSet(PROJECT["requires-python"])
    assert [dependency if isinstance(dependency, str) else [*dependency] for dependency in dependencies] == [
        "pip",
        ["pip"],
    ]
    assert len(parse_requirements(get_pip_requirements(name))) == len(get_pip_requirements(name)), "each package once"


@pytest.mark.parametrize("name", ENVIRONMENT_FILES)
def test_versions_are_those_of_the_package(name: str) -> None:
    package_requirements = parse_requirements(PROJECT["dependencies"])
    for distribution, requirement in parse_requirements(get_pip_requirements(name)).items():
        assert requirement.specifier == package_requirements[distribution].specifier
        assert requirement.extras == package_requirements[distribution].extras
        assert [specifier.operator for specifier in requirement.specifier] == ["=="]


@pytest.mark.parametrize("name", ENVIRONMENT_FILES)
def test_environments_pin_exactly_the_direct_imports_of_stages(name: str) -> None:
    direct_distributions = find_environment_distributions(name) & parse_requirements(PROJECT["dependencies"]).keys()
    assert parse_requirements(get_pip_requirements(name)).keys() == direct_distributions


@pytest.mark.parametrize("name", ENVIRONMENT_FILES)
def test_imports_without_pin_are_dependencies_of_pinned_ones(name: str) -> None:
    dependencies = set()
    for distribution in parse_requirements(get_pip_requirements(name)):
        requirements = map(Requirement, metadata.requires(distribution) or [])
        unconditional = (
            candidate
            for candidate in requirements
            if candidate.marker is None or candidate.marker.evaluate({"extra": ""})
        )
        dependencies |= {canonicalize_name(requirement.name) for requirement in unconditional}
    assert find_environment_distributions(name) - parse_requirements(get_pip_requirements(name)).keys() <= dependencies


def test_imports_are_found_in_functions_and_by_name() -> None:
    """Imports are in functions, in other modules of the project, and in parts of networks that are found by name."""
    assert "matplotlib" in find_stage_distributions(
        "pipeline_py.report.write_page"
    ) and "stanza" in find_stage_distributions("pipeline_py.corpus.tokenize")
    assert "tqdm" in find_stage_distributions("pipeline_py.corpus.clean") and "torch" in find_stage_distributions(
        "pipeline_py.nmt.attend"
    )
    assert "torch" not in find_stage_distributions("pipeline_py.nmt.length_model") | find_stage_distributions(
        "pipeline_py.syntax.compute_distances"
    )
    assert (
        find_module_file("pipeline_py.nmt.encoder.lstm")
        and "pipeline_py.nmt.encoder.lstm" in find_imports("pipeline_py.nmt.model")[0]
    )
