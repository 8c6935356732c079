"""Train a phrase-based system."""

import os
from importlib import metadata
from pathlib import Path

from pipeline_py.config.systems.phrase_based import PhraseBasedSystemConfig
from pipeline_py.files.artifacts import write_atomically, write_json
from pipeline_py.files.text_files import read_parallel, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.smt.progress_log import ProgressLog
from pipeline_py.smt.weight_tuning import WeightTuner


def train(
    *,
    name: str = "system",
    system: PhraseBasedSystemConfig,
    train_source: Path,
    train_target: Path,
    dev_source: Path,
    dev_target: Path,
    model_output: Path,
    facts_output: Path,
) -> None:
    """Train a phrase-based system, and tune its weights on the development set.

    Training consists of HMM word alignments in both directions, symmetrised; a phrase table; an interpolated n-gram
    language model with the weights of the lowest perplexity on dev; and a log-linear model whose weights maximize BLEU
    on dev (downhill simplex). Dev is not training data. The same inputs give the same bytes, except for times.

    Pairs with no word or more than 200 words on a side are left out, and counted.

    Args:
        name: Name of the system, for messages.
        system: The system, one of `systems` of the configuration.
        train_source: Tokenized sentences, words separated by a space.
        train_target: Their translations, tokenized.
        dev_source: Tokenized source sentences of the development set.
        dev_target: Their translations, tokenized.
        model_output: Folder for the models; it can be moved.
        facts_output: Size, score, time and versions as JSON.

    Raises:
        InputError: files are invalid, or do not belong together.
    """
    log = ProgressLog(f"train {name}")
    # OpenMP reads it when Thot is loaded. The rule requests one thread; more are hardly faster.
    os.environ["OMP_NUM_THREADS"] = "1"

    from pipeline_py.smt.thot import ThotTrainer, ThotTrainingCorpus, ThotTranslator, write_model_config

    pairs = ThotTrainingCorpus(train_source, train_target)
    sources, targets = _read_tuning_sentences(dev_source, dev_target, system.tuning.sentences)
    trainer = ThotTrainer(pairs, system.iterations, system.language_model_order)
    with write_atomically(model_output) as directory, trainer:
        directory.mkdir()
        phrase_pairs = trainer.train_models(directory, targets, log.report_status)
        log.write_line("tuning weights")
        tuner = WeightTuner(ThotTranslator(directory, system.reordering), sources, targets, system.tuning, log)
        tuner.tune_weights()
        write_model_config(directory, system.reordering, tuner.best_weights)

    write_json(
        facts_output,
        {
            "parameters": None,
            "updates": None,
            "epochs": None,
            "best_update": None,
            "early_stopping": "bleu",
            "best_dev": tuner.best_bleu,
            "target_words": None,
            "target_words_per_second": None,
            "seconds": round(log.elapsed_seconds, 1),
            **log.measure_usage(),
            "seed": None,
            "device": "cpu",
            "threads": 1,
            "precision": None,
            "skipped": pairs.skipped_pairs,
            "statistics": [{"phrase_pairs": phrase_pairs, "tuning_evaluations": tuner.evaluation_count}],
            "versions": {package: metadata.version(package) for package in ("sil-machine", "sil-thot")},
        },
    )


def _read_tuning_sentences(
    source: Path, target: Path, max_pairs: int | None
) -> tuple[list[list[str]], list[list[str]]]:
    pairs = [
        (split_tokens(source_words), split_tokens(target_words))
        for source_words, target_words in read_parallel(source, target)
    ][:max_pairs]
    if not any(source_words and target_words for source_words, target_words in pairs):
        limit_text = "" if len(pairs) != max_pairs else f" among the first {max_pairs}, which are tuned on"
        raise InputError(f"no sentence pair with words on both sides{limit_text}; give a development set", source)
    return [source_words for source_words, _ in pairs], [target_words for _, target_words in pairs]
