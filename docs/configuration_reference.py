"""Write docs/reference/configuration.md, a page with every configuration key, from the models of the configuration.

Usage: python docs/configuration_reference.py [--check]
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from pipeline_py.config.experiment import ExperimentConfig

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "configuration.md"
CONFIGURATIONS = [ROOT / "config.yaml", *sorted((ROOT / "workflow" / "experiments").glob("*.yaml"))]

INTRODUCTION = (
    "# Configuration keys\n\n"
    "This page lists every key of `config.yaml` and of your own configuration files with type, default, effect and "
    "an example from the experiments in this repository.\n\n"
    "Keys without a default are required. On the command line and in messages, keys of nested sections have "
    "dots: `training.batch_size`. `null` removes an inherited value. [`config.schema.json`](../config.schema.json) has "
    "the same information for editors.\n"
)

MAX_EXAMPLE_LENGTH = 60


class ConfigurationReference:
    """The sections of the configuration in the order in which a reader meets them.

    Attributes:
        definitions: the JSON schema of each section class.
        paths: the keys at which a section may be, by class name.
        examples: an example of a key, by class name and key.
    """

    def __init__(self) -> None:
        self.root = ExperimentConfig.model_json_schema()
        self.definitions: dict[str, Any] = self.root.pop("$defs")
        self.paths: dict[str, list[str]] = {}
        self.examples: dict[tuple[str, str], Any] = {}
        self._collect_paths(self.root, "")
        for path in CONFIGURATIONS:
            self._collect_examples("", self.root, yaml.safe_load(path.read_text(encoding="utf-8")))

    def render(self) -> str:
        sections = [INTRODUCTION, "## Top level\n", *self._render_keys("", self.root)]
        for name, paths in self.paths.items():
            definition = self.definitions[name]
            sections += [f"## {name.removesuffix('Config')}\n", f"At {', '.join(f'`{path}`' for path in paths)}.\n"]
            if description := definition.get("description"):
                sections.append(f"{_escape_cell(description)}\n")
            sections += self._render_keys(name, definition)
        return "\n".join(sections)

    def _render_keys(self, name: str, definition: Mapping[str, Any]) -> Iterator[str]:
        if not (properties := definition.get("properties")):
            return
        yield "| key | type | default | meaning | example |\n|---|---|---|---|---|"
        for key, schema in properties.items():
            default = f"`{_format_value(schema['default'])}`" if "default" in schema else "required"
            example = self.examples.get((name, key))
            cells = [
                f"`{key}`",
                self._format_type(schema),
                default if len(default) <= MAX_EXAMPLE_LENGTH else "see the section",
                schema.get("description")
                or self.definitions.get(_get_reference(schema) or "", {}).get("description", ""),
                "" if example is None else f"`{_format_value(example)}`",
            ]
            yield f"| {' | '.join(map(_escape_cell, cells))} |"
        yield ""

    def _collect_paths(self, schema: Mapping[str, Any], path: str) -> None:
        """Record the path of each section below a schema, depth first; `NAME` stands for a name that users choose."""
        for key, child in schema.get("properties", {}).items():
            self._collect_nested_paths(child, f"{path}.{key}".removeprefix("."))

    def _collect_nested_paths(self, schema: Mapping[str, Any], path: str) -> None:
        if name := _get_reference(schema):
            is_new = name not in self.paths
            self.paths.setdefault(name, [])
            if path not in self.paths[name] and len(self.paths[name]) < 3:
                self.paths[name].append(path)
            if is_new:
                self._collect_paths(self.definitions[name], path)
        for alternative in [*schema.get("anyOf", []), *schema.get("oneOf", [])]:
            self._collect_nested_paths(alternative, path)
        if isinstance(items := schema.get("items"), Mapping):
            self._collect_nested_paths(items, path)
        if isinstance(values := schema.get("additionalProperties"), Mapping):
            self._collect_nested_paths(values, f"{path}.NAME")

    def _collect_examples(self, name: str, definition: Mapping[str, Any], content: Any) -> None:
        """Keep the first short value that a configuration gives to each key."""
        if not isinstance(content, Mapping):
            return
        for key, schema in definition.get("properties", {}).items():
            if key not in content:
                continue
            value = content[key]
            if (name, key) not in self.examples and len(_format_value(value)) <= MAX_EXAMPLE_LENGTH:
                self.examples[name, key] = value
            for part in self._find_parts(schema, value):
                self._collect_examples(*part)

    def _find_parts(self, schema: Mapping[str, Any], value: Any) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
        """Yield the class name, schema and value of each section in the value of a key."""
        alternatives = [*schema.get("anyOf", []), *schema.get("oneOf", [])]
        names = [name for name in map(_get_reference, [schema, *alternatives]) if name]
        if isinstance(value, Mapping):
            part_type = value.get("type")
            for name in names:
                type_schema = self.definitions[name].get("properties", {}).get("type", {})
                if (
                    len(names) == 1
                    or type_schema.get("const") == part_type
                    or (
                        part_type is None
                        and "const" in type_schema
                        and type_schema["const"] == type_schema.get("default")
                    )
                ):
                    yield name, self.definitions[name], value
                    break
            if isinstance(values := schema.get("additionalProperties"), Mapping):
                for child in value.values():
                    yield from self._find_parts(values, child)
        if isinstance(value, list):
            for child in value:
                for items in [schema.get("items"), *(alternative.get("items") for alternative in alternatives)]:
                    if isinstance(items, Mapping):
                        yield from self._find_parts(items, child)

    def _format_type(self, schema: Mapping[str, Any]) -> str:
        if name := _get_reference(schema):
            title = name.removesuffix("Config")
            return f"[{title}](#{title.lower()})"
        if "const" in schema:
            return f"`{schema['const']}`"
        if "enum" in schema:
            return ", ".join(f"`{_format_value(value)}`" for value in schema["enum"])
        if alternatives := [*schema.get("anyOf", []), *schema.get("oneOf", [])]:
            return " or ".join(dict.fromkeys(map(self._format_type, alternatives)))
        if schema.get("type") == "array":
            items = schema.get("items")
            return f"list of {self._format_type(items)}" if isinstance(items, Mapping) else "list"
        if schema.get("type") == "object":
            values = schema.get("additionalProperties")
            return f"mapping of names to {self._format_type(values)}" if isinstance(values, Mapping) else "mapping"
        return _format_number_type(schema)


def _format_number_type(schema: Mapping[str, Any]) -> str:
    name = {"string": "text", "boolean": "true or false", "null": "`null`", "number": "number", "integer": "integer"}
    bounds = [
        f"{sign} {schema[key]:,}"
        for sign, keys in ((">", ("exclusiveMinimum", "gt")), ("≥", ("minimum", "ge")), ("≤", ("maximum", "le")))
        for key in keys
        if key in schema
    ]
    return " ".join([name.get(schema.get("type", ""), "any value"), *bounds])


def _get_reference(schema: Mapping[str, Any]) -> str | None:
    reference: str | None = schema.get("$ref")
    return reference.rpartition("/")[2] if reference else None


def _format_value(value: Any) -> str:
    """Format a value as YAML in one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6).strip()
    return text.removesuffix("...").strip()


def _escape_cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def main() -> int:
    content = ConfigurationReference().render()
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") == content:
            return 0
        print(f"{PAGE.relative_to(ROOT)} is out of date; run: python docs/configuration_reference.py")
        return 1
    PAGE.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
