"""A parser from sentences to the text of their trees, in batches of similar length.

Finished trees wait for their turn in the file, up to a window of them: their text takes far less memory than objects.
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

# Sentences are sorted by length within this many: batches need little padding, and memory stays bounded.
WINDOW_SENTENCES = 50_000
# Longer ones (broken text, base64) would cost a character model more than all the rest of the sentence.
MAX_WORD_CHARACTERS = 1000


@dataclass
class BatchParser(Generic[TreeOutput]):
    """A parser of batches that never loses a sentence.

    Attributes:
        parse_batch: the trees of some sentences of at least one word; may raise.
        build_fallback: the marked tree for a sentence without a parse and the reason.
        empty_tree: the tree of an empty sentence.
        batch_size: sentences given to `parse_batch` at once.
        max_words: sentences with more words get the fallback.
        counts: counts sentences, and fallbacks by reason.
    """

    parse_batch: Callable[[Sequence[ParserSentence]], list[TreeOutput]]
    build_fallback: Callable[[ParserSentence, str], TreeOutput]
    empty_tree: TreeOutput
    batch_size: int
    max_words: int
    counts: SentenceCounts

    def parse_sentences(self, sentences: Iterable[ParserSentence]) -> Iterator[tuple[int, TreeOutput]]:
        """Yield place and tree of every sentence as it is parsed; `in_order` puts them back in order."""
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
                yield (
                    place,
                    self._count_and_build_fallback(sentence, f"a word of more than {MAX_WORD_CHARACTERS} characters"),
                )
            else:
                to_parse.append(place)
        # The longest first: memory that does not suffice shows at once.
        to_parse.sort(key=lambda place: -len(window[place].words))
        for start in range(0, len(to_parse), self.batch_size):
            batch = to_parse[start : start + self.batch_size]
            yield from zip(batch, self._parse_or_halve([window[place] for place in batch]), strict=True)

    def _parse_or_halve(self, sentences: list[ParserSentence]) -> list[TreeOutput]:
        """Parse a batch; where that fails, its halves, until the sentence at fault stands alone."""
        try:
            return self.parse_batch(sentences)
        except Exception as error:
            # After an error of the GPU itself (torch.AcceleratorError; memory is none) it computes no more, and every
            # later sentence would get the fallback.
            if type(error).__name__ == "AcceleratorError":
                raise
            # A neural parser may fail in any way (memory, recursion, no legal transition); the text must go on.
            if len(sentences) == 1:
                reason = " ".join(f"{type(error).__name__}: {error}".split())[:100]
                return [self._count_and_build_fallback(sentences[0], reason)]
        # Outside of the handler, since the error holds the frames that it went through, and these hold tensors.
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
    """A parser that gives a CoNLL-U block or a line of brackets for each sentence.

    Args:
        pipeline: Stanza's, with the processors of the annotation.
        annotation: which of its trees.
        batch_size: sentences parsed together.
        max_words: longer sentences get the fallback.
        counts: counts sentences, fallbacks by reason, and tokens that are no words of the parser.
        word_space: how the models know a space within a word.
        should_output_words: return dependency trees over the words that the parser reads, with the tokens that join them.
    """
    trees_of: Callable[..., list[Any]] = (
        parse_dependency_trees if annotation is TreeKind.DEPENDENCY else parse_phrase_trees
    )
    trees = TREE_FILE_FORMATS[annotation]

    def format_tree(tree: Any) -> str:
        file = io.StringIO()
        trees.write_trees(file, [tree])
        return file.getvalue()

    def parse_batch(batch: Sequence[ParserSentence]) -> list[str]:
        found = []
        parsed = trees_of(pipeline, [sentence.words for sentence in batch], word_space)
        for sentence, tree in zip(batch, parsed, strict=True):
            sentence.add_to_counts(counts)
            if should_output_words:
                tree = replace(tree, multiword_tokens=sentence.multiword_tokens)
            elif sentence.placement is not None:
                tree = retokenize_tree(tree, sentence.tokens, sentence.placement)
            found.append(format_tree(tree))
        return found

    def build_fallback(sentence: ParserSentence, reason: str) -> str:
        return format_tree(trees.build_failed_tree(sentence.words if should_output_words else sentence.tokens, reason))

    return BatchParser(parse_batch, build_fallback, format_tree(trees.empty_tree), batch_size, max_words, counts)
