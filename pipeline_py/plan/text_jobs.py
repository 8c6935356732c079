"""The jobs that turn one text into what a system makes of it, found by the files that they make.

Snakemake finds the job of a file by the patterns of its rules. This module has the patterns of the rules that run once
for each text; tests compare them with the rules.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline_py.plan.paths import one_of
from pipeline_py.plan.plan import Plan
from pipeline_py.plan.subword import INHERITED
from pipeline_py.run.job import Job, list_paths

CLEAN = "corpus.clean_held_out"
"""The job that reads the text."""

OUTPUTS: Mapping[str, Mapping[str, str]] = {
    CLEAN: {
        "source": "<results>/corpus/clean/{split}.source",
        "targets": "<results>/corpus/clean/{split}.{side}",
        "lines": "<results>/corpus/clean/{split}.lines",
        "counts": "<results>/corpus/clean/{split}.json",
    },
    "corpus.normalize_punctuation": {"output": "<results>/corpus/normalized/{split}.{side}"},
    "corpus.tokenize": {"output": "<results>/corpus/tokenized/{split}.{side}"},
    "corpus.truecase": {"output": "<results>/corpus/truecased/{split}.{side}"},
    "corpus.generalise": {
        "output": "<results>/corpus/generalised/{rarer}/{split}.{side}",
        "counts": "<results>/corpus/generalised/{rarer}/{split}.{side}.json",
    },
    "syntax.parse": {
        "output": "<results>/syntax/{parser}/{split}.{trees}",
        "counts": "<results>/syntax/{parser}/{split}.{trees}.json",
        "facts": "<results>/syntax/{parser}/{split}.{trees}.facts.json",
    },
    "syntax.binarize": {
        "output": "<results>/syntax/{parser}/{split}.binary.ptb",
        "counts": "<results>/syntax/{parser}/{split}.binary.json",
    },
    **{
        f"syntax.{kind}": {
            "output": f"<results>/syntax/{{parser}}/{{split}}.{ending}",
            "counts": f"<results>/syntax/{{parser}}/{{split}}.{kind}.json",
        }
        for kind, ending in (("distances", "distances.arrow"), ("units", "units.arrow"), ("labels", "labels"))
    },
    "subword.apply_bpe": {"output": "<results>/subword/{units}/pieces/{split}.{side}"},
    "subword.parsing_task_held_out": {"output": "<results>/subword/{units}/tagged/{split}.{side}"},
    "subword.inherit": {"output": "<results>/subword/{units}/{parser}/{split}.{syntax}"},
    "subword.pack": {
        "output": "<results>/subword/{units}/packed/{split}.{side}.arrow",
        "counts": "<results>/subword/{units}/packed/{split}.{side}.json",
    },
    "subword.pack_lexical_trees": {
        "output": "<results>/subword/{units}/packed/{split}.lexical_trees.arrow",
        "counts": "<results>/subword/{units}/packed/{split}.lexical_trees.json",
    },
    **{
        f"subword.pack_{kind}": {
            "output": f"<results>/subword/{{units}}/packed/{{parser}}/{{split}}.{kind}.arrow",
            "counts": f"<results>/subword/{{units}}/packed/{{parser}}/{{split}}.{kind}.json",
        }
        for kind in ("labels", "units", "trees", "heads", "parents")
    },
    "nmt.translate": {
        "pieces": "<results>/nmt/{system}/{run}/{split}.pieces",
        "alignment": "<results>/nmt/{system}/{run}/{split}.alignment",
        "counts": "<results>/nmt/{system}/{run}/{split}.json",
    },
    "smt.translate": {
        "pieces": "<results>/smt/{system}/{run}/{split}.pieces",
        "counts": "<results>/smt/{system}/{run}/{split}.json",
    },
    "evaluation.postprocess": {
        "output": "<results>/evaluation/{system}/{run}/{split}.txt",
        "counts": "<results>/evaluation/{system}/{run}/{split}.json",
    },
}
"""By job of the plan, patterns of its outputs by their names."""

WILDCARDS = {"side": r"source|target\d*", "trees": "conllu|ptb", "rarer": r"\d+", "syntax": one_of(INHERITED)}
"""Patterns of wildcards; others are names."""

JOBS_OF_PARSERS = {"control": "syntax.control_trees", "given": "syntax.import_trees"}
"""By type of parser, the job that makes its trees; others are parsed by Stanza."""


@dataclass(frozen=True)
class TextJob:
    """A job for one text.

    Attributes:
        name: package and method of the plan.
        job: the job of the plan, perhaps of several sets.
        split: the set whose place the text has.
        outputs: by name, paths that begin with `<results>`.
    """

    name: str
    job: Job
    split: str
    outputs: Mapping[str, str]

    @cached_property
    def inputs(self) -> list[str]:
        """Input files, of several sets those of the text."""
        return [*list_paths(self.job.files), *list_paths(self.job.sets.get(self.split, {}))]


class TextJobs:
    """The jobs of a plan for the text of one set."""

    def __init__(self, plan: Plan, split: str) -> None:
        """Take a plan, and the set whose place the text has."""
        self._plan = plan
        self._split = split
        self._patterns = {
            (name, output): re.compile(_to_regex(pattern, split))
            for name, outputs in OUTPUTS.items()
            for output, pattern in outputs.items()
        }

    def find(self, file: str) -> TextJob | None:
        """Return the job that makes a file of the text; None if it does not depend on the text."""
        for (name, _), pattern in self._patterns.items():
            if match := pattern.fullmatch(file):
                return self._job(name, match.groupdict())
        return None

    def _job(self, name: str, wildcards: dict[str, str]) -> TextJob:
        outputs = {output: _fill(pattern, wildcards, self._split) for output, pattern in OUTPUTS[name].items()}
        if name == CLEAN:
            outputs.pop("targets")
            return TextJob(name, self._plan.job(name, {"split": self._split}), self._split, outputs)
        if name == "syntax.parse":
            parser = self._plan.parsers.experiment.parsers[wildcards["parser"]]
            name = JOBS_OF_PARSERS.get(parser.type, name)
        of_all_sets = name in ("nmt.translate", "evaluation.postprocess")
        split = {} if of_all_sets else {"split": self._split}
        return TextJob(name, self._plan.job(name, {**wildcards, **split}), self._split, outputs)

    def order(self, files: Sequence[str]) -> tuple[list[TextJob], list[str]]:
        """Return the jobs that make files, each after those that make its inputs, and the files that must exist."""
        jobs: dict[str, TextJob] = {}
        existing: dict[str, None] = {}

        def need(file: str) -> None:
            job = self.find(file)
            if job is None:
                existing[file] = None
                return
            key = next(iter(job.outputs.values()))
            if key not in jobs:
                for path in job.inputs if job.name != CLEAN else ():
                    need(path)
                jobs[key] = job

        for file in files:
            need(file)
        return [*jobs.values()], [*existing]


def _to_regex(pattern: str, split: str) -> str:
    """Return a regular expression for files of a set with named groups for the other wildcards."""
    parts = re.split(r"\{(\w+)\}", pattern)
    names: set[str] = set()
    regex = ""
    for place, part in enumerate(parts):
        if place % 2 == 0:
            regex += re.escape(part)
        elif part == "split":
            regex += re.escape(split)
        elif part in names:
            regex += f"(?P={part})"
        else:
            names.add(part)
            regex += f"(?P<{part}>{WILDCARDS.get(part, '[^/]+')})"
    return regex


def _fill(pattern: str, wildcards: Mapping[str, str], split: str) -> str:
    for name, value in {**wildcards, "split": split}.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern
