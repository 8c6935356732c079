"""Check Python files and Markdown pages against our writing guide (see CONTRIBUTING.md).

Usage: python .ci/check_language.py FOLDER_OR_FILE...

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

BAD_HABITS = re.compile(
    r"\b(whoever|whichever|anew|beside|behind|of (?:its|their|one's|an?) own|(?:stands?|stood) for|(?:is|are|was) told"
    r"|(?:is|are) said|for sure|as it was|would have been|(?:know|mean)s? nothing|laid out|so as to|none of which)\b"
    r"|(?:^|[.!?:] )So (?=[a-z])",
    re.IGNORECASE,
)
"""Expressions of our prose that readers had to read twice, and `So` at the start of a sentence."""

CODE_SPAN = re.compile(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->")

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


def check_page(path: Path) -> Iterator[str]:
    """Yield the violations of a Markdown page, outside of code, tables of contents and links."""
    is_code = False
    for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if text.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            for match in BAD_HABITS.finditer(CODE_SPAN.sub("", text)):
                yield f"{path}:{line}: `{match[0].strip()}` reads as a translation; write what it is or does"


def find_files(argument: str, suffix: str) -> list[Path]:
    path = Path(argument)
    return sorted(path.rglob(f"*{suffix}")) if path.is_dir() else [path] * (path.suffix == suffix)


def main(arguments: list[str]) -> int:
    checks = {".py": check_file, ".md": check_page}
    violations = [
        violation
        for argument in arguments
        for suffix, check in checks.items()
        for path in find_files(argument, suffix)
        for violation in check(path)
    ]
    print("\n".join(violations) or "no violations")
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
