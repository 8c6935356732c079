"""Stanza pipelines for tokenized text, and conversion of their output to trees.

A pipeline is loaded from model files (`train_parser`), from a local Stanza directory, or from a package that Stanza
downloads. Only a tagger and one parser are loaded. Only packages use the network.
"""

import gc
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import stanza
from stanza.models.common.chuliu_edmonds import chuliu_edmonds, chuliu_edmonds_one_root
from stanza.models.depparse import model
from stanza.pipeline.core import DownloadMethod

from pipeline_py.run.device_selection import select_device
from pipeline_py.run.errors import InputError
from pipeline_py.run.torch_compile_hooks import disable_torch_compile_hooks
from pipeline_py.syntax.stanza.model_directory import INDEX_FILE, MODEL_FOLDERS
from pipeline_py.syntax.stanza.training_treebank import spell_for_parser
from pipeline_py.syntax.trees.constituency import PhraseNode, PhraseTree, Preterminal, TreeNode, replace_words
from pipeline_py.syntax.trees.dependency import DependencyTree, find_head_error
from pipeline_py.syntax.trees.tree_formats import TreeKind
from pipeline_py.syntax.words.token_alignment import WORD_SPACE

ROOT_HEAD_COUNT = 2
"""Number of heads that are 0 in a tree with one root: that of the root word, and that of the artificial root."""


def patch_maximum_tree_search() -> None:
    """Replace Stanza's search for maximum spanning trees in this process by `find_maximum_tree`, which is faster.

    Stanza ensures a single root by lowering the scores of all heads that are the root (Stanojević and Cohen 2021), so
    that it must contract cycles, in Python, in every sentence. This is unnecessary if the best tree has one root.
    """
    model.chuliu_edmonds_one_root = find_maximum_tree


def find_maximum_tree(head_scores: np.ndarray) -> np.ndarray:
    """Find the heads (W + 1,) of the tree with the highest sum of scores in which the root has one child.

    Args:
        head_scores: Scores (W + 1, W + 1) of each word and head; index 0 is the root.
    """
    heads = find_greedy_heads(head_scores)
    if heads is None:
        heads = chuliu_edmonds(head_scores.astype(np.float64))
        if np.count_nonzero(heads == 0) != ROOT_HEAD_COUNT:
            heads = chuliu_edmonds_one_root(head_scores)
    return heads


def find_greedy_heads(head_scores: np.ndarray) -> np.ndarray | None:
    """Return the best head of each word (0 for the root); None if they do not form a tree with one root."""
    head_scores = head_scores.copy()
    np.fill_diagonal(head_scores, -np.inf)
    heads: np.ndarray = head_scores.argmax(axis=1)
    heads[0] = 0
    if np.count_nonzero(heads == 0) != ROOT_HEAD_COUNT:
        return None
    ancestors = heads
    for _ in range(len(heads).bit_length()):
        ancestors = ancestors[ancestors]
    return None if ancestors.any() else heads


StanzaPipeline: TypeAlias = Any  # stanza.Pipeline, which has no types


class InvalidParseError(Exception):
    """Stanza returned an invalid analysis of a sentence; the message is a short reason."""


def load_pipeline_from_files(
    model_paths: Mapping[str, Path], pretrain_path: Path | None, language: str, device: str, batch_size: int
) -> StanzaPipeline:
    """Load model files of `train_parser`.

    Args:
        model_paths: Model files by Stanza processor: pos, and optionally depparse or constituency.
        pretrain_path: Word vectors with which the models were trained, if any.
        language: Stanza's code of the language.
        device: auto, cpu or cuda.
        batch_size: Number of sentences in a batch.

    Raises:
        InputError: A file is missing or is not a model.
    """
    options: dict[str, Any] = {}
    for processor, path in model_paths.items():
        if not path.is_file():
            raise InputError("no such model; train it or correct the path", path)
        options[f"{processor}_model_path"] = str(path)
        if pretrain_path is not None:
            options[f"{processor}_pretrain_path"] = str(pretrain_path)
    processors = ["tokenize", *model_paths]
    if "depparse" in model_paths:
        # The parser requires lemmas; `train_parser` uses the words as lemmas.
        processors.append("lemma")
        options["lemma_use_identity"] = True
    with tempfile.TemporaryDirectory() as empty_directory:
        (Path(empty_directory) / INDEX_FILE).write_text("{}", encoding="utf-8")
        options |= {"dir": empty_directory, "download_method": None, "allow_unknown_language": True}
        paths = ", ".join(map(str, model_paths.values()))
        return _load_pipeline(language, processors, device, batch_size, options, f"Stanza cannot load {paths}")


def load_default_pipeline(
    directory: Path | None, package: str | None, annotation: TreeKind, language: str, device: str, batch_size: int
) -> StanzaPipeline:
    """Load the default models of a local Stanza directory, or a package.

    Raises:
        InputError: The directory lacks a model, or the package cannot be loaded.
    """
    if directory is None:
        error_prefix = (
            f"Stanza cannot get its package {package!r} for {language!r} (without a network give a local directory)"
        )
    elif not (directory / INDEX_FILE).is_file():
        raise InputError("no resources.json in it; give a directory as Stanza downloads it", directory)
    else:
        error_prefix = f"{directory}: Stanza cannot load its {annotation} models for {language!r}"
    processors = ["tokenize", *MODEL_FOLDERS[annotation]]
    options = build_source_options(directory, package)
    return _load_pipeline(language, processors, device, batch_size, options, error_prefix)


def build_source_options(directory: Path | None, package: str | None) -> dict[str, Any]:
    """Return Stanza's options for loading models from a directory, or from a package (downloaded if necessary)."""
    if directory is None:
        return {"package": package, "download_method": DownloadMethod.REUSE_RESOURCES}
    return {"dir": str(directory), "download_method": None}


def _load_pipeline(
    language: str, processors: Sequence[str], device: str, batch_size: int, options: dict[str, Any], error_prefix: str
) -> StanzaPipeline:
    patch_maximum_tree_search()
    disable_torch_compile_hooks()  # Stanza creates unused optimizers
    try:
        pipeline = stanza.Pipeline(
            language,
            processors=",".join(processors),
            tokenize_pretokenized=True,
            pos_batch_size=batch_size,
            constituency_batch_size=batch_size,
            device=select_device(device),
            logging_level="ERROR",
            **options,
        )
        # Incompatible models can be loaded, but fail on the first word.
        pipeline([["a"]])
        gc.collect()  # before `without_garbage_collection` freezes garbage, too
        return pipeline
    except InputError:
        raise
    except Exception as error:
        # All errors of Stanza, torch or requests are caused by the models here.
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"{error_prefix}: {type(error).__name__} {reason}") from error


def has_split_compounds(pipeline: StanzaPipeline) -> bool:
    """Return true if hyphens within compounds are words of the tagger's treebank.

    Treebanks that split compounds have the tag HYPH. For taggers without XPOS tags, assume splitting, as in Universal
    Dependencies.
    """
    tags = pipeline.processors["pos"].get_known_xpos()
    return not tags or "HYPH" in tags


def list_loaded_model_files(pipeline: StanzaPipeline) -> list[Path]:
    """List the files from which a pipeline was loaded: models, word vectors and character models."""
    # The tokenizer is configured, but not loaded, since the text is tokenized.
    loaded = [value for name, value in pipeline.config.items() if not name.startswith("tokenize_")]
    paths = [Path(value) for value in loaded if isinstance(value, str) and value.endswith(".pt")]
    return [path for path in dict.fromkeys(paths) if path.is_file()]


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Exclude loaded models from garbage collection while sentences are parsed.

    Stanza's documents contain reference cycles, so that collections are frequent, and vocabularies are large
    (`python -m benchmarks.parse` measures the cost).
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def parse_dependency_trees(
    pipeline: StanzaPipeline, sentences: Sequence[tuple[str, ...]], word_space: str = WORD_SPACE
) -> list[DependencyTree]:
    """Parse sentences of at least one word.

    Args:
        pipeline: Stanza pipeline.
        sentences: Words of each sentence.
        word_space: Spelling of a space within a word in the vocabulary of the models.

    Raises:
        InvalidParseError: The output has other words or is not a tree.
    """
    trees = []
    for sentence, words, spelt in _analyze_sentences(pipeline, sentences, word_space):
        if [word.text for word in sentence.words] != spelt:
            raise InvalidParseError("other words in the output")
        heads = tuple(int(word.head) for word in sentence.words)
        if find_head_error(heads) is not None:
            raise InvalidParseError("heads that are no tree")
        labels = tuple(word.deprel or "_" for word in sentence.words)
        trees.append(DependencyTree(words, heads, labels, tuple(word.upos or "_" for word in sentence.words)))
    return trees


def parse_phrase_trees(
    pipeline: StanzaPipeline, sentences: Sequence[tuple[str, ...]], word_space: str = WORD_SPACE
) -> list[PhraseTree]:
    """Parse sentences of at least one word.

    Args:
        pipeline: Stanza pipeline.
        sentences: Words of each sentence.
        word_space: Spelling of a space within a word in the vocabulary of the models.

    Raises:
        InvalidParseError: The output has other words or no tree.
    """
    trees = []
    for sentence, words, spelt in _analyze_sentences(pipeline, sentences, word_space):
        if sentence.constituency is None:
            raise InvalidParseError("no tree in the output")
        tree = PhraseTree(convert_phrase_node(sentence.constituency))
        if [leaf.word for leaf in tree.leaves] != spelt:
            raise InvalidParseError("other words in the output")
        trees.append(tree if tuple(spelt) == words else replace_words(tree, words))
    return trees


def _analyze_sentences(
    pipeline: StanzaPipeline, sentences: Sequence[tuple[str, ...]], word_space: str
) -> Iterator[tuple[Any, tuple[str, ...], list[str]]]:
    """Yield each analysed sentence with its words and with the words in the spelling of the parser."""
    spelt = [[spell_for_parser(word, word_space) for word in words] for words in sentences]
    document = pipeline(spelt)
    if len(document.sentences) != len(sentences):
        raise InvalidParseError("other number of sentences in the output")
    return zip(document.sentences, sentences, spelt, strict=True)


def convert_phrase_node(node: Any) -> TreeNode:
    """Convert a node of a Stanza tree and its descendants."""
    if node.is_preterminal():
        return Preterminal(node.label, node.children[0].label)
    return PhraseNode(node.label, tuple(convert_phrase_node(child) for child in node.children))
