"""Search for the jobs that translate one text, by the files that they make.

Snakemake finds the job of a file by the patterns of its rules. This module repeats the patterns of rules that run once
per text; tests compare them with the rules.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.plan.paths import build_name_pattern, get_run_folder, get_version_parser
from pipeline_py.plan.subword import SYNTAX_NAME_BY_SUFFIX
from pipeline_py.run.job import Job, iterate_nested_paths

if TYPE_CHECKING:
    from pipeline_py.plan.plan import ExperimentPlan

CLEAN_JOB_NAME = "corpus.clean_held_out"
"""Name of the job that reads the text."""

OUTPUT_PATTERNS: Mapping[str, Mapping[str, str]] = {
    CLEAN_JOB_NAME: {
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
    "fallbacks.select_failed_sentences": {
        "tokens": "<results>/syntax/{parser}/failed/{split}.{trees}.tokens",
        "text": "<results>/syntax/{parser}/failed/{split}.{trees}.text",
    },
    "fallbacks.parse_failed_sentences": {
        "output": "<results>/syntax/{parser}/failed/{split}.{trees}",
        "counts": "<results>/syntax/{parser}/failed/{split}.{trees}.json",
        "facts": "<results>/syntax/{parser}/failed/{split}.{trees}.facts.json",
    },
    "syntax.binarize": {
        "output": "<results>/syntax/{parser}/{split}.binary.ptb",
        "counts": "<results>/syntax/{parser}/{split}.binary.json",
    },
    **{
        f"syntax.{job}": {
            "output": f"<results>/syntax/{{parser}}/{{split}}.{ending}",
            "counts": f"<results>/syntax/{{parser}}/{{split}}.{kind}.json",
        }
        for job, kind, ending in (
            ("compute_distances", "distances", "distances.arrow"),
            ("extract_units", "units", "units.arrow"),
            ("extract_labels", "labels", "labels"),
        )
    },
    "subword.apply_bpe": {"output": "<results>/subword/{units}/pieces/{split}.{side}"},
    "subword.tag_held_out_text": {"output": "<results>/subword/{units}/tagged/{split}.{side}"},
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
"""Patterns of outputs by name, for each job of the plan."""

WILDCARD_PATTERNS = {
    "side": r"source|target\d*",
    "trees": "conllu|ptb",
    "rarer": r"\d+",
    "syntax": build_name_pattern(SYNTAX_NAME_BY_SUFFIX),
}
"""Regular expressions of wildcards that are not names."""

JOB_NAME_BY_PARSER_TYPE = {"control": "syntax.build_control_trees", "given": "syntax.import_trees"}
"""Job that makes a parser's own trees, by parser type; the default is `syntax.parse`. Permuted trees have another."""


@dataclass(frozen=True)
class TextJob:
    """A job for one text.

    Attributes:
        job_name: package and rule of the job.
        job: job of the plan, possibly for several sets.
        set_name: set that the text replaces.
        output_paths: paths that begin with `<results>`, by name.
    """

    job_name: str
    job: Job
    set_name: str
    output_paths: Mapping[str, str]

    @cached_property
    def input_paths(self) -> list[str]:
        """Input files; if the job has several sets, only those of the text."""
        return [
            *iterate_nested_paths(self.job.files),
            *iterate_nested_paths(self.job.files_by_set.get(self.set_name, {})),
        ]


class TextJobFinder:
    """Search for the jobs of a plan for a text that replaces a set."""

    def __init__(self, plan: "ExperimentPlan", set_name: str) -> None:
        self._plan = plan
        self._set_name = set_name
        self._output_regexes = {
            (name, output): re.compile(_build_regex(pattern, set_name))
            for name, outputs in OUTPUT_PATTERNS.items()
            for output, pattern in outputs.items()
        }

    def find_job(self, path: str) -> TextJob | None:
        """Return the job that makes a file; None if the file does not depend on the text."""
        for (name, _), pattern in self._output_regexes.items():
            if match := pattern.fullmatch(path):
                return self._build_text_job(name, match.groupdict())
        return None

    def _build_text_job(self, job_name: str, wildcards: dict[str, str]) -> TextJob:
        outputs = {
            output: _fill_pattern(pattern, wildcards, self._set_name)
            for output, pattern in OUTPUT_PATTERNS[job_name].items()
        }
        if job_name == CLEAN_JOB_NAME:
            outputs.pop("targets")
            return TextJob(job_name, self._plan.build_job(job_name, {"split": self._set_name}), self._set_name, outputs)
        if job_name == "syntax.parse":
            job_name = self._get_tree_job_name(wildcards["parser"])
        reads_all_sets = job_name in ("nmt.translate", "evaluation.postprocess")
        split = {} if reads_all_sets else {"split": self._set_name}
        return TextJob(job_name, self._plan.build_job(job_name, {**wildcards, **split}), self._set_name, outputs)

    def _get_tree_job_name(self, version: str) -> str:
        """Return the job that makes a version of trees."""
        if self._plan.fallbacks.find_previous_version(version) is not None:
            return "fallbacks.replace_failed_trees"
        experiment, parser = self._plan.parsers.experiment, get_version_parser(version)
        if experiment.get_permuted_parser(parser) is not None:
            return "syntax.permute_trees"
        return JOB_NAME_BY_PARSER_TYPE.get(experiment.parsers[parser].type, "syntax.parse")

    def resolve_jobs(self, paths: Sequence[str]) -> tuple[list[TextJob], list[str]]:
        """Return the jobs that make files, in topological order, and the files that must already exist."""
        jobs: dict[str, TextJob] = {}
        required_paths: dict[str, None] = {}

        def add_required_file(file_path: str) -> None:
            job = self.find_job(file_path)
            if job is None:
                required_paths[file_path] = None
                return
            key = next(iter(job.output_paths.values()))
            if key not in jobs:
                for path in job.input_paths if job.job_name != CLEAN_JOB_NAME else ():
                    add_required_file(path)
                jobs[key] = job

        for file in paths:
            add_required_file(file)
        return [*jobs.values()], [*required_paths]


def choose_replaced_set(experiment: ExperimentConfig) -> str:
    """Return the set that a text replaces: the first test set with references, which the text replaces too, or dev."""
    return [*experiment.corpora.scored_tests, "dev"][0]


def find_text_files(plan: "ExperimentPlan", system: str, run: str, set_name: str) -> dict[str, str]:
    """Return the files of a text that a system needs or makes, as paths that begin with `<results>`.

    Returns:
        `text`, the translation; for networks also `source_pieces` and `target_pieces`; for systems that read trees also
        `tree`.
    """
    experiment = plan.subword.experiment
    files = {"text": f"{get_run_folder('evaluation', system, run)}/{set_name}.txt"}
    if experiment.is_neural(system):
        network = experiment.get_network(experiment.get_networks(system)[0])
        units = experiment.get_subword_name(system)
        files |= {
            f"{side}_pieces": plan.subword.get_piece_path_pattern(units, side).format(split=set_name)
            for side in ("source", "target")
        }
        if "trees" in network.required_syntax_names:
            files["tree"] = plan.subword.get_syntax_path_pattern(units, "trees").format(
                parser=network.parser, split=set_name
            )
    return files


def _build_regex(pattern: str, set_name: str) -> str:
    """Return a regular expression for files of a set, with named groups for the other wildcards."""
    parts = re.split(r"\{(\w+)\}", pattern)
    names: set[str] = set()
    regex = ""
    for place, part in enumerate(parts):
        if place % 2 == 0:
            regex += re.escape(part)
        elif part == "split":
            regex += re.escape(set_name)
        elif part in names:
            regex += f"(?P={part})"
        else:
            names.add(part)
            regex += f"(?P<{part}>{WILDCARD_PATTERNS.get(part, '[^/]+')})"
    return regex


def _fill_pattern(pattern: str, wildcards: Mapping[str, str], set_name: str) -> str:
    for name, value in {**wildcards, "split": set_name}.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern
