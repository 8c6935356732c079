"""Log warnings and the expected duration after Snakemake has counted its jobs; in a dry run, after its job list."""

import logging

from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline_py.plan.forecast import forecast_stages, format_forecast


class ForecastHandler(logging.Handler):
    run_info_count = 0

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "event", None) != LogEvent.RUN_INFO:
            return
        self.run_info_count += 1
        quiet = {Quietness.RULES, Quietness.PROGRESS} <= {*(workflow.output_settings.quiet or [])}
        if workflow.dryrun and self.run_info_count == 1 and not quiet:
            return
        for sentence in [
            *plan.report.format_warnings(),
            *(plan.syntax.format_warnings() if "binarize" in record.stats else []),
        ]:
            logger.warning(sentence)
        if "tokenize" in record.stats:
            for sentence in plan.corpus.format_tokenizer_warnings():
                logger.warning(sentence)
        if "clean" in record.stats:
            for sentence in plan.corpus.format_new_set_warnings():
                logger.warning(sentence)
        files = {rule.name: rule.benchmark for rule in workflow.rules if rule.benchmark}
        counts = {files[name]: jobs for name, jobs in record.stats.items() if name in files}
        cores = None if workflow.nodes is not None else workflow.cores
        if cores is not None and cores < requested_cores:
            logger.info(
                f"{requested_cores} cores requested, {cores} available; at most {cores} "
                f"job{'s' * (cores > 1)} run{'s' * (cores == 1)} at a time."
            )
        gpus = workflow.global_resources.get("gpu") if cores and plan.gpu_count else None
        try:
            sentences = {split: plan.corpus.count_raw_sentences(split) for split in EXPERIMENT.corpora.splits}
            lengths = {split: plan.corpus.compute_relative_length(split) for split in EXPERIMENT.corpora.splits}
            stages = forecast_stages(counts, EXPERIMENT, sentences, lengths)
            job_progress.expected_seconds.update(
                {stage.stage_name: stage.total_seconds / stage.job_count for stage in stages}
            )
            logger.info(format_forecast(stages, cores, gpus and gpus.value))
        except Exception as error:  # a run does not depend on its forecast
            logger.warning(f"The duration cannot be estimated ({type(error).__name__}: {error}).")


if workflow.is_main_process:
    logger.addHandler(ForecastHandler())
