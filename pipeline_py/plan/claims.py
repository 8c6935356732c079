"""What the rule `claims` is given: files of claims, and of systems their scores and what trees they read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline_py.config.claims import Claims, read_claims
from pipeline_py.config.entry_errors import unknown
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.parsers import ControlParser
from pipeline_py.config.systems.any_system import NeuralSystem
from pipeline_py.config.tables import BleuTable, MeasureTable
from pipeline_py.plan.evaluation import EvaluationPlan
from pipeline_py.plan.paths import one_of
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job

EVERYTHING = "all"
"""All tables that are asked for, in the place of a table; none is called so."""


def claims_files(experiment: Experiment, papers: Path) -> dict[str, Claims]:
    """The claims of an experiment, by their file.

    Raises:
        InputError: there is no such paper, a file is malformed, or one of the user's names an unknown system.
    """
    own = iter(experiment.own_claims)
    found = {}
    for name in experiment.claims:
        file = Path(next(own)) if Path(name).suffix else papers / f"{name}.yaml"
        if not file.is_file():
            known = sorted(file.stem for file in papers.glob("*.yaml"))
            raise InputError(f"claims: {unknown('paper', name, known)} (your own file needs an ending, e.g. .yaml)")
        found[str(file)] = read_claims(file)
        named = [system for claim in found[str(file)].claims for system in (claim.system, claim.above)]
        left_out = {system for section, system in experiment.left_out if section == "systems"}
        strange = [system for system in named if system not in experiment.systems and system not in left_out]
        if Path(name).suffix and strange:
            raise InputError(unknown("system", strange[0], experiment.systems), file)
    return found


@dataclass(frozen=True)
class ClaimsPlan:
    """Which claims are held against which results: only what tables score, so that nothing is trained for a claim.

    Attributes:
        files: the claims, by their file.
        of_run: tables, or all of them, whose claims this run asks for.
    """

    experiment: Experiment
    evaluation: EvaluationPlan
    files: Mapping[str, Claims]
    of_run: set[str] = field(default_factory=set)

    def in_this_run(self, table: str) -> str:
        """Take note that this run holds claims against what a table scores."""
        self.of_run.add(table)
        return table

    @property
    def shown_tables(self) -> list[str]:
        """The tables whose answers end this run, or all tables together."""
        if EVERYTHING in self.of_run:
            return [EVERYTHING]
        return [table for table in self.experiment.tables if table in self.of_run]

    @property
    def tables(self) -> str:
        """A pattern for what claims are held against: tables with scores, and all of them."""
        return one_of([*filter(self.is_scored, self.experiment.tables), EVERYTHING])

    def file(self, table: str) -> str:
        """What is said of the claims about a table's systems."""
        return f"<results>/evaluation/{table}/claims.tsv"

    def exclusions_file(self, table: str) -> str:
        """The systems and sets of a table that no conclusion is drawn from."""
        return f"<results>/evaluation/{table}/exclusions.tsv"

    def is_partial(self, table: str) -> bool:
        """Whether the experiment has more runs or control trees than a table, so that the table gives no verdict."""
        return not {*self.statistics(EVERYTHING)} <= {*self.statistics(table)}

    def properties(self, table: str) -> dict[str, str]:
        """Properties of the sentences of a table's sets, by set, if a claim is about sentences of some length."""
        if not any(claim.sentences for file in self.files.values() for claim in file.claims):
            return {}
        sets = dict.fromkeys(split for _, _, split in self.statistics(table))
        return {split: f"<results>/evaluation/source/{split}.words.arrow" for split in sets}

    def statistics(self, table: str) -> dict[tuple[str, str, str], str]:
        """What is counted of a table's systems on its sets, or of those of all tables on theirs."""
        return {
            place: file
            for one in self._tables(table)
            for split in self.evaluation.compared_sets(one)
            for place, file in self.evaluation.statistics_files(one, split).items()
        }

    def claims(self, table: str) -> Job:
        """Decide the claims about a table's systems."""
        systems = list(dict.fromkeys(system for system, _, _ in self.statistics(table)))
        asked = {
            (system, options.baseline): None
            for one in self._tables(table)
            if isinstance(options := self.experiment.tables[one], BleuTable)
            for system in options.proposed or options.systems
            if system != options.baseline and not self.experiment.reads_control_trees(system)
        }
        sets: dict[str, dict[str, dict[str, str]]] = {}
        for (system, run, split), file in self.statistics(table).items():
            sets.setdefault(split, {}).setdefault(system, {})[run] = file
        controls, variants = self._same_with_other_trees(systems)
        return Job(
            "evaluation.claims",
            files={"claims": [*self.files], "statistics": sets, "properties": self.properties(table)},
            settings={
                "metrics": self.evaluation.metrics,
                "asked": [*map(list, asked)],
                "reads_trees": [system for system in systems if self.experiment.parsers_of(system)],
                "controls": controls,
                "variants": variants,
                **self.evaluation.inference_settings(systems),
                "phrase_based": [*filter(self.experiment.is_phrase_based, systems)],
                "thresholds": self.experiment.evaluation.trained.model_dump(),
                "partial": self.is_partial(table),
            },
            software=["scipy"],
            modules=[f"evaluation.metrics.{metric}" for metric in self.evaluation.metrics],
        )

    def _tables(self, table: str) -> list[str]:
        asked = self.experiment.asked(self.experiment.tables) if table == EVERYTHING else [table]
        return [one for one in asked if self.is_scored(one)]

    def is_scored(self, table: str) -> bool:
        """Whether a table has scores that claims may be about."""
        options = self.experiment.tables[table]
        return isinstance(options, BleuTable) or (isinstance(options, MeasureTable) and options.is_scored)

    def _same_with_other_trees(self, systems: list[str]) -> tuple[list[list[str]], list[list[str]]]:
        """Find systems that are others, whose trees mean something, but for their trees.

        Returns:
            Controls as SYSTEM, SHAPE, PARSER, NAME, and variants as SYSTEM, PARSER, NAME; NAME reads trees of PARSER.
        """
        networks = {
            name: (system.model_dump_json(exclude={"parser"}), system.parser)
            for name, system in self.experiment.systems.items()
            if isinstance(system, NeuralSystem) and system.parser is not None
        }
        controls, variants = [], []
        for system, (composition, parser) in networks.items():
            for name in systems if not self.experiment.reads_control_trees(system) else ():
                same, other = networks.get(name, ("", None))
                if same == composition and other is not None and other != parser:
                    options = self.experiment.parsers[other]
                    if isinstance(options, ControlParser):
                        controls.append([system, options.shape, other, name])
                    else:
                        variants.append([system, other, name])
        return controls, variants
