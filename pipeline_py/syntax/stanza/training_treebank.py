"""Conversion of treebanks to training data for Stanza.

Real treebanks contain annotations that Stanza rejects, or that are not available at parsing time:

- Multi-word tokens and empty nodes are removed (`learn_word_table` learns multi-word tokens).
- Lemmas are replaced by the words, because the parser runs without a lemmatizer.
- If a sentence has several roots, the later ones become `parataxis` of the first.
- White space within a word becomes `_`.
- A phrase tree needs exactly one phrase under ROOT: several phrases are put under `X`; a single word is dropped.
- Empty sentences are dropped.
- Words are spelt as the parser reads them (`spell_for_parser`).
"""

import re
from pathlib import Path
from unicodedata import normalize

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.constituency import (
    PhraseNode,
    Preterminal,
    TreeNode,
    fold_tree,
    read_phrase_treebank,
    simplify_tree,
    to_bracket_string,
)
from pipeline_py.syntax.trees.dependency import MISSING_TEXT_ERROR, DependencyTree, has_word_text, read_dependency_trees
from pipeline_py.syntax.words.token_alignment import WORD_SPACE, spell_word

_FEATURES_PATTERN = re.compile(r"_|[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*")


def spell_for_parser(word: str, word_space: str = WORD_SPACE) -> str:
    """Return a word in NFC, the form of treebanks and word vectors.

    Args:
        word: Word of a treebank or a text.
        word_space: Replacement of white space within the word; `_` for parsers that this project trains.
    """
    return normalize("NFC", spell_word(word, word_space=word_space))


def write_conllu_training_trees(treebank: Path, output: Path, lowercase: bool, counts: SentenceCounts) -> int:
    """Write the trees of a CoNLL-U treebank as training data for the tagger and the dependency parser.

    Returns:
        The number of words written.

    Raises:
        InputError: A word has no tag or label, or malformed features; a sentence is a failed parse or has no text; or
            the treebank has no sentences.
    """
    words = 0
    with output.open("w", encoding="utf-8", newline="\n") as file:
        for tree in read_dependency_trees(treebank):
            if not tree.words:
                counts.add_dropped("empty sentence")
                continue
            _check_gold_tree(tree, treebank)
            if len(tree.root_words) > 1:
                counts.add_noted("later roots attached to the first")
            counts.add_kept()
            words += len(tree.words)
            file.write("\n".join(_build_conllu_rows(tree, lowercase)) + "\n\n")
    if not words:
        raise InputError("no sentences to learn from; give a treebank in CoNLL-U", treebank)
    return words


def _check_gold_tree(tree: DependencyTree, treebank: Path) -> None:
    if tree.failure_reason is not None:
        raise InputError("a failed parse among the gold trees; remove it", treebank, tree.line_number)
    if not has_word_text(tree.words):
        raise InputError(MISSING_TEXT_ERROR, treebank, tree.line_number)
    for place, word in enumerate(tree.words):
        if tree.upos[place] in ("", "_") or tree.labels[place] in ("", "_"):
            raise InputError(
                f"the word {word!r} has no UPOS tag or no relation; annotate it", treebank, tree.line_number
            )
        if not _FEATURES_PATTERN.fullmatch(tree.features[place]):
            raise InputError(
                f"the features {tree.features[place]!r} of {word!r} are not of the form A=x|B=y; correct them",
                treebank,
                tree.line_number,
            )


def _build_conllu_rows(tree: DependencyTree, lowercase: bool) -> list[str]:
    first_root, *later_roots = tree.root_words
    rows = []
    for place in range(len(tree.words)):
        word = _spell_training_word(tree.words[place], lowercase)
        head, label = tree.heads[place], tree.labels[place]
        if place + 1 in later_roots:
            head, label = first_root, "parataxis"
        rows.append(
            f"{place + 1}\t{word}\t{word}\t{tree.upos[place]}\t{tree.xpos[place]}\t{tree.features[place]}"
            f"\t{head}\t{label}\t_\t_"
        )
    return rows


def write_bracketed_training_trees(treebank: Path, output: Path, lowercase: bool, counts: SentenceCounts) -> int:
    """Write the trees of a treebank in brackets as training data for the constituency parser.

    Returns:
        The number of words written.

    Raises:
        InputError: A sentence is a failed parse or has no text, or the treebank has no phrases.
    """

    def spell_leaf(node: Preterminal) -> TreeNode:
        return Preterminal(node.label, _spell_training_word(node.word, lowercase))

    def rebuild_phrase(node: PhraseNode, children: list[TreeNode]) -> TreeNode:
        return PhraseNode(node.label, tuple(children))

    words = 0
    with output.open("w", encoding="utf-8", newline="\n") as file:
        for tree in read_phrase_treebank(treebank):
            if tree.is_failed:
                raise InputError("a failed parse among the gold trees; remove it", treebank, tree.line_number)
            if not has_word_text(tree.words):
                raise InputError(MISSING_TEXT_ERROR, treebank, tree.line_number)
            root = simplify_tree(tree).root
            if root is None or isinstance(root, Preterminal):
                counts.add_dropped("empty sentence" if root is None else "single word without a phrase")
                continue
            if root.label == "ROOT":
                counts.add_noted("several phrases under ROOT put under X")
                root = PhraseNode("X", root.children)
            counts.add_kept()
            words += len(tree.words)
            file.write(f"(ROOT {to_bracket_string(fold_tree(root, spell_leaf, rebuild_phrase))})\n")
    if not words:
        raise InputError("no phrases to learn from; give a treebank in Penn Treebank brackets", treebank)
    return words


def _spell_training_word(word: str, lowercase: bool) -> str:
    word = spell_for_parser(word)
    return word.lower() if lowercase else word
