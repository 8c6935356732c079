"""A parser from sentences to the text of their trees, in batches of similar length.

Finished trees wait for their turn in the file, up to a window of them: their text takes far less memory than objects.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any, Generic, TypeVar

from pipeline_py.files.artifacts import Counts
from pipeline_py.syntax.stanza.pipeline import Pipeline, dependency_trees, phrase_trees
from pipeline_py.syntax.trees.formats import FORMATS, Annotation, note_fallback
from pipeline_py.syntax.words.parser_words import Sentence
from pipeline_py.syntax.words.retokenize import over_tokens
from pipeline_py.syntax.words.token_alignment import WORD_SPACE

Tree = TypeVar("Tree")

# Sentences are sorted by length within this many: batches need little padding, and memory stays bounded.
WINDOW = 50_000
# Longer ones (broken text, base64) would cost a character model more than all the rest of the sentence.
LONGEST_WORD = 1000


@dataclass
class BatchParser(Generic[Tree]):
    """A parser of batches that never loses a sentence.

    Attributes:
        parse: the trees of some sentences of at least one word; may raise.
        fallback: the marked tree for a sentence without a parse and the reason.
        empty: the tree of an empty sentence.
        batch_size: sentences given to `parse` at once.
        max_words: sentences with more words get the fallback.
        counts: counts sentences, and fallbacks by reason.
    """

    parse: Callable[[Sequence[Sentence]], list[Tree]]
    fallback: Callable[[Sentence, str], Tree]
    empty: Tree
    batch_size: int
    max_words: int
    counts: Counts

    def parsed(self, sentences: Iterable[Sentence]) -> Iterator[tuple[int, Tree]]:
        """Yield place and tree of every sentence as it is parsed; `in_order` puts them back in order."""
        stream = iter(sentences)
        for start in count(0, WINDOW):
            window = list(islice(stream, WINDOW))
            if not window:
                return
            for place, tree in self._window(window):
                yield start + place, tree

    def _window(self, window: list[Sentence]) -> Iterator[tuple[int, Tree]]:
        to_parse = []
        for place, sentence in enumerate(window):
            self.counts.keep()
            if not sentence.words:
                self.counts.note("empty line")
                yield place, self.empty
            elif len(sentence.words) > self.max_words:
                yield place, self._failed(sentence, f"more than {self.max_words} words")
            elif max(map(len, sentence.words)) > LONGEST_WORD:
                yield place, self._failed(sentence, f"a word of more than {LONGEST_WORD} characters")
            else:
                to_parse.append(place)
        # The longest first: memory that does not suffice shows at once.
        to_parse.sort(key=lambda place: -len(window[place].words))
        for start in range(0, len(to_parse), self.batch_size):
            batch = to_parse[start : start + self.batch_size]
            yield from zip(batch, self._batch([window[place] for place in batch]), strict=True)

    def _batch(self, sentences: list[Sentence]) -> list[Tree]:
        """Parse a batch; where that fails, its halves, until the sentence at fault stands alone."""
        try:
            return self.parse(sentences)
        except Exception as error:
            # After an error of the GPU itself (torch.AcceleratorError; memory is none) it computes no more, and every
            # later sentence would get the fallback.
            if type(error).__name__ == "AcceleratorError":
                raise
            # A neural parser may fail in any way (memory, recursion, no legal transition); the text must go on.
            if len(sentences) == 1:
                reason = " ".join(f"{type(error).__name__}: {error}".split())[:100]
                return [self._failed(sentences[0], reason)]
        # Outside of the handler, since the error holds the frames that it went through, and these hold tensors.
        half = len(sentences) // 2
        return self._batch(sentences[:half]) + self._batch(sentences[half:])

    def _failed(self, sentence: Sentence, reason: str) -> Tree:
        note_fallback(self.counts, reason)
        return self.fallback(sentence, reason)


def text_parser(
    pipeline: Pipeline,
    annotation: Annotation,
    batch_size: int,
    max_words: int,
    counts: Counts,
    word_space: str = WORD_SPACE,
    over_words: bool = False,
) -> BatchParser[str]:
    """A parser that gives a CoNLL-U block or a line of brackets for each sentence.

    Args:
        pipeline: Stanza's, with the processors of the annotation.
        annotation: which of its trees.
        batch_size: sentences parsed together.
        max_words: longer sentences get the fallback.
        counts: counts sentences, fallbacks by reason, and tokens that are no words of the parser.
        word_space: how the models know a space within a word.
        over_words: return dependency trees over the words that the parser reads, with the tokens that join them.
    """
    trees_of: Callable[..., list[Any]] = dependency_trees if annotation is Annotation.DEPENDENCY else phrase_trees
    trees = FORMATS[annotation]

    def text(tree: Any) -> str:
        file = io.StringIO()
        trees.write(file, [tree])
        return file.getvalue()

    def parse(batch: Sequence[Sentence]) -> list[str]:
        found = []
        parsed = trees_of(pipeline, [sentence.words for sentence in batch], word_space)
        for sentence, tree in zip(batch, parsed, strict=True):
            sentence.count(counts)
            if over_words:
                tree = replace(tree, multiword=sentence.multiword)
            elif sentence.places is not None:
                tree = over_tokens(tree, sentence.tokens, sentence.places)
            found.append(text(tree))
        return found

    def fallback(sentence: Sentence, reason: str) -> str:
        return text(trees.unparsed(sentence.words if over_words else sentence.tokens, reason))

    return BatchParser(parse, fallback, text(trees.empty), batch_size, max_words, counts)
