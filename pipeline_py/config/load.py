"""Loading of an `Experiment` from the merged files of a configuration."""

import difflib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline_py.config.base import PATH_OF_SNAKEMAKE, is_path
from pipeline_py.config.crossing import crossed, with_parser
from pipeline_py.config.entry_errors import Entry, EntryError, unknown
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.files import read_file
from pipeline_py.config.inherited_entries import (
    Overrides,
    dependent,
    misfits,
    of_own_text,
    unfit_parsers,
    untrainable,
    without,
)
from pipeline_py.config.systems.any_system import TYPES, type_of_system
from pipeline_py.config.validation_errors import sentence
from pipeline_py.files.text import check_format
from pipeline_py.run import errors
from pipeline_py.run.errors import InputError


def load(
    config: Mapping[str, Any],
    command_line: Mapping[str, Any] | None = None,
    check_files: bool = True,
    own: Mapping[str, Any] | None = None,
) -> Experiment:
    """Validate a merged configuration.

    Order: defaults of the models < `config` < the recipe < `own` < `presets[preset]` < `command_line`. Every preset is
    validated, chosen or not.
    A system's `model`, `training` and `decoding` are laid over the experiment's, the schemes of `subwords` over
    `subword`. Then systems that read trees get the experiment's `parser`, and are crossed with parsers.

    Systems, tables and figures that `own` neither names nor needs, and that do not fit what it says, are left out; so
    are contrastive sets that belong to another training text.

    Args:
        config: all files, merged in their order.
        command_line: what is laid over them.
        check_files: whether files of the user's that it names have to be there, and parsers to know such text.
        own: what of `config` the experiment's own files say, the rest being inherited; None: everything is its own.

    Raises:
        InputError: with every mistake, one sentence each, naming the key; an unknown key names its nearest neighbour.
    """
    command_line = _with_nulls(command_line or {})
    config = of_own_text(_laid_over(config, command_line), own and _laid_over(own, command_line))
    presets = config.get("presets") or {}
    preset = config.get("preset")
    if not isinstance(presets, Mapping) or not all(isinstance(part, Mapping) for part in presets.values()):
        raise InputError("presets: give a mapping of names to partial configurations", "configuration")
    if preset is not None and preset not in [*presets]:
        raise InputError(f"preset: {unknown('preset', str(preset), presets)}", "configuration")
    for name in presets:
        said = Overrides(_laid_over(own or {}, presets[name]), inherits=own is not None)
        with_preset = _lay_out(config, own, [presets[name]])
        _validate(with_preset, f"configuration with preset {name}", said)
    layers = [presets[preset] if preset else {}, command_line]
    said = Overrides(reduce(_laid_over, layers, own or {}), inherits=own is not None)
    experiment = _validate(_lay_out(config, own, layers), "configuration", said)
    files = experiment.files()
    if strange := [file for file in files if not is_path(file)]:
        raise InputError(
            f"{strange[0]}: {' '.join(PATH_OF_SNAKEMAKE)} in a path have a meaning in Snakemake{_more(strange)}; "
            "rename the file or folder",
            "configuration",
        )
    if "comet" in experiment.metrics_counted and experiment.evaluation.comet is None:
        raise InputError(
            "evaluation.metrics: COMET needs weights; name them by `evaluation: {comet: {model: FOLDER}}`, or leave "
            "out `comet`, also among columns of tables",
            "configuration",
        )
    if check_files:
        experiment.find_comet()
        missing = [file for file in files if not _is_there(file)]
        if missing:
            raise InputError(
                f"{missing[0]}: no such file{_more(missing)}; "
                f"relative paths start from `data`, now {experiment.data} (override: --config data=DIR)"
                + _remedy(experiment, missing),
                "configuration",
            )
        directories = experiment.model_directories()
        for file in files:
            if Path(file).is_dir() != (file in directories):
                what = "not a folder; give a folder of models" if file in directories else "is a folder; give a file"
                raise InputError(f"{file}: {what}", "configuration")
            if file not in directories:
                with suppress(OSError):  # for whoever reads it to tell
                    check_format(Path(file))
        for _, parser, _, splits in experiment.readings():
            if parser in experiment.foreign_parsers:
                raise InputError(experiment.foreign_parsers[parser], "configuration")
            if parser in experiment.unfit_parsers and {*splits} & {*experiment.splits_in_files}:
                raise InputError(experiment.unfit_parsers[parser], "configuration")
    return experiment


RECIPES = Path(__file__).parents[2] / "workflow" / "recipes"
"""Folder of the recipes: settings of the model, training and subwords that fit an amount of data."""


def list_recipes() -> dict[str, Path]:
    """Return the files of all recipes by name."""
    return {path.stem: path for path in sorted(RECIPES.glob("*.yaml"))}


def _lay_out(
    config: Mapping[str, Any], own: Mapping[str, Any] | None, layers: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Lay layers over a configuration, and the recipe that it then names below its own settings.

    Raises:
        InputError: if no recipe has this name, or if the inherited configuration names it, whose other settings it
            overrides.
    """
    merged = reduce(_laid_over, layers, dict(config))
    name = merged.get("recipe")
    if not isinstance(name, str):  # none, or a mistake that validation finds
        return merged
    if not any("recipe" in given for given in (own or {}, *layers)):
        raise InputError(
            f"recipe: config.yaml names `{name}`, which overrides what config.yaml says of the same keys; name it in a "
            f"file of your own (snakemake --configfile FILE), or with --config recipe={name}",
            "configuration",
        )
    recipes = list_recipes()
    if name not in recipes:
        raise InputError(f"recipe: {unknown('recipe', str(name), recipes)}", "configuration")
    return reduce(_laid_over, [read_file(recipes[name]), own or {}, *layers], dict(config))


MOST = 5
"""Mistakes that are told at once; a value that many systems share may be wrong in all of them."""

OVERLAID = {
    "neural": ("model", "training", "decoding"),
    "ensemble": ("decoding",),
    "phrase_based": (),
    "translations": (),
}
"""Keys of the experiment that systems of a kind inherit and may depart from."""


def _validate(config: Mapping[str, Any], origin: str, overrides: Overrides) -> Experiment:
    if isinstance(config.get("systems"), Mapping):
        for name, given in config["systems"].items():
            _check_kind(name, given, origin)
    left_out: dict[Entry, str] = {}
    while isinstance(found := _read(config, origin), list):
        needed = overrides.needs(config)
        told = [what for entries, what in found if not overrides.inherits or not entries or entries & needed]
        if told:
            told = list(dict.fromkeys(told))
            raise InputError("; ".join(told[:MOST]) + _more(told[MOST - 1 :]), origin)
        for entries, what in found:
            left_out |= dict.fromkeys(dependent(entries, config), what)
        config = without({*left_out}, config)
    return found.loaded(left_out, unfit_parsers(found, overrides))


def _read(config: Mapping[str, Any], origin: str) -> Experiment | list[tuple[set[Entry], str]]:
    """Validate mappings, or say every mistake in them, with the entries that could be left out for it."""
    config = dict(config)
    bases: dict[str, str] = {}
    systems, subwords = config.get("systems"), config.get("subwords")
    if isinstance(subwords, Mapping):
        config["subwords"] = {name: _over(config, "subword", own) for name, own in subwords.items()}
    if isinstance(systems, Mapping):
        config["systems"] = {
            name: {**system, **{key: _over(config, key, system.get(key)) for key in OVERLAID[type_of_system(system)]}}
            for name, system in systems.items()
        }
    try:
        config, bases = crossed(with_parser(config))
    except ValidationError:
        pass  # of a system: what it reads is known once it is mended
    except ExceptionGroup as group:
        return [({error.entry}, str(error)) for error in group.exceptions if isinstance(error, EntryError)]
    if (found := untrainable(config)) is not None:
        return [found]
    try:
        return Experiment.model_validate(config)
    except ValidationError as error:
        mistakes = [dict(mistake) for mistake in error.errors()]
        inherited = [mistake for mistake in mistakes if _is_inherited(mistake, mistakes, bases)]
        return [
            (misfits(mistake, config, bases), sentence(mistake, config))
            for mistake in mistakes
            if mistake not in inherited
        ]
    except UnicodeEncodeError as error:
        raise InputError(f"`{error.object[error.start]}` is not a character; remove it", origin) from None


def _check_kind(name: str, system: Any, origin: str) -> None:
    if not isinstance(system, Mapping):
        raise InputError(
            f"systems.{name}: a system is a mapping of its parts, {{}} for the base; to leave out a row, remove it "
            "from `tables`",
            origin,
        )
    kind = type_of_system(system)
    if kind not in TYPES:
        raise InputError(unknown(f"type of systems.{name}", str(kind), TYPES), origin)


def _over(config: Mapping[str, Any], key: str, own: Any) -> Any:
    """Lay what a system or scheme sets itself over the experiment's."""
    common = config.get(key) or {}
    return _laid_over(common, own or {}) if isinstance(own, Mapping | None) and isinstance(common, Mapping) else own


def _is_inherited(mistake: dict[str, Any], mistakes: list[dict[str, Any]], bases: Mapping[str, str]) -> bool:
    """Whether a mistake of a system or scheme is the experiment's own or its base's, which is told once."""
    place = mistake["loc"]
    if place[:1] == ("systems",) and {*place[1:2]} & {*bases}:
        return True
    if place[:1] == ("subwords",):
        common = ("subword", *place[2:])
    elif place[:1] == ("systems",):
        common = place[3:]
    else:
        return False
    return any(other["loc"] == common and other["type"] == mistake["type"] for other in mistakes)


def _is_there(file: str) -> bool:
    try:
        return Path(file).exists()
    except OSError as error:
        raise InputError(errors.describe_failure(error) or file) from None


def _more(items: list[str]) -> str:
    return f" (and {len(items) - 1} more)" if len(items) > 1 else ""


def _remedy(experiment: Experiment, missing: list[str]) -> str:
    downloads = {experiment.path(file) for _, files in experiment.corpora.downloads for file in files}
    count = len(downloads.intersection(missing))
    return f"; `python -m pipeline_py.download --configfile FILE` gets {count} of them" if count else ""


def _with_nulls(value: Any) -> Any:
    """Read `null` in what Snakemake's option --config is given, which reads every value within a mapping as text."""
    if isinstance(value, Mapping):
        return {key: _with_nulls(item) for key, item in value.items()}
    if isinstance(value, list):
        return [*map(_with_nulls, value)]
    return None if value == "null" else value


def _laid_over(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings recursively as Snakemake merges configuration files: anything but a mapping replaces."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = _laid_over(below, value)
        else:
            merged[key] = value
    return merged


def no_target(target: str, experiment: Experiment, rules: Sequence[str] = ()) -> str:
    """Say in one sentence that there is no such target, which is nearest, and which tables and folders of them are.

    Args:
        target: a name, or the path of a file.
        experiment: the whole configuration.
        rules: names of rules, which are targets too.
    """
    named = [*experiment.tables, *experiment.figures]
    whole = list(dict.fromkeys(name.partition("/")[0] for name in named))
    listed = f"tables: {', '.join(whole) or 'none'}"
    return f"there is no target `{target}`; {_instead(target, experiment, [*whole, *rules])}{listed}"


def _instead(target: str, experiment: Experiment, names: Sequence[str]) -> str:
    results = experiment.folder("results")
    named = [*experiment.tables, *experiment.figures]
    if target in named:  # it stands in a folder, else its name were a target
        file = f"{results}/{target}.tsv"
        if target in experiment.figures:
            file = f"{results}/figures/{target}.{experiment.figures[target].sentences[0]}.svg"
        return f"ask for its folder `{target.partition('/')[0]}`, or for the file {file}; "
    files = [f"{results}/{table}.{ending}" for table in experiment.tables for ending in ("tsv", "md", "tex")]
    near = difflib.get_close_matches(target, [*names, *named, *files, f"{results}/report.html"], n=1)
    if "/" in target or "." in target:
        near = near or _with_known_parts(target, [*experiment.systems, *experiment.parsers, *experiment.units])
        return f"did you mean {near[0]}? " if near else "no rule makes such a file (docs/stages.md lists all files); "
    return f"did you mean `{near[0]}`? " if near else ""


def _with_known_parts(path: str, known: Sequence[str]) -> list[str]:
    """The path with what is like the name of a system, parser or scheme in the place of such; nothing without."""
    parts = path.split("/")
    for place, part in enumerate(parts):
        near = difflib.get_close_matches(part, known, n=1, cutoff=0.7)
        if near and part not in known:
            return ["/".join([*parts[:place], near[0], *parts[place + 1 :]])]
    return []
