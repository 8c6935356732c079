"""Sources of parser models, which import Stanza only when models are loaded."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.stanza.model_directory import MODEL_FOLDERS
from pipeline_py.syntax.trees.tree_formats import TreeKind
from pipeline_py.syntax.words.token_alignment import WORD_SPACE

if TYPE_CHECKING:
    from pipeline_py.syntax.stanza.pipeline import StanzaPipeline
    from pipeline_py.syntax.words.parser_words import WordDivider


@dataclass(frozen=True)
class ModelSource:
    """A source of models: files (a tagger and a parser), a local Stanza directory, or a Stanza package.

    Raises:
        InputError: There is not exactly one source, or no parser for the annotation.
    """

    annotation: TreeKind
    language: str
    tagger: Path | None = None
    depparse: Path | None = None
    constituency: Path | None = None
    pretrain: Path | None = None
    directory: Path | None = None
    package: str | None = None
    segmenter: Path | None = None

    def __post_init__(self) -> None:
        """Check that there is exactly one source."""
        if sum(source is not None for source in (self.tagger, self.directory, self.package)) != 1:
            raise InputError("give one source of models: model files, a directory or a package")
        if self.tagger is None and (self.depparse or self.constituency or self.pretrain):
            raise InputError("depparse, constituency and pretrain go with a tagger; leave them out")
        if self.tagger is None and self.segmenter is not None:
            raise InputError("a segmenter goes with a tagger; leave it out")
        if self.tagger is not None and self.parser_model_path is None:
            option = "depparse" if self.annotation is TreeKind.DEPENDENCY else "constituency"
            raise InputError(
                f"the annotation {self.annotation} needs a parser in addition to the tagger; give {option}"
            )

    @property
    def parser_model_path(self) -> Path | None:
        """Model file of the parser for the annotation, if any."""
        return self.depparse if self.annotation is TreeKind.DEPENDENCY else self.constituency

    @property
    def word_space(self) -> str:
        """Spelling of a space within a word; the models of Stanza use a space."""
        return " " if self.tagger is None else WORD_SPACE

    def load_pipeline(self, device: str, batch_size: int) -> "StanzaPipeline":
        """Load the tagger and the parser.

        Raises:
            InputError: A model is missing or cannot be loaded.
        """
        from pipeline_py.syntax.stanza.pipeline import load_default_pipeline, load_pipeline_from_files

        if self.tagger is None or self.parser_model_path is None:
            return load_default_pipeline(
                self.directory, self.package, self.annotation, self.language, device, batch_size
            )
        models = {"pos": self.tagger, MODEL_FOLDERS[self.annotation][-1]: self.parser_model_path}
        return load_pipeline_from_files(models, self.pretrain, self.language, device, batch_size)

    def load_tokenizer(self) -> "WordDivider":
        """Load the tokenizer that belongs to the models.

        Raises:
            InputError: The models have no tokenizer.
        """
        from pipeline_py.syntax.stanza.tokenizer import load_default_tokenizer, load_learned_tokenizer

        if self.segmenter is not None:
            return load_learned_tokenizer(self.language, self.segmenter)
        if self.tagger is not None:
            raise InputError("`words: stanza` needs the tokenizer of the parser's treebank")
        return load_default_tokenizer(self.language, self.directory, self.package)


class LazyParserModels:
    """Models of a parser that are loaded on first use."""

    def __init__(self, source: ModelSource, device: str, batch_size: int) -> None:
        self.source = source
        self._device, self._batch_size = device, batch_size

    @cached_property
    def pipeline(self) -> "StanzaPipeline":
        """The tagger and the parser."""
        return self.source.load_pipeline(self._device, self._batch_size)

    @cached_property
    def tokenizer(self) -> "WordDivider":
        """The tokenizer that belongs to the models."""
        return self.source.load_tokenizer()
