"""Environments: each holds what its rules' stages import, no more and no less, in the versions of the package."""

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
FILES = {file.stem: file for file in sorted((ROOT / "envs").glob("*.yaml"))}
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    name: yaml.safe_load(file.read_text("utf-8")) for name, file in FILES.items()
}
RULES = sorted((ROOT / "workflow/rules").rglob("*.smk"))
PACKAGES = ("corpus", "syntax", "subword", "smt", "nmt", "evaluation", "report")
PACKAGES_OF_PROJECT = ("pipeline_py", "embedded_grammar")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RULE = re.compile(
    r"^ *(?:use rule (?P<of>\w+) as (?P<copy>\w+) with|rule(?: (?P<name>\w+))?):(?:  #.*)?\n", flags=re.MULTILINE
)
STAGE = re.compile("|".join(rf"{package}\.[a-z_]+" for package in PACKAGES))

RUNNER = "pipeline_py.run.__main__"
"""The module that runs all stages."""

NOT_THERE = {("text", "pipeline_py.corpus.tokenize"): {"stanza"}}
"""What a stage imports under options with which its rule names another environment."""


def pinned(requirements: list[str]) -> dict[str, Requirement]:
    """Requirements by the name that a registry compares."""
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, requirements)}


def pip_of(name: str) -> list[str]:
    (pip,) = [given["pip"] for given in ENVIRONMENTS[name]["dependencies"] if isinstance(given, dict)]
    return pip


# What rules say.


@cache
def environments_of_stages() -> dict[str, set[str]]:
    """Environment → the modules of all stages that a rule runs there."""
    rules = [(file, head, text) for file in RULES for head, text in rules_of(file)]
    bases = {name: (file, head, text) for file, head, text in rules if (name := head["copy"] or head["name"])}
    found: dict[str, set[str]] = defaultdict(set)
    for file, head, text in rules:
        stages = {stage for job in re.findall(r'\bcall_of\("([\w.]+)"\)', text) for stage in stages_of(job)}
        place, environment = file, named_environments(file, text)
        while stages and not environment:
            place, head, text = bases[head["of"]]
            environment = named_environments(place, text)
        for path in environment:
            found[path.stem].update(stages)
    return found


def rules_of(file: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Each rule's first line and what follows it."""
    _, _, text = file.read_text(encoding="utf-8").split('"""', maxsplit=2)
    heads = [*RULE.finditer(text)]
    for head, end in zip(heads, [*(head.start() for head in heads[1:]), len(text)], strict=True):
        yield head, text[head.end() : end]


def stages_of(job: str) -> set[str]:
    """The modules of the stages of a job of the plan: those that its method names, or methods that this calls."""
    package, _, method = job.partition(".")
    stages: set[str] = set()
    seen: set[tuple[str, str]] = set()
    waiting = [(package, f"build_{method}_job")]
    while waiting:
        place = waiting.pop()
        if place in seen or place not in functions_of_plan():
            continue
        seen.add(place)
        for node in ast.walk(functions_of_plan()[place]):
            if isinstance(node, ast.Constant) and STAGE.fullmatch(str(node.value)):
                stages.add(f"pipeline_py.{node.value}")
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                waiting.append((place[0], node.attr))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                waiting += [(module, node.func.id) for module in ("corpus", place[0])]
    return stages


@cache
def functions_of_plan() -> dict[tuple[str, str], ast.FunctionDef]:
    """The functions and methods of the plan by their module and name."""
    return {
        (file.stem, node.name): node
        for file in (ROOT / "pipeline_py/plan").glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }


def named_environments(file: Path, rule: str) -> list[Path]:
    """The files that a rule names, relative to its own file or to the folder of the Snakefile."""
    named = re.search(r"^ *conda:\n +(.+)\n", rule, flags=re.MULTILINE)
    names = re.findall(r'"([^"]+\.yaml)"', named[1]) if named else []
    return [(file.parent / name.replace("{workflow.basedir}", str(ROOT))).resolve() for name in names]


# What code imports.


def file_of(module: str) -> Path | None:
    place = ROOT.joinpath(*module.split("."))
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def names_in(tree: ast.AST) -> Iterator[str]:
    """What is imported, at the top of a module or when a function runs, but not for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, "imports are absolute"
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        yield from names_in(node)


@cache
def imports(module: str) -> tuple[frozenset[str], frozenset[str]]:
    """Our modules that a module imports, with those that it may find by name, and distributions of others."""
    file = file_of(module)
    assert file is not None
    text = file.read_text(encoding="utf-8")
    names = {*names_in(ast.parse(text)), *packages_around(module)}
    if "import_module(" in text:
        names |= {".".join(part.relative_to(ROOT).with_suffix("").parts) for part in file.parent.rglob("*/*.py")}
    # The outermost package imports when it is asked for its own names, which no stage does.
    ours = {
        name
        for name in names
        if name.startswith(tuple(f"{package}." for package in PACKAGES_OF_PROJECT)) and file_of(name)
    }
    others = {name.split(".")[0] for name in names} - {*PACKAGES_OF_PROJECT} - sys.stdlib_module_names
    return frozenset(ours), frozenset(map(distribution_of, others))


def packages_around(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


@cache
def distribution_of(name: str) -> str:
    (distribution,) = {canonicalize_name(found) for found in metadata.packages_distributions()[name]}
    return distribution


@cache
def needs(stage: str) -> frozenset[str]:
    """Distributions that a stage may import, through whatever modules of ours."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [stage]
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            ours, others = imports(module)
            found |= others
            waiting += ours
    return frozenset(found)


def needs_in(environment: str) -> set[str]:
    return {
        distribution
        for stage in [RUNNER, *environments_of_stages()[environment]]
        for distribution in needs(stage) - NOT_THERE.get((environment, stage), set())
    }


# The two beside each other.


def test_every_environment_is_there_and_some_rule_names_it() -> None:
    named = {path for file in RULES for _, text in rules_of(file) for path in named_environments(file, text)}
    assert named == set(FILES.values())


def test_every_stage_has_an_environment() -> None:
    stages = set().union(*environments_of_stages().values())
    plans = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "pipeline_py/plan").glob("*.py"))
    made = {f"pipeline_py.{stage}" for stage in re.findall(r'\b(?:Job|_build_training_job)\(\s*"([\w.]+)"', plans)}
    assert stages == made and len(made) > 40


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_an_environment_of_conda(name: str) -> None:
    content = ENVIRONMENTS[name]
    assert content.keys() == {"channels", "dependencies"}
    assert content["channels"] == ["conda-forge", "nodefaults"]
    python, *others = content["dependencies"]
    version = re.fullmatch(r"python =(3\.\d+)", python)
    assert version and version[1] in SpecifierSet(PROJECT["requires-python"])
    assert [other if isinstance(other, str) else [*other] for other in others] == ["pip", ["pip"]]
    assert len(pinned(pip_of(name))) == len(pip_of(name)), "each package once"


@pytest.mark.parametrize("name", FILES)
def test_versions_are_those_of_the_package(name: str) -> None:
    package = pinned(PROJECT["dependencies"])
    for distribution, requirement in pinned(pip_of(name)).items():
        assert requirement.specifier == package[distribution].specifier
        assert requirement.extras == package[distribution].extras
        assert [given.operator for given in requirement.specifier] == ["=="]


@pytest.mark.parametrize("name", FILES)
def test_what_stages_import_is_there_and_nothing_else(name: str) -> None:
    direct = needs_in(name) & pinned(PROJECT["dependencies"]).keys()
    assert pinned(pip_of(name)).keys() == direct


@pytest.mark.parametrize("name", FILES)
def test_what_the_package_does_not_pin_comes_with_what_it_pins(name: str) -> None:
    brought = set()
    for distribution in pinned(pip_of(name)):
        requirements = map(Requirement, metadata.requires(distribution) or [])
        plain = (one for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""}))
        brought |= {canonicalize_name(requirement.name) for requirement in plain}
    assert needs_in(name) - pinned(pip_of(name)).keys() <= brought


def test_imports_are_found_wherever_they_stand() -> None:
    """Within functions, through modules of ours, and in parts of networks that are found by name."""
    assert "matplotlib" in needs("pipeline_py.report.write_page") and "stanza" in needs("pipeline_py.corpus.tokenize")
    assert "tqdm" in needs("pipeline_py.corpus.clean") and "torch" in needs("pipeline_py.nmt.attend")
    assert "torch" not in needs("pipeline_py.nmt.length_model") | needs("pipeline_py.syntax.compute_distances")
    assert (
        file_of("pipeline_py.nmt.encoder.lstm")
        and "pipeline_py.nmt.encoder.lstm" in imports("pipeline_py.nmt.model")[0]
    )
