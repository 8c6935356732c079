"""A parser from sentences to the text of their trees, as files of trees hold it.

Finished trees wait for their turn in the file, up to a window of them: their text takes far less memory than objects.
"""

import io

from pipeline_py.artifact import Ledger
from pipeline_py.syntax.annotation import Annotation
from pipeline_py.syntax.batches import BatchParser
from pipeline_py.syntax.constituency import PhraseTree, unparsed_phrase, write_trees
from pipeline_py.syntax.dependency import DependencyTree, unparsed, write_dependencies
from pipeline_py.syntax.stanza_pipeline import Pipeline, dependency_trees, phrase_trees


def text_parser(
    pipeline: Pipeline, annotation: Annotation, batch_size: int, max_words: int, ledger: Ledger
) -> BatchParser[str]:
    """A parser that gives a CoNLL-U block or a line of brackets for each sentence.

    Args:
        pipeline: Stanza's, with the processors of the annotation.
        annotation: which of its trees.
        batch_size: sentences parsed together.
        max_words: longer sentences get the fallback.
        ledger: counts sentences, and fallbacks by reason.
    """
    if annotation is Annotation.DEPENDENCY:
        return BatchParser(
            lambda batch: [_block(tree) for tree in dependency_trees(pipeline, batch)],
            lambda words, reason: _block(unparsed(words, reason)),
            _block(DependencyTree((), (), (), ())),
            batch_size,
            max_words,
            ledger,
        )
    return BatchParser(
        lambda batch: [_line(tree) for tree in phrase_trees(pipeline, batch)],
        lambda words, _: _line(unparsed_phrase(words)),
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
