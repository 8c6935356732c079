"""Compute the sentence statistics that all scores and tests are computed from."""

from pathlib import Path

import numpy as np

from pipeline_py.evaluation.aligned_sentences import read_aligned_sentences
from pipeline_py.evaluation.column_files import write_sentence_columns
from pipeline_py.evaluation.metric import (
    SENTENCE_METRIC,
    ExternalScoreMetric,
    Metric,
    SacrebleuBackedMetric,
    TokenizerName,
    get_metric_class,
)
from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.evaluation.output_properties import PROPERTIES_COLUMN, measure_outputs
from pipeline_py.files.artifacts import write_json
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress


def compute_metric_statistics(
    *,
    hypothesis: Path,
    references: list[Path],
    output: Path,
    metrics: list[str],
    scores_output: list[Path] | None = None,
    segment_scores: dict[str, Path] | None = None,
    tokenizer: TokenizerName = "13a",
    lowercase: bool = True,
    language: str = "en",
) -> None:
    """Compute the statistics of a system's output on one set for all metrics.

    The file has a column (sentences, statistics) for each metric, always one for chrF, which compares single sentences,
    and one of properties of the outputs (`evaluation.output_properties`). The score of any sentences follows from the
    sum of their rows (`evaluation.metric`). The score files have the score of the whole set in each metric, as the JSON
    object that the `sacrebleu` command prints, with the score in full precision and the number of `sentences`; for BLEU
    also its n-gram counts.

    Args:
        hypothesis: The system's output, one sentence a line.
        references: Reference translations.
        output: The statistics, an Arrow file.
        metrics: Modules of `evaluation/metrics`.
        scores_output: The score in each metric as JSON, in the order of the metrics.
        segment_scores: By metric, sentence scores that another program computes (`evaluation.metric`).
        tokenizer: Sacrebleu's tokenizer: 13a for de and en, zh for zh, none for tokenized references.
        lowercase: Ignore case, as in the papers.
        language: ISO 639 code of the target language, for metrics that count words by its rules.

    Raises:
        InputError: if files differ in length, a reference line is empty, or there is no sentence.
    """
    from sacrebleu.metrics.bleu import BLEU

    outputs, *texts = map(list, zip(*read_aligned_sentences([hypothesis], references), strict=True))
    columns, signatures = {}, {}
    score_files = segment_scores or {}
    files = dict(zip(metrics, scores_output or [], strict=False))
    for name in show_progress(dict.fromkeys([*metrics, SENTENCE_METRIC]), "statistics", unit="metrics"):
        metric_class = get_metric_class(name)
        metric: Metric
        if issubclass(metric_class, SacrebleuBackedMetric):
            metric = metric_class(tokenizer, lowercase, texts, language)
        elif issubclass(metric_class, ExternalScoreMetric) and name in score_files:
            metric = metric_class(score_files[name])
        else:
            raise InputError(f"another program scores sentences by {name}; give its file in `segment_scores`")
        statistics = metric.compute_sentence_statistics(outputs)
        columns[name], signatures[name] = np.array(statistics, dtype=np.float64), metric.signature
        if name in files:
            write_json(files[name], metric.to_score_json(statistics))
    half = len(outputs) // 2
    # A single sentence has no other one, and no match.
    other_texts = [lines[half:] + lines[:half] if half else [""] for lines in texts]
    chance_bleu = Bleu(tokenizer, lowercase, other_texts)
    split_words = BLEU(lowercase=lowercase, tokenize=tokenizer).tokenizer
    columns[PROPERTIES_COLUMN] = measure_outputs(
        outputs, texts[0], lambda line: split_words(line).split(), chance_bleu.compute_sentence_statistics(outputs)
    )
    signatures[PROPERTIES_COLUMN] = tokenizer
    write_sentence_columns(output, columns, signatures)
