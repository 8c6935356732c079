"""Code and library versions that affect the outputs of a stage.

Snakemake does not follow Python imports. The identity of a job contains a hash of all definitions that its stage uses,
and the versions of libraries: a job runs again if its outputs could change, but not if a comment changes.
"""

import ast
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGE_NAME = __name__.partition(".")[0]

PACKAGE_NAMES = (PACKAGE_NAME, "embedded_grammar")
"""Top-level packages of this project that stages use."""

PROJECT_FOLDER = Path(__file__).parent.parent.parent

LOADER_FUNCTION_NAME = "load"
"""Function of a stage's module that loads values once for several sets."""

RESULT_NEUTRAL_MODULES = (
    "nmt.training.monitoring",
    "run.command_line",
    "run.errors",
    "run.import_path",
    "run.interruption",
    "run.job",
    "run.job_server",
    "run.file_locks",
    "run.output_cache",
    "run.progress_display",
    "run.job_record",
    "run.job_runner",
    "run.cpu_usage",
)
"""Modules and packages that do not affect the outputs of a stage, except for times in facts."""


def compute_provenance(stage: str, *distributions: str, module_names: Sequence[str] = ()) -> dict[str, str]:
    """Return the provenance of a stage's outputs.

    Args:
        stage: module below `pipeline_py`, e.g. "syntax.parse".
        distributions: installed packages whose version affects the output, e.g. "stanza".
        module_names: additional modules that the stage finds by name instead of importing them.

    Returns:
        `{"code": hash, distribution: version, …}`.
    """
    return {"code": hash_stage_code(stage, *module_names), **{name: _get_version(name) for name in distributions}}


@cache
def _get_version(distribution: str) -> str:
    return metadata.version(distribution)


@cache
def hash_stage_code(stage: str, *module_names: str) -> str:
    """Hash the definitions that a stage uses, directly and indirectly.

    A definition is a function, class or variable of a module. The hash covers syntax trees: comments, docstrings,
    layout and the order of definitions do not matter. A module that is used other than by its attributes contributes
    all its definitions. A module with a used definition also contributes the C code of the same name (without
    comments), the tables (`.tsv`) in its folder, and its statements that define nothing. Configuration models are
    excluded, since their values are settings of jobs and a new option with a default must not rerun jobs; so are
    `RESULT_NEUTRAL_MODULES`.

    Args:
        stage: module below `pipeline_py`, e.g. "syntax.parse".
        module_names: modules that the stage finds by name, which contribute all their definitions.

    Returns:
        16 hexadecimal digits.
    """
    code_by_definition: dict[tuple[str, str], str] = {}
    modules: set[str] = set()
    queue = [
        *_get_entry_points(f"{PACKAGE_NAME}.{stage}"),
        *(pair for part in module_names for pair in _list_definitions(f"{PACKAGE_NAME}.{part}")),
    ]
    while queue:
        name = queue.pop()
        if name in code_by_definition:
            continue
        module = _parse_module(name[0])
        if name[1] not in module.definitions:
            code_by_definition[name] = ""
            queue += module.resolve_name(name[1])
            continue
        code_by_definition[name], references = _analyze_definition(*name)
        queue += references
        if name[0] not in modules:
            modules.add(name[0])
            queue += _iterate_references(module.other_statements, module)
    content = [f"{module} {name} {code}" for (module, name), code in sorted(code_by_definition.items()) if code]
    content += [
        f"{module} {_unparse_statements(_parse_module(module).other_statements)} {_read_companion_files(module)}"
        for module in sorted(modules)
    ]
    return hashlib.sha256("\n".join(content).encode()).hexdigest()[:16]


@cache
def find_module_file(module_name: str) -> Path | None:
    """Return the file of a first-party module without importing it; None if there is none."""
    place = PROJECT_FOLDER.joinpath(*module_name.split("."))
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


DefinitionKey = tuple[str, str]
"""The name of a module and of a definition in it."""


@dataclass(frozen=True)
class ModuleSyntax:
    """Definitions, imports and other statements of a module.

    Attributes:
        name: name of the module, with its package.
        definitions: statements by the name that they define.
        imports: imported modules and definitions by their local name.
        other_statements: statements that define nothing.
    """

    name: str
    definitions: Mapping[str, Sequence[ast.stmt]]
    imports: Mapping[str, Sequence[DefinitionKey]]
    other_statements: Sequence[ast.stmt]

    def resolve_name(self, name: str) -> list[DefinitionKey]:
        """Resolve a name that the module does not define: an import, a submodule, or else the whole module."""
        if name in self.imports:
            return [reached for imported in self.imports[name] for reached in _resolve_import(imported)]
        if find_module_file(f"{self.name}.{name}") is not None:
            return _list_definitions(f"{self.name}.{name}")
        return _list_definitions(self.name)


def _get_entry_points(module_name: str) -> list[DefinitionKey]:
    """Return the function of a stage and its loader; for a module that is not a stage, all its definitions."""
    definitions = _parse_module(module_name).definitions
    function = module_name.rpartition(".")[2]
    return (
        [(module_name, name) for name in (function, LOADER_FUNCTION_NAME) if name in definitions]
        if function in definitions
        else _list_definitions(module_name)
    )


def _list_definitions(module_name: str) -> list[DefinitionKey]:
    return (
        [(module_name, name) for name in _parse_module(module_name).definitions]
        if _is_hashed_module(module_name)
        else []
    )


def _resolve_import(imported: DefinitionKey) -> list[DefinitionKey]:
    """Return the definitions that an imported name uses; an empty name is the module itself."""
    module, name = imported
    if not _is_hashed_module(module):
        return []
    if name and find_module_file(f"{module}.{name}") is not None:
        return _list_definitions(f"{module}.{name}") if _is_hashed_module(f"{module}.{name}") else []
    return [(module, name)] if name else _list_definitions(module)


@cache
def _is_hashed_module(module_name: str) -> bool:
    package, _, name = module_name.partition(".")
    is_excluded = package == PACKAGE_NAME and any(
        f"{name}.".startswith(f"{excluded_name}.") for excluded_name in (*RESULT_NEUTRAL_MODULES, "config")
    )
    return package in PACKAGE_NAMES and bool(name) and not is_excluded and find_module_file(module_name) is not None


@cache
def _parse_module(module_name: str) -> ModuleSyntax:
    """Read the definitions of a first-party module."""
    file = find_module_file(module_name)
    if file is None:
        raise ModuleNotFoundError(f"no module {module_name}")
    tree = _remove_docstrings(ast.parse(file.read_text(encoding="utf-8")))
    definitions: dict[str, list[ast.stmt]] = {}
    other_statements: list[ast.stmt] = []
    for statement in tree.body:
        names = [*_iterate_defined_names(statement)]
        for name in names:
            definitions.setdefault(name, []).append(statement)
        if not names and not _has_no_runtime_effect(statement):
            other_statements.append(statement)
    imports: dict[str, list[DefinitionKey]] = {}
    for name, imported in _iterate_imports(tree):
        imports.setdefault(name, []).append(imported)
    return ModuleSyntax(module_name, definitions, imports, other_statements)


@cache
def _analyze_definition(module_name: str, name: str) -> tuple[str, Sequence[DefinitionKey]]:
    """Return the normalized source of a definition and the first-party definitions that it uses."""
    statements = _parse_module(module_name).definitions[name]
    return _unparse_statements(statements), [
        *dict.fromkeys(_iterate_references(statements, _parse_module(module_name)))
    ]


def _unparse_statements(statements: Sequence[ast.stmt]) -> str:
    return "\n".join(map(ast.unparse, statements))


def _read_companion_files(module_name: str) -> str:
    """Return the C code of a module and the tables in its folder."""
    file = find_module_file(module_name)
    assert file is not None
    c_file = file.with_suffix(".c")
    content = re.sub(r"(?s)(/\*.*?\*/|\s)+", " ", c_file.read_text(encoding="utf-8")) if c_file.is_file() else ""
    for table in sorted(file.parent.glob("*.tsv")):
        content += f"\n{table.name}\n" + re.sub(r"(?m)^(#.*)?\n", "", table.read_text(encoding="utf-8"))
    return content


def _iterate_defined_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _has_no_runtime_effect(statement: ast.stmt) -> bool:
    """Return whether a statement is an import, or only for type checkers or for running the module."""
    if isinstance(statement, ast.If):
        return ast.unparse(statement.test) in ("TYPE_CHECKING", "__name__ == '__main__'")
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass)


def _iterate_statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements; skipping expressions, which contain no imports or docstrings, is faster."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.expr):
            yield node
            yield from _iterate_statements(node)


def _iterate_imports(tree: ast.Module) -> Iterator[tuple[str, DefinitionKey]]:
    """Yield the names of first-party imports, including those within functions."""
    for node in _iterate_statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in PACKAGE_NAMES:
                    yield (alias.asname or alias.name.partition(".")[0]), (alias.name, "")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in PACKAGE_NAMES:
            for alias in node.names:
                yield (alias.asname or alias.name), (node.module or "", alias.name)


def _iterate_references(statements: Sequence[ast.stmt], module_syntax: ModuleSyntax) -> Iterator[DefinitionKey]:
    """Yield the first-party definitions that statements of a module use.

    `name.attribute` of an imported module is a definition of that module.
    """
    nodes: list[ast.AST] = [*statements]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Name):
            if node.id in module_syntax.definitions:
                yield module_syntax.name, node.id
            if node.id in module_syntax.imports:  # a function may import a name that its module also defines
                for name in module_syntax.imports[node.id]:
                    yield from _resolve_import(name)
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            targets = [
                f"{imported}.{name}" if name else imported
                for imported, name in module_syntax.imports.get(node.value.id, ())
            ]
            if targets and all(find_module_file(target) is not None for target in targets):
                yield from ((target, node.attr) for target in targets if _is_hashed_module(target))
                continue
        for field in node._fields:
            value = getattr(node, field)
            if isinstance(value, ast.AST):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [item for item in value if isinstance(item, ast.AST)]


def _remove_docstrings(tree: ast.Module) -> ast.Module:
    for node in [tree, *_iterate_statements(tree)]:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [
                statement
                for statement in node.body
                if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
            ] or [ast.Pass()]
    return tree
