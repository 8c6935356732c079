"""Train a phrase-based system."""

import os
from importlib import metadata
from pathlib import Path

from pipeline_py.config.systems.phrase_based import PhraseBased
from pipeline_py.files.artifacts import whole, write_json
from pipeline_py.files.text import read_parallel, tokens_of
from pipeline_py.run.errors import InputError
from pipeline_py.smt.log import Log
from pipeline_py.smt.tuning import Tuner


def train(
    *,
    name: str = "system",
    system: PhraseBased,
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
    log = Log(f"train {name}")
    # Thot's OpenMP reads it when it is loaded; the rule asks for one thread, and more hardly help.
    os.environ["OMP_NUM_THREADS"] = "1"

    from pipeline_py.smt.thot import Pairs, Trainer, Translator, save_config

    pairs = Pairs(train_source, train_target)
    sources, targets = _tuning_sentences(dev_source, dev_target, system.tuning.sentences)
    trainer = Trainer(pairs, system.iterations, system.language_model_order)
    with whole(model_output) as directory, trainer:
        directory.mkdir()
        phrase_pairs = trainer.learn(directory, targets, log.status)
        log.line("tuning weights")
        tuner = Tuner(Translator(directory, system.reordering), sources, targets, system.tuning, log)
        tuner.tune()
        save_config(directory, system.reordering, tuner.best_weights)

    write_json(
        facts_output,
        {
            "parameters": None,
            "updates": None,
            "epochs": None,
            "best_update": None,
            "early_stopping": "bleu",
            "best_dev": tuner.best,
            "target_words": None,
            "target_words_per_second": None,
            "seconds": round(log.elapsed, 1),
            **log.usage(),
            "seed": None,
            "device": "cpu",
            "threads": 1,
            "precision": None,
            "skipped": pairs.skipped,
            "statistics": [{"phrase_pairs": phrase_pairs, "tuning_evaluations": tuner.evaluations}],
            "versions": {package: metadata.version(package) for package in ("sil-machine", "sil-thot")},
        },
    )


def _tuning_sentences(source: Path, target: Path, limit: int | None) -> tuple[list[list[str]], list[list[str]]]:
    pairs = [(tokens_of(one), tokens_of(other)) for one, other in read_parallel(source, target)][:limit]
    if not any(one and other for one, other in pairs):
        of_these = "" if len(pairs) != limit else f" among the first {limit}, which are tuned on"
        raise InputError(f"no sentence pair with words on both sides{of_these}; give a development set", source)
    return [one for one, _ in pairs], [other for _, other in pairs]
