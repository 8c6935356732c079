"""Check identifiers and docstrings of Python files against our writing guide (see CONTRIBUTING.md).

Usage: python .ci/check_language.py FOLDER...

Prints one line for each violation and exits with 1 if there are any.
"""

import ast
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

VAGUE_NAMES = frozenset(
    """
    about afterwards alone anew another asked away behind beside besides both called chosen done drawn each
    earlier elsewhere everything found further gained given gone heard here kept known lacking laid laid_out
    later left_over likewise made meant missing_one nobody nothing now of_each of_one of_own of_table on once
    one ones order_of other others own put put_back rather read_one said seen shared_out so somewhere taken
    taught that them then there these they this those told unsaid until untouched what whatever whole whose
    with_one within without written
    """.split()  # noqa: SIM905
)
"""Identifiers that do not say what they name: bare participles, prepositions, adverbs and pronouns."""

RELATIVE_CLAUSE = re.compile(r"(What|Where|Which|Those|Whose|How|Whoever|Of|The same|That|Whether|Who|When|Whatever)\b")
"""Beginnings of a docstring that do not say what a function does or what a class is."""

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Assignment = ast.Assign | ast.AnnAssign


def find_bindings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and name of every definition, parameter, assigned variable, field and import alias.

    Fields of `…Config` classes are left out, since they are keys of the user's configuration.
    """
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name.endswith("Config")]
    keys = {field.target for node in classes for field in node.body if isinstance(field, ast.AnnAssign)}
    for node in ast.walk(tree):
        if node in keys:
            continue
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.alias(asname=str(name)):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


def find_docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and text of every docstring, those of constants and fields included."""
    for node in ast.walk(tree):
        for previous, statement in pairwise([None, *getattr(node, "body", [])] if isinstance(node, Definition) else []):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))) if previous is None or isinstance(
                    previous, Assignment
                ):
                    yield statement.lineno, text.strip()


def check_file(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for line, name in find_bindings(tree):
        if name.strip("_") in VAGUE_NAMES:
            yield f"{path}:{line}: `{name}` is vague; name a function by a verb and a noun, anything else by a noun"
    for line, text in find_docstrings(tree):
        if match := RELATIVE_CLAUSE.match(text):
            yield f"{path}:{line}: the docstring begins with `{match[0]}`; say what the function does or the object is"


def main(folders: list[str]) -> int:
    violations = [
        violation for folder in folders for path in sorted(Path(folder).rglob("*.py")) for violation in check_file(path)
    ]
    print("\n".join(violations) or "no violations")
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
