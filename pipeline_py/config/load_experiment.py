"""Loading of an `Experiment` from the merged files of a configuration."""

import difflib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline_py.config.base import SNAKEMAKE_PATH_CHARACTERS, is_valid_snakemake_path
from pipeline_py.config.config_files import read_config_file
from pipeline_py.config.entry_errors import ConfigEntryError, EntryKey, format_unknown_name_error
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.inherited_entries import (
    ExperimentOverrides,
    collect_dependent_entries,
    find_generator_only_parsers,
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


def load_experiment(
    config: Mapping[str, Any],
    command_line_config: Mapping[str, Any] | None = None,
    should_check_files: bool = True,
    own_config: Mapping[str, Any] | None = None,
) -> ExperimentConfig:
    """Validate a merged configuration.

    Order: defaults of the models < `config` < the recipe < `own_config` < `presets[preset]` < `command_line_config`. Every preset is
    validated, chosen or not.
    A system's `model`, `training` and `decoding` are laid over the experiment's, the schemes of `subwords` over
    `subword`. Then systems that read trees get the experiment's `parser`, and are crossed with parsers.

    Systems, tables and figures that `own_config` neither names nor needs, and that do not fit what it says, are left out; so
    are contrastive sets that belong to another training text.

    Args:
        config: all files, merged in their order.
        command_line_config: what is laid over them.
        should_check_files: whether files of the user's that it names have to be there, and parsers to know such text.
        own_config: what of `config` the experiment's own files say, the rest being inherited; None: everything is its own.

    Raises:
        InputError: with every mistake, one sentence each, naming the key; an unknown key names its nearest neighbour.
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
        said = ExperimentOverrides(
            _merge_mappings(own_config or {}, presets[name]), has_inherited_settings=own_config is not None
        )
        with_preset = _merge_layers(config, own_config, [presets[name]])
        _validate_config(with_preset, f"configuration with preset {name}", said)
    layers = [presets[preset] if preset else {}, command_line_config]
    said = ExperimentOverrides(
        reduce(_merge_mappings, layers, own_config or {}), has_inherited_settings=own_config is not None
    )
    experiment = _validate_config(_merge_layers(config, own_config, layers), "configuration", said)
    files = experiment.collect_file_paths()
    if strange := [file for file in files if not is_valid_snakemake_path(file)]:
        raise InputError(
            f"{strange[0]}: {' '.join(SNAKEMAKE_PATH_CHARACTERS)} in a path have a meaning in Snakemake{_format_more_count(strange)}; "
            "rename the file or folder",
            "configuration",
        )
    if "comet" in experiment.computed_metrics and experiment.evaluation.comet is None:
        raise InputError(
            "evaluation.metrics: COMET needs weights; name them by `evaluation: {comet: {model: FOLDER}}`, or leave "
            "out `comet`, also among columns of tables",
            "configuration",
        )
    if should_check_files:
        experiment.find_comet_installation()
        missing = [file for file in files if not _is_existing_path(file)]
        if missing:
            raise InputError(
                f"{missing[0]}: no such file{_format_more_count(missing)}; "
                f"relative paths start from `data`, now {experiment.data} (override: --config data=DIR)"
                + _format_download_hint(experiment, missing),
                "configuration",
            )
        directories = experiment.collect_model_directories()
        for file in files:
            if Path(file).is_dir() != (file in directories):
                what = "not a folder; give a folder of models" if file in directories else "is a folder; give a file"
                raise InputError(f"{file}: {what}", "configuration")
            if file not in directories:
                with suppress(OSError):  # for whoever reads it to tell
                    check_file_format(Path(file))
        for _, parser, _, splits in experiment.iterate_tree_uses():
            if parser in experiment.foreign_language_parsers:
                raise InputError(experiment.foreign_language_parsers[parser], "configuration")
            if parser in experiment.generator_only_parsers and {*splits} & {*experiment.splits_in_files}:
                raise InputError(experiment.generator_only_parsers[parser], "configuration")
    return experiment


RECIPES_FOLDER = Path(__file__).parents[2] / "workflow" / "recipes"
"""Folder of the recipes: settings of the model, training and subwords that fit an amount of data."""


def list_recipes() -> dict[str, Path]:
    """Return the files of all recipes by name."""
    return {path.stem: path for path in sorted(RECIPES_FOLDER.glob("*.yaml"))}


def _merge_layers(
    config: Mapping[str, Any], own_config: Mapping[str, Any] | None, layers: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Lay layers over a configuration, and the recipe that it then names below its own settings.

    Raises:
        InputError: if no recipe has this name, or if the inherited configuration names it, whose other settings it
            overrides.
    """
    merged = reduce(_merge_mappings, layers, dict(config))
    name = merged.get("recipe")
    if not isinstance(name, str):  # none, or a mistake that validation finds
        return merged
    if not any("recipe" in given for given in (own_config or {}, *layers)):
        raise InputError(
            f"recipe: config.yaml names `{name}`, which overrides what config.yaml says of the same keys; name it in a "
            f"file of your own (snakemake --configfile FILE), or with --config recipe={name}",
            "configuration",
        )
    recipes = list_recipes()
    if name not in recipes:
        raise InputError(f"recipe: {format_unknown_name_error('recipe', str(name), recipes)}", "configuration")
    return reduce(_merge_mappings, [read_config_file(recipes[name]), own_config or {}, *layers], dict(config))


MAX_REPORTED_ERRORS = 5
"""Mistakes that are told at once; a value that many systems share may be wrong in all of them."""

INHERITED_KEYS = {
    "neural": ("model", "training", "decoding"),
    "ensemble": ("decoding",),
    "phrase_based": (),
    "translations": (),
}
"""Keys of the experiment that systems of a kind inherit and may depart from."""


def _validate_config(config: Mapping[str, Any], origin: str, overrides: ExperimentOverrides) -> ExperimentConfig:
    if isinstance(config.get("systems"), Mapping):
        for name, given in config["systems"].items():
            _check_system_type(name, given, origin)
    left_out: dict[EntryKey, str] = {}
    while isinstance(found := _parse_experiment(config, origin), list):
        needed = overrides.collect_needed_entries(config)
        told = [
            what for entries, what in found if not overrides.has_inherited_settings or not entries or entries & needed
        ]
        if told:
            told = list(dict.fromkeys(told))
            raise InputError(
                "; ".join(told[:MAX_REPORTED_ERRORS]) + _format_more_count(told[MAX_REPORTED_ERRORS - 1 :]), origin
            )
        for entries, what in found:
            left_out |= dict.fromkeys(collect_dependent_entries(entries, config), what)
        config = remove_entries({*left_out}, config)
    return found.set_omissions(left_out, find_generator_only_parsers(found, overrides))


def _parse_experiment(config: Mapping[str, Any], origin: str) -> ExperimentConfig | list[tuple[set[EntryKey], str]]:
    """Validate mappings, or say every mistake in them, with the entries that could be left out for it."""
    config = dict(config)
    bases: dict[str, str] = {}
    systems, subwords = config.get("systems"), config.get("subwords")
    if isinstance(subwords, Mapping):
        config["subwords"] = {name: _merge_override(config, "subword", own) for name, own in subwords.items()}
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
        pass  # of a system: what it reads is known once it is mended
    except ExceptionGroup as group:
        return [({error.entry_key}, str(error)) for error in group.exceptions if isinstance(error, ConfigEntryError)]
    if (found := find_untrainable_systems(config)) is not None:
        return [found]
    try:
        return ExperimentConfig.model_validate(config)
    except ValidationError as error:
        mistakes = [dict(mistake) for mistake in error.errors()]
        inherited = [mistake for mistake in mistakes if _is_inherited_error(mistake, mistakes, bases)]
        return [
            (find_omittable_entries(mistake, config, bases), format_validation_error(mistake, config))
            for mistake in mistakes
            if mistake not in inherited
        ]
    except UnicodeEncodeError as error:
        raise InputError(f"`{error.object[error.start]}` is not a character; remove it", origin) from None


def _check_system_type(name: str, system: Any, origin: str) -> None:
    if not isinstance(system, Mapping):
        raise InputError(
            f"systems.{name}: a system is a mapping of its parts, {{}} for the base; to leave out a row, remove it "
            "from `tables`",
            origin,
        )
    kind = get_system_type(system)
    if kind not in SYSTEM_TYPES:
        raise InputError(format_unknown_name_error(f"type of systems.{name}", str(kind), SYSTEM_TYPES), origin)


def _merge_override(config: Mapping[str, Any], key: str, override: Any) -> Any:
    """Lay what a system or scheme sets itself over the experiment's."""
    common = config.get(key) or {}
    return (
        _merge_mappings(common, override or {})
        if isinstance(override, Mapping | None) and isinstance(common, Mapping)
        else override
    )


def _is_inherited_error(
    validation_error: dict[str, Any], all_errors: list[dict[str, Any]], crossing_bases: Mapping[str, str]
) -> bool:
    """Whether a mistake of a system or scheme is the experiment's own or its base's, which is told once."""
    place = validation_error["loc"]
    if place[:1] == ("systems",) and {*place[1:2]} & {*crossing_bases}:
        return True
    if place[:1] == ("subwords",):
        common = ("subword", *place[2:])
    elif place[:1] == ("systems",):
        common = place[3:]
    else:
        return False
    return any(other["loc"] == common and other["type"] == validation_error["type"] for other in all_errors)


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
    return f"; `python -m pipeline_py.download --configfile FILE` gets {count} of them" if count else ""


def _convert_null_strings(value: Any) -> Any:
    """Read `null` in what Snakemake's option --config is given, which reads every value within a mapping as text."""
    if isinstance(value, Mapping):
        return {key: _convert_null_strings(item) for key, item in value.items()}
    if isinstance(value, list):
        return [*map(_convert_null_strings, value)]
    return None if value == "null" else value


def _merge_mappings(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings recursively as Snakemake merges configuration files: anything but a mapping replaces."""
    merged = dict(base)
    for key, value in override.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = _merge_mappings(below, value)
        else:
            merged[key] = value
    return merged


def format_unknown_target_error(target: str, experiment: ExperimentConfig, rule_names: Sequence[str] = ()) -> str:
    """Say in one sentence that there is no such target, which is nearest, and which tables and folders of them are.

    Args:
        target: a name, or the path of a file.
        experiment: the whole configuration.
        rule_names: names of rules, which are targets too.
    """
    named = [*experiment.tables, *experiment.figures]
    whole = list(dict.fromkeys(name.partition("/")[0] for name in named))
    listed = f"tables: {', '.join(whole) or 'none'}"
    return f"there is no target `{target}`; {_format_target_hint(target, experiment, [*whole, *rule_names])}{listed}"


def _format_target_hint(target: str, experiment: ExperimentConfig, target_names: Sequence[str]) -> str:
    results = experiment.get_output_folder("results")
    named = [*experiment.tables, *experiment.figures]
    if target in named:  # it stands in a folder, else its name were a target
        file = f"{results}/{target}.tsv"
        if target in experiment.figures:
            file = f"{results}/figures/{target}.{experiment.figures[target].sentences[0]}.svg"
        return f"ask for its folder `{target.partition('/')[0]}`, or for the file {file}; "
    files = [f"{results}/{table}.{ending}" for table in experiment.tables for ending in ("tsv", "md", "tex")]
    near = difflib.get_close_matches(target, [*target_names, *named, *files, f"{results}/report.html"], n=1)
    if "/" in target or "." in target:
        near = near or _correct_path_names(
            target, [*experiment.systems, *experiment.parsers, *experiment.subword_configs]
        )
        return f"did you mean {near[0]}? " if near else "no rule makes such a file (docs/reference/stages.md lists all files); "
    return f"did you mean `{near[0]}`? " if near else ""


def _correct_path_names(path: str, known_names: Sequence[str]) -> list[str]:
    """The path with what is like the name of a system, parser or scheme in the place of such; nothing without."""
    parts = path.split("/")
    for place, part in enumerate(parts):
        near = difflib.get_close_matches(part, known_names, n=1, cutoff=0.7)
        if near and part not in known_names:
            return ["/".join([*parts[:place], near[0], *parts[place + 1 :]])]
    return []
