"""Learn a table from the tokens of a text to the words of a treebank."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependency_trees
from pipeline_py.syntax.words.token_alignment import read_sentences
from pipeline_py.syntax.words.word_table import (
    TokenTextMismatchError,
    TreebankToken,
    WordTable,
    count_readings,
    divide_into_blocks,
)

AlignedSentence = tuple[tuple[str, ...], list[TreebankToken]]


def learn_word_table(
    *, treebank: Path, tokens: Path, lowercase: bool = False, output: Path, counts_output: Path
) -> None:
    """Learn the table that converts tokens of a text into words of a treebank.

    The table has all tokens, and sequences of tokens, that the treebank divides differently in at least one sentence:
    French `du` is `de le`, Moses' `aujourd' hui` is `aujourd'hui`, Vietnamese `chủ tịch` is `chủ_tịch`.

    Args:
        treebank: CoNLL-U, plain or gzipped.
        tokens: The text of the treebank (`treebank_text` in the form `original`), tokenized like the text to parse.
        lowercase: The tokens are lower-cased.
        output: The table as TSV with the columns tokens, before, words and count.
        counts_output: JSON counts of sentences and of entries of the table.

    Raises:
        InputError: The files have different numbers of sentences, or the treebank is not CoNLL-U.
    """
    counts = SentenceCounts()
    table = WordTable(count_readings(_read_aligned_sentences(treebank, tokens, lowercase, counts)))
    table.write(output)
    counts.add_noted("entries", len(table.entries))
    counts.add_noted("ambiguous entries", sum(map(table.is_ambiguous, table.entries)))
    counts.write_json_file(counts_output)


def _read_aligned_sentences(
    treebank: Path, tokens_path: Path, lowercase: bool, counts: SentenceCounts
) -> Iterator[AlignedSentence]:
    """Yield the tokens of the text and of the treebank for sentences with the same characters in both."""
    trees = show_progress(read_dependency_trees(treebank), "learn words")
    for tree, line in zip_longest(trees, read_sentences(tokens_path)):
        if tree is None or line is None:
            raise InputError(f"not as many lines as {treebank} has sentences; tokenize its text again", tokens_path)
        treebank_tokens = _collect_treebank_tokens(tree, lowercase)
        try:
            divide_into_blocks(line, treebank_tokens)
        except TokenTextMismatchError:
            counts.add_dropped("the tokens have other characters than the treebank")
            continue
        counts.add_kept()
        yield line, treebank_tokens


def _collect_treebank_tokens(tree: DependencyTree, lowercase: bool) -> list[TreebankToken]:
    def convert_case(word: str) -> str:
        return word.lower() if lowercase else word

    return [
        TreebankToken(
            convert_case(token.form), tuple(map(convert_case, tree.words[token.first_word - 1 : token.last_word]))
        )
        for token in tree.tokens
    ]
