"""What all configuration models share: unknown keys are errors, and values do not change after validation."""

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline_py.stage import InputError

AnySection = TypeVar("AnySection", bound="Section")


class Section(BaseModel):
    """A mapping of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


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
