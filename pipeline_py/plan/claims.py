"""Jobs of the rule `judge_claims`, which checks claims of papers against scores."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline_py.config.claims import ClaimFileConfig, read_claim_file
from pipeline_py.config.entry_errors import format_unknown_name_error
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.parsers import ControlParserConfig
from pipeline_py.config.systems.system_types import NeuralSystemConfig
from pipeline_py.config.tables import BleuTableConfig, MeasureTableConfig
from pipeline_py.plan.evaluation import EvaluationPlan
from pipeline_py.plan.paths import build_name_pattern
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job

ALL_TABLES = "all"
"""Name of all requested tables together; no table has this name."""


def read_experiment_claims(experiment: ExperimentConfig, claims_folder: Path) -> dict[str, ClaimFileConfig]:
    """Read the claims of an experiment, by their file.

    Raises:
        InputError: a paper is unknown, a file is malformed, or a file of the user's names an unknown system.
    """
    user_files = iter(experiment.user_claim_files)
    claims_by_file = {}
    for name in experiment.claims:
        file = Path(next(user_files)) if Path(name).suffix else claims_folder / f"{name}.yaml"
        if not file.is_file():
            known_papers = sorted(file.stem for file in claims_folder.glob("*.yaml"))
            raise InputError(
                f"claims: {format_unknown_name_error('paper', name, known_papers)} (the name of your file "
                "needs a suffix, e.g. .yaml)"
            )
        claims_by_file[str(file)] = read_claim_file(file)
        claimed_systems = [
            system for claim in claims_by_file[str(file)].claims for system in (claim.system, claim.above)
        ]
        omitted_systems = {system for section, system in experiment.omitted_entries if section == "systems"}
        unknown_systems = [
            system for system in claimed_systems if system not in experiment.systems and system not in omitted_systems
        ]
        if Path(name).suffix and unknown_systems:
            raise InputError(format_unknown_name_error("system", unknown_systems[0], experiment.systems), file)
    return claims_by_file


@dataclass(frozen=True)
class ClaimsPlan:
    """Jobs that check claims against the scores of tables; no system is trained for a claim only.

    Attributes:
        claims_by_file: claims by their file.
        requested_tables: tables (or `ALL_TABLES`) whose claims this run checks.
    """

    experiment: ExperimentConfig
    evaluation: EvaluationPlan
    claims_by_file: Mapping[str, ClaimFileConfig]
    requested_tables: set[str] = field(default_factory=set)

    def add_requested_table(self, table: str) -> str:
        """Record that this run checks claims against the scores of a table."""
        self.requested_tables.add(table)
        return table

    @property
    def answer_tables(self) -> list[str]:
        """The tables whose answers are shown at the end of this run, or `ALL_TABLES`."""
        if ALL_TABLES in self.requested_tables:
            return [ALL_TABLES]
        return [table for table in self.experiment.tables if table in self.requested_tables]

    @property
    def table_name_pattern(self) -> str:
        """A regular expression for the names of tables with scores and `ALL_TABLES`."""
        return build_name_pattern([*filter(self.is_scored_table, self.experiment.tables), ALL_TABLES])

    def get_claims_path(self, table: str) -> str:
        """Return the path of the verdicts on the claims about a table's systems."""
        return f"<results>/evaluation/{table}/claims.tsv"

    def get_exclusions_path(self, table: str) -> str:
        """Return the path of the systems and sets of a table that are excluded from conclusions."""
        return f"<results>/evaluation/{table}/exclusions.tsv"

    def is_partial_table(self, table: str) -> bool:
        """Return whether a table lacks runs or control trees of the experiment, and therefore gives no verdict."""
        return not {*self.get_statistics_paths(ALL_TABLES)} <= {*self.get_statistics_paths(table)}

    def get_property_paths(self, table: str) -> dict[str, str]:
        """Return the files of sentence properties, by set, if a claim depends on sentence length; empty otherwise."""
        if not any(claim.sentences for file in self.claims_by_file.values() for claim in file.claims):
            return {}
        sets = dict.fromkeys(split for _, _, split in self.get_statistics_paths(table))
        return {split: f"<results>/evaluation/source/{split}.words.arrow" for split in sets}

    def get_statistics_paths(self, table: str) -> dict[tuple[str, str, str], str]:
        """Return the files of metric statistics of a table's systems on its sets, by system, run and set."""
        return {
            place: file
            for scored_table in self._get_scored_tables(table)
            for split in self.evaluation.get_compared_sets(scored_table)
            for place, file in self.evaluation.get_statistics_paths(scored_table, split).items()
        }

    def build_judge_claims_job(self, table: str) -> Job:
        """Build the job that decides the claims about a table's systems."""
        systems = list(dict.fromkeys(system for system, _, _ in self.get_statistics_paths(table)))
        comparisons = {
            (system, options.baseline): None
            for scored_table in self._get_scored_tables(table)
            if isinstance(options := self.experiment.tables[scored_table], BleuTableConfig)
            for system in options.proposed or options.systems
            if system != options.baseline and not self.experiment.has_control_trees(system)
        }
        sets: dict[str, dict[str, dict[str, str]]] = {}
        for (system, run, split), file in self.get_statistics_paths(table).items():
            sets.setdefault(split, {}).setdefault(system, {})[run] = file
        controls, variants = self._find_tree_variants(systems)
        return Job(
            "evaluation.judge_claims",
            files={"claims": [*self.claims_by_file], "statistics": sets, "properties": self.get_property_paths(table)},
            settings={
                "metrics": self.evaluation.computed_metrics,
                "table_comparisons": [*map(list, comparisons)],
                "systems_with_trees": [system for system in systems if self.experiment.get_system_parsers(system)],
                "controls": controls,
                "variants": variants,
                **self.evaluation.build_inference_settings(systems),
                "phrase_based": [*filter(self.experiment.is_phrase_based, systems)],
                "thresholds": self.experiment.evaluation.trained.model_dump(),
                "partial": self.is_partial_table(table),
            },
            software=["scipy"],
            modules=[f"evaluation.metrics.{metric}" for metric in self.evaluation.computed_metrics],
        )

    def _get_scored_tables(self, table: str) -> list[str]:
        tables = self.experiment.select_requested_names(self.experiment.tables) if table == ALL_TABLES else [table]
        return [name for name in tables if self.is_scored_table(name)]

    def is_scored_table(self, table: str) -> bool:
        """Return whether a table has scores that claims may refer to."""
        options = self.experiment.tables[table]
        return isinstance(options, BleuTableConfig) or (
            isinstance(options, MeasureTableConfig) and options.has_score_columns
        )

    def _find_tree_variants(self, systems: list[str]) -> tuple[list[list[str]], list[list[str]]]:
        """Find systems that differ from a system with real trees only in their trees.

        Returns:
            Controls (system, shape, parser, name) and variants (system, parser, name); `name` reads trees of `parser`.
        """
        networks = {
            name: (system.model_dump_json(exclude={"parser"}), system.parser)
            for name, system in self.experiment.systems.items()
            if isinstance(system, NeuralSystemConfig) and system.parser is not None
        }
        controls, variants = [], []
        for system, (composition, parser) in networks.items():
            for name in systems if not self.experiment.has_control_trees(system) else ():
                other_composition, other_parser = networks.get(name, ("", None))
                if other_composition == composition and other_parser is not None and other_parser != parser:
                    options = self.experiment.parsers[other_parser]
                    if isinstance(options, ControlParserConfig):
                        controls.append([system, options.shape, other_parser, name])
                    else:
                        variants.append([system, other_parser, name])
        return controls, variants
