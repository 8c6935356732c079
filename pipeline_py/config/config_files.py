"""Files of a configuration, read so that a mistake in one is told with its line.

Snakemake reads them too, but takes the last of two equal keys, and does not say where YAML is broken.
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
"""The tag of `<<`, which may be given several times, and whose keys may be given anew."""

CONFIG_FILE_SUFFIXES = (".yaml", ".yml", ".json")

TARGET_ORDER_HINT = "write targets before `--configfile`, which takes several files"

MAX_NESTING_DEPTH = 50
"""Levels of mappings and lists; a file of many thousands would end the process, which reads one in another."""

MAX_NODES = 100_000
"""Keys and values, those of aliases counted wherever they stand; each level of aliases may multiply them."""

TEMPLATE_KEY = "__use_yte__"
"""The key with which Snakemake runs a configuration file as a template, whose expressions are Python code."""

NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
TIMESTAMP_TAG = "tag:yaml.org,2002:timestamp"

UNUSUAL_NUMBER_PATTERN = re.compile(r"[-+]?(0[0-9b].*|.*[_:].*)")
"""Numbers that YAML 1.1 reads in another way than most people: octal 017, binary 0b11, 1_000, 1:30 (to base 60)."""


class _ErrorLocationMixin:
    """Of a loader of YAML: every error has a place."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)  # type: ignore[misc]
        except (ValueError, OverflowError) as error:  # the 31st of February
            said = f"the value cannot be read ({error})"
            raise yaml.constructor.ConstructorError(None, None, said, node.start_mark) from None


class _FastLoader(_ErrorLocationMixin, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML's safe loader in C, which is ten times as fast."""


class _StrictLoader(_ErrorLocationMixin, yaml.SafeLoader):
    """That of Python, which Snakemake reads with; it takes fewer tabs."""


def read_config_file(path: Path) -> dict[str, Any]:
    """Read a file of the configuration.

    Raises:
        InputError: if there is none, it is no YAML or JSON, no mapping, a template, or has a key twice.
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
    content = _parse_yaml(text, path) if content is None else content
    if not isinstance(content, dict):
        raise InputError("the file is not a mapping of keys to values; write `KEY: VALUE`, as config.yaml does", path)
    if TEMPLATE_KEY in content:
        raise InputError(f"`{TEMPLATE_KEY}` would run Python code in this file; remove it, and write values out", path)
    return content


def _build_unique_mapping(pairs: list[tuple[str, Any]], path: Path) -> dict[str, Any]:
    """The mapping of a JSON object."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"`{twice}` occurs twice in one mapping, and only the last would count; join the two", path)
    return found


def _parse_yaml(text: str, path: Path) -> Any:
    kind = _StrictLoader if "\t" in text else _FastLoader
    loader = kind(text)
    try:
        depth = 0
        for event in yaml.parse(text, kind):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_NESTING_DEPTH:
                raise InputError("nested too deeply; correct it", path)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_expanded_size(node, path)
        for one in _iterate_nodes(node):
            if isinstance(one, yaml.MappingNode):
                _check_unique_keys(loader, one, path)
            elif isinstance(one, yaml.ScalarNode):
                _check_scalar(loader, one, path)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(filter(None, (error.context, error.problem)))
        raise InputError(f"not valid YAML: {said}; correct it", path, None if mark is None else mark.line + 1) from None
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise InputError(f"not valid YAML: {error.reason}; correct it", path, line) from None
    finally:
        loader.dispose()


def _iterate_nodes(root: yaml.Node) -> Iterable[yaml.Node]:
    """Yield every node once; an alias is the node of its anchor."""
    seen, left = set(), [root]
    while left:
        node = left.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        left += _get_child_nodes(node)


def _get_child_nodes(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _check_expanded_size(root: yaml.Node, path: Path) -> None:
    """Raise an InputError if aliases make a document endless, too large or too deep."""
    sizes: dict[int, int | None] = {}
    depths: dict[int, int] = {}

    # An anchor is in the file before its aliases, so that the recursion is never deeper than the file is nested.
    def measure(node: yaml.Node) -> None:
        line = node.start_mark.line + 1
        sizes[id(node)] = None
        for child in _get_child_nodes(node):
            if id(child) not in sizes:
                measure(child)
            elif sizes[id(child)] is None:
                raise InputError("what begins here contains itself by an alias (`*`); write it out", path, line)
        sizes[id(node)] = 1 + sum(sizes[id(child)] or 0 for child in _get_child_nodes(node))
        depths[id(node)] = 1 + max((depths[id(child)] for child in _get_child_nodes(node)), default=0)
        if (sizes[id(node)] or 0) > MAX_NODES:
            raise InputError(f"aliases (`*`) make more than {MAX_NODES:,} keys and values; use fewer", path, line)
        if depths[id(node)] > MAX_NESTING_DEPTH + 1:
            raise InputError("nested too deeply by aliases (`*`); use fewer", path, line)

    measure(root)


def _check_scalar(loader: Any, node: yaml.ScalarNode, path: Path) -> None:
    """Raise an InputError for a number or date that YAML 1.1 reads in an unusual way.

    Snakemake reads the file too, with the same rules, so the value cannot be read as text.
    """
    line = node.start_mark.line + 1
    if node.tag == TIMESTAMP_TAG:
        loader.construct_object(node)
        raise InputError(f"YAML reads `{node.value}` as a date; put it in quotes", path, line)
    if node.tag in NUMBER_TAGS and UNUSUAL_NUMBER_PATTERN.fullmatch(node.value):
        number = loader.construct_object(node)
        raise InputError(f"YAML reads `{node.value}` as {number}; write this, or put text in quotes", path, line)


def _check_unique_keys(loader: Any, mapping: yaml.MappingNode, path: Path) -> None:
    first: dict[Any, int] = {}
    for key, _ in mapping.value:
        if key.tag == YAML_MERGE_TAG or not isinstance(key, yaml.ScalarNode):
            continue
        line = key.start_mark.line + 1
        name = loader.construct_object(key)
        if name in first:
            raise InputError(
                f"`{key.value}` is in line {first[name]} already, and only the last would count; "
                "join the two or remove one",
                path,
                line,
            )
        first[name] = line


def _format_file_suggestion(path: Path) -> str:
    """What may have been meant by a file that is none."""
    if path.parent.is_dir():
        there = {file.stem: file for file in sorted(path.parent.iterdir()) if file.suffix in CONFIG_FILE_SUFFIXES}
        if near := difflib.get_close_matches(path.stem, there, n=1):
            return f"did you mean {there[near[0]]}? ({TARGET_ORDER_HINT})"
    return f"give a configuration file ({TARGET_ORDER_HINT})"


def check_config_files(paths: Sequence[Path]) -> None:
    """Read files of the configuration for what is wrong in them.

    Raises:
        InputError: as `read_config_file`.
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
    """Look at the files that Snakemake's command line names, before Snakemake reads them; called by its profiles.

    What is wrong ends the process with one sentence on stderr and exit code 1.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    parser.add_argument("--configfile", "--configfiles", nargs="*", type=Path, default=[])
    try:
        check_config_files(parser.parse_known_args()[0].configfile)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
