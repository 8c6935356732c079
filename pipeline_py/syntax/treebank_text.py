"""Extract the text of a treebank, to measure a parser on it."""

from pathlib import Path
from typing import Literal

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.run.command_line import run_command
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.trees.dependency import MISSING_TEXT_ERROR, has_word_text
from pipeline_py.syntax.trees.tree_formats import TREE_FILE_FORMATS, TreeKind
from pipeline_py.syntax.words.token_alignment import restore_original_text


def treebank_text(
    *,
    annotation: TreeKind,
    treebank: Path,
    form: Literal["words", "tokens", "original"] = "words",
    language: str = "en",
    lowercase: bool = False,
    output: Path,
) -> None:
    """Write the words of each tree on a line, or its text.

    `words` are syntactic words, not multi-word tokens. Traces are left out; a space inside a word becomes U+00A0.
    `original` is the untokenized text: the comment `# text`, or tokens joined according to `SpaceAfter=No`. `tokens`
    are those of the text, including multi-word tokens, separated by spaces.

    Args:
        annotation: Kind of trees: CoNLL-U (`dependency`) or Penn Treebank brackets (`constituency`).
        treebank: Plain or gzipped.
        form: `words`, `tokens` or `original`; brackets only have words.
        language: ISO 639 code; without a record of spaces, languages such as Chinese are written without them.
        lowercase: Lower-case the words, for a parser of lower-cased text.
        output: Tokenized text, one sentence a line.

    Raises:
        InputError: A tree is malformed, or all of its words are `_`.
    """
    if form != "words" and annotation is not TreeKind.DEPENDENCY:
        raise InputError("brackets do not record the text; leave out --form", treebank)
    with open_atomic_text_file(output) as file:
        for tree in show_progress(TREE_FILE_FORMATS[annotation].read_treebank(treebank), "treebank text"):
            if not has_word_text(tree.words):
                raise InputError(MISSING_TEXT_ERROR, treebank, tree.line_number)
            if form == "words":
                line = " ".join(tree.words)
            elif form == "tokens":
                line = " ".join(token.form for token in tree.tokens)
            else:
                line = restore_original_text(tree, language)
            file.write((line.lower() if lowercase else line) + "\n")


if __name__ == "__main__":
    run_command(treebank_text)
