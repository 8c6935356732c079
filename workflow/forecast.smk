"""Warnings and the forecast, told once Snakemake has counted its jobs; in a dry run behind its list of them."""

import logging

from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline_py.plan.forecast import planned, summary


class Forecast(logging.Handler):
    counted = 0

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "event", None) != LogEvent.RUN_INFO:
            return
        self.counted += 1
        quiet = {Quietness.RULES, Quietness.PROGRESS} <= {*(workflow.output_settings.quiet or [])}
        if workflow.dryrun and self.counted == 1 and not quiet:
            return
        for sentence in [*plan.report.warnings(), *(plan.syntax.warnings() if "binarize" in record.stats else [])]:
            logger.warning(sentence)
        if "tokenize" in record.stats:
            for sentence in plan.corpus.warnings_on_tokenizers():
                logger.warning(sentence)
        if "clean" in record.stats:
            for sentence in plan.corpus.sentences_on_new_sets():
                logger.warning(sentence)
        files = {rule.name: rule.benchmark for rule in workflow.rules if rule.benchmark}
        counts = {files[name]: jobs for name, jobs in record.stats.items() if name in files}
        cores = None if workflow.nodes is not None else workflow.cores
        if cores is not None and cores < cores_asked:
            logger.info(
                f"{cores_asked} cores asked for, {cores} available: at most {cores} "
                f"job{'s' * (cores > 1)} at a time."
            )
        cards = workflow.global_resources.get("gpu") if cores and plan.gpu else None
        try:
            sentences = {split: plan.corpus.most_sentences(split) for split in EXPERIMENT.corpora.splits}
            lengths = {split: plan.corpus.relative_length(split) for split in EXPERIMENT.corpora.splits}
            stages = planned(counts, EXPERIMENT, sentences, lengths)
            run_lines.expected.update({stage.name: stage.work / stage.jobs for stage in stages})
            logger.info(summary(stages, cores, cards and cards.value))
        except Exception as error:  # no run shall end for want of a forecast
            logger.warning(f"No estimate of time ({type(error).__name__}: {error}).")


if workflow.is_main_process:
    logger.addHandler(Forecast())
