"""Write docs/reference/command_lines.md, a page with every command line, from signatures and docstrings.

Usage: python docs/command_line_reference.py [--check]
"""

import ast
import sys
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path

from pipeline_py.__main__ import SUBCOMMANDS
from pipeline_py.run.command_line import CommandOption, list_options, parse_docstring

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "command_lines.md"
PACKAGES = ("pipeline_py", "embedded_grammar", "benchmarks")

INTRODUCTION = """# Command lines

This page lists the commands of `arbitree` and every module that you can run with `python -m`, with their options.

`--help` after a command prints the same text. Run commands in the folder of the `Snakefile`. Options without a default
are required, a list takes several values and is repeatable, and a switch `--name` is turned off by `--no-name`.
Snakemake lists its own options with `--help`, too.
"""

COMMANDS_WITHOUT_OPTIONS = {
    "pipeline_py.run": "Run a job again from its record (`.NAME.job.json`, next to each result), in the folder in "
    "which Snakemake ran. The only argument is the record, or a job as JSON. See [a job](stages.md#a-job)."
}
"""Descriptions of modules that take an argument instead of options."""

TYPE_NAMES: dict[type, tuple[str, str]] = {
    str: ("text", "texts"),
    int: ("integer", "integers"),
    float: ("number", "numbers"),
    Path: ("path", "paths"),
}
"""Names of a value and of several values, by type."""


def find_commands() -> dict[str, str]:
    """Return the expression of the function that each module runs as a command, by module."""
    commands = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if expression := find_command_function(ast.parse(path.read_text(encoding="utf-8"))):
                commands[".".join(path.relative_to(ROOT).with_suffix("").parts)] = expression
    return commands


def find_command_function(tree: ast.Module) -> str | None:
    """Return the argument of `run_command` below `if __name__ == "__main__"`, as an expression."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'":
            for node in ast.walk(statement):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "run_command":
                    return ast.unparse(node.args[0])
    return None


def render_page() -> str:
    sections = {name: f"{description}\n" for name, description in COMMANDS_WITHOUT_OPTIONS.items()}
    first_names: dict[str, str] = {}
    for module, expression in find_commands().items():
        name = module.removesuffix(".__main__")
        function = eval(expression, vars(import_module(module)))
        summary, descriptions = parse_docstring(function)
        options = "\n".join(render_options(list_options(function, descriptions)))
        first_name = first_names.setdefault(options, name)
        if first_name != name:
            options = f"The options are those of [{first_name}](#{first_name.replace('.', '')})."
        sections[name] = f"{summary}\n\n{options}\n"
    names = sorted(sections, key=lambda name: (PACKAGES.index(name.partition(".")[0]), name))
    return "\n".join([INTRODUCTION, *render_subcommands(), *(f"## {name}\n\n{sections[name]}" for name in names)])


def render_subcommands() -> Iterator[str]:
    """Yield the sections of `arbitree` and of its commands with options of their own."""
    rows = [f"| `{name}` | {subcommand.summary} |" for name, subcommand in SUBCOMMANDS.items()]
    table = "\n".join(["| command | effect |\n|---|---|", *rows])
    summary = "The program is also the module `pipeline_py`. `arbitree COMMAND --help` lists options."
    yield f"## arbitree\n\n{summary}\n\n{table}\n"
    for name, subcommand in SUBCOMMANDS.items():
        if subcommand.is_forwarded:
            continue
        function = getattr(import_module(f"pipeline_py.{subcommand.module}"), subcommand.function)
        summary, descriptions = parse_docstring(function)
        options = "\n".join(render_options(list_options(function, descriptions)))
        argument = f"The first argument may be the value of `--{subcommand.positional}`."
        yield f"## arbitree {name}\n\n{summary}\n\n{argument}\n\n{options}\n"


def render_options(options: list[CommandOption]) -> Iterator[str]:
    yield "| option | value | default | meaning |\n|---|---|---|---|"
    for option in options:
        cells = [f"`{option.name}`", format_type(option), format_default(option), option.description]
        yield f"| {' | '.join(map(escape_cell, cells))} |"


def format_type(option: CommandOption) -> str:
    if option.is_flag:
        return "switch"
    if option.choices:
        names = ", ".join(f"`{choice}`" for choice in option.choices)
        return f"list of {names}" if option.is_list else names
    singular, plural = TYPE_NAMES[option.value_type]
    name = f"list of {plural}" if option.is_list else singular
    return name if option.minimum is None else f"{name} ≥ {option.minimum}"


def format_default(option: CommandOption) -> str:
    if option.is_required:
        return "required"
    value = option.default.value if isinstance(option.default, Enum) else option.default
    if value in (None, "", []):
        return ""
    if option.is_flag:
        return "on" if value else "off"
    return f"`{' '.join(map(str, value)) if isinstance(value, list) else value}`"


def escape_cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def main() -> int:
    sys.path.insert(0, str(ROOT))  # benchmarks are not installed
    content = render_page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == content:
            return 0
        print(f"{PAGE.relative_to(ROOT)} is out of date; run: python docs/command_line_reference.py")
        return 1
    PAGE.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
