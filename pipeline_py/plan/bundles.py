"""Jobs that make the folders of systems self-contained."""

from collections.abc import Mapping
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import INHERITED_KEYS
from pipeline_py.config.systems.system_types import NeuralSystemConfig, get_system_type
from pipeline_py.plan.evaluation import EvaluationPlan
from pipeline_py.plan.paths import find_run_folder, get_run_folder
from pipeline_py.plan.text_jobs import TextJobFinder, choose_replaced_set, find_text_files
from pipeline_py.run.job import RESULTS_PREFIX, Job

if TYPE_CHECKING:
    from pipeline_py.plan.plan import ExperimentPlan


@dataclass(frozen=True)
class BundlesPlan:
    """Jobs that make the folders of systems self-contained.

    Attributes:
        plan: the jobs of the experiment.
    """

    experiment: ExperimentConfig
    evaluation: EvaluationPlan
    plan: "ExperimentPlan"

    def get_card_paths(self, table: str) -> list[str]:
        """Return the model cards of the systems whose translations a table scores."""
        systems = dict.fromkeys(
            system
            for split in self.evaluation.get_scored_sets(table)
            for system in self.evaluation.get_systems_with_outputs(table, split)
        )
        return [
            f"{find_run_folder(self.experiment, system, run)}/README.md"
            for system in systems
            if not self.experiment.find_external_system(system)
            for run in self.experiment.get_runs(system, table)
        ]

    def build_bundle_system_job(self, package: str, system: str, run: str) -> Job:
        """Build the job that makes the folder of a system self-contained."""
        split = choose_replaced_set(self.experiment)
        folder = get_run_folder(package, system, run)
        paths = TextJobFinder(self.plan, split).resolve_jobs(
            [*find_text_files(self.plan, system, run, split).values()]
        )[1]
        results = {path.removeprefix(RESULTS_PREFIX): path for path in paths if path.startswith(RESULTS_PREFIX)}
        run_files = {name: path for name, path in results.items() if path.startswith(f"{folder}/")}
        parser_files = {name: path for name, path in results.items() if name.startswith("syntax/")}
        data = Path(self.experiment.data)
        user_files = {
            str(Path(path).relative_to(data)) if Path(path).is_relative_to(data) else path: path
            for path in paths
            if not path.startswith(RESULTS_PREFIX)
        }
        networks = self.experiment.get_networks(system)
        config = self.build_portable_config(system, run, split)
        return Job(
            "report.bundle_system",
            files={
                "run_files": run_files,
                "copied_files": {
                    name: path for name, path in results.items() if name not in {**run_files, **parser_files}
                },
                "parser_files": parser_files,
                "user_files": user_files,
                "scores": self._get_score_paths(system, run),
                "training_facts": [
                    f"{find_run_folder(self.experiment, member, run)}/facts.json" for member in networks or [system]
                ],
                "parse_facts": self._get_parse_facts(networks, split),
                "training_counts": f"{RESULTS_PREFIX}corpus/clean/train.json",
            },
            settings={
                "name": system,
                "run": run,
                # Other settings that affect translations affect the input files, too.
                "config": {
                    "decoding": {
                        key: value
                        for key, value in config["decoding"].items()
                        if key not in self.experiment.decoding.omitted_keys
                    },
                    "systems": {
                        name: {key: value for key, value in options.items() if key != "training"}
                        for name, options in config["systems"].items()
                    },
                },
                "data_folder": str(data) if data.is_absolute() else relpath(data, self._locate_folder(folder)),
                "licenses": self.experiment.licenses.model_dump(),
            },
            execution_settings={"config": config},
        )

    def build_portable_config(self, system: str, run: str, split: str) -> dict[str, Any]:
        """Return the configuration of an experiment with one run of a system, its members and parsers, without tables.

        Args:
            system: name of the system.
            run: name of the run.
            split: the only test set, or "dev" for none.
        """
        experiment = self.experiment
        members = [system, *experiment.systems[system].members]
        options = [experiment.systems[name] for name in members]
        likes = [option.like for option in options if isinstance(option, NeuralSystemConfig) and option.like]
        names = dict.fromkeys([*members, *likes])
        parsers = {parser for name in names if (parser := experiment.systems[name].parser) is not None}
        if any(language.should_train_tokenizer for language in (experiment.corpora.source, experiment.corpora.target)):
            parsers |= {name for name, parser in experiment.parsers.items() if parser.type == "trained"}
        parsers = {name for parser in parsers for name in experiment.get_tree_sources(parser)}
        config = experiment.model_dump(mode="json")
        corpora: Mapping[str, Any] = config["corpora"]
        seeds = [int(run.removeprefix("seed"))] if experiment.is_neural(system) else config["training"]["seeds"]
        return config | {
            "corpora": {
                **corpora,
                "tests": [test for test in corpora["tests"] if test["name"] == split],
                "contrast": [],
            },
            "systems": {name: _select_overrides(config["systems"][name], config) for name in names},
            "parsers": {name: parser for name, parser in config["parsers"].items() if name in parsers},
            "parser": experiment.parser if experiment.parser in parsers else None,
            "training": {**config["training"], "seeds": seeds},
            "data": ".",
            "tables": {},
            "figures": {},
            "claims": [],
            "targets": None,
            "recipe": None,
            "preset": None,
            "presets": {},
        }

    def _get_score_paths(self, system: str, run: str) -> dict[str, dict[str, str]]:
        """Return the scores of a system, by set and metric, on the test sets of all tables that score it."""
        sets = {
            split
            for table in self.experiment.tables
            for split in self.evaluation.get_scored_sets(table)
            if system in self.evaluation.get_systems_with_outputs(table, split)
        }
        return {
            split: {
                metric: f"{get_run_folder('evaluation', system, run)}/{split}.{metric}.json"
                for metric in self.experiment.evaluation.metrics
            }
            for split in self.experiment.corpora.scored_tests
            if split in sets
        }

    def _get_parse_facts(self, networks: list[str], split: str) -> list[str]:
        """Return the facts of Stanza's parses of a set that networks read."""
        return [
            f"{RESULTS_PREFIX}syntax/{parser}/{split}.{trees}.facts.json"
            for network in networks[:1]
            if (parser := self.experiment.get_network(network).parser) is not None
            and any(self.experiment.parsers[name].runs_stanza for name in self.experiment.get_tree_sources(parser))
            for trees in self.experiment.get_network_tree_formats(network)
        ]

    def _locate_folder(self, path: str) -> str:
        return path.replace(RESULTS_PREFIX, f"{self.experiment.get_output_folder('results')}/")


def _select_overrides(system: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a system that differ from those it inherits from the experiment."""
    inherited_keys = INHERITED_KEYS[get_system_type(system)]
    return {key: _subtract(value, config[key]) if key in inherited_keys else value for key, value in system.items()}


def _subtract(section: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a section with another value than in its base, recursively."""
    return {
        key: _subtract(value, base[key]) if isinstance(value, dict) and isinstance(base.get(key), dict) else value
        for key, value in section.items()
        if key not in base or value != base[key]
    }
