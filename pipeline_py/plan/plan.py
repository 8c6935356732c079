"""What the configuration means for the rules: one object, made once, with a part for each package."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import Any

from pipeline_py.config.experiment import Experiment
from pipeline_py.plan.claims import ClaimsPlan, claims_files
from pipeline_py.plan.corpus import CorpusPlan, pairs_of_sets
from pipeline_py.plan.evaluation import EvaluationPlan
from pipeline_py.plan.nmt import NmtPlan
from pipeline_py.plan.page import PagePlan
from pipeline_py.plan.parsers import ParsersPlan
from pipeline_py.plan.report import ReportPlan, published_files
from pipeline_py.plan.smt import SmtPlan
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.plan.syntax import SyntaxPlan
from pipeline_py.run.contents import Contents
from pipeline_py.run.job import Job, assign_outputs, hash_json, list_paths, to_json
from pipeline_py.run.provenance import made_by


class Plan:
    """Inputs, parameters and options of all rules.

    Attributes:
        gpu: 1 where networks run on the card, because it is asked for or present; else 0.
    """

    def __init__(
        self, experiment: Experiment, project: Path, known_contents: Path, shared: Mapping[str, int] | None = None
    ) -> None:
        """Plan an experiment.

        Args:
            experiment: the whole configuration.
            project: the folder of the Snakefile.
            known_contents: where hashes of users' files are remembered.
            shared: how many training pairs have a source that is in a set, as far as that is known.

        Raises:
            InputError: a file or folder that the configuration names does not hold what it should.
        """
        self._contents = Contents(known_contents)
        self._results = experiment.folder("results")
        papers = project / "workflow" / "published"
        asked = experiment.training.device
        self.gpu = int(asked == "cuda" or (asked == "auto" and which("nvidia-smi") is not None))
        self.corpus = CorpusPlan(experiment, self.contents_of, pairs_of_sets(experiment), shared or {})
        self.parsers = ParsersPlan(experiment, self.contents_of)
        self.syntax = SyntaxPlan(experiment, self.contents_of, self.corpus, self.parsers)
        self.subword = SubwordPlan(experiment, self.corpus)
        self.nmt = NmtPlan(experiment, self.subword)
        self.smt = SmtPlan(experiment, self.corpus)
        self.evaluation = EvaluationPlan(experiment, self.corpus, self.subword)
        self.claims = ClaimsPlan(experiment, self.evaluation, claims_files(experiment, project / "workflow" / "claims"))
        self.report = ReportPlan(
            experiment,
            self.corpus,
            self.parsers,
            self.syntax,
            self.subword,
            self.evaluation,
            self.claims,
            published_files(experiment, papers),
        )
        self.page = PagePlan(
            experiment, papers, self.corpus, self.syntax, self.subword, self.evaluation, self.claims, self.report
        )

    def is_made(self, file: str) -> bool:
        """Return whether the workflow makes a file, or has made what has its path."""
        return file.startswith(("<results>", f"{self._results}/"))

    def contents_of(self, files: Iterable[str]) -> list[str | None]:
        """Return the hashes of the user's files among some, in order, for the parameters of their rule.

        Their paths do not count.
        """
        own = [file for file in files if not file.startswith("<results>")]
        hashes = self._contents.of(own)
        return [hashes[file] for file in own]

    def job(self, name: str, wildcards: Mapping[str, str]) -> Job:
        """Return the job of a rule.

        Args:
            name: package and method of its plan: "evaluation.compare".
            wildcards: the arguments of the method.
        """
        package, _, method = name.partition(".")
        job: Job = getattr(getattr(self, package), method)(**wildcards)
        return job

    def identity(self, job: Job) -> dict[str, Any]:
        """Return what decides the outputs of a job: settings, code, versions, the user's files and names of files.

        If it changes, Snakemake runs the job again. The contents of inputs that other jobs make are not known yet.
        """
        sets = [path for files_of_set in job.sets.values() for path in list_paths(files_of_set)]
        return {
            **self._process(job),
            "contents": self.contents_of([*list_paths(job.files), *sets]),
            "shape": job.shape,
            "side_outputs": job.side_outputs,
        }

    def _software(self, job: Job) -> dict[str, str]:
        return made_by(job.stage, *job.software, parts=job.modules)

    def _process(self, job: Job) -> dict[str, Any]:
        """Return what turns the contents of inputs into those of outputs."""
        return {"settings": job.settings, "software": self._software(job)}

    def call(
        self,
        name: str,
        wildcards: Mapping[str, str],
        inputs: Mapping[str, str | Sequence[str]],
        outputs: Mapping[str, str | Sequence[str]],
        threads: int,
    ) -> str:
        """Return a job as the argument of `python -m pipeline_py.run`.

        Args:
            name: as for `job`.
            wildcards: as for `job`.
            inputs: the named inputs of the rule, at their places.
            outputs: the named outputs of the rule.
            threads: of the job.
        """
        job = self.job(name, wildcards)
        files, sets = job.locate(inputs)
        calls = assign_outputs(outputs, [*sets], job.side_outputs, job.folders)
        content = {
            "stage": job.stage,
            "plan": name,
            "wildcards": wildcards,
            "results": self._results,
            "is_cached": job.is_cached,
            "threads": threads,
            "identity": hash_json(self.identity(job)),
            "process": hash_json({**self._process(job), "rounding": job.rounding}),
            "software": self._software(job),
            "modules": [*job.modules],
            "arguments": {**files, **job.settings, **job.execution},
            "calls": [
                {**of_set, **of_outputs} for of_set, of_outputs in zip(sets.values() or [{}], calls, strict=True)
            ],
        }
        return to_json(content)
