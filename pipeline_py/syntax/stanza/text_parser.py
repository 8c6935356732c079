"""Parsing of sentences to formatted trees, in batches of similar length.

Trees are returned as text, which takes much less memory than objects while they wait to be written in order.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any, Generic, TypeVar

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.syntax.stanza.pipeline import StanzaPipeline, parse_dependency_trees, parse_phrase_trees
from pipeline_py.syntax.trees.tree_formats import TREE_FILE_FORMATS, TreeKind, count_fallback
from pipeline_py.syntax.words.parser_words import ParserSentence
from pipeline_py.syntax.words.retokenize import retokenize_tree
from pipeline_py.syntax.words.token_alignment import WORD_SPACE

TreeOutput = TypeVar("TreeOutput")

# Sentences are sorted by length within windows of this size.
WINDOW_SENTENCES = 50_000
# Longer words (broken text, base64) are too expensive for character models.
MAX_WORD_CHARACTERS = 1000


@dataclass
class BatchParser(Generic[TreeOutput]):
    """A parser of batches that returns a tree for every sentence, even if parsing fails.

    Attributes:
        parse_batch: Parse non-empty sentences; may raise any exception.
        build_fallback: Build the marked tree of a failed sentence from the reason of the failure.
        empty_tree: Tree of an empty sentence.
        batch_size: Maximum number of sentences in a batch.
        max_words: Longer sentences count as failed.
        counts: Counts of sentences, and of failures by reason.
    """

    parse_batch: Callable[[Sequence[ParserSentence]], list[TreeOutput]]
    build_fallback: Callable[[ParserSentence, str], TreeOutput]
    empty_tree: TreeOutput
    batch_size: int
    max_words: int
    counts: SentenceCounts

    def parse_sentences(self, sentences: Iterable[ParserSentence]) -> Iterator[tuple[int, TreeOutput]]:
        """Yield index and tree of every sentence in the order of parsing (see `restore_input_order`)."""
        stream = iter(sentences)
        for start in count(0, WINDOW_SENTENCES):
            window = list(islice(stream, WINDOW_SENTENCES))
            if not window:
                return
            for place, tree in self._parse_window(window):
                yield start + place, tree

    def _parse_window(self, window: list[ParserSentence]) -> Iterator[tuple[int, TreeOutput]]:
        to_parse = []
        for place, sentence in enumerate(window):
            self.counts.add_kept()
            if not sentence.words:
                self.counts.add_noted("empty line")
                yield place, self.empty_tree
            elif len(sentence.words) > self.max_words:
                yield place, self._count_and_build_fallback(sentence, f"more than {self.max_words} words")
            elif max(map(len, sentence.words)) > MAX_WORD_CHARACTERS:
                reason = f"a word of more than {MAX_WORD_CHARACTERS} characters"
                yield place, self._count_and_build_fallback(sentence, reason)
            else:
                to_parse.append(place)
        # Longest first, so that insufficient memory shows at once.
        to_parse.sort(key=lambda place: -len(window[place].words))
        for start in range(0, len(to_parse), self.batch_size):
            batch = to_parse[start : start + self.batch_size]
            yield from zip(batch, self._parse_or_halve([window[place] for place in batch]), strict=True)

    def _parse_or_halve(self, sentences: list[ParserSentence]) -> list[TreeOutput]:
        """Parse a batch; if that fails, its halves, recursively."""
        try:
            return self.parse_batch(sentences)
        except Exception as error:
            # After a GPU error (torch.AcceleratorError, unlike out-of-memory errors), all later sentences would fail.
            if type(error).__name__ == "AcceleratorError":
                raise
            if len(sentences) == 1:
                reason = " ".join(f"{type(error).__name__}: {error}".split())[:100]
                return [self._count_and_build_fallback(sentences[0], reason)]
        # Outside of the exception handler, because the traceback keeps tensors alive.
        half = len(sentences) // 2
        return self._parse_or_halve(sentences[:half]) + self._parse_or_halve(sentences[half:])

    def _count_and_build_fallback(self, sentence: ParserSentence, reason: str) -> TreeOutput:
        count_fallback(self.counts, reason)
        return self.build_fallback(sentence, reason)


def build_text_parser(
    pipeline: StanzaPipeline,
    annotation: TreeKind,
    batch_size: int,
    max_words: int,
    counts: SentenceCounts,
    word_space: str = WORD_SPACE,
    should_output_words: bool = False,
) -> BatchParser[str]:
    """Build a parser that returns a CoNLL-U block or a line of brackets for each sentence.

    Args:
        pipeline: Stanza pipeline with the processors of the annotation.
        annotation: Kind of trees.
        batch_size: Maximum number of sentences in a batch.
        max_words: Longer sentences count as failed.
        counts: Counts of sentences, of failures by reason, and of tokens that are not words of the parser.
        word_space: Spelling of a space within a word in the vocabulary of the models.
        should_output_words: Return dependency trees over the words that the parser reads, with multi-word tokens.
    """
    parse_trees: Callable[..., list[Any]] = (
        parse_dependency_trees if annotation is TreeKind.DEPENDENCY else parse_phrase_trees
    )
    tree_format = TREE_FILE_FORMATS[annotation]

    def format_tree(tree: Any) -> str:
        file = io.StringIO()
        tree_format.write_trees(file, [tree])
        return file.getvalue()

    def parse_batch(batch: Sequence[ParserSentence]) -> list[str]:
        formatted_trees = []
        trees = parse_trees(pipeline, [sentence.words for sentence in batch], word_space)
        for sentence, tree in zip(batch, trees, strict=True):
            sentence.add_to_counts(counts)
            if should_output_words:
                tree = replace(tree, multiword_tokens=sentence.multiword_tokens)
            elif sentence.placement is not None:
                tree = retokenize_tree(tree, sentence.tokens, sentence.placement)
            formatted_trees.append(format_tree(tree))
        return formatted_trees

    def build_fallback(sentence: ParserSentence, reason: str) -> str:
        words = sentence.words if should_output_words else sentence.tokens
        return format_tree(tree_format.build_failed_tree(words, reason))

    return BatchParser(parse_batch, build_fallback, format_tree(tree_format.empty_tree), batch_size, max_words, counts)
