"""What is said of mistakes, in our words in the place of Snakemake's."""

import logging
import re

from snakemake.logging import logger

from pipeline_py.config.loading.targets import no_target

SENTENCES = {
    "InputError": re.compile(r'InputError in file ".+:\n(.+)'),
    "InputFunctionException": re.compile(r"Error:\n  InputError: (.+)"),
    "MissingRuleException": re.compile(r"No rule to produce (.+?) \(if you use input functions"),
}
"""Where the sentence stands in what Snakemake says of an exception; of the last it is the target that nothing makes."""


class OurWords(logging.Filter):
    """Tells a mistake of the user's without a traceback, and what is near where nothing makes a target."""

    def filter(self, record: logging.LogRecord) -> bool:
        exception = getattr(record, "exception", None)
        said = exception in SENTENCES and SENTENCES[exception].search(str(record.msg))
        if said and exception == "MissingRuleException":
            names = [each.name for each in workflow.rules if not each.has_wildcards()]
            record.msg = no_target(said[1], EXPERIMENT, names)
        elif said:
            record.msg = said[1]
        return True


logger.addFilter(OurWords())


def tell_answers():
    """Log at the end of a run its answers, and the files with more of them."""
    from pipeline_py.report.answers import read_answers, render_for_terminal
    from pipeline_py.report.exclusions import read_exclusions

    results = EXPERIMENT.folder("results")
    answers, notes = [], []
    for table in plan.claims.shown_tables:
        claims, exclusions = (
            Path(file(table).replace("<results>", results)) for file in (plan.claims.file, plan.claims.exclusions_file)
        )
        if claims.exists() and exclusions.exists():  # none is made with `--until`
            answers += read_answers(claims)
            notes += read_exclusions(exclusions).sentences
    if answers:
        where = ", ".join(f"{results}/{file}" for file in plan.report.shown_of_run())
        lines = render_for_terminal(answers, [*dict.fromkeys(notes)])
        logger.info("\n".join(["", *lines, f"More in: {where}"]))
