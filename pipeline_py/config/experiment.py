"""The whole configuration of an experiment, validated before the first job starts."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from pipeline_py.config.any_system import KINDS, AnySystem, type_of_system
from pipeline_py.config.base import Section
from pipeline_py.config.corpora import NAME, Corpora
from pipeline_py.config.decoding import Decoding
from pipeline_py.config.evaluation import Evaluation
from pipeline_py.config.parsers import Parser, StanzaParser, TrainedParser
from pipeline_py.config.subword import Subword
from pipeline_py.config.systems import Model, System
from pipeline_py.config.tables import Table
from pipeline_py.config.training import Training
from pipeline_py.stage import InputError


class Experiment(Section):
    """Everything that a run of the workflow is determined by."""

    name: str | None = Field(
        None, pattern=NAME, description="Results go to results/<name>; null: straight to results/."
    )
    data: str = Field(".", description="The folder that relative paths of corpora and parsers start from.")
    preset: str | None = Field(None, description="Which of `presets` is laid over the rest; null: none.")
    presets: dict[str, dict[str, Any]] = Field({}, description="Named partial configurations.")
    corpora: Corpora
    parsers: dict[str, Parser] = {}
    subword: Subword = Subword()
    model: Model = Field(Model(), description="Sizes of every system that does not set its own.")
    systems: dict[str, AnySystem]
    training: Training = Training()
    decoding: Decoding = Decoding()
    evaluation: Evaluation = Evaluation()
    tables: dict[str, Table] = {}

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for kind, names in (("parser", self.parsers), ("table", self.tables)):
            for name in names:
                if not _is_name(name):
                    raise ValueError(f"{kind} `{name}`: use letters, digits, `_` and `-`; the name is part of paths")
        for name in self.systems:
            if not name.strip() or set(name) & set("/=:*?<>|\"'{}\\") or name.startswith((".", "-")):
                raise ValueError(
                    f"system `{name}`: the name is part of paths; leave out / = : * ? < > | quotes and braces, "
                    "and do not begin it with `.` or `-`"
                )
        for title, table in self.tables.items():
            for name in [*table.labels, *(table.published.names if table.published else [])]:
                if name not in self.systems:
                    raise ValueError(f"table `{title}`: {_unknown('system', name, self.systems)}")
            for row in [*table.systems, table.baseline, *table.proposed]:
                if row not in self.systems:
                    raise ValueError(f"table `{title}`: {_unknown('system', row, self.systems)}")
                if row not in table.systems:
                    raise ValueError(f"table `{title}`: `{row}` is compared with but is not among its systems")
        return self

    @model_validator(mode="after")
    def _check_syntax(self) -> Self:
        for name, system in self.systems.items():
            if system.parser is not None and system.parser not in self.parsers:
                raise ValueError(f"system `{name}`: {_unknown('parser', system.parser, self.parsers)}")
            if system.syntax and system.parser is None:
                raise ValueError(f"system `{name}` reads {', '.join(system.syntax)}: name its `parser`")
            if system.parser is not None and not system.syntax:
                raise ValueError(f"system `{name}` names a parser, but none of its parts reads syntax; leave it out")
        return self

    @model_validator(mode="after")
    def _check_stop(self) -> Self:
        if self.training.epochs is None and self.training.updates is None:
            raise ValueError("training: give `epochs`, `updates` or both")
        return self

    @property
    def trained_parsers(self) -> list[str]:
        """Parsers that are trained here and that some system reads, sorted."""
        read = {system.parser for system in self.systems.values()}
        return sorted(name for name, parser in self.parsers.items() if name in read and parser.type == "trained")

    def is_neural(self, system: str) -> bool:
        """Whether a system is a network, and not phrase-based."""
        return isinstance(self.systems[system], System)

    def runs(self, system: str) -> list[str]:
        """What the runs of a system are called in paths: one for each seed, or a single one without chance."""
        return [f"seed{seed}" for seed in self.training.seeds] if self.is_neural(system) else ["single"]

    def folder(self, kind: str) -> str:
        """Where artifacts of a kind ("results", "logs", "benchmarks") go."""
        return kind if self.name is None else f"{kind}/{self.name}"

    def path(self, file: str) -> str:
        """The path of a file of `corpora` or `parsers`."""
        return str(Path(self.data) / Path(file).expanduser())

    def files(self) -> list[str]:
        """Every file and directory of the user's that the configuration names, as paths."""
        named: list[str | None] = []
        for text in self.corpora.train:
            named += [text.source, text.target]
        for held_out in self.corpora.held_out.values():
            named += [held_out.source, *held_out.references]
        named += [self.corpora.source.stanza_directory, self.corpora.target.stanza_directory]
        for parser in self.parsers.values():
            if isinstance(parser, StanzaParser):
                named.append(parser.directory)
            elif isinstance(parser, TrainedParser):
                named += [parser.vectors, *parser.treebank.model_dump(exclude={"generate"}).values()]
        return [self.path(file) for file in named if file is not None]


def load(
    config: Mapping[str, Any], command_line: Mapping[str, Any] | None = None, check_files: bool = True
) -> Experiment:
    """Validate a merged configuration.

    Order: defaults of the models < `config` < `presets[preset]` < `command_line`. Every preset is validated, chosen
    or not.
    A system's `model` is laid over the experiment's.

    Raises:
        InputError: with every mistake, one sentence each, naming the key; an unknown key names its nearest neighbour.
    """
    presets = config.get("presets") or {}
    preset = config.get("preset")
    if not isinstance(presets, Mapping) or not all(isinstance(part, Mapping) for part in presets.values()):
        raise InputError("presets: is a mapping of names to partial configurations", "configuration")
    if preset is not None and preset not in presets:
        raise InputError(f"preset: {_unknown('preset', str(preset), presets)}", "configuration")
    for name in presets:
        _validate(_laid_over(config, presets[name]), f"configuration with preset {name}")
    chosen = _laid_over(config, presets[preset]) if preset else config
    experiment = _validate(_laid_over(chosen, command_line or {}), "configuration")
    if check_files:
        missing = [file for file in experiment.files() if not Path(file).exists()]
        if missing:
            raise InputError(
                f"{missing[0]}: no such file{_more(missing)}; "
                f"relative paths start from `data`, now {experiment.data} (override: --config data=DIR)",
                "configuration",
            )
    return experiment


def _validate(config: dict[str, Any], origin: str) -> Experiment:
    systems, model = config.get("systems"), config.get("model") or {}
    if isinstance(systems, Mapping) and isinstance(model, Mapping):
        for name, given in systems.items():
            _check_kind(name, given, origin)
        config["systems"] = {
            name: {**system, "model": _model_over(model, system.get("model"))}
            if type_of_system(system) == "neural"
            else system
            for name, system in systems.items()
        }
    try:
        return Experiment.model_validate(config)
    except ValidationError as error:
        sentences = "; ".join(dict.fromkeys(_sentence(dict(mistake), config) for mistake in error.errors()))
        raise InputError(sentences, origin) from None


def _check_kind(name: str, system: Any, origin: str) -> None:
    if not isinstance(system, Mapping):
        raise InputError(
            f"systems.{name}: a system is a mapping of its parts, {{}} the base; to leave out a row, leave it out of "
            "`tables`",
            origin,
        )
    kind = type_of_system(system)
    if kind not in KINDS:
        raise InputError(_unknown(f"type of systems.{name}", str(kind), KINDS), origin)


def _model_over(model: Mapping[str, Any], own: Any) -> Any:
    return _laid_over(model, own or {}) if isinstance(own, Mapping | None) else own


def _sentence(mistake: dict[str, Any], config: Mapping[str, Any]) -> str:
    location = [part for part in mistake["loc"] if _is_key(part, mistake["loc"], config)]
    where = ".".join(map(str, location))
    if mistake["type"] == "extra_forbidden":
        known = _keys_beside(location, config)
        return f"{_unknown('key', str(where), [*known], last=str(location[-1]))}"
    message = mistake["msg"].removeprefix("Value error, ")
    if mistake["type"] == "union_tag_not_found":
        message = f"give its `type`: {mistake['ctx']['discriminator']} is missing"
    given = mistake.get("input")
    shown = f", not {given!r}" if isinstance(given, str | int | float | bool) else ""
    return f"{where}: {message[0].lower() + message[1:]}{shown}" if where else message


def _is_key(part: Any, location: tuple[Any, ...], config: Mapping[str, Any]) -> bool:
    """Whether a part of pydantic's location is a key of the file, not the name of a union's branch."""
    value: Any = config
    for step in location:
        found = isinstance(step, int) if isinstance(value, list) else isinstance(value, Mapping) and step in value
        if step is part:
            branch = value.get("type", "neural") if isinstance(value, Mapping) else value
            return bool(found) or (step == location[-1] and step != branch)
        if found:
            value = value[step]
    return True


def _keys_beside(location: list[Any], config: Mapping[str, Any]) -> set[str]:
    """Keys that the configuration knows at a location (unions other than that of systems give all their branches')."""
    models: list[type[BaseModel]] = [Experiment]
    steps = location[:-1]
    if len(steps) > 1 and steps[0] == "systems":
        models, steps = [KINDS[type_of_system(config["systems"][steps[1]])]], steps[2:]
    for step in steps:
        fields = [model.model_fields[step].annotation for model in models if step in model.model_fields]
        # A step that no model knows is a list's index or a name that the user chose.
        models = [inner for annotation in fields for inner in _models_in(annotation)] if fields else models
    return {key for model in models for key in model.model_fields}


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in getattr(annotation, "__args__", ()) for model in _models_in(argument)]


def _unknown(kind: str, given: str, known: Any, last: str | None = None) -> str:
    near = difflib.get_close_matches(last or given, [str(name) for name in known], n=1, cutoff=0.5)
    hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(sorted(map(str, known))) or 'none'}"
    return f"unknown {kind} `{given}`; {hint}"


def _more(items: list[str]) -> str:
    return f" (and {len(items) - 1} more)" if len(items) > 1 else ""


def _is_name(name: str) -> bool:
    return name.replace("_", "").replace("-", "").isalnum() and name[0].isalnum() and name.isascii()


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
