"""Import trees that were made elsewhere."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_py.files.artifacts import Counts, writing
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.syntax.filtered_trees import KeptLine, Located, filtered_trees
from pipeline_py.syntax.trees.dependency import WITHOUT_TEXT, DependencyTree, MultiwordToken, has_text
from pipeline_py.syntax.trees.formats import FORMATS, Annotation, AnyTree, Format, TreeFacts, checksums, note_fallback
from pipeline_py.syntax.words.retokenize import over_tokens, places_of
from pipeline_py.syntax.words.token_alignment import SPACE, DifferentWordsError, Match, align


def import_trees(
    *,
    annotation: Annotation,
    trees: list[Path],
    text: Path,
    lines: Path,
    tokens: Path,
    ignore_case: bool = False,
    output: Path,
    counts_output: Path,
    facts_output: Path,
) -> None:
    """Import the trees of a text; tree k of the output belongs to line k of the cleaned, tokenized text.

    There is a tree for every line of the raw text that has words. The words of trees and text are compared; they may
    differ in the escapes of the Penn Treebank, and the output has the text's spelling. If the text has a multi-word
    token of CoNLL-U as one word, its words become one node. If it splits a word with spaces, the first part becomes the
    head of the others. Traces are removed. A tree that is marked as failed stays marked.

    Args:
        annotation: Kind of trees: CoNLL-U (`dependency`) or Penn Treebank brackets in any layout (`constituency`).
        trees: Files of trees, plain or gzipped. They are read one after the other.
        text: The raw text, before cleaning: tree k belongs to line k; lines without words need no tree.
        lines: The number of each kept line in the raw text, from `corpus.clean`.
        tokens: The cleaned and tokenized text.
        ignore_case: Ignore case when words are compared, for lower-cased or truecased text.
        output: CoNLL-U, or brackets with one tree a line.
        counts_output: JSON counts of sentences, of failed parses by reason, and of trees with adapted words.
        facts_output: Time, and checksums of the tree files, as JSON.

    Raises:
        InputError: a tree is malformed; its words are not those of its line; more or fewer trees than lines.
    """
    started = time.perf_counter()
    counts = Counts()
    comparison = _Comparison(text, tokens, ignore_case, counts)
    with writing(output) as file:
        kind = FORMATS[annotation]
        located = (Located(tree, path) for path in trees for tree in kind.read_treebank(path))
        sentences = filtered_trees(located, text, lines, tokens)
        kind.write(file, progress(_imported(sentences, kind, comparison), "import trees"))
    counts.write(counts_output)
    TreeFacts(counts.kept, time.perf_counter() - started, models=checksums(trees)).write(facts_output)


@dataclass(frozen=True)
class _Comparison:
    """What trees are compared with, and how; it counts what it sees."""

    text: Path
    tokens: Path
    ignore_case: bool
    counts: Counts

    def matches(self, line: KeptLine, given: Located[AnyTree] | None) -> list[Match]:
        """Match the words of a tree with the tokens of its line.

        Raises:
            InputError: they are not the same.
        """
        self.counts.keep()
        if not line.tokens:
            self.counts.note("empty line")
        if given is None:
            return []
        multiword = given.tree.multiword if isinstance(given.tree, DependencyTree) else ()
        try:
            matches = align(given.tree.words, line.tokens, multiword, self.ignore_case)
        except DifferentWordsError as difference:
            raise InputError(
                f"{difference} ({self.text}, line {line.raw}; tokenized: {self.tokens}, line {line.number}); "
                + self._remedy(given.tree.words, line, multiword),
                given.path,
                given.tree.line,
            ) from None
        if any(len(match.words) > 1 for match in matches):
            self.counts.note("multi-word token taken as one word")
        if any(len(match.tokens) > 1 for match in matches):
            self.counts.note("word with spaces taken as several")
        if any(match.form != SPACE.join(line.tokens[place] for place in match.tokens) for match in matches):
            self.counts.note("spelt otherwise than in the text")
        return matches

    def _remedy(self, words: Sequence[str], line: KeptLine, multiword: Sequence[MultiwordToken]) -> str:
        if not has_text(words):
            return WITHOUT_TEXT
        try:
            align(words, line.tokens, multiword, ignore_case=True)
        except DifferentWordsError:
            return "give a tree for each line, and text in the words of the trees (with `tokenizer: none`)"
        return (
            "they differ in upper and lower case alone; lower-case the text (`case: lower`), or bring trees of its case"
        )


def _imported(
    sentences: Iterator[tuple[KeptLine, Located[AnyTree] | None]], kind: Format[Any], comparison: _Comparison
) -> Iterator[Any]:
    for line, given in sentences:
        tree: Any = kind.empty if given is None else given.tree
        matches = comparison.matches(line, given)
        reason = kind.reason(tree)
        if reason is not None and line.tokens:
            note_fallback(comparison.counts, reason)
            yield kind.unparsed(line.tokens, reason)
        else:
            yield over_tokens(tree, line.tokens, places_of(matches))
