"""A parser from sentences to the text of the trees over their tokens, as files of trees hold it.

Finished trees wait for their turn in the file, up to a window of them: their text takes far less memory than objects.
"""

import io
from collections.abc import Callable, Sequence

from pipeline_py.artifact import Ledger
from pipeline_py.syntax.stanza.batches import BatchParser
from pipeline_py.syntax.stanza.pipeline import Pipeline, dependency_trees, phrase_trees
from pipeline_py.syntax.trees.alignment import AnyTree
from pipeline_py.syntax.trees.annotation import Annotation
from pipeline_py.syntax.trees.constituency import PhraseTree, unparsed_phrase, write_trees
from pipeline_py.syntax.trees.dependency import DependencyTree, unparsed, write_dependencies
from pipeline_py.syntax.words.parser_words import Sentence
from pipeline_py.syntax.words.retokenize import Places, dependencies_over_tokens, phrases_over_tokens


def text_parser(
    pipeline: Pipeline, annotation: Annotation, batch_size: int, max_words: int, ledger: Ledger
) -> BatchParser[str]:
    """A parser that gives a CoNLL-U block or a line of brackets for each sentence.

    Args:
        pipeline: Stanza's, with the processors of the annotation.
        annotation: which of its trees.
        batch_size: sentences parsed together.
        max_words: longer sentences get the fallback.
        ledger: counts sentences, fallbacks by reason, and tokens that are no words of the parser.
    """

    def over_tokens(
        batch: Sequence[Sentence],
        parse: Callable[[Pipeline, Sequence[tuple[str, ...]]], list[AnyTree]],
        carry: Callable[[AnyTree, Sequence[str], Places], AnyTree],
        text: Callable[[AnyTree], str],
    ) -> list[str]:
        trees = parse(pipeline, [sentence.words for sentence in batch])
        found = []
        for sentence, tree in zip(batch, trees, strict=True):
            sentence.count(ledger)
            found.append(text(tree if sentence.places is None else carry(tree, sentence.tokens, sentence.places)))
        return found

    if annotation is Annotation.DEPENDENCY:
        return BatchParser(
            lambda batch: over_tokens(batch, dependency_trees, dependencies_over_tokens, _block),
            lambda sentence, reason: _block(unparsed(sentence.tokens, reason)),
            _block(DependencyTree((), (), (), ())),
            batch_size,
            max_words,
            ledger,
        )
    return BatchParser(
        lambda batch: over_tokens(batch, phrase_trees, phrases_over_tokens, _line),
        lambda sentence, _: _line(unparsed_phrase(sentence.tokens)),
        _line(PhraseTree(None)),
        batch_size,
        max_words,
        ledger,
    )


def _block(tree: DependencyTree) -> str:
    text = io.StringIO()
    write_dependencies(text, [tree])
    return text.getvalue()


def _line(tree: PhraseTree) -> str:
    text = io.StringIO()
    write_trees(text, [tree])
    return text.getvalue()
