"""Lookup of model files in the index of a local Stanza directory, without importing Stanza."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_py.files.text_files import open_regular_file
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.tree_formats import TreeKind

INDEX_FILE = "resources.json"

MODEL_FOLDERS = {TreeKind.DEPENDENCY: ("pos", "lemma", "depparse"), TreeKind.CONSTITUENCY: ("pos", "constituency")}
EMBEDDING_FOLDERS = ("pretrain", "forward_charlm", "backward_charlm")
TOKENIZER_FOLDER = "tokenize"


def list_parser_model_files(directory: Path, language: str, annotation: TreeKind) -> list[Path]:
    """List the index and the default models of a language, with their word vectors and character models.

    If the index does not name the default package of a processor, all packages of the processor and all word vectors
    and character models are listed.

    Raises:
        InputError: The index is broken.
    """
    return [directory / INDEX_FILE, *_list_processor_files(directory, language, MODEL_FOLDERS[annotation])]


def list_tokenizer_files(directory: Path, language: str) -> list[Path]:
    """List the default tokenizer models of a language; empty if there is no tokenizer.

    Raises:
        InputError: The index is broken.
    """
    files = _list_processor_files(directory, language, (TOKENIZER_FOLDER, "mwt"))
    return files if any(file.parent.name == TOKENIZER_FOLDER for file in files) else []


def list_model_languages(directory: Path) -> list[str]:
    """List the languages of the index that have models in the directory.

    Raises:
        InputError: The index is broken.
    """
    return sorted(language for language in _read_index(directory) if [*(directory / language).glob("*/*.pt")])


def _list_processor_files(directory: Path, language: str, processors: Sequence[str]) -> list[Path]:
    entries = _read_index(directory)
    try:
        language = language.strip().lower()  # as in Stanza
        language = entries.get(language, {}).get("alias", language)
        models = [*_find_default_models(entries.get(language, {}), processors)]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _build_broken_index_error(directory) from None
    files = [file for folder, name in models for file in sorted((directory / language / folder).glob(f"{name}.pt"))]
    return [*dict.fromkeys(files)]


def _read_index(directory: Path) -> dict[str, Any]:
    try:
        with open_regular_file(directory / INDEX_FILE) as file:
            entries = json.loads(file.read())
    except ValueError:
        raise _build_broken_index_error(directory) from None
    if not isinstance(entries, dict):
        raise _build_broken_index_error(directory)
    return entries


def _build_broken_index_error(directory: Path) -> InputError:
    return InputError("not the index of a Stanza directory; fetch it again", directory / INDEX_FILE)


def _find_default_models(language_entry: Mapping[str, Any], processors: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield folder and name of each default model; the name is a glob pattern if the package is unknown."""
    default = language_entry.get("packages", {}).get("default", {})
    packages: dict[str, str | None] = {**default.get("optional", {}), **default}
    for processor in processors:
        package = packages.get(processor)
        package_entry = language_entry.get(processor, {}).get(package)
        if package is None or package_entry is None:
            yield processor, "*"
            yield from ((folder, "*") for folder in EMBEDDING_FOLDERS)
            continue
        yield processor, package
        yield from ((model["model"], model["package"]) for model in package_entry.get("dependencies", []))
