"""Base classes and types of the configuration: sections, effects of settings, names and numbers.

File names are built from the names of a system, a run, a set and a parser, and have at most 255 bytes. The limits of
numbers only catch typing errors and values that no library can represent.
"""

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipeline_py.run.errors import InputError


class SettingEffect(IntEnum):
    """The effect of a setting on outputs, as metadata of its field; each level includes those below.

    A field without this metadata has the effect `RESULT`.
    """

    NO_EFFECT = 0
    """Changes no output: intervals of saving and logging, or settings that differ between runs, such as seeds."""

    ROUNDING = 1
    """Changes the order of summation: outputs are not recomputed, but cached outputs are not shared."""

    EXECUTION = 2
    """Changes the device or adds outputs: outputs are recomputed, but systems in one table may differ."""

    RESULT = 3
    """Changes results: a table whose systems differ in it gets a warning."""


@dataclass(frozen=True)
class IgnoringStage:
    """A stage that does not read a setting, as metadata of its field."""

    stage: str


@dataclass(frozen=True)
class RequiredSetting:
    """The value that another key must have for a setting to be read, as metadata of its field; True: any but false."""

    key: str
    value: Any

    def is_met(self, value: Any) -> bool:
        """Return whether a value of the other key lets the setting be read."""
        return bool(value) if self.value is True else bool(value == self.value)


class OmittedNull:
    """Marks a setting that is no part of a job's identity while it is null, as metadata of its field."""


SectionType = TypeVar("SectionType", bound="ConfigSection")


class ConfigSection(BaseModel):
    """A mapping of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def replace_defaults_by_null(self, defaults: Mapping[str, Any]) -> Self:
        """Replace explicit defaults by null, so that equal settings compare equal.

        Args:
            defaults: the value that null means, by key.
        """
        for key, default in defaults.items():
            if getattr(self, key) == default:
                object.__setattr__(self, key, None)  # a section is frozen once it is validated
        return self

    def collect_ineffective_keys(self, min_effect: SettingEffect, stage: str = "") -> set[str]:
        """Return the keys whose effect on a stage is below `min_effect`, which comparisons of settings ignore."""
        return {
            key
            for key, field in type(self).model_fields.items()
            if self._is_ineffective(field.metadata, min_effect, stage)
        }

    def _is_ineffective(self, marks: list[Any], min_effect: SettingEffect, stage: str) -> bool:
        return any(
            (isinstance(mark, SettingEffect) and mark < min_effect)
            or (isinstance(mark, IgnoringStage) and mark.stage == stage)
            or (isinstance(mark, RequiredSetting) and not mark.is_met(getattr(self, mark.key)))
            for mark in marks
        )

    @property
    def omitted_keys(self) -> set[str]:
        """Keys that are null and therefore no part of a job's identity."""
        return {
            key
            for key, field in type(self).model_fields.items()
            if getattr(self, key) is None and any(isinstance(mark, OmittedNull) for mark in field.metadata)
        }


def parse_section_json(section_class: type[SectionType], text: str, option_name: str) -> SectionType:
    """Parse a section of the configuration that a rule passes to a stage as JSON.

    Raises:
        InputError: the section is invalid; the message names the option and the key.
    """
    try:
        return section_class.model_validate_json(text)
    except ValidationError as error:
        first_error = error.errors()[0]
        location = ".".join(map(str, first_error["loc"])) or "the value"
        message = first_error["msg"].removeprefix("Value error, ")
        raise InputError(f"{option_name}: {location}: {message}; correct the configuration") from None


CROSSING_PATTERN = re.compile(r"(?P<base>.+) \[(?P<parser>[^\[\]]+)\]")
"""The name of a system with the trees of another parser, `SYSTEM [PARSER]`."""

MAX_NAME_LENGTH = 48
MAX_SYSTEM_NAME_BYTES = 120
"""Limit of a system's name, including ` [PARSER]`."""

REPETITION_PATTERN = re.compile(r"(.+?)\1{19}$")
"""A repetition that Snakemake reports as an endless recursion."""

SNAKEMAKE_PATH_CHARACTERS = "{}<>"
"""Characters with which Snakemake marks wildcards and variables in a path."""


def is_valid_name(name: str) -> bool:
    """Return whether a name is allowed for a parser, a subword scheme, or a part of a table's name."""
    return (
        name.replace("_", "").replace("-", "").isalnum()
        and name[0].isalnum()
        and name.isascii()
        and len(name) <= MAX_NAME_LENGTH
        and not REPETITION_PATTERN.search(name)
    )


def is_valid_system_name(name: str) -> bool:
    """Return whether a name is allowed for a system; it may contain spaces, signs and brackets."""
    return (
        bool(name)
        and name == name.strip()
        and name.isprintable()
        and not {*"/=:*?<>|\"'{}\\"} & {*name}
        and name[0] not in ".-@"
        and len(name.encode()) <= MAX_SYSTEM_NAME_BYTES
        and not any(map(REPETITION_PATTERN.search, (name, format_folder_name(name))))
    )


def format_folder_name(system: str) -> str:
    """Return the name of a system's files and folders, which needs no quotes in a shell.

    `SYSTEM [PARSER]` becomes `SYSTEM@PARSER`; spaces and signs other than `+._@-` become `_`.
    """
    return "".join(
        character if character.isalnum() or not character.isascii() or character in "+._@-" else "_"
        for character in CROSSING_PATTERN.sub(r"\g<base>@\g<parser>", system)
    )


def is_valid_snakemake_path(path: str) -> bool:
    """Return whether Snakemake reads a path literally."""
    return not {*SNAKEMAKE_PATH_CHARACTERS} & {*path}


def expand_home(path: str) -> str:
    """Return a path with `~` at its beginning replaced by the home folder.

    Raises:
        ValueError: `~NAME` is not a user.
    """
    try:
        return str(Path(path).expanduser())
    except RuntimeError:
        raise ValueError(f"{path}: no user has this name; write the full path of the file") from None


def check_name_collisions(kind: str, names: Iterable[str], format_file_name: Callable[[str], str] = str) -> None:
    """Raise an error for names whose files are the same on a file system that ignores case or Unicode normalization.

    Args:
        kind: plural noun for the message.
        names: all names of the kind.
        format_file_name: function that returns the name of the files.

    Raises:
        ValueError: two names collide.
    """
    first_names: dict[str, str] = {}
    for name in names:
        file_name = format_file_name(name)
        first_name = first_names.setdefault(_normalize_name(file_name), name)
        if first_name != name:
            raise ValueError(
                f"{kind} {first_name!r} and {name!r} would have files named {format_file_name(first_name)!r} and "
                f"{file_name!r}, which are the same on some file systems; rename one"
            )


def _normalize_name(name: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def check_utf8_paths(folders: Iterable[str]) -> None:
    """Check that paths are UTF-8, as logs, records and results require.

    Raises:
        InputError: Python's file system encoding or the path of a folder is not UTF-8.
    """
    if sys.getfilesystemencoding() != "utf-8":
        raise InputError(
            f"Python reads file names as {sys.getfilesystemencoding()}, not as UTF-8; set the variable PYTHONUTF8=1"
        )
    for folder in folders:
        if any("\ud800" <= character <= "\udfff" for character in folder):
            raise InputError("the path of this folder is not UTF-8; rename it, or work in another folder", folder)


def _reject_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("give a number")
    return value


NUMBER_VALIDATOR = BeforeValidator(_reject_boolean)
"""Rejects true and false, which Python accepts as 1 and 0."""

Count = Annotated[int, NUMBER_VALIDATOR, Field(gt=0, le=1_000_000_000)]
"""A number of sentences, words or updates."""

CountOrZero = Annotated[int, NUMBER_VALIDATOR, Field(ge=0, le=1_000_000_000)]
"""A number of items, or 0."""

BatchSize = Annotated[int, NUMBER_VALIDATOR, Field(gt=0, le=1_000_000)]
"""A number of sentences or tokens per batch."""

LayerSize = Annotated[int, NUMBER_VALIDATOR, Field(gt=0, le=65_536)]
"""A number of units of a layer."""

ProcessorCount = Annotated[int, NUMBER_VALIDATOR, Field(gt=0, le=1024)]
"""A number of parallel threads or processes."""

Seed = Annotated[int, NUMBER_VALIDATOR, Field(ge=0, lt=2**32)]
"""A random seed in numpy's range."""

ListIndex = Annotated[int, NUMBER_VALIDATOR, Field(ge=0, le=1000)]
"""An index of a list, counted from 0."""

SquarablePositiveFloat32 = Annotated[float, NUMBER_VALIDATOR, Field(gt=0, ge=1e-6, le=1e6)]
"""A positive number that single precision can represent, as well as its square."""

PositiveFloat32 = Annotated[float, NUMBER_VALIDATOR, Field(gt=0, ge=1e-30, le=1e38)]
"""A positive number that single precision can represent."""
