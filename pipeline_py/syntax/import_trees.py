"""Import trees from external files."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import NonNegativeInt

from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.files.text_files import read_byte_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.kept_line_trees import KeptLine, TreeWithPath, match_trees_to_kept_lines
from pipeline_py.syntax.trees.dependency import MISSING_TEXT_ERROR, DependencyTree, MultiwordToken, has_word_text
from pipeline_py.syntax.trees.tree_formats import (
    TREE_FILE_FORMATS,
    TreeFileFormat,
    TreeKind,
    TreeMetadata,
    TreeType,
    compute_checksums,
    count_fallback,
)
from pipeline_py.syntax.words.retokenize import build_placement, retokenize_tree
from pipeline_py.syntax.words.token_alignment import (
    NO_BREAK_SPACE,
    DifferentWordsError,
    WordTokenMatch,
    align_words_with_tokens,
)

NO_TREE_REASON = "no tree"
"""Reason why a sentence before those with trees counts as failed."""


def import_trees(
    *,
    annotation: TreeKind,
    trees: list[Path],
    text: Path,
    lines: Path,
    tokens: Path,
    ignore_case: bool = False,
    tree_count: NonNegativeInt | None = None,
    output: Path,
    counts_output: Path,
    facts_output: Path,
) -> None:
    """Import the trees of a text; tree k of the output belongs to line k of the cleaned, tokenized text.

    There is a tree for every line of the raw text that has words. The words of trees and text are compared; they may
    differ in the escapes of the Penn Treebank, and the output has the text's spelling. If the text has a multi-word
    token of CoNLL-U as one word, its words become one node. If it splits a word with spaces, the first part becomes the
    head of the others. Traces are removed. A tree that is marked as failed stays marked. If only the last lines have
    trees, the others get trees that are marked as failed.

    Args:
        annotation: Kind of trees: CoNLL-U (`dependency`) or Penn Treebank brackets in any layout (`constituency`).
        trees: Files of trees, plain or gzipped. They are read one after the other.
        text: The raw text, before cleaning: tree k belongs to line k; lines without words need no tree.
        lines: The number of each kept line in the raw text, from `corpus.clean`.
        tokens: The cleaned and tokenized text.
        ignore_case: Ignore case when words are compared, for lower-cased or truecased text.
        tree_count: The number of last lines of the raw text that have trees; by default, all lines have.
        output: CoNLL-U, or brackets with one tree a line.
        counts_output: JSON counts of sentences, of failed parses by reason, and of trees with adapted words.
        facts_output: Time, and checksums of the tree files, as JSON.

    Raises:
        InputError: A tree is malformed, its words differ from its line, or there are more or fewer trees than lines.
    """
    started = time.perf_counter()
    counts = SentenceCounts()
    matcher = _TreeTextMatcher(text, tokens, ignore_case, counts)
    with open_atomic_text_file(output) as file:
        tree_format = TREE_FILE_FORMATS[annotation]
        located_trees = (TreeWithPath(tree, path) for path in trees for tree in tree_format.read_treebank(path))
        first_line = 1 if tree_count is None else sum(1 for _ in read_byte_lines(text)) - tree_count + 1
        sentences = match_trees_to_kept_lines(located_trees, text, lines, tokens, first_line)
        imported_trees = _import_sentences(sentences, tree_format, matcher)
        tree_format.write_trees(file, show_progress(imported_trees, "import trees"))
    counts.write_json_file(counts_output)
    TreeMetadata(counts.kept_count, time.perf_counter() - started, models=compute_checksums(trees)).write(facts_output)


@dataclass(frozen=True)
class _TreeTextMatcher:
    """Comparison of the words of trees with the text, with counts of differences."""

    text_path: Path
    tokens_path: Path
    ignore_case: bool
    counts: SentenceCounts

    def match_line(self, line: KeptLine, located_tree: TreeWithPath[TreeType] | None) -> list[WordTokenMatch]:
        """Match the words of a tree with the tokens of its line.

        Raises:
            InputError: They differ.
        """
        self.counts.add_kept()
        if not line.tokens:
            self.counts.add_noted("empty line")
        if located_tree is None:
            return []
        multiword = located_tree.tree.multiword_tokens if isinstance(located_tree.tree, DependencyTree) else ()
        try:
            matches = align_words_with_tokens(located_tree.tree.words, line.tokens, multiword, self.ignore_case)
        except DifferentWordsError as difference:
            raw_position = f"{self.text_path}, line {line.raw_number}"
            position = f"{raw_position}; tokenized: {self.tokens_path}, line {line.kept_number}"
            hint = self._suggest_mismatch_fix(located_tree.tree.words, line, multiword)
            message = f"{difference} ({position}); {hint}"
            raise InputError(message, located_tree.path, located_tree.tree.line_number) from None
        if any(len(match.word_range) > 1 for match in matches):
            self.counts.add_noted("multi-word token taken as one word")
        if any(len(match.token_range) > 1 for match in matches):
            self.counts.add_noted("word with spaces taken as several")
        if any(
            match.form != NO_BREAK_SPACE.join(line.tokens[place] for place in match.token_range) for match in matches
        ):
            self.counts.add_noted("spelt otherwise than in the text")
        return matches

    def _suggest_mismatch_fix(
        self, tree_words: Sequence[str], line: KeptLine, multiword_tokens: Sequence[MultiwordToken]
    ) -> str:
        if not has_word_text(tree_words):
            return MISSING_TEXT_ERROR
        try:
            align_words_with_tokens(tree_words, line.tokens, multiword_tokens, ignore_case=True)
        except DifferentWordsError:
            return "give a tree for each line, and text in the words of the trees (with `tokenizer: none`)"
        return (
            "they differ in upper and lower case alone; lower-case the text (`case: lower`), or bring trees of its case"
        )


def _import_sentences(
    lines_with_trees: Iterator[tuple[KeptLine, TreeWithPath[TreeType] | None]],
    tree_format: TreeFileFormat[Any],
    matcher: _TreeTextMatcher,
) -> Iterator[Any]:
    for line, located_tree in lines_with_trees:
        tree: Any = tree_format.empty_tree if located_tree is None else located_tree.tree
        matches = matcher.match_line(line, located_tree)
        reason = NO_TREE_REASON if located_tree is None else tree_format.get_failure_reason(tree)
        if reason is not None and line.tokens:
            count_fallback(matcher.counts, reason)
            yield tree_format.build_failed_tree(line.tokens, reason)
        else:
            yield retokenize_tree(tree, line.tokens, build_placement(matches))
