"""Models of a parser: the files that decide its trees, and their loading."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_py.files.text import open_regular_file
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.formats import Annotation
from pipeline_py.syntax.words.token_alignment import WORD_SPACE

if TYPE_CHECKING:
    from pipeline_py.syntax.stanza.pipeline import Pipeline
    from pipeline_py.syntax.words.parser_words import Divide


INDEX = "resources.json"

# Folders whose models may decide the trees: processors, and what they build upon.
FOLDERS = {Annotation.DEPENDENCY: ("pos", "lemma", "depparse"), Annotation.CONSTITUENCY: ("pos", "constituency")}
FOUNDATIONS = ("pretrain", "forward_charlm", "backward_charlm")


TOKENIZER = "tokenize"


def models_in(directory: Path, language: str, annotation: Annotation) -> list[Path]:
    """List the index and the default models of a language, with the word vectors and character models below them.

    Where the index does not say which package of a processor is the default, all of its packages are listed, and
    what all of them may build upon.

    Raises:
        InputError: the index is broken.
    """
    return [directory / INDEX, *_files(directory, language, FOLDERS[annotation])]


def tokenizer_in(directory: Path, language: str) -> list[Path]:
    """List the default models that divide text of a language into words, likewise; none where there is no tokenizer.

    Raises:
        InputError: the index is broken.
    """
    files = _files(directory, language, (TOKENIZER, "mwt"))
    return files if any(file.parent.name == TOKENIZER for file in files) else []


def languages_in(directory: Path) -> list[str]:
    """List the languages of the index that have models in the directory.

    Raises:
        InputError: the index is broken.
    """
    return sorted(language for language in _index(directory) if [*(directory / language).glob("*/*.pt")])


def _files(directory: Path, language: str, processors: Sequence[str]) -> list[Path]:
    entries = _index(directory)
    try:
        language = language.strip().lower()  # as Stanza looks it up
        language = entries.get(language, {}).get("alias", language)
        models = [*_models(entries.get(language, {}), processors)]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _broken(directory) from None
    found = [file for folder, name in models for file in sorted((directory / language / folder).glob(f"{name}.pt"))]
    return [*dict.fromkeys(found)]


def _index(directory: Path) -> dict[str, Any]:
    try:
        with open_regular_file(directory / INDEX) as file:
            entries = json.loads(file.read())
    except ValueError:
        raise _broken(directory) from None
    if not isinstance(entries, dict):
        raise _broken(directory)
    return entries


def _broken(directory: Path) -> InputError:
    return InputError("not the index of a Stanza directory; fetch it again", directory / INDEX)


def _models(entry: Mapping[str, Any], processors: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield folder and name of each model of a language's entry; the name is a pattern where it is not known."""
    default = entry.get("packages", {}).get("default", {})
    packages: dict[str, str | None] = {**default.get("optional", {}), **default}
    for processor in processors:
        package = packages.get(processor)
        known = entry.get(processor, {}).get(package)
        if package is None or known is None:
            yield processor, "*"
            yield from ((foundation, "*") for foundation in FOUNDATIONS)
            continue
        yield processor, package
        yield from ((needed["model"], needed["package"]) for needed in known.get("dependencies", []))


@dataclass(frozen=True)
class ModelSource:
    """Model files (a tagger and the parser of the annotation), or a local Stanza directory, or a Stanza package.

    Raises:
        InputError: where it is none of them, more than one, or no parser of the annotation.
    """

    annotation: Annotation
    language: str
    tagger: Path | None = None
    depparse: Path | None = None
    constituency: Path | None = None
    pretrain: Path | None = None
    directory: Path | None = None
    package: str | None = None
    segmenter: Path | None = None

    def __post_init__(self) -> None:
        """Check that it is one."""
        if sum(source is not None for source in (self.tagger, self.directory, self.package)) != 1:
            raise InputError("give one source of models: model files, a directory or a package")
        if self.tagger is None and (self.depparse or self.constituency or self.pretrain):
            raise InputError("depparse, constituency and pretrain go with a tagger; leave them out")
        if self.tagger is None and self.segmenter is not None:
            raise InputError("a segmenter goes with a tagger; leave it out")
        if self.tagger is not None and self.parser is None:
            option = "depparse" if self.annotation is Annotation.DEPENDENCY else "constituency"
            raise InputError(f"the annotation {self.annotation} needs a parser beside the tagger; give {option}")

    @property
    def parser(self) -> Path | None:
        """The model file of the annotation's parser, where there is one."""
        return self.depparse if self.annotation is Annotation.DEPENDENCY else self.constituency

    @property
    def word_space(self) -> str:
        """Spelling of a space within a word for these models; models that Stanza offers use a space."""
        return " " if self.tagger is None else WORD_SPACE

    def load(self, device: str, batch_size: int) -> "Pipeline":
        """Load the models.

        Raises:
            InputError: where they are missing or at fault.
        """
        from pipeline_py.syntax.stanza.pipeline import from_default, from_files

        if self.tagger is None or self.parser is None:
            return from_default(self.directory, self.package, self.annotation, self.language, device, batch_size)
        models = {"pos": self.tagger, FOLDERS[self.annotation][-1]: self.parser}
        return from_files(models, self.pretrain, self.language, device, batch_size)

    def tokenizer(self) -> "Divide":
        """Load the tokenizer that belongs to the models.

        Raises:
            InputError: where they have none.
        """
        from pipeline_py.syntax.stanza.tokenizer import learned_tokenizer, tokenizer_of

        if self.segmenter is not None:
            return learned_tokenizer(self.language, self.segmenter)
        if self.tagger is not None:
            raise InputError("`words: stanza` needs the tokenizer of the parser's treebank")
        return tokenizer_of(self.language, self.directory, self.package)


class LoadedModels:
    """The models of a parser, which are loaded when they are first used."""

    def __init__(self, source: ModelSource, device: str, batch_size: int) -> None:
        """Take where the models come from, the device and the sentences of a batch."""
        self.source = source
        self._device, self._batch_size = device, batch_size

    @cached_property
    def pipeline(self) -> "Pipeline":
        """The tagger and the parser."""
        return self.source.load(self._device, self._batch_size)

    @cached_property
    def tokenizer(self) -> "Divide":
        """The tokenizer that belongs to the models."""
        return self.source.tokenizer()
