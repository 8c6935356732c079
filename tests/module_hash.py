"""Hash of all modules that a stage imports, a coarser reference for `provenance.hash_stage_code`."""

import ast
import hashlib
from collections.abc import Iterator

from pipeline_py.run import provenance


def compute_module_hash(*stage_names: str) -> str:
    """Hash modules and all first-party modules that they import, without docstrings and comments.

    Each definition of an imported module is included, whether or not it is used.
    """
    modules: dict[str, str] = {}
    pending_modules = [f"{provenance.PACKAGE_NAME}.{stage}" for stage in stage_names]
    while pending_modules:
        module = pending_modules.pop()
        if module not in modules:
            file = provenance.find_module_file(module)
            assert file is not None
            tree = provenance._remove_docstrings(ast.parse(file.read_text(encoding="utf-8")))
            modules[module] = ast.unparse(tree) + provenance._read_companion_files(module)
            pending_modules += [name for name in _find_imported_modules(tree) if provenance._is_hashed_module(name)]
    content = "\n".join(f"{module} {modules[module]}" for module in sorted(modules))
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _find_imported_modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
