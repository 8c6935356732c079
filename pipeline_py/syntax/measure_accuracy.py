"""Measure the accuracy of a parser on held-out trees."""

from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

from pipeline_py.corpus.characters import has_word_spaces
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.parser_measures import (
    MULTIWORD_COUNT_METRIC,
    RAW_TEXT_SUFFIX,
    UNDIVIDED_SHARE_METRIC,
    AccuracyRow,
)
from pipeline_py.syntax.trees.bracket_scoring import BracketCounts, count_matching_brackets
from pipeline_py.syntax.trees.constituency import PhraseTree
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependency_trees
from pipeline_py.syntax.trees.tree_formats import TREE_FILE_FORMATS, TreeKind, pair_trees
from pipeline_py.syntax.words.word_matching import TextMismatchError, count_undivided_tokens, match_tree_words

MetricValues = list[tuple[str, float]]

REPARSE_GOLD_HINT = "parse the gold text again"


def measure_accuracy(
    *,
    annotation: TreeKind,
    gold: Path,
    predicted: Path,
    raw_text: Path | None = None,
    language: str = "en",
    lowercase: bool = False,
    output: Path,
) -> None:
    """Measure the accuracy of predicted trees.

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
    if raw_text is not None and annotation is not TreeKind.DEPENDENCY:
        raise InputError("raw text is measured with dependency trees only; leave out `raw_text`")
    case: Callable[[str], str] = str.lower if lowercase else str
    kind = TREE_FILE_FORMATS[annotation]
    trees = pair_trees(kind.read_treebank(gold), kind.read_trees(predicted), gold, predicted, REPARSE_GOLD_HINT, case)
    measure = _compute_dependency_metrics if annotation is TreeKind.DEPENDENCY else _compute_constituency_metrics
    metrics, sentences, words = measure(show_progress(trees, "accuracy"))
    if raw_text is not None:
        raw_metrics = _compute_raw_text_metrics(
            show_progress(_read_aligned_trees(gold, raw_text), "accuracy of raw text"), has_word_spaces(language)
        )
        metrics += [(f"{name}{RAW_TEXT_SUFFIX}", value) for name, value in raw_metrics]
    formatted_metrics = ((name, str(value) if isinstance(value, int) else f"{value:.2f}") for name, value in metrics)
    write_tsv(output, AccuracyRow._fields, ((*metric, sentences, words) for metric in formatted_metrics))


def _compute_dependency_metrics(
    tree_pairs: Iterator[tuple[DependencyTree, DependencyTree]],
) -> tuple[MetricValues, int, int]:
    sentences = words = failed = upos = heads = labelled = 0
    for gold, predicted in tree_pairs:
        sentences += 1
        words += len(gold.words)
        if predicted.failure_reason is not None:
            failed += 1
            continue
        for place in range(len(gold.words)):
            upos += gold.upos[place] == predicted.upos[place]
            if gold.heads[place] == predicted.heads[place]:
                heads += 1
                labelled += gold.labels[place] == predicted.labels[place]
    share = 100 / max(words, 1)
    metrics: MetricValues = [("UPOS", upos * share), ("UAS", heads * share), ("LAS", labelled * share)]
    return [*metrics, ("failed parses", failed)], sentences, words


def _read_aligned_trees(gold_path: Path, predicted_path: Path) -> Iterator[tuple[DependencyTree, DependencyTree]]:
    for gold, predicted in zip_longest(read_dependency_trees(gold_path), read_dependency_trees(predicted_path)):
        if gold is None or predicted is None:
            raise InputError(f"not as many sentences as {gold_path}; parse its text again", predicted_path)
        yield gold, predicted


def _compute_raw_text_metrics(
    tree_pairs: Iterator[tuple[DependencyTree, DependencyTree]], is_space_delimited: bool
) -> MetricValues:
    words = failed = other_characters = same = upos = heads = labelled = multiword = undivided = 0
    for gold, predicted in tree_pairs:
        words += len(gold.words) + len(predicted.words)
        failed += predicted.failure_reason is not None
        try:
            matches = match_tree_words(gold, predicted)
        except TextMismatchError:
            other_characters += 1
            continue
        same += len(matches)
        counts = count_undivided_tokens(gold, predicted, is_space_delimited)
        multiword, undivided = multiword + counts[0], undivided + counts[1]
        if predicted.failure_reason is not None:
            continue
        gold_words = {0: 0} | {j + 1: i + 1 for i, j in matches}
        for i, j in matches:
            upos += gold.upos[i] == predicted.upos[j]
            if gold_words.get(predicted.heads[j]) == gold.heads[i]:
                heads += 1
                labelled += gold.labels[i] == predicted.labels[j]
    share = 200 / max(words, 1)
    metrics: MetricValues = [("words", same * share), ("UPOS", upos * share)]
    metrics += [("UAS", heads * share), ("LAS", labelled * share), ("failed parses", failed)]
    metrics += [(MULTIWORD_COUNT_METRIC, multiword), (UNDIVIDED_SHARE_METRIC, 100 * undivided / max(multiword, 1))]
    return [*metrics, ("sentences with other characters", other_characters)]


def _compute_constituency_metrics(tree_pairs: Iterator[tuple[PhraseTree, PhraseTree]]) -> tuple[MetricValues, int, int]:
    sentences = words = failed = 0
    counts = BracketCounts()
    for gold, predicted in tree_pairs:
        sentences += 1
        words += len(gold.words)
        failed += predicted.is_failed
        counts = counts.add_counts(count_matching_brackets(gold, predicted))
    metrics: MetricValues = [("bracket precision", counts.precision), ("bracket recall", counts.recall)]
    return [*metrics, ("bracket F1", counts.f1), ("failed parses", failed)], sentences, words
