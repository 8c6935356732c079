"""Learn which words of a treebank the tokens of a text are."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from pipeline_py.files.artifacts import Counts
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependencies
from pipeline_py.syntax.words.token_alignment import read_sentences
from pipeline_py.syntax.words.word_table import DifferentTextError, TreebankToken, WordTable, blocks, learn_readings

Sentence = tuple[tuple[str, ...], list[TreebankToken]]


def learn_words(*, treebank: Path, tokens: Path, lowercase: bool = False, output: Path, counts_output: Path) -> None:
    """Write the table by which a parser reads tokens of a text as the words of its treebank.

    The table has all tokens, or sequences of tokens, that the treebank divides differently in at least one sentence:
    French `du` is `de le`, Moses' `aujourd' hui` is `aujourd'hui`, Vietnamese `chủ tịch` is `chủ_tịch`.

    Args:
        treebank: CoNLL-U, plain or gzipped.
        tokens: The text of the treebank (`treebank_text` in the form `original`), tokenized like the text to parse.
        lowercase: The tokens are lower-cased.
        output: The table as TSV with the columns tokens, before, words and count.
        counts_output: JSON counts of sentences and of entries of the table.

    Raises:
        InputError: the files have different numbers of sentences, or the treebank is not CoNLL-U.
    """
    counts = Counts()
    table = WordTable(learn_readings(_sentences(treebank, tokens, lowercase, counts)))
    table.write(output)
    counts.note("entries", len(table.entries))
    counts.note("ambiguous entries", sum(map(table.is_ambiguous, table.entries)))
    counts.write(counts_output)


def _sentences(treebank: Path, tokens: Path, lowercase: bool, counts: Counts) -> Iterator[Sentence]:
    """Yield tokens of the text and of the treebank, where both have the same characters."""
    trees = progress(read_dependencies(treebank), "learn words")
    for tree, line in zip_longest(trees, read_sentences(tokens)):
        if tree is None or line is None:
            raise InputError(f"not as many lines as {treebank} has sentences; tokenize its text again", tokens)
        treebank_tokens = _treebank_tokens(tree, lowercase)
        try:
            blocks(line, treebank_tokens)
        except DifferentTextError:
            counts.drop("the tokens have other characters than the treebank")
            continue
        counts.keep()
        yield line, treebank_tokens


def _treebank_tokens(tree: DependencyTree, lowercase: bool) -> list[TreebankToken]:
    def spell(word: str) -> str:
        return word.lower() if lowercase else word

    return [
        TreebankToken(spell(token.form), tuple(map(spell, tree.words[token.first - 1 : token.last])))
        for token in tree.tokens
    ]
