"""Loading of an `ExperimentConfig` from the merged files of a configuration."""

import difflib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline_py.config.base import SNAKEMAKE_PATH_CHARACTERS, format_folder_name, is_valid_snakemake_path
from pipeline_py.config.config_files import read_config_file
from pipeline_py.config.entry_errors import ConfigEntryError, EntryKey, format_unknown_name_error
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.inherited_entries import (
    ExperimentOverrides,
    collect_dependent_entries,
    find_generator_only_parser_errors,
    find_omittable_entries,
    find_untrainable_systems,
    remove_entries,
    remove_inherited_contrast,
)
from pipeline_py.config.parser_crossing import apply_default_parser, cross_systems_with_parsers
from pipeline_py.config.systems.system_types import SYSTEM_TYPES, get_system_type
from pipeline_py.config.validation_errors import format_validation_error
from pipeline_py.files.text_files import check_file_format
from pipeline_py.run import errors
from pipeline_py.run.errors import InputError
from pipeline_py.run.workflow_files import find_workflow_folder


def load_experiment(
    config: Mapping[str, Any],
    command_line_config: Mapping[str, Any] | None = None,
    should_check_files: bool = True,
    own_config: Mapping[str, Any] | None = None,
) -> ExperimentConfig:
    """Validate a merged configuration.

    Precedence, lowest first: defaults of the models, `config`, the recipe, `own_config`, `presets[preset]`,
    `command_line_config`. All presets are validated. A system's `model`, `training` and `decoding` override the
    experiment's; the schemes of `subwords` override `subword`. Then systems that read trees get the experiment's
    `parser`, and systems are crossed with parsers.

    Inherited systems, tables and figures that are incompatible with `own_config` and not needed by it are left out, as
    are contrastive sets for another training text.

    Args:
        config: all files, merged in order.
        command_line_config: overrides from the command line.
        should_check_files: check that the user's files exist, and that parsers suit the text.
        own_config: the part of `config` from the experiment's own files; the rest is inherited. None: all of it.

    Raises:
        InputError: the configuration is invalid; the message has a sentence for each error, which names the key.
    """
    command_line_config = _convert_null_strings(command_line_config or {})
    config = remove_inherited_contrast(
        _merge_mappings(config, command_line_config), own_config and _merge_mappings(own_config, command_line_config)
    )
    presets = config.get("presets") or {}
    preset = config.get("preset")
    if not isinstance(presets, Mapping) or not all(isinstance(part, Mapping) for part in presets.values()):
        raise InputError("presets: give a mapping of names to partial configurations", "configuration")
    if preset is not None and preset not in [*presets]:
        raise InputError(f"preset: {format_unknown_name_error('preset', str(preset), presets)}", "configuration")
    for name in presets:
        _validate_layers(config, own_config, [presets[name]], f"configuration with preset {name}")
    layers = [presets[preset] if preset else {}, command_line_config]
    experiment = _validate_layers(config, own_config, layers, "configuration")
    files = experiment.collect_file_paths()
    if invalid_files := [file for file in files if not is_valid_snakemake_path(file)]:
        raise InputError(
            f"{invalid_files[0]}: {' '.join(SNAKEMAKE_PATH_CHARACTERS)} in a path have a meaning in Snakemake"
            f"{_format_more_count(invalid_files)}; rename the file or folder",
            "configuration",
        )
    if "comet" in experiment.computed_metrics and experiment.evaluation.comet is None:
        raise InputError(
            "evaluation.metrics: COMET needs weights; name them in `evaluation: {comet: {model: FOLDER}}`, or leave "
            "out `comet`, also in columns of tables",
            "configuration",
        )
    if should_check_files:
        experiment.find_comet_installation()
        missing = [file for file in files if not _is_existing_path(file)]
        if missing:
            raise InputError(
                f"{missing[0]}: no such file{_format_more_count(missing)}; "
                f"relative paths start from the folder {experiment.data} (`data`; override: --config data=DIR)"
                + _format_download_hint(experiment, missing),
                "configuration",
            )
        directories = experiment.collect_model_directories()
        for file in files:
            if Path(file).is_dir() != (file in directories):
                problem = "not a folder; give a folder of models" if file in directories else "is a folder; give a file"
                raise InputError(f"{file}: {problem}", "configuration")
            if file not in directories:
                with suppress(OSError):  # the stage that reads the file reports it
                    check_file_format(Path(file))
        for _, reader_parser, _, splits in experiment.iterate_tree_uses():
            for parser in experiment.get_tree_sources(reader_parser):
                if parser in experiment.foreign_parser_errors:
                    raise InputError(experiment.foreign_parser_errors[parser], "configuration")
                if parser in experiment.generator_only_parser_errors and {*splits} & {*experiment.splits_in_files}:
                    raise InputError(experiment.generator_only_parser_errors[parser], "configuration")
    return experiment


RECIPES_FOLDER = find_workflow_folder() / "workflow" / "recipes"
"""Folder of recipes: settings of the model, training and subwords for an amount of data."""


def list_recipes() -> dict[str, Path]:
    """Return the files of all recipes by name."""
    return {path.stem: path for path in sorted(RECIPES_FOLDER.glob("*.yaml"))}


def _validate_layers(
    config: Mapping[str, Any], own_config: Mapping[str, Any] | None, layers: Sequence[Mapping[str, Any]], origin: str
) -> ExperimentConfig:
    overrides = ExperimentOverrides(
        reduce(_merge_mappings, layers, own_config or {}), has_inherited_settings=own_config is not None
    )
    return _validate_config(_merge_layers(config, own_config, layers), origin, overrides)


def _merge_layers(
    config: Mapping[str, Any], own_config: Mapping[str, Any] | None, layers: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Merge layers over a configuration, with the settings of its recipe below its own settings.

    Raises:
        InputError: the recipe is unknown, or the inherited configuration names it.
    """
    merged = reduce(_merge_mappings, layers, dict(config))
    name = merged.get("recipe")
    if not isinstance(name, str):  # null, or an error that validation reports
        return merged
    if not any("recipe" in layer for layer in (own_config or {}, *layers)):
        raise InputError(
            f"recipe: config.yaml names `{name}`, which overrides the same keys of config.yaml; name it in a file of "
            f"your own (snakemake --configfile FILE), or with --config recipe={name}",
            "configuration",
        )
    recipes = list_recipes()
    if name not in recipes:
        raise InputError(f"recipe: {format_unknown_name_error('recipe', name, recipes)}", "configuration")
    return reduce(_merge_mappings, [read_config_file(recipes[name]), own_config or {}, *layers], dict(config))


MAX_REPORTED_ERRORS = 5
"""Limit of errors in one message."""

INHERITED_KEYS = {
    "neural": ("model", "training", "decoding"),
    "ensemble": ("decoding",),
    "phrase_based": (),
    "translations": (),
}
"""Keys of the experiment that a system inherits and may override, by type of system."""


def _validate_config(config: Mapping[str, Any], origin: str, overrides: ExperimentOverrides) -> ExperimentConfig:
    if isinstance(config.get("systems"), Mapping):
        for name, system in config["systems"].items():
            _check_system_type(name, system, origin)
    omissions: dict[EntryKey, str] = {}
    while isinstance(result := _parse_experiment(config, origin), list):
        needed = overrides.collect_needed_entries(config)
        problems = [
            problem
            for entries, problem in result
            if not overrides.has_inherited_settings or not entries or entries & needed
        ]
        if problems:
            problems = list(dict.fromkeys(problems))
            raise InputError(
                "; ".join(problems[:MAX_REPORTED_ERRORS]) + _format_more_count(problems[MAX_REPORTED_ERRORS - 1 :]),
                origin,
            )
        for entries, problem in result:
            omissions |= dict.fromkeys(collect_dependent_entries(entries, config), problem)
        config = remove_entries({*omissions}, config)
    return result.set_omissions(omissions, find_generator_only_parser_errors(result, overrides))


def _parse_experiment(config: Mapping[str, Any], origin: str) -> ExperimentConfig | list[tuple[set[EntryKey], str]]:
    """Validate a configuration, or return its errors, each with the entries whose omission would avoid it."""
    config = dict(config)
    bases: dict[str, str] = {}
    systems, subwords = config.get("systems"), config.get("subwords")
    if isinstance(subwords, Mapping):
        config["subwords"] = {name: _merge_override(config, "subword", scheme) for name, scheme in subwords.items()}
    if isinstance(systems, Mapping):
        config["systems"] = {
            name: {
                **system,
                **{
                    key: _merge_override(config, key, system.get(key))
                    for key in INHERITED_KEYS[get_system_type(system)]
                },
            }
            for name, system in systems.items()
        }
    try:
        config, bases = cross_systems_with_parsers(apply_default_parser(config))
    except ValidationError:
        pass  # an invalid system, which the validation below reports
    except ExceptionGroup as group:
        return [({error.entry_key}, str(error)) for error in group.exceptions if isinstance(error, ConfigEntryError)]
    if (untrainable_systems := find_untrainable_systems(config)) is not None:
        return [untrainable_systems]
    try:
        return ExperimentConfig.model_validate(config)
    except ValidationError as error:
        validation_errors = [dict(details) for details in error.errors()]
        return [
            (find_omittable_entries(details, config, bases), format_validation_error(details, config))
            for details in validation_errors
            if not _is_inherited_error(details, validation_errors, bases)
        ]
    except UnicodeEncodeError as error:
        raise InputError(f"`{error.object[error.start]}` is not a character; remove it", origin) from None


def _check_system_type(name: str, system: Any, origin: str) -> None:
    if not isinstance(system, Mapping):
        raise InputError(
            f"systems.{name}: give a mapping of parts, or {{}} for the base system; to leave out a row, remove it from "
            "`tables`",
            origin,
        )
    kind = get_system_type(system)
    if kind not in SYSTEM_TYPES:
        raise InputError(format_unknown_name_error(f"type of systems.{name}", str(kind), SYSTEM_TYPES), origin)


def _merge_override(config: Mapping[str, Any], key: str, override: Any) -> Any:
    """Merge a section of a system, or a subword scheme, over the experiment's section."""
    section = config.get(key) or {}
    if isinstance(override, Mapping | None) and isinstance(section, Mapping):
        return _merge_mappings(section, override or {})
    return override


def _is_inherited_error(
    validation_error: dict[str, Any], all_errors: list[dict[str, Any]], crossing_bases: Mapping[str, str]
) -> bool:
    """Return whether an error of a system or scheme repeats one of the experiment or of the system's base."""
    location = validation_error["loc"]
    if location[:1] == ("systems",) and {*location[1:2]} & {*crossing_bases}:
        return True
    if location[:1] == ("subwords",):
        base_location = ("subword", *location[2:])
    elif location[:1] == ("systems",):
        base_location = location[3:]
    else:
        return False
    base_error = (base_location, validation_error["type"])
    return any((details["loc"], details["type"]) == base_error for details in all_errors)


def _is_existing_path(file: str) -> bool:
    try:
        return Path(file).exists()
    except OSError as error:
        raise InputError(errors.describe_failure(error) or file) from None


def _format_more_count(items: list[str]) -> str:
    return f" (and {len(items) - 1} more)" if len(items) > 1 else ""


def _format_download_hint(experiment: ExperimentConfig, missing_files: list[str]) -> str:
    downloads = {experiment.resolve_path(file) for _, files in experiment.corpora.downloads for file in files}
    count = len(downloads.intersection(missing_files))
    return f"; `python -m pipeline_py.download --configfile FILE` downloads {count} of them" if count else ""


def _convert_null_strings(value: Any) -> Any:
    """Convert `null` from Snakemake's option --config, which reads values within a mapping as text."""
    if isinstance(value, Mapping):
        return {key: _convert_null_strings(item) for key, item in value.items()}
    if isinstance(value, list):
        return [*map(_convert_null_strings, value)]
    return None if value == "null" else value


def _merge_mappings(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings recursively, as Snakemake merges configuration files."""
    merged = dict(base)
    for key, value in override.items():
        base_value = merged.get(key)
        if isinstance(value, Mapping) and isinstance(base_value, Mapping):
            value = _merge_mappings(base_value, value)
        merged[key] = value
    return merged


def format_unknown_target_error(target: str, experiment: ExperimentConfig, rule_names: Sequence[str] = ()) -> str:
    """Format the error message for an unknown target, with the nearest target and all tables.

    Args:
        target: a name or the path of a file.
        experiment: the configuration.
        rule_names: names of rules, which are targets too.
    """
    names = [*experiment.tables, *experiment.figures]
    folders = list(dict.fromkeys(name.partition("/")[0] for name in names))
    hint = _format_target_hint(target, experiment, [*folders, *rule_names])
    return f"there is no target `{target}`; {hint}tables: {', '.join(folders) or 'none'}"


def _format_target_hint(target: str, experiment: ExperimentConfig, target_names: Sequence[str]) -> str:
    results = experiment.get_output_folder("results")
    names = [*experiment.tables, *experiment.figures]
    if target in names:  # in a folder; otherwise the name would be a target
        file = f"{results}/{target}.tsv"
        if target in experiment.figures:
            file = f"{results}/figures/{target}.{experiment.figures[target].sentences[0]}.svg"
        return f"ask for its folder `{target.partition('/')[0]}`, or for the file {file}; "
    files = [f"{results}/{table}.{ending}" for table in experiment.tables for ending in ("tsv", "md", "tex")]
    matches = difflib.get_close_matches(target, [*target_names, *names, *files, f"{results}/report.html"], n=1)
    if "/" in target or "." in target:
        matches = matches or _correct_path_names(target, experiment)
        return f"did you mean {matches[0]}? " if matches else "no rule makes this file (see docs/reference/files.md); "
    return f"did you mean `{matches[0]}`? " if matches else ""


def _correct_path_names(path: str, experiment: ExperimentConfig) -> list[str]:
    """Return the path with the first wrong name of a system's folder, parser or scheme corrected; empty without one."""
    known_names = [*experiment.systems_by_folder, *experiment.parsers, *experiment.subword_configs]
    parts = [format_folder_name(part) if part in experiment.systems else part for part in path.split("/")]
    if "/".join(parts) != path:
        return ["/".join(parts)]
    for index, part in enumerate(parts):
        matches = difflib.get_close_matches(part, known_names, n=1, cutoff=0.7)
        if matches and part not in known_names:
            return ["/".join([*parts[:index], matches[0], *parts[index + 1 :]])]
    return []
