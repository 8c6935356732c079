"""Gold trees that a parser is trained from and measured on."""

from typing import Self

from pydantic import Field, model_validator

from pipeline_py.config.base import Section
from pipeline_py.config.numbers import Count


class Treebank(Section):
    """Gold trees: CoNLL-U and PTB files; without files, generated sentences.

    A generated treebank comes from shares of the language that hold no sentence of the corpus.
    """

    generate: Count | None = Field(None, description="Training sentences; a tenth of it for dev and for test.")
    train: str | None = Field(None, description="CoNLL-U for the tagger and the dependency parser.")
    dev: str | None = None
    test: str | None = None
    constituency_train: str | None = Field(None, description="PTB brackets, one tree a line.")
    constituency_dev: str | None = None
    constituency_test: str | None = None

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        dependency = [self.train, self.dev, self.test]
        constituency = [self.constituency_train, self.constituency_dev, self.constituency_test]
        if self.generate is None and not any(dependency):
            raise ValueError("give `train`, `dev` and `test` files, or `generate`")
        if any(dependency) and not all(dependency):
            raise ValueError("a treebank needs all of `train`, `dev` and `test` (CoNLL-U)")
        if any(constituency) and not all(constituency):
            raise ValueError("give all of `constituency_train`, `constituency_dev` and `constituency_test`, or none")
        return self

    @property
    def is_generated(self) -> bool:
        """Whether there are no files."""
        return self.train is None

    @property
    def has_constituents(self) -> bool:
        """Whether there are gold constituency trees."""
        return self.is_generated or self.constituency_train is not None
