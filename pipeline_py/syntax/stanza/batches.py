"""Parse a stream of sentences in batches of similar length, whatever the parser does to some of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Generic, TypeVar

from pipeline_py.artifact import Counts
from pipeline_py.syntax.trees.formats import note_fallback
from pipeline_py.syntax.words.parser_words import Sentence

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
