"""A parser from sentences to the text of the trees over their tokens, as files of trees hold it.

Finished trees wait for their turn in the file, up to a window of them: their text takes far less memory than objects.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pipeline_py.artifact import Counts
from pipeline_py.syntax.stanza.batches import BatchParser
from pipeline_py.syntax.stanza.pipeline import Pipeline, dependency_trees, phrase_trees
from pipeline_py.syntax.trees.formats import FORMATS, Annotation
from pipeline_py.syntax.words.parser_words import Sentence
from pipeline_py.syntax.words.retokenize import over_tokens
from pipeline_py.syntax.words.treebank_spelling import WORD_SPACE


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
