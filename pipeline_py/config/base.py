"""Options that several keys of the configuration share: sections, effects, names and numbers.

A mark at a field says how far the key changes results; a field without one decides them.

Names become parts of the names of files, which have at most 255 bytes: a file may be named after a system, a run, a set
and a parser. The limits of numbers only keep out slips of the keyboard, and what no library could count.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipeline_py.run.errors import InputError


class SettingEffect(IntEnum):
    """How far a key changes what is made; each has the effects of those before."""

    NO_EFFECT = 0
    """Nothing that is made: how often something is saved or shown, or what each run is told of its own."""

    ROUNDING = 1
    """In which order numbers are added up: nothing is made again for the last digits, nor reused with others."""

    EXECUTION = 2
    """Where something is computed, or what is written besides: it is made again, but systems may differ in it."""

    RESULT = 3
    """What comes out: systems that differ in it are not compared without a word."""


@dataclass(frozen=True)
class IgnoringStage:
    """A stage that a key does not reach."""

    stage: str


@dataclass(frozen=True)
class RequiredSetting:
    """What another key must be for a key to be read."""

    key: str
    value: Any


SectionType = TypeVar("SectionType", bound="ConfigSection")


class ConfigSection(BaseModel):
    """A mapping of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def replace_defaults_by_null(self, defaults: Mapping[str, Any]) -> Self:
        """Replace values by null where null stands for them, so that settings compare equal however they are written.

        Args:
            defaults: what null stands for, by key.
        """
        for key, default in defaults.items():
            if getattr(self, key) == default:
                object.__setattr__(self, key, None)  # a section is frozen once it is validated
        return self

    def collect_ineffective_keys(self, min_effect: SettingEffect, stage: str = "") -> set[str]:
        """Keys that have less than an effect on what a stage makes, to be left out where settings are compared."""
        return {
            key
            for key, field in type(self).model_fields.items()
            if self._is_ineffective(field.metadata, min_effect, stage)
        }

    def _is_ineffective(self, marks: list[Any], min_effect: SettingEffect, stage: str) -> bool:
        return any(
            (isinstance(mark, SettingEffect) and mark < min_effect)
            or (isinstance(mark, IgnoringStage) and mark.stage == stage)
            or (isinstance(mark, RequiredSetting) and getattr(self, mark.key) != mark.value)
            for mark in marks
        )


def parse_section_json(section_class: type[SectionType], text: str, option_name: str) -> SectionType:
    """Read a part of the configuration that a rule gives a stage as JSON.

    Raises:
        InputError: naming the option, the key at fault and what is wrong with it.
    """
    try:
        return section_class.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the value"
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{option_name}: {place}: {message}; correct the configuration") from None


MAX_NAME_LENGTH = 48
MAX_SYSTEM_NAME_BYTES = 120
"""Bytes; `SYSTEM [PARSER]` is one of its own."""

REPETITION_PATTERN = re.compile(r"(.+?)\1{19}$")
"""What Snakemake takes for the beginning of an endless recursion."""

SNAKEMAKE_PATH_CHARACTERS = "{}<>"
"""What Snakemake takes for its own in a path: wildcards and variables."""


def is_valid_name(name: str) -> bool:
    """Whether a parser, a scheme of units, or a part of a table's name may be called so."""
    return (
        name.replace("_", "").replace("-", "").isalnum()
        and name[0].isalnum()
        and name.isascii()
        and len(name) <= MAX_NAME_LENGTH
        and not REPETITION_PATTERN.search(name)
    )


def is_valid_system_name(name: str) -> bool:
    """Whether a system may be called so: there may be spaces, signs and brackets in it."""
    forbidden = set("/=:*?<>|\"'{}\\") & set(name)
    return (
        bool(name)
        and name == name.strip()
        and name.isprintable()
        and not forbidden
        and name[0] not in ".-@"
        and len(name.encode()) <= MAX_SYSTEM_NAME_BYTES
        and not REPETITION_PATTERN.search(name)
    )


def is_valid_snakemake_path(path: str) -> bool:
    """Whether Snakemake takes all of a path for a path."""
    return not {*SNAKEMAKE_PATH_CHARACTERS} & {*path}


def check_name_collisions(kind: str, names: Iterable[str]) -> None:
    """Raise an error for names whose files are the same on a file system that ignores case or Unicode normalization.

    Args:
        kind: what the names are of, in the plural, for the message.
        names: all names of a kind.

    Raises:
        ValueError: naming two of them.
    """
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(_normalize_name(name), name)
        if other != name:
            raise ValueError(
                f"{kind} {other!r} and {name!r} differ only in case or in how accents are encoded, which some file "
                "systems ignore; rename one"
            )


def _normalize_name(name: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def check_path_encoding(folders: Iterable[str]) -> None:
    """Raise an error if names of files are not UTF-8, which logs, records and results need.

    Raises:
        InputError: Python reads names of files in another encoding, or the path of a folder is in another one.
    """
    if sys.getfilesystemencoding() != "utf-8":
        raise InputError(
            f"Python reads names of files as {sys.getfilesystemencoding()}, not as UTF-8; set the variable PYTHONUTF8=1"
        )
    for folder in folders:
        if any("\ud800" <= character <= "\udfff" for character in folder):
            raise InputError("the path of this folder is not UTF-8; rename it, or work in another folder", folder)


def _reject_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("give a number")
    return value


NUMBER_VALIDATOR = BeforeValidator(_reject_boolean)
"""Refuses true and false, which Python takes for 1 and 0."""

Count = Annotated[int, NUMBER_VALIDATOR, Field(gt=0, le=1_000_000_000)]
"""Of sentences, words, updates."""

CountOrZero = Annotated[int, NUMBER_VALIDATOR, Field(ge=0, le=1_000_000_000)]
"""The same, or 0."""

BatchSize = Annotated[int, NUMBER_VALIDATOR, Field(gt=0, le=1_000_000)]
"""Of sentences or tokens at a time."""

LayerSize = Annotated[int, NUMBER_VALIDATOR, Field(gt=0, le=65_536)]
"""Of a layer."""

ProcessorCount = Annotated[int, NUMBER_VALIDATOR, Field(gt=0, le=1024)]
"""That work at a time."""

Seed = Annotated[int, NUMBER_VALIDATOR, Field(ge=0, lt=2**32)]
"""As numpy takes them."""

ListIndex = Annotated[int, NUMBER_VALIDATOR, Field(ge=0, le=1000)]
"""In a list, counted from 0."""

SquarablePositiveFloat32 = Annotated[float, NUMBER_VALIDATOR, Field(gt=0, ge=1e-6, le=1e6)]
"""A positive number that single precision holds, and its square too."""

PositiveFloat32 = Annotated[float, NUMBER_VALIDATOR, Field(gt=0, ge=1e-30, le=1e38)]
"""A positive number that single precision holds."""
