"""The plan of an experiment: inputs, parameters and jobs of all rules, with a part for each package."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import Any

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.plan.bundles import BundlesPlan
from pipeline_py.plan.claims import ClaimsPlan, read_experiment_claims
from pipeline_py.plan.corpus import CorpusPlan, count_contrastive_pairs
from pipeline_py.plan.evaluation import EvaluationPlan
from pipeline_py.plan.fallbacks import FallbacksPlan
from pipeline_py.plan.memory import MemoryPlan
from pipeline_py.plan.nmt import NmtPlan
from pipeline_py.plan.page import PagePlan
from pipeline_py.plan.parsers import ParsersPlan
from pipeline_py.plan.report import ReportPlan, find_published_files
from pipeline_py.plan.smt import SmtPlan
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.plan.syntax import SyntaxPlan
from pipeline_py.run.file_hash_cache import FileHashCache
from pipeline_py.run.job import Job, assign_outputs, hash_json, iterate_nested_paths, serialize_json
from pipeline_py.run.provenance import compute_provenance


class ExperimentPlan:
    """Jobs of all rules of an experiment.

    Attributes:
        gpu_count: 1 if networks run on a GPU, because it is requested or detected; else 0.
    """

    def __init__(
        self,
        experiment: ExperimentConfig,
        project_folder: Path,
        hash_cache_path: Path,
        overlap_counts: Mapping[str, int] | None = None,
    ) -> None:
        """Plan an experiment.

        Args:
            experiment: the configuration.
            project_folder: the folder of the Snakefile.
            hash_cache_path: cache file for hashes of the user's files.
            overlap_counts: number of training pairs whose source is in a set, by set, if known.

        Raises:
            InputError: a file or folder in the configuration is invalid.
        """
        self._file_hash_cache = FileHashCache(hash_cache_path)
        self._results_folder = experiment.get_output_folder("results")
        self._systems_by_folder = experiment.systems_by_folder
        papers = project_folder / "workflow" / "published"
        device = experiment.training.device
        self.gpu_count = int(device == "cuda" or (device == "auto" and which("nvidia-smi") is not None))
        self.corpus = CorpusPlan(
            experiment, self.hash_user_files, count_contrastive_pairs(experiment), overlap_counts or {}
        )
        self.parsers = ParsersPlan(experiment, self.hash_user_files, self.corpus)
        self.syntax = SyntaxPlan(experiment, self.hash_user_files, self.corpus, self.parsers)
        self.fallbacks = FallbacksPlan(experiment, self.corpus, self.syntax)
        self.subword = SubwordPlan(experiment, self.corpus)
        self.nmt = NmtPlan(experiment, self.subword)
        self.memory = MemoryPlan(experiment, self.corpus)
        self.smt = SmtPlan(experiment, self.corpus)
        self.evaluation = EvaluationPlan(experiment, self.corpus, self.subword)
        self.claims = ClaimsPlan(
            experiment, self.evaluation, read_experiment_claims(experiment, project_folder / "workflow" / "claims")
        )
        self.report = ReportPlan(
            experiment,
            self.corpus,
            self.parsers,
            self.syntax,
            self.subword,
            self.evaluation,
            self.claims,
            find_published_files(experiment, papers),
        )
        self.bundles = BundlesPlan(experiment, self.evaluation, self)
        self.page = PagePlan(
            experiment, papers, self.corpus, self.syntax, self.subword, self.evaluation, self.claims, self.report
        )

    def is_workflow_output(self, file: str) -> bool:
        """Return whether the path of a file belongs to an output of the workflow."""
        return file.startswith(("<results>", f"{self._results_folder}/"))

    def hash_user_files(self, files: Iterable[str]) -> list[str | None]:
        """Return the hashes of the user's files among some files, in order; outputs of the workflow are skipped."""
        user_files = [file for file in files if not file.startswith("<results>")]
        hashes = self._file_hash_cache.hash_files(user_files)
        return [hashes[file] for file in user_files]

    def build_job(self, job_name: str, wildcards: Mapping[str, str]) -> Job:
        """Build the job of a rule.

        Args:
            job_name: package and rule, e.g. "evaluation.compare_systems" for
                `EvaluationPlan.build_compare_systems_job`.
            wildcards: the arguments of this method, but for a system the name of its folder.
        """
        package, _, method = job_name.partition(".")
        arguments = dict(wildcards)
        if "system" in arguments:
            arguments["system"] = self._systems_by_folder[arguments["system"]]
        job: Job = getattr(getattr(self, package), f"build_{method}_job")(**arguments)
        return job

    def compute_identity(self, job: Job) -> dict[str, Any]:
        """Return everything that affects the outputs of a job, except the contents of inputs that other jobs make.

        These are settings, code, versions, contents of the user's files and names of files. Snakemake runs the job
        again if they change.
        """
        sets = [path for files_of_set in job.files_by_set.values() for path in iterate_nested_paths(files_of_set)]
        return {
            **self._describe_process(job),
            "contents": self.hash_user_files([*iterate_nested_paths(job.files), *sets]),
            "shape": job.input_structure,
            "side_outputs": job.side_outputs,
        }

    def _compute_provenance(self, job: Job) -> dict[str, str]:
        return compute_provenance(job.stage, *job.software, module_names=job.modules)

    def _describe_process(self, job: Job) -> dict[str, Any]:
        return {"settings": job.settings, "software": self._compute_provenance(job)}

    def serialize_call(
        self,
        job_name: str,
        wildcards: Mapping[str, str],
        rule_inputs: Mapping[str, str | Sequence[str]],
        rule_outputs: Mapping[str, str | Sequence[str]],
        threads: int,
    ) -> str:
        """Return a job as the argument of `python -m pipeline_py.run`.

        Args:
            job_name: as for `build_job`.
            wildcards: as for `build_job`.
            rule_inputs: paths of the named inputs of the rule.
            rule_outputs: paths of the named outputs of the rule.
            threads: number of threads of the job.
        """
        job = self.build_job(job_name, wildcards)
        files, sets = job.locate_files(rule_inputs)
        calls = assign_outputs(rule_outputs, [*sets], job.side_outputs, job.work_folders)
        content = {
            "stage": job.stage,
            "plan": job_name,
            "wildcards": wildcards,
            "results": self._results_folder,
            "is_cached": job.is_cached,
            "threads": threads,
            "identity": hash_json(self.compute_identity(job)),
            "process": hash_json({**self._describe_process(job), "rounding": job.rounding_settings}),
            "software": self._compute_provenance(job),
            "modules": [*job.modules],
            "settings": job.settings,
            "arguments": {**files, **job.settings, **job.execution_settings},
            "calls": [
                {**set_files, **set_outputs}
                for set_files, set_outputs in zip(sets.values() or [{}], calls, strict=True)
            ],
        }
        return serialize_json(content)
