"""The text of a treebank's sentence, and how its tokens and words are spelt for a parser."""

import re

from pipeline_py.corpus.characters import has_spaces, is_latin, without_invisible
from pipeline_py.syntax.trees.dependency import DependencyTree

WORD_SPACE = "_"
"""Spells a space within a word (Vietnamese `chủ tịch`, French `10 000`) wherever spaces separate words."""

_SPACE = re.compile(r"\s+")


def spell_word(word: str, lowercase: bool = False, word_space: str = WORD_SPACE) -> str:
    """Spell a word as a parser knows it.

    Args:
        word: of a treebank or a text.
        lowercase: lower-case it.
        word_space: takes the place of white space within the word; `_` for parsers that are trained here.
    """
    word = _SPACE.sub(word_space, word)
    return word.lower() if lowercase else word


def original_text(tree: DependencyTree, language: str) -> str:
    """Return the text of a treebank's sentence as it was before it was divided into words.

    The comment `# text` counts if it has the characters of the tokens. Otherwise tokens are joined as `SpaceAfter=No`
    tells. If a sentence has neither, spaces separate its tokens; in languages without spaces only those between two
    ASCII letters or digits.

    Args:
        tree: of the treebank.
        language: ISO 639 code.
    """
    tokens = tree.tokens
    if _visible(tree.text) == _visible("".join(token.form for token in tokens)):
        return " ".join(tree.text.split())
    is_unspaced = not tree.unspaced and not has_spaces(language)
    text = ""
    for place, token in enumerate(tokens):
        previous = tokens[place - 1].last if place else 0
        if is_unspaced:
            needs_space = text != "" and is_latin(text[-1]) and is_latin(token.form[0])
        else:
            needs_space = text != "" and previous not in tree.unspaced
        text += " " * needs_space + token.form
    return " ".join(text.split())


def _visible(text: str) -> str:
    return "".join(without_invisible(text).split())
