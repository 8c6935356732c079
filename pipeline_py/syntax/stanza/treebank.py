"""Treebanks as Stanza's training commands want them.

Stanza would stop, or learn what is not there at parsing time, on some of what real treebanks hold:

- Multi-word tokens and empty nodes are left out: text is parsed word by word (`learn_words` learns the tokens).
- Lemmas are the words themselves, because the parser is later run without a lemmatizer.
- Stanza's scorer refuses a sentence with several roots: the later ones become `parataxis` of the first.
- Stanza splits at any white space: within a word it becomes `_`.
- A phrase tree needs one phrase under ROOT: several get an `X` around them; a lone word is dropped.
- Empty sentences are dropped.
- Words are spelt as the parser will read them (`parser_spelling`).
"""

import re
from pathlib import Path
from unicodedata import normalize

from pipeline_py.files.artifacts import Counts
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.constituency import Node, Phrase, Preterminal, brackets, fold, read_treebank, simplify
from pipeline_py.syntax.trees.dependency import WITHOUT_TEXT, DependencyTree, has_text, read_dependencies
from pipeline_py.syntax.words.token_alignment import WORD_SPACE, spell_word

_FEATURES = re.compile(r"_|[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*")


def parser_spelling(word: str, word_space: str = WORD_SPACE) -> str:
    """Return a word in NFC, the form of treebanks and word vectors: `é` is one character and not `e` with an accent.

    Args:
        word: of a treebank or a text.
        word_space: takes the place of white space within the word; `_` for parsers that are trained here.
    """
    return normalize("NFC", spell_word(word, word_space=word_space))


def write_dependency_training(treebank: Path, output: Path, lowercase: bool, counts: Counts) -> int:
    """Write the trees of a CoNLL-U treebank for the tagger and the dependency parser.

    Returns:
        The number of words written.

    Raises:
        InputError: for a word without tag or label, malformed features, a sentence marked as a failed parse or without
            text, or a treebank without sentences.
    """
    words = 0
    with output.open("w", encoding="utf-8", newline="\n") as file:
        for tree in read_dependencies(treebank):
            if not tree.words:
                counts.drop("empty sentence")
                continue
            _check(tree, treebank)
            if len(tree.roots) > 1:
                counts.note("later roots attached to the first")
            counts.keep()
            words += len(tree.words)
            file.write("\n".join(_rows(tree, lowercase)) + "\n\n")
    if not words:
        raise InputError("no sentences to learn from; give a treebank in CoNLL-U", treebank)
    return words


def _check(tree: DependencyTree, treebank: Path) -> None:
    if tree.failed is not None:
        raise InputError("a failed parse among the gold trees; remove it", treebank, tree.line)
    if not has_text(tree.words):
        raise InputError(WITHOUT_TEXT, treebank, tree.line)
    for place, word in enumerate(tree.words):
        if tree.upos[place] in ("", "_") or tree.labels[place] in ("", "_"):
            raise InputError(f"the word {word!r} has no UPOS tag or no relation; annotate it", treebank, tree.line)
        if not _FEATURES.fullmatch(tree.features[place]):
            raise InputError(
                f"the features {tree.features[place]!r} of {word!r} are not of the form A=x|B=y; correct them",
                treebank,
                tree.line,
            )


def _rows(tree: DependencyTree, lowercase: bool) -> list[str]:
    first, *later = tree.roots
    rows = []
    for place in range(len(tree.words)):
        word = _word(tree.words[place], lowercase)
        head, label = tree.heads[place], tree.labels[place]
        if place + 1 in later:
            head, label = first, "parataxis"
        rows.append(
            f"{place + 1}\t{word}\t{word}\t{tree.upos[place]}\t{tree.xpos[place]}\t{tree.features[place]}"
            f"\t{head}\t{label}\t_\t_"
        )
    return rows


def write_phrase_training(treebank: Path, output: Path, lowercase: bool, counts: Counts) -> int:
    """Write the trees of a treebank in brackets for the constituency parser.

    Returns:
        The number of words written.

    Raises:
        InputError: for a sentence marked as a failed parse or without text, or a treebank without phrases.
    """

    def leaf(node: Preterminal) -> Node:
        return Preterminal(node.label, _word(node.word, lowercase))

    def phrase(node: Phrase, children: list[Node]) -> Node:
        return Phrase(node.label, tuple(children))

    words = 0
    with output.open("w", encoding="utf-8", newline="\n") as file:
        for tree in read_treebank(treebank):
            if tree.failed:
                raise InputError("a failed parse among the gold trees; remove it", treebank, tree.line)
            if not has_text(tree.words):
                raise InputError(WITHOUT_TEXT, treebank, tree.line)
            root = simplify(tree).root
            if root is None or isinstance(root, Preterminal):
                counts.drop("empty sentence" if root is None else "single word without a phrase")
                continue
            if root.label == "ROOT":
                counts.note("several phrases under ROOT put under X")
                root = Phrase("X", root.children)
            counts.keep()
            words += len(tree.words)
            file.write(f"(ROOT {brackets(fold(root, leaf, phrase))})\n")
    if not words:
        raise InputError("no phrases to learn from; give a treebank in Penn Treebank brackets", treebank)
    return words


def _word(word: str, lowercase: bool) -> str:
    word = parser_spelling(word)
    return word.lower() if lowercase else word
