"""Stanza pipelines that parse tokenized text, and their output as this project's trees.

A pipeline comes from model files (`train_parser`), from a local directory laid out as Stanza downloads it, or from a
package that Stanza downloads. Only the processors of the annotation are loaded: a tagger and one parser. Nothing but
a package ever goes to the network.

Stanza keeps a maximum spanning tree to one root by lowering the scores of all heads that are the root (Stanojević and
Cohen 2021). So the best heads never reach the root at first, and it contracts one cycle after the other in every
sentence, in Python. But the best of all trees is its answer as well if it has one root, and best heads that are a tree
are the best of all.
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
"""Heads that are the root in a tree with one root: that of its child, and its own."""


def patch_maximum_tree_search() -> None:
    """From now on let Stanza's dependency parsers in this process contract only cycles of best heads."""
    model.chuliu_edmonds_one_root = find_maximum_tree


def find_maximum_tree(head_scores: np.ndarray) -> np.ndarray:
    """Find the heads (W + 1,) of the tree with the highest sum of scores, in which the root has one child.

    Args:
        head_scores: of the head of each word (W + 1, W + 1); word and head 0 are the root.
    """
    heads = find_greedy_heads(head_scores)
    if heads is None:
        heads = chuliu_edmonds(head_scores.astype(np.float64))
        if np.count_nonzero(heads == 0) != ROOT_HEAD_COUNT:
            heads = chuliu_edmonds_one_root(head_scores)
    return heads


def find_greedy_heads(head_scores: np.ndarray) -> np.ndarray | None:
    """Give the best head of each word, that of the root being itself; None where these are no tree with one root."""
    head_scores = head_scores.copy()
    np.fill_diagonal(head_scores, -np.inf)
    heads: np.ndarray = head_scores.argmax(axis=1)
    heads[0] = 0
    if np.count_nonzero(heads == 0) != ROOT_HEAD_COUNT:
        return None
    above = heads
    for _ in range(len(heads).bit_length()):
        above = above[above]
    return None if above.any() else heads


StanzaPipeline: TypeAlias = Any  # stanza.Pipeline, which has no types


class InvalidParseError(Exception):
    """Stanza returned something that is no analysis of the sentence; the message is a short reason."""


def load_pipeline_from_files(
    model_paths: Mapping[str, Path], pretrain_path: Path | None, language: str, device: str, batch_size: int
) -> StanzaPipeline:
    """Load model files of `train_parser`.

    Args:
        model_paths: files by Stanza's name of the processor: pos, with depparse or constituency or neither.
        pretrain_path: the word vectors that they were trained with, if with any.
        language: Stanza's code.
        device: auto, cpu or cuda.
        batch_size: sentences at a time.

    Raises:
        InputError: where a file is missing or is no such model.
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
        # The parser insists on lemmas; `train_parser` trains on the words in their place.
        processors.append("lemma")
        options["lemma_use_identity"] = True
    with tempfile.TemporaryDirectory() as nothing_to_download:
        (Path(nothing_to_download) / INDEX_FILE).write_text("{}", encoding="utf-8")
        options |= {"dir": nothing_to_download, "download_method": None, "allow_unknown_language": True}
        where = ", ".join(map(str, model_paths.values()))
        return _load_pipeline(language, processors, device, batch_size, options, f"Stanza cannot load {where}")


def load_default_pipeline(
    directory: Path | None, package: str | None, annotation: TreeKind, language: str, device: str, batch_size: int
) -> StanzaPipeline:
    """Load the default models of a local Stanza directory, or a package.

    Raises:
        InputError: where the directory lacks what the annotation needs; where the package cannot be had.
    """
    if directory is None:
        what = f"Stanza cannot get its package {package!r} for {language!r} (without a network give a local directory)"
    elif not (directory / INDEX_FILE).is_file():
        raise InputError("no resources.json in it; give a directory as Stanza downloads it", directory)
    else:
        what = f"{directory}: Stanza cannot load its {annotation} models for {language!r}"
    processors = ["tokenize", *MODEL_FOLDERS[annotation]]
    return _load_pipeline(language, processors, device, batch_size, build_source_options(directory, package), what)


def build_source_options(directory: Path | None, package: str | None) -> dict[str, Any]:
    """Stanza's options for where models are: in a directory, without the network, or else in a package.

    Of a package, what is not yet on this machine is downloaded.
    """
    if directory is None:
        return {"package": package, "download_method": DownloadMethod.REUSE_RESOURCES}
    return {"dir": str(directory), "download_method": None}


def _load_pipeline(
    language: str, processors: Sequence[str], device: str, batch_size: int, options: dict[str, Any], error_prefix: str
) -> StanzaPipeline:
    patch_maximum_tree_search()
    disable_torch_compile_hooks()  # Stanza makes optimizers with its models, and does not use them
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
        # Models that do not fit together load well and fail on the first word: not on every sentence of a corpus.
        pipeline([["a"]])
        gc.collect()  # what loading left behind, before `models_left_alone` leaves it alone too
        return pipeline
    except InputError:
        raise
    except Exception as error:
        # Whatever Stanza, torch or requests raise here, the models are at fault.
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"{error_prefix}: {type(error).__name__} {reason}") from error


def has_split_compounds(pipeline: StanzaPipeline) -> bool:
    """Whether hyphens within compounds are words of the treebank that the tagger learnt from.

    The Penn Treebank's tags have had one of these hyphens, HYPH, since they are words. Where the tagger knows no tags
    but the universal ones it is not known, and taken for true as in Universal Dependencies.
    """
    tags = pipeline.processors["pos"].get_known_xpos()
    return not tags or "HYPH" in tags


def list_loaded_model_files(pipeline: StanzaPipeline) -> list[Path]:
    """The files that a pipeline was loaded from: models, and word vectors and character models that they build upon."""
    # The tokenizer is configured and never loaded, since the text is tokenized.
    loaded = [value for name, value in pipeline.config.items() if not name.startswith("tokenize_")]
    paths = [Path(value) for value in loaded if isinstance(value, str) and value.endswith(".pt")]
    return [path for path in dict.fromkeys(paths) if path.is_file()]


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Keep Python's garbage collector from going through loaded models again and again while sentences are parsed.

    Stanza's documents are made of objects that refer to each other, so it often collects, and vocabularies are large
    (`python -m benchmarks.parse` shows what that costs).
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
        pipeline: Stanza's.
        sentences: the words of each.
        word_space: how the models know a space within a word.

    Raises:
        ParsingFault: where the output does not fit the words or is no tree.
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
        pipeline: Stanza's.
        sentences: the words of each.
        word_space: how the models know a space within a word.

    Raises:
        ParsingFault: where the output does not fit the words.
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
    """Yield each analysed sentence with its words, and with the words as Stanza reads them."""
    spelt = [[spell_for_parser(word, word_space) for word in words] for words in sentences]
    document = pipeline(spelt)
    if len(document.sentences) != len(sentences):
        raise InvalidParseError("other number of sentences in the output")
    return zip(document.sentences, sentences, spelt, strict=True)


def convert_phrase_node(node: Any) -> TreeNode:
    """A tree of Stanza's as one of this project's."""
    if node.is_preterminal():
        return Preterminal(node.label, node.children[0].label)
    return PhraseNode(node.label, tuple(convert_phrase_node(child) for child in node.children))
