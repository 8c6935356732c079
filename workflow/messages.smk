"""What is said of mistakes that Snakemake finds while it plans, in our words."""

import logging

from snakemake.logging import logger

from pipeline_py.config.targets import no_target


class OurWords(logging.Filter):
    """Puts our words in the place of Snakemake's.

    Of a target that nothing makes these name neither what is near nor what there is; of a mistake of the user's they
    make a traceback.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        exception = getattr(record, "exception", None)
        if exception == "MissingRuleException":
            if said := re.search(r"No rule to produce (.+?) \(if you use input functions", str(record.msg)):
                rules = [rule.name for rule in workflow.rules if not rule.has_wildcards()]
                record.msg = no_target(said[1], EXPERIMENT, rules)
        elif exception == "InputFunctionException":
            if said := re.search(r"Error:\n  InputError: (.+?)\nWildcards:", str(record.msg), flags=re.DOTALL):
                record.msg = said[1]
        return True


if workflow.is_main_process:
    logger.addFilter(OurWords())
