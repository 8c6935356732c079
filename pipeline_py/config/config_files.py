"""Strict reading of configuration files, with the line of every error.

Snakemake reads the same files, but keeps the last of two equal keys and does not report where YAML is invalid.
"""

import argparse
import difflib
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from pipeline_py.files.text_files import read_lines
from pipeline_py.run import errors
from pipeline_py.run.errors import InputError

YAML_MERGE_TAG = "tag:yaml.org,2002:merge"
"""The tag of `<<`, which may occur several times and whose keys may be overridden."""

CONFIG_FILE_SUFFIXES = (".yaml", ".yml", ".json")

TARGET_ORDER_HINT = "write targets before `--configfile`, which takes several files"

MAX_NESTING_DEPTH = 50
"""Limit of nested mappings and lists; thousands of levels would exceed the stack of the recursive parser."""

MAX_NODES = 100_000
"""Limit of keys and values with all aliases expanded; nested aliases multiply them."""

TEMPLATE_KEY = "__use_yte__"
"""The key with which Snakemake runs a configuration file as a template, whose expressions are Python code."""

NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
TIMESTAMP_TAG = "tag:yaml.org,2002:timestamp"

UNUSUAL_NUMBER_PATTERN = re.compile(r"[-+]?(0[0-9b].*|.*[_:].*)")
"""Numbers that YAML 1.1 reads in an unexpected way: octal 017, binary 0b11, 1_000, 1:30 (base 60)."""


class _ErrorLocationMixin:
    """A mixin for YAML loaders that adds the location to every error."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)  # type: ignore[misc]
        except (ValueError, OverflowError) as error:  # the 31st of February
            problem = f"the value cannot be read ({error})"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


class _FastLoader(_ErrorLocationMixin, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML's safe loader in C, ten times as fast as the one in Python."""


class _StrictLoader(_ErrorLocationMixin, yaml.SafeLoader):
    """YAML's safe loader in Python, as Snakemake uses it; it rejects more tabs."""


def read_config_file(path: Path) -> dict[str, Any]:
    """Read a configuration file in YAML or JSON.

    Raises:
        InputError: the file does not exist, is invalid, is not a mapping, is a template, or has a duplicate key.
    """
    if not path.is_file():
        raise InputError(
            f"{'this is not a file' if path.exists() else 'no such file'}; {_format_file_suggestion(path)}", path
        )
    text = "\n".join(read_lines(path))
    try:
        content = json.loads(text, object_pairs_hook=lambda pairs: _build_unique_mapping(pairs, path))
    except (ValueError, RecursionError):
        content = None
    if content is None:
        content = _parse_yaml(text, path)
    if not isinstance(content, dict):
        raise InputError("the file is not a mapping of keys to values; write `KEY: VALUE`, as config.yaml does", path)
    if TEMPLATE_KEY in content:
        raise InputError(f"`{TEMPLATE_KEY}` would run Python code in this file; remove it, and write values out", path)
    return content


def _build_unique_mapping(pairs: list[tuple[str, Any]], path: Path) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError(f"`{repeated}` occurs twice in one mapping, and only the last would count; join the two", path)
    return mapping


def _parse_yaml(text: str, path: Path) -> Any:
    loader_class = _StrictLoader if "\t" in text else _FastLoader
    loader = loader_class(text)
    try:
        depth = 0
        for event in yaml.parse(text, loader_class):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_NESTING_DEPTH:
                raise InputError("nested too deeply; correct it", path)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_expanded_size(node, path)
        for descendant in _iterate_nodes(node):
            if isinstance(descendant, yaml.MappingNode):
                _check_unique_keys(loader, descendant, path)
            elif isinstance(descendant, yaml.ScalarNode):
                _check_scalar(loader, descendant, path)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(filter(None, (error.context, error.problem)))
        line = None if mark is None else mark.line + 1
        raise InputError(f"not valid YAML: {problem}; correct it", path, line) from None
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise InputError(f"not valid YAML: {error.reason}; correct it", path, line) from None
    finally:
        loader.dispose()


def _iterate_nodes(root: yaml.Node) -> Iterable[yaml.Node]:
    """Yield every node once; an alias is the same node as its anchor."""
    visited_ids, stack = set(), [root]
    while stack:
        node = stack.pop()
        if id(node) in visited_ids:
            continue
        visited_ids.add(id(node))
        yield node
        stack += _get_child_nodes(node)


def _get_child_nodes(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _check_expanded_size(root: yaml.Node, path: Path) -> None:
    """Raise InputError if aliases make the document infinite, too large or too deep."""
    sizes: dict[int, int | None] = {}
    depths: dict[int, int] = {}

    # An anchor precedes its aliases, so the recursion is no deeper than the nesting of the file.
    def measure(node: yaml.Node) -> None:
        line = node.start_mark.line + 1
        sizes[id(node)] = None
        for child in _get_child_nodes(node):
            if id(child) not in sizes:
                measure(child)
            elif sizes[id(child)] is None:
                raise InputError("this value contains itself by an alias (`*`); write it out", path, line)
        sizes[id(node)] = 1 + sum(sizes[id(child)] or 0 for child in _get_child_nodes(node))
        depths[id(node)] = 1 + max((depths[id(child)] for child in _get_child_nodes(node)), default=0)
        if (sizes[id(node)] or 0) > MAX_NODES:
            raise InputError(f"aliases (`*`) make more than {MAX_NODES:,} keys and values; use fewer", path, line)
        if depths[id(node)] > MAX_NESTING_DEPTH + 1:
            raise InputError("nested too deeply by aliases (`*`); use fewer", path, line)

    measure(root)


def _check_scalar(loader: Any, node: yaml.ScalarNode, path: Path) -> None:
    """Raise InputError for a number or date that YAML 1.1 reads in an unexpected way.

    Snakemake reads the file with the same rules, so the value cannot be read as text here.
    """
    line = node.start_mark.line + 1
    if node.tag == TIMESTAMP_TAG:
        loader.construct_object(node)
        raise InputError(f"YAML reads `{node.value}` as a date; put it in quotes", path, line)
    if node.tag in NUMBER_TAGS and UNUSUAL_NUMBER_PATTERN.fullmatch(node.value):
        number = loader.construct_object(node)
        raise InputError(f"YAML reads `{node.value}` as {number}; write this, or put text in quotes", path, line)


def _check_unique_keys(loader: Any, mapping: yaml.MappingNode, path: Path) -> None:
    first_lines: dict[Any, int] = {}
    for key, _ in mapping.value:
        if key.tag == YAML_MERGE_TAG or not isinstance(key, yaml.ScalarNode):
            continue
        line = key.start_mark.line + 1
        name = loader.construct_object(key)
        if name in first_lines:
            raise InputError(
                f"`{key.value}` is in line {first_lines[name]} already, and only the last would count; "
                "join the two or remove one",
                path,
                line,
            )
        first_lines[name] = line


def _format_file_suggestion(path: Path) -> str:
    if path.parent.is_dir():
        siblings = {file.stem: file for file in sorted(path.parent.iterdir()) if file.suffix in CONFIG_FILE_SUFFIXES}
        if matches := difflib.get_close_matches(path.stem, siblings, n=1):
            return f"did you mean {siblings[matches[0]]}? ({TARGET_ORDER_HINT})"
    return f"give a configuration file ({TARGET_ORDER_HINT})"


def check_config_files(paths: Sequence[Path]) -> None:
    """Check that configuration files can be read.

    Raises:
        InputError: a file is missing or invalid, as in `read_config_file`.
    """
    for path in paths:
        try:
            read_config_file(path)
        except InputError as error:
            if path.is_file() and path.suffix not in CONFIG_FILE_SUFFIXES:
                raise InputError(f"{error} (if it is a target: {TARGET_ORDER_HINT})") from None
            raise
        except OSError as error:
            raise InputError(errors.describe_failure(error) or str(error)) from None


def check_command_line_files() -> None:
    """Check the configuration files on Snakemake's command line before Snakemake reads them; profiles call this.

    An invalid file ends the process with a one-sentence message on stderr and exit code 1.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    parser.add_argument("--configfile", "--configfiles", nargs="*", type=Path, default=[])
    try:
        check_config_files(parser.parse_known_args()[0].configfile)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
