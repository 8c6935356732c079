"""Measure the accuracy of a parser on held-out trees."""

from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

from pipeline_py.corpus.characters import has_spaces
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.syntax.measures import LEFT_WHOLE, MULTIWORD, RAW_TEXT, Accuracy, write_measures
from pipeline_py.syntax.trees.bracket_scoring import BracketCounts, compare
from pipeline_py.syntax.trees.constituency import PhraseTree
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependencies
from pipeline_py.syntax.trees.formats import FORMATS, Annotation, in_pairs
from pipeline_py.syntax.words.word_matching import DifferentTextError, count_whole_tokens, match_words

Metrics = list[tuple[str, float]]

AGAIN = "parse the gold text again"


def accuracy(
    *,
    annotation: Annotation,
    gold: Path,
    predicted: Path,
    raw_text: Path | None = None,
    language: str = "en",
    lowercase: bool = False,
    output: Path,
) -> None:
    """Compare predicted trees with gold trees.

    For dependency trees: UPOS, UAS and LAS over all words, including punctuation, with full labels (`nsubj:pass`). For
    constituency trees: labelled bracket precision, recall and F1 (`bracket_scoring` defines them). All are averages
    over the whole file, not over sentences. In a failed parse everything counts as wrong; the number of failed parses
    is also reported.

    With `raw_text`, the parser is also measured on the words that the pipeline makes of the text: words, UPOS, UAS and
    LAS as F1, as in the evaluation of Universal Dependencies. A word is correct if the gold tree has it; for UAS, its
    head must be correct too. In a failed parse only the words can be correct. Multi-word tokens of the gold trees are
    counted, and the share of them that the pipeline left whole.

    Args:
        annotation: Kind of trees.
        gold: Gold trees, CoNLL-U or brackets in any layout, plain or gzipped.
        predicted: The trees from `parse` for the words of `gold`.
        raw_text: The trees from `parse` over words for the text of `gold`; dependency trees only.
        language: ISO 639 code of the text of `raw_text`.
        lowercase: The parser saw lower-cased text.
        output: TSV with the columns metric, value (percent, or a number for failed parses), sentences, words.
    """
    if raw_text is not None and annotation is not Annotation.DEPENDENCY:
        raise InputError("raw text is measured with dependency trees only; leave out `raw_text`")
    case: Callable[[str], str] = str.lower if lowercase else str
    kind = FORMATS[annotation]
    trees = in_pairs(kind.read_treebank(gold), kind.read(predicted), gold, predicted, AGAIN, case)
    measure = _dependency_metrics if annotation is Annotation.DEPENDENCY else _constituency_metrics
    metrics, sentences, words = measure(progress(trees, "accuracy"))
    if raw_text is not None:
        raw_metrics = _raw_text_metrics(
            progress(_aligned_sentences(gold, raw_text), "accuracy of raw text"), has_spaces(language)
        )
        metrics += [(f"{name}{RAW_TEXT}", value) for name, value in raw_metrics]
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


def _aligned_sentences(gold: Path, predicted: Path) -> Iterator[tuple[DependencyTree, DependencyTree]]:
    for tree, other in zip_longest(read_dependencies(gold), read_dependencies(predicted)):
        if tree is None or other is None:
            raise InputError(f"not as many sentences as {gold}; parse its text again", predicted)
        yield tree, other


def _raw_text_metrics(pairs: Iterator[tuple[DependencyTree, DependencyTree]], spaced: bool) -> Metrics:
    words = failed = other_characters = same = upos = heads = labelled = multiword = whole = 0
    for gold, predicted in pairs:
        words += len(gold.words) + len(predicted.words)
        failed += predicted.failed is not None
        try:
            matches = match_words(gold, predicted)
        except DifferentTextError:
            other_characters += 1
            continue
        same += len(matches)
        counts = count_whole_tokens(gold, predicted, spaced)
        multiword, whole = multiword + counts[0], whole + counts[1]
        if predicted.failed is not None:
            continue
        gold_places = {0: 0} | {other + 1: place + 1 for place, other in matches}
        for place, other in matches:
            upos += gold.upos[place] == predicted.upos[other]
            if gold_places.get(predicted.heads[other]) == gold.heads[place]:
                heads += 1
                labelled += gold.labels[place] == predicted.labels[other]
    share = 200 / max(words, 1)
    metrics: Metrics = [("words", same * share), ("UPOS", upos * share)]
    metrics += [("UAS", heads * share), ("LAS", labelled * share), ("failed parses", failed)]
    metrics += [(MULTIWORD, multiword), (LEFT_WHOLE, 100 * whole / max(multiword, 1))]
    return [*metrics, ("sentences with other characters", other_characters)]


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
