"""What is said where nothing makes a target."""

import logging

from snakemake.logging import logger

from pipeline_py.config.targets import no_target


class NoTarget(logging.Filter):
    """Puts our words in the place of Snakemake's, which name neither what is near nor what there is."""

    def filter(self, record: logging.LogRecord) -> bool:
        said = re.search(r"No rule to produce (.+?) \(if you use input functions", str(record.msg))
        if getattr(record, "exception", None) == "MissingRuleException" and said:
            rules = [rule.name for rule in workflow.rules if not rule.has_wildcards()]
            record.msg = no_target(said[1], EXPERIMENT, rules)
        return True


if workflow.is_main_process:
    logger.addFilter(NoTarget())
