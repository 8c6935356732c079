"""A system from elsewhere among `systems`: files of what it said, be it another toolkit's, a company's or a model's."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from pipeline_py.config.base import Section
from pipeline_py.config.corpora import as_list
from pipeline_py.config.tables import Line

Runs = Annotated[list[str], BeforeValidator(as_list, json_schema_input_type=str | list[str])]
"""A file, or one for each run."""


class Translations(Section):
    """Translations from elsewhere: nothing is trained, parsed or searched here."""

    members: ClassVar[list[str]] = []
    """It consists of no other systems."""

    parser: ClassVar[None] = None
    """Nor reads it trees."""

    type: Literal["translations"]
    files: dict[str, Runs] = Field(
        {},
        description="By dev or test set a file of translations, a line for each sentence; plain or compressed. A list "
        "has one for each run, such as the seeds of a training, and as many for every set. Sets that have none stay "
        "empty.",
    )
    form: Literal["text", "words", "bpe"] = Field(
        "text",
        description="text: as people write it, and scored as it is. words: separated by spaces, and bpe: in pieces of "
        "which @@ ends all but the last of a word; both are joined by the `detokenizer` of `evaluation`.",
    )
    scores: dict[str, Runs] = Field(
        {},
        description="By contrastive set a TSV with the columns correct and contrastive: a number for each of the two "
        "translations of every pair, such as log p; the higher, the likelier. Runs as in `files`.",
    )
    origin: Line | None = Field(None, description="Who or what made them, for the note below tables and for the facts.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.files and not self.scores:
            raise ValueError("give `files`, by test set, or `scores`, by contrastive set")
        if empty := [on for on, files in {**self.files, **self.scores}.items() if not files]:
            raise ValueError(f"`{empty[0]}` has no file; name one, or leave the set out")
        counts = {key: len(files) for key, files in {**self.files, **self.scores}.items()}
        if len({*counts.values()}) > 1:
            said = ", ".join(f"{count} for `{on}`" for on, count in counts.items())
            raise ValueError(f"give as many files for every set, one for each run, and not {said}")
        return self

    @property
    def number_of_runs(self) -> int:
        """How often it was run."""
        return len(next(iter({**self.files, **self.scores}.values())))
