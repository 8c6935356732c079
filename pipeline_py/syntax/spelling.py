"""One word, several spellings: the escapes of the Penn Treebank, and case where a text has lost its own."""

import re

_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_ESCAPE = re.compile(r"-[lr][rsc]b-|\\[/*]", flags=re.ASCII | re.IGNORECASE)


def plain_spelling(word: str, ignore_case: bool = False) -> str:
    """Spell a word as text does, so that two spellings of one word become equal.

    Brackets (`-LRB-`, `-RSB-`, …), also within a word, the quotation marks of LaTeX that stand alone, and escaped
    slashes and asterisks.

    Args:
        word: a word of a text or of a tree.
        ignore_case: lower-case it.
    """
    if word in ("``", "''"):
        return '"'
    word = _ESCAPE.sub(lambda found: _BRACKETS.get(found[0].lower(), found[0][-1]), word)
    return word.lower() if ignore_case else word
