"""What all configuration models share: unknown keys are errors, and values do not change after validation."""

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline_py.config.effects import Effect, ReadWith, UnreadBy
from pipeline_py.input_error import InputError

AnySection = TypeVar("AnySection", bound="Section")


class Section(BaseModel):
    """A mapping of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def with_null_for(self, defaults: Mapping[str, Any]) -> Self:
        """Replace values by null where null stands for them, so that settings compare equal however they are written.

        Args:
            defaults: what null stands for, by key.
        """
        for key, default in defaults.items():
            if getattr(self, key) == default:
                object.__setattr__(self, key, None)  # a section is frozen once it is validated
        return self

    def without(self, effect: Effect, stage: str = "") -> set[str]:
        """Keys that have less than an effect on what a stage makes, to be left out where settings are compared."""
        return {
            key for key, field in type(self).model_fields.items() if self._is_without(field.metadata, effect, stage)
        }

    def _is_without(self, marks: list[Any], effect: Effect, stage: str) -> bool:
        return any(
            (isinstance(mark, Effect) and mark < effect)
            or (isinstance(mark, UnreadBy) and mark.stage == stage)
            or (isinstance(mark, ReadWith) and getattr(self, mark.key) != mark.value)
            for mark in marks
        )


def from_json(section: type[AnySection], text: str, option: str) -> AnySection:
    """Read a part of the configuration that a rule gives a stage as JSON.

    Raises:
        InputError: naming the option, the key at fault and what is wrong with it.
    """
    try:
        return section.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the value"
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{option}: {place}: {message}; correct the configuration") from None
