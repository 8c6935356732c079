"""What code and which versions made an artifact.

Snakemake does not follow Python imports. A rule that lists `made_by("syntax.parse", …)` among its parameters runs
again when the code that makes its outputs changes, and not when a comment or a docstring does.
"""

import ast
import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).parent

PACKAGE = FOLDER.name

CHANGE_NO_RESULT = (
    "energy",
    "failures",
    "input_error",
    "output_cache",
    "nmt.training.clock",
    "nmt.training.tensorboard",
    "options",
    "progress",
    "run.runner",
    "stage",
    "usage",
)
"""Modules that measure, say or hand on what others make: no output of a stage is another one for a change of theirs.

Figures of time and energy in facts are those of the code that measured them.
"""


def made_by(stage: str, *distributions: str, parts: Sequence[str] = ()) -> dict[str, str]:
    """Provenance of a stage's outputs, for the parameters of its rule.

    Args:
        stage: module below `pipeline_py`, e.g. "syntax.parse".
        distributions: installed packages whose version decides the output, e.g. "stanza".
        parts: further modules that the stage finds by name instead of importing them.

    Returns:
        `{"code": hash, distribution: version, …}`.
    """
    return {"code": code_of(stage, *parts), **{name: _version(name) for name in distributions}}


@cache
def _version(distribution: str) -> str:
    return metadata.version(distribution)


@cache
def code_of(*stages: str) -> str:
    """Hash the code of modules and of all first-party modules that they import, directly or not.

    The hash is over the syntax tree without docstrings, so comments, docstrings and layout do not count. Code in C
    that stands beside a module, under its name, counts without comments, and so do tables (`.tsv`) in its folder.
    Models of the configuration do not count either: their values are parameters of the rules, and a new option
    must not make every system that leaves it at its default train again. Nor do modules of `CHANGE_NO_RESULT`.

    Args:
        stages: module names below `pipeline_py`, e.g. "syntax.parse".

    Returns:
        16 hexadecimal digits.
    """
    modules: dict[str, str] = {}
    waiting = [f"{PACKAGE}.{stage}" for stage in stages]
    while waiting:
        module = waiting.pop()
        if module not in modules:
            modules[module], imports = _read(module)
            waiting += imports
    content = "\n".join(f"{module} {modules[module]}" for module in sorted(modules))
    return hashlib.sha256(content.encode()).hexdigest()[:16]


@cache
def _read(module: str) -> tuple[str, list[str]]:
    """The code of a module without what does not count, and the first-party modules that it imports.

    The package itself only hands on what its users import, and no stage does.
    """
    if module == PACKAGE:
        return "pass", []
    file = file_of(module)
    if file is None:
        raise ModuleNotFoundError(f"no module {module}")
    tree = _without_docstrings(ast.parse(file.read_text(encoding="utf-8")))
    in_c = file.with_suffix(".c")
    beside = re.sub(r"(?s)(/\*.*?\*/|\s)+", " ", in_c.read_text(encoding="utf-8")) if in_c.is_file() else ""
    for table in sorted(file.parent.glob("*.tsv")):
        beside += f"\n{table.name}\n" + re.sub(r"(?m)^(#.*)?\n", "", table.read_text(encoding="utf-8"))
    return ast.unparse(tree) + beside, [*_first_party_imports(tree)]


def file_of(module: str) -> Path | None:
    """Where the code of a first-party module stands, found without importing any."""
    place = FOLDER.joinpath(*module.split(".")[1:])
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk the statements alone: no import or docstring stands within an expression, and these are most nodes."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.expr):
            yield node
            yield from _statements(node)


def _first_party_imports(tree: ast.AST) -> Iterator[str]:
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            # `from package import name` imports a module where there is one of that name.
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            package, _, module = name.partition(".")
            counts = package == PACKAGE and not module.startswith("config") and module not in CHANGE_NO_RESULT
            if counts and file_of(name) is not None:
                yield name


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in [tree, *_statements(tree)]:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [
                statement
                for statement in node.body
                if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
            ] or [ast.Pass()]
    return tree
