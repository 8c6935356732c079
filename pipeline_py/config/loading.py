"""From the merged files of a configuration to an `Experiment`, or to a sentence that says what is wrong."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline_py.config.any_system import KINDS, type_of_system
from pipeline_py.config.crossing import crossed
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.mistakes import sentence
from pipeline_py.config.unknown import unknown
from pipeline_py.stage import InputError


def load(
    config: Mapping[str, Any], command_line: Mapping[str, Any] | None = None, check_files: bool = True
) -> Experiment:
    """Validate a merged configuration.

    Order: defaults of the models < `config` < `presets[preset]` < `command_line`. Every preset is validated, chosen
    or not.
    Then systems are crossed with parsers. A system's `model`, `training` and `decoding` are laid over the
    experiment's, the schemes of `subwords` over `subword`.

    Raises:
        InputError: with every mistake, one sentence each, naming the key; an unknown key names its nearest neighbour.
    """
    presets = config.get("presets") or {}
    preset = config.get("preset")
    if not isinstance(presets, Mapping) or not all(isinstance(part, Mapping) for part in presets.values()):
        raise InputError("presets: is a mapping of names to partial configurations", "configuration")
    if preset is not None and preset not in [*presets]:
        raise InputError(f"preset: {unknown('preset', str(preset), presets)}", "configuration")
    for name in presets:
        _validate(_laid_over(config, presets[name]), f"configuration with preset {name}")
    chosen = _laid_over(config, presets[preset]) if preset else config
    experiment = _validate(_laid_over(chosen, command_line or {}), "configuration")
    if check_files:
        missing = [file for file in experiment.files() if not Path(file).exists()]
        if missing:
            raise InputError(
                f"{missing[0]}: no such file{_more(missing)}; "
                f"relative paths start from `data`, now {experiment.data} (override: --config data=DIR)"
                + _remedy(experiment, missing),
                "configuration",
            )
    return experiment


OVERLAID = {"neural": ("model", "training", "decoding"), "ensemble": ("decoding",), "phrase_based": ()}
"""Keys of the experiment that systems of a kind inherit and may depart from."""


def _validate(config: dict[str, Any], origin: str) -> Experiment:
    if isinstance(config.get("systems"), Mapping):
        for name, given in config["systems"].items():
            _check_kind(name, given, origin)
    try:
        config, bases = crossed(config)
    except ValueError as error:
        raise InputError(str(error), origin) from None
    systems, subwords = config.get("systems"), config.get("subwords")
    if isinstance(systems, Mapping):
        config["systems"] = {
            name: {**system, **{key: _over(config, key, system.get(key)) for key in OVERLAID[type_of_system(system)]}}
            for name, system in systems.items()
        }
    if isinstance(subwords, Mapping):
        config["subwords"] = {name: _over(config, "subword", own) for name, own in subwords.items()}
    try:
        return Experiment.model_validate(config)
    except ValidationError as error:
        mistakes = [dict(mistake) for mistake in error.errors()]
        inherited = [mistake for mistake in mistakes if _is_inherited(mistake, mistakes, bases)]
        own = dict.fromkeys(sentence(mistake, config) for mistake in mistakes if mistake not in inherited)
        raise InputError("; ".join(own), origin) from None


def _check_kind(name: str, system: Any, origin: str) -> None:
    if not isinstance(system, Mapping):
        raise InputError(
            f"systems.{name}: a system is a mapping of its parts, {{}} the base; to leave out a row, leave it out of "
            "`tables`",
            origin,
        )
    kind = type_of_system(system)
    if kind not in KINDS:
        raise InputError(unknown(f"type of systems.{name}", str(kind), KINDS), origin)


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


def _more(items: list[str]) -> str:
    return f" (and {len(items) - 1} more)" if len(items) > 1 else ""


def _remedy(experiment: Experiment, missing: list[str]) -> str:
    downloads = {experiment.path(file) for _, files in experiment.corpora.downloads for file in files}
    count = len(downloads.intersection(missing))
    return f"; `python -m pipeline_py.download --configfile FILE` gets {count} of them" if count else ""


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
