"""What all configuration models share: unknown keys are errors, and values do not change after validation."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A mapping of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
