"""Stanza pipelines that parse tokenized text, and their output as this project's trees.

A pipeline comes from model files (`train_parser`), from a local directory laid out as Stanza downloads it, or from a
package that Stanza downloads. Only the processors of the annotation are loaded: a tagger and one parser. Nothing but
a package ever goes to the network.
"""

import gc
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import stanza
from stanza.pipeline.core import DownloadMethod

from pipeline_py.device import device_named
from pipeline_py.optimizers import without_compiler
from pipeline_py.stage import InputError
from pipeline_py.syntax.trees.constituency import Node, Phrase, PhraseTree, Preterminal
from pipeline_py.syntax.trees.dependency import DependencyTree, fault
from pipeline_py.syntax.trees.formats import Annotation

Pipeline: TypeAlias = Any  # stanza.Pipeline, which has no types


class ParsingFault(Exception):
    """Stanza returned something that is no analysis of the sentence; the message is a short reason."""


@dataclass(frozen=True)
class ModelFiles:
    """Models of `train_parser`; `pretrain` holds the word vectors of those that were trained with some."""

    tagger: Path
    depparse: Path | None = None
    constituency: Path | None = None
    pretrain: Path | None = None


def from_files(models: ModelFiles, language: str, device: str, batch_size: int) -> Pipeline:
    """Load model files: the tagger, and whichever of the two parsers is given.

    Raises:
        InputError: where a file is missing or is no such model.
    """
    paths = {"pos": models.tagger, "depparse": models.depparse, "constituency": models.constituency}
    options: dict[str, Any] = {}
    for processor, path in paths.items():
        if path is None:
            continue
        if not path.is_file():
            raise InputError("no such model; train it or correct the path", path)
        options[f"{processor}_model_path"] = str(path)
        if models.pretrain is not None:
            options[f"{processor}_pretrain_path"] = str(models.pretrain)
    processors = "tokenize," + ",".join(processor for processor, path in paths.items() if path is not None)
    if models.depparse is not None:
        # The parser insists on lemmas; `train_parser` trains on the words in their place.
        processors += ",lemma"
        options["lemma_use_identity"] = True
    with tempfile.TemporaryDirectory() as nothing_to_download:
        (Path(nothing_to_download) / "resources.json").write_text("{}", encoding="utf-8")
        options |= {"dir": nothing_to_download, "download_method": None, "allow_unknown_language": True}
        where = ", ".join(str(path) for path in paths.values() if path is not None)
        return _pipeline(language, processors, device, batch_size, options, f"Stanza cannot load {where}")


def from_directory(directory: Path, annotation: Annotation, language: str, device: str, batch_size: int) -> Pipeline:
    """Load the default models of a local Stanza directory, without the network.

    Raises:
        InputError: where the directory lacks what the annotation needs.
    """
    if not (directory / "resources.json").is_file():
        raise InputError("no resources.json in it; give a directory as Stanza downloads it", directory)
    options: dict[str, Any] = {"dir": str(directory), "download_method": None}
    what = f"{directory}: Stanza cannot load its {annotation} models for {language!r}"
    return _pipeline(language, _processors(annotation), device, batch_size, options, what)


def from_package(package: str, annotation: Annotation, language: str, device: str, batch_size: int) -> Pipeline:
    """Load a Stanza package; what is not yet on this machine is downloaded.

    Raises:
        InputError: where it cannot be downloaded or does not exist.
    """
    options: dict[str, Any] = {"package": package, "download_method": DownloadMethod.REUSE_RESOURCES}
    what = f"Stanza cannot get its package {package!r} for {language!r} (without a network give a local directory)"
    return _pipeline(language, _processors(annotation), device, batch_size, options, what)


def _processors(annotation: Annotation) -> str:
    return "tokenize,pos,lemma,depparse" if annotation is Annotation.DEPENDENCY else "tokenize,pos,constituency"


def _pipeline(
    language: str, processors: str, device: str, batch_size: int, options: dict[str, Any], failure: str
) -> Pipeline:
    without_compiler()  # Stanza makes optimizers with its models, and does not use them
    try:
        pipeline = stanza.Pipeline(
            language,
            processors=processors,
            tokenize_pretokenized=True,
            pos_batch_size=batch_size,
            constituency_batch_size=batch_size,
            device=device_named(device),
            logging_level="ERROR",
            **options,
        )
        # Models that do not fit together load well and fail on the first word: not on every sentence of a corpus.
        pipeline([["a"]])
        return pipeline
    except InputError:
        raise
    except Exception as error:
        # Whatever Stanza, torch or requests raise here, the models are at fault.
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"{failure}: {type(error).__name__} {reason}") from error


def splits_compounds(pipeline: Pipeline) -> bool:
    """Whether hyphens within compounds are words of the treebank that the tagger learnt from.

    The Penn Treebank's tags have had one of these hyphens, HYPH, since they are words. Where the tagger knows no tags
    but the universal ones it is not known, and taken for true as in Universal Dependencies.
    """
    tags = pipeline.processors["pos"].get_known_xpos()
    return not tags or "HYPH" in tags


def model_files(pipeline: Pipeline) -> list[Path]:
    """The files that a pipeline was loaded from: models, and word vectors and character models that they build upon."""
    # The tokenizer is configured and never loaded, since the text is tokenized.
    loaded = [value for name, value in pipeline.config.items() if not name.startswith("tokenize_")]
    paths = [Path(value) for value in loaded if isinstance(value, str) and value.endswith(".pt")]
    return [path for path in dict.fromkeys(paths) if path.is_file()]


@contextmanager
def models_left_alone() -> Iterator[None]:
    """Keep Python's garbage collector from going through loaded models again and again while sentences are parsed.

    Stanza's documents are made of objects that refer to each other, so it often collects, and vocabularies are large
    (`python -m benchmarks.parse` shows what that costs).
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def dependency_trees(pipeline: Pipeline, sentences: Sequence[tuple[str, ...]]) -> list[DependencyTree]:
    """Parse sentences of at least one word.

    Raises:
        ParsingFault: where the output does not fit the words or is no tree.
    """
    document = pipeline([list(words) for words in sentences])
    _check_number(len(document.sentences), len(sentences))
    trees = []
    for sentence, words in zip(document.sentences, sentences, strict=True):
        if tuple(word.text for word in sentence.words) != words:
            raise ParsingFault("other words in the output")
        heads = tuple(int(word.head) for word in sentence.words)
        if fault(heads) is not None:
            raise ParsingFault("heads that are no tree")
        labels = tuple(word.deprel or "_" for word in sentence.words)
        trees.append(DependencyTree(words, heads, labels, tuple(word.upos or "_" for word in sentence.words)))
    return trees


def phrase_trees(pipeline: Pipeline, sentences: Sequence[tuple[str, ...]]) -> list[PhraseTree]:
    """Parse sentences of at least one word.

    Raises:
        ParsingFault: where the output does not fit the words.
    """
    document = pipeline([list(words) for words in sentences])
    _check_number(len(document.sentences), len(sentences))
    trees = []
    for sentence, words in zip(document.sentences, sentences, strict=True):
        if sentence.constituency is None:
            raise ParsingFault("no tree in the output")
        tree = PhraseTree(phrase_node(sentence.constituency))
        if tuple(leaf.word for leaf in tree.leaves) != words:
            raise ParsingFault("other words in the output")
        trees.append(tree)
    return trees


def _check_number(returned: int, given: int) -> None:
    if returned != given:
        raise ParsingFault("other number of sentences in the output")


def phrase_node(node: Any) -> Node:
    """A tree of Stanza's as one of this project's."""
    if node.is_preterminal():
        return Preterminal(node.label, node.children[0].label)
    return Phrase(node.label, tuple(phrase_node(child) for child in node.children))
