"""Measure the accuracy of a parser on held-out trees."""

from collections.abc import Callable, Iterator
from pathlib import Path

from pipeline_py import stage
from pipeline_py.progress import progress
from pipeline_py.syntax.measures import Accuracy, write_measures
from pipeline_py.syntax.trees.alignment import in_pairs
from pipeline_py.syntax.trees.bracket_scoring import BracketCounts, compare
from pipeline_py.syntax.trees.constituency import PhraseTree
from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.trees.formats import FORMATS, Annotation

Metrics = list[tuple[str, float]]

AGAIN = "parse the gold text again"


def accuracy(*, annotation: Annotation, gold: Path, predicted: Path, lowercase: bool = False, output: Path) -> None:
    """Compare predicted trees with gold trees.

    For dependency trees: UPOS, UAS and LAS over all words, including punctuation, with full labels (`nsubj:pass`). For
    constituency trees: labelled bracket precision, recall and F1 (`bracket_scoring` defines them). All are averages
    over the whole file, not over sentences. In a failed parse everything counts as wrong; the number of failed parses
    is also reported.

    Args:
        annotation: Kind of trees.
        gold: Gold trees, CoNLL-U or brackets in any layout, plain or gzipped.
        predicted: The trees from `parse` for the words of --gold.
        lowercase: The parser saw lower-cased text.
        output: TSV with the columns metric, value (percent, or a number for failed parses), sentences, words.
    """
    case: Callable[[str], str] = str.lower if lowercase else str
    kind = FORMATS[annotation]
    trees = in_pairs(kind.read_treebank(gold), kind.read(predicted), gold, predicted, AGAIN, case)
    measure = _dependency_metrics if annotation is Annotation.DEPENDENCY else _constituency_metrics
    metrics, sentences, words = measure(progress(trees, "accuracy"))
    shown = ((name, str(value) if isinstance(value, int) else f"{value:.2f}") for name, value in metrics)
    write_measures(output, ((*metric, str(sentences), str(words)) for metric in shown), Accuracy._fields)


def _dependency_metrics(pairs: Iterator[tuple[DependencyTree, DependencyTree]]) -> tuple[Metrics, int, int]:
    sentences = words = failed = upos = heads = labelled = 0
    for gold, predicted in pairs:
        sentences += 1
        words += len(gold.words)
        if predicted.failed is not None:
            failed += 1
            continue
        for place in range(len(gold.words)):
            upos += gold.upos[place] == predicted.upos[place]
            if gold.heads[place] == predicted.heads[place]:
                heads += 1
                labelled += gold.labels[place] == predicted.labels[place]
    share = 100 / max(words, 1)
    metrics: Metrics = [("UPOS", upos * share), ("UAS", heads * share), ("LAS", labelled * share)]
    return [*metrics, ("failed parses", failed)], sentences, words


def _constituency_metrics(pairs: Iterator[tuple[PhraseTree, PhraseTree]]) -> tuple[Metrics, int, int]:
    sentences = words = failed = 0
    counts = BracketCounts()
    for gold, predicted in pairs:
        sentences += 1
        words += len(gold.words)
        failed += predicted.failed
        counts = counts.plus(compare(gold, predicted))
    metrics: Metrics = [("bracket precision", counts.precision), ("bracket recall", counts.recall)]
    return [*metrics, ("bracket F1", counts.f1), ("failed parses", failed)], sentences, words


if __name__ == "__main__":
    stage.run(accuracy)
