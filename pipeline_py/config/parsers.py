"""`parsers`: named sources of trees. A parser's name is part of the paths of all that depends on it."""

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from pipeline_py.config.base import Section


class Treebank(Section):
    """Gold trees: CoNLL-U and PTB files; without files, generated sentences.

    A generated treebank comes from shares of the language that hold no sentence of the corpus.
    """

    generate: PositiveInt | None = Field(None, description="Training sentences; a tenth of it for dev and for test.")
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


class ParserOptions(Section):
    """What every parser that runs has."""

    max_words: PositiveInt = Field(150, description="Longer sentences get the fallback, and are counted.")
    batch_size: PositiveInt = Field(64, description="Sentences parsed at a time.")
    branching: Literal["right", "left", "head-outward"] = Field(
        "right", description="How constituents of more than two children are binarized."
    )


class ProcessorTraining(Section):
    """How long and how wide one of a parser's networks is trained."""

    epochs: PositiveInt | None = Field(None, description="Passes over the trees; null: a few.")
    hidden: int | None = Field(None, ge=4, description="Size of the layers; null: small.")


class TrainedParser(ParserOptions):
    """Stanza trained from a treebank."""

    type: Literal["trained"]
    treebank: Treebank
    vectors: str | None = Field(None, description="Word vectors in word2vec text format.")
    seed: int = 1
    tagger: ProcessorTraining = ProcessorTraining()
    depparse: ProcessorTraining = ProcessorTraining()
    constituency: ProcessorTraining = ProcessorTraining()


class StanzaParser(ParserOptions):
    """A Stanza package: of a local directory, or downloaded when no directory is given."""

    type: Literal["stanza"]
    package: str | None = Field(None, description="A package that is downloaded; null: the language's default.")
    directory: str | None = Field(None, description="A local Stanza directory, instead of a download.")
    test: str | None = Field(
        None, description="Gold trees (CoNLL-U) that its accuracy is measured on; null: it is not."
    )
    constituency_test: str | None = Field(None, description="The same for phrase trees (PTB brackets).")

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if self.package is not None and self.directory is not None:
            raise ValueError("give either `package` (downloaded) or `directory` (local)")
        return self


Parser = Annotated[TrainedParser | StanzaParser, Field(discriminator="type")]
