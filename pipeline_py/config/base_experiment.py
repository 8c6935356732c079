"""What an experiment consists of, and what follows from it; `experiment.py` checks it."""

from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator

from pipeline_py.config.base import MAX_NAME_LENGTH, ConfigSection
from pipeline_py.config.corpora import NAME_PATTERN, CorporaConfig, CorpusSide, LanguageConfig
from pipeline_py.config.entry_errors import EntryKey
from pipeline_py.config.evaluation import CometInstallation, EvaluationConfig, find_comet_installation
from pipeline_py.config.language_codes import is_same_language
from pipeline_py.config.parsers import (
    AnyParserConfig,
    BaseStanzaParserConfig,
    ParsingConfig,
    StanzaParserConfig,
    TrainedParserConfig,
    TreebankConfig,
    TreeFileParserConfig,
)
from pipeline_py.config.subword import SubwordConfig
from pipeline_py.config.systems.phrase_based import PhraseBasedSystemConfig
from pipeline_py.config.systems.system_types import (
    AnySystemConfig,
    EnsembleConfig,
    ExternalSystemConfig,
    NeuralSystemConfig,
)
from pipeline_py.config.systems.training import DecodingConfig, ModelConfig, TrainingConfig
from pipeline_py.config.tables import (
    AnyTableConfig,
    AttentionFigureConfig,
    BleuTableConfig,
    MeasureTableConfig,
    SystemTableConfig,
)
from pipeline_py.kinds.syntax_kind import TREE_FORMAT_NAMES, TREE_FORMATS, TreeFormat, load_syntax_kind
from pipeline_py.run.errors import InputError

DEFAULT_SUBWORD_NAME = "default"
"""What the units of `subword` are called in paths."""


class ParsingTask(NamedTuple):
    """Parsing as a second task, whose symbols and tags are in a vocabulary of their own.

    Attributes:
        base_subword: the units that words are cut into.
        parser: whose trees are the parses.
    """

    base_subword: str
    parser: str

    @property
    def subword_name(self) -> str:
        """What the units of both tasks are called in paths."""
        return f"{self.base_subword}.parsing.{self.parser}"


class BaseExperimentConfig(ConfigSection):
    """The keys of `config.yaml`, each with a model of its own."""

    name: str | None = Field(
        None,
        pattern=NAME_PATTERN,
        max_length=MAX_NAME_LENGTH,
        description="Results go to results/<name>; null: straight to results/.",
    )
    data: str = Field(".", description="The folder that relative paths of corpora and parsers start from.")
    recipe: str | None = Field(
        None,
        description="A file of `workflow/recipes/`, without its ending: settings that fit an amount of data. The "
        "experiment's own files override it; null: none.",
    )
    preset: str | None = Field(None, description="Which of `presets` overrides the rest; null: none.")
    presets: dict[str, dict[str, Any]] = Field({}, description="Named partial configurations.")
    corpora: CorporaConfig
    parsers: dict[str, AnyParserConfig] = {}
    parser: str | None = Field(
        None, description="The parser of every system that reads trees and names none; tables call it `default`."
    )
    parsing: ParsingConfig = ParsingConfig()
    subword: SubwordConfig = SubwordConfig()
    subwords: dict[str, SubwordConfig] = Field({}, description="Further units; each overrides `subword`.")
    model: ModelConfig = Field(ModelConfig(), description="Sizes of every system that does not set its own.")
    systems: dict[str, AnySystemConfig] = Field(
        description="Wherever one is named, `SYSTEM [PARSER]` is SYSTEM with the trees of another parser."
    )
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()
    evaluation: EvaluationConfig = Field(EvaluationConfig(), validate_default=True)
    tables: dict[str, AnyTableConfig] = {}
    figures: dict[str, AttentionFigureConfig] = {}
    claims: list[str] = Field(
        ["sdrnmt", "sdatt", "tree2seq", "hierarchical"],
        description="Claims that one system is better than another: papers in `workflow/claims/`, and files of your "
        "own like these, with their ending. Claims about systems in tables are compared with the results.",
    )
    targets: list[str] | None = Field(
        None, description="Tables and figures, or folders of them, that are made when no target is named; null: all."
    )

    @field_validator("evaluation")
    @classmethod
    def _resolve_evaluation(cls, evaluation: EvaluationConfig, validation_info: ValidationInfo) -> EvaluationConfig:
        corpora = validation_info.data.get("corpora")
        return evaluation if corpora is None else evaluation.resolve_language_defaults(corpora.target)

    _omitted_entries: dict[EntryKey, str] = PrivateAttr(default_factory=dict)
    _generator_only_parsers: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def omitted_entries(self) -> dict[EntryKey, str]:
        """What the experiment inherits and does without, as it does not fit, with the reason."""
        return self._omitted_entries

    @property
    def generator_only_parsers(self) -> dict[str, str]:
        """Parsers that may not read text from files, with the reason."""
        return self._generator_only_parsers

    @property
    def foreign_language_parsers(self) -> dict[str, str]:
        """Parsers that are known to be for another language than the source's, with the reason."""
        known = {name: parser.find_parser_language() for name, parser in self.parsers.items()}
        return {
            name: self.format_foreign_parser_error(name, f"is for `{language.code}` ({language.evidence})")
            for name, language in known.items()
            if language is not None and not is_same_language(language.code, self.corpora.source.language)
        }

    def format_foreign_parser_error(self, parser: str, fault: str) -> str:
        """Format the error message for a parser of another language than the source's."""
        own = f"parsers.{parser}"
        related = f"; to use models of another language on purpose, name it in `{own}.model_language`"
        return (
            f"{'parser' if parser == self.parser else own}: `{parser}` {fault}, but the text is in "
            f"`{self.corpora.source.language}`; name another parser in `parser` (docs/how_to/parsers.md lists the types), "
            "choose `targets` that read no trees, or correct the language of the text (`corpora.source.language`) or "
            f"of the parser (`{own}.language`){related if isinstance(self.parsers[parser], StanzaParserConfig) else ''}"
        )

    def find_tokenizer_treebank(self, side: CorpusSide) -> TreebankConfig | None:
        """Return the treebank that teaches Stanza to tokenize a side; None if it learns nothing, or there is none.

        A parser knows the words of its treebank. So text and trees agree if the tokenizer of the source learns from the
        experiment's parser, or else from the first that is trained from files of its language. A parser whose language
        is unknown is for the source.
        """
        if not self.get_side_language(side).should_train_tokenizer:
            return None
        names = sorted(self.parsers, key=lambda name: name != self.parser)
        parsers = {name: self.parsers[name] for name in names if self._is_parser_for_side(name, side)}
        treebanks = [parser.treebank for parser in parsers.values() if isinstance(parser, TrainedParserConfig)]
        return next((treebank for treebank in treebanks if not treebank.is_generated), None)

    def get_side_language(self, side: CorpusSide) -> LanguageConfig:
        """Return the options of a side's language."""
        return self.corpora.source if side == "source" else self.corpora.target

    def _is_parser_for_side(self, parser: str, side: CorpusSide) -> bool:
        known = self.parsers[parser].find_parser_language()
        if known is None:
            return side == "source"
        return is_same_language(known.code, self.get_side_language(side).language)

    def resolve_parser_language(self, parser: str) -> str:
        """Return the language that Stanza knows a parser by: that of its models, the stated one, or the source's."""
        options = self.parsers[parser]
        if isinstance(options, StanzaParserConfig) and options.model_language is not None:
            return options.model_language
        stated = options.language if isinstance(options, BaseStanzaParserConfig) else None
        return stated or self.corpora.source.language

    def set_omissions(self, omitted_entries: dict[EntryKey, str], generator_only_parsers: dict[str, str]) -> Self:
        """The same, with what is known of where it comes from."""
        self._omitted_entries, self._generator_only_parsers = omitted_entries, generator_only_parsers
        return self

    @property
    def requested_networks(self) -> list[str]:
        """Networks behind what is made when no target is named; all there are, where there are no `targets`."""
        rows = [*self.systems]
        if self.targets is not None:
            rows = [row for table in self.select_requested_names(self.tables) for row in self.get_rows(table)]
            rows += [self.figures[name].system for name in self.select_requested_names(self.figures)]
        return list(dict.fromkeys(network for row in rows for network in self.get_networks(row)))

    @property
    def requested_parsers(self) -> list[str]:
        """Parsers that these networks read, in the order of `parsers`."""
        read = {self.systems[network].parser for network in self.requested_networks}
        return [name for name in self.parsers if name in read]

    @property
    def requested_trained_parsers(self) -> list[str]:
        """Those of them that are trained here."""
        return [name for name in self.requested_parsers if self.parsers[name].type == "trained"]

    @property
    def computed_metrics(self) -> list[str]:
        """What is counted of outputs: the metrics of the experiment, and those of tables of measures."""
        tables = [table for table in self.tables.values() if isinstance(table, MeasureTableConfig)]
        of_tables = [metric for table in tables for metric in table.metric_columns]
        return [*dict.fromkeys([*self.evaluation.metrics, *of_tables])]

    def find_comet_installation(self) -> CometInstallation | None:
        """COMET on this machine; None where it is no metric.

        Raises:
            InputError: if the package or the weights are absent.
        """
        given = self.evaluation.comet
        if given is None or "comet" not in self.computed_metrics:
            return None
        return find_comet_installation(given.python, given.model, self.data)

    def get_system_parsers(self, system: str) -> list[str]:
        """Parsers whose trees a system, or one of its members, reads."""
        networks = map(self.get_network, self.get_networks(system))
        return [network.parser for network in networks if network.parser is not None]

    def has_control_trees(self, system: str) -> bool:
        """Whether a system reads control trees."""
        return any(self.parsers[parser].type == "control" for parser in self.get_system_parsers(system))

    def get_proposed_comparisons(self, table: str) -> list[tuple[str, str]]:
        """What a table of BLEU proposes, and its baseline; rows that read control trees are left out."""
        options = self.tables[table]
        if not isinstance(options, BleuTableConfig):
            return []
        return [(row, options.baseline) for row in options.proposed if not self.has_control_trees(row)]

    def get_network_tree_formats(self, network: str) -> list[TreeFormat]:
        """The kinds of trees that a network reads, or is trained to predict; none where it is no network."""
        system = self.systems[network]
        if not isinstance(system, NeuralSystemConfig):
            return []
        used = {load_syntax_kind(kind).tree_format for kind in system.parsed_syntax_names}
        return [trees for trees in TREE_FORMATS if trees in used]

    def get_parser_tree_formats(self, parser: str) -> list[TreeFormat]:
        """The kinds of trees that networks read of a parser: those asked for, or if none of these reads it, any.

        Where none at all reads trees that the parser makes, it is all that it makes.
        """
        made = [trees for trees in TREE_FORMATS if self.can_provide_trees(parser, trees)]
        for networks in (self.requested_networks, [*self.systems]):
            readers = [name for name in networks if self.systems[name].parser == parser]
            read = {trees for name in readers for trees in self.get_network_tree_formats(name)}
            if found := [trees for trees in made if trees in read]:
                return found
        return made

    def can_provide_trees(self, parser: str, tree_format: TreeFormat) -> bool:
        """Whether a parser has trees of a kind for every split, contrastive sets left aside."""
        in_files = [split for split in self.splits_in_files if split in self.corpora.splits]
        return self.parsers[parser].find_missing_trees(tree_format, in_files) is None

    @property
    def splits_in_files(self) -> list[str]:
        """Splits whose text is not generated."""
        return [split for split, is_generated in self.corpora.is_generated_by_split.items() if not is_generated]

    def resolve_tree_files(self, parser: str, split: str, tree_format: TreeFormat) -> list[str]:
        """Paths of the trees that the user brings for a split, in order; none where the generator's are taken.

        Raises:
            InputError: if the text of the split is in files, but its trees are not.
        """
        given = self.parsers[parser]
        assert isinstance(given, TreeFileParserConfig)
        files = given.get_split_files(split, tree_format)
        if not files and split in self.splits_in_files:
            raise InputError(
                f"parsers.{parser}: no {TREE_FORMAT_NAMES[tree_format]} trees of `{split}`; give `trees.{split}.{tree_format}`"
            )
        return [self.resolve_path(file) for file in files]

    @property
    def subword_configs(self) -> dict[str, SubwordConfig]:
        """Units of models by what they are called in paths."""
        found = {DEFAULT_SUBWORD_NAME: self.subword, **self.subwords}
        return {**found, **{task.subword_name: found[task.base_subword] for task in self.parsing_tasks.values()}}

    @property
    def parsing_tasks(self) -> dict[str, ParsingTask]:
        """The auxiliary tasks of networks, by what their units are called in paths."""
        networks = (system for system in self.systems.values() if isinstance(system, NeuralSystemConfig))
        tasks = (
            ParsingTask(system.subword or DEFAULT_SUBWORD_NAME, system.parser or "")
            for system in networks
            if system.auxiliary_task
        )
        return {task.subword_name: task for task in tasks}

    def get_subword_name(self, system: str) -> str:
        """What the units of a network, or of an ensemble's first member, are called in paths."""
        network = self.get_network(self.get_networks(system)[0])
        units = network.subword or DEFAULT_SUBWORD_NAME
        return ParsingTask(units, network.parser or "").subword_name if network.auxiliary_task else units

    def get_network(self, name: str) -> NeuralSystemConfig:
        """A system that is a network."""
        system = self.systems[name]
        assert isinstance(system, NeuralSystemConfig)
        return system

    def get_networks(self, system: str) -> list[str]:
        """The networks that a system translates with: itself, or its members; none where it is no network."""
        found = self.systems[system]
        return [system] if isinstance(found, NeuralSystemConfig) else found.members

    def is_neural(self, system: str) -> bool:
        """Whether a system is a network or several."""
        return isinstance(self.systems[system], NeuralSystemConfig | EnsembleConfig)

    def is_phrase_based(self, system: str) -> bool:
        """Whether a system translates by phrases."""
        return isinstance(self.systems[system], PhraseBasedSystemConfig)

    def find_external_system(self, system: str) -> ExternalSystemConfig | None:
        """The files of a system that was made elsewhere; None of any other."""
        found = self.systems[system]
        return found if isinstance(found, ExternalSystemConfig) else None

    def has_output(self, system: str, split: str) -> bool:
        """Whether there is something that a system says on a set: always, but of a system from elsewhere."""
        outside = self.find_external_system(system)
        return outside is None or split in (outside.scores if split in self.corpora.contrastive_sets else outside.files)

    def has_contrast_scores(self, system: str, split: str) -> bool:
        """Whether a system says how likely the translations of a contrastive set are.

        A phrase-based system does not: it gives no probability to a translation that it did not make.
        """
        return self.has_output(system, split) and not self.is_phrase_based(system)

    def get_compared_sets(self, table: str) -> list[str]:
        """The held-out sets on which a table's systems are compared, but those of which no row has translations."""
        sets, rows = self.tables[table].get_held_out_sets(self.corpora), self.get_rows(table)
        return [split for split in sets if any(self.has_output(row, split) for row in rows)]

    def get_seeds(self, table: str | None = None) -> list[int]:
        """The seeds that the networks of a table are trained with; without one, of all that is made without a target.

        A network that is trained with others of its own is no fair comparison.
        """
        tables = [self.tables[name] for name in ([table] if table else self.select_requested_names(self.tables))]
        own = [table.seeds or self.training.seeds for table in tables if isinstance(table, SystemTableConfig)]
        return list(dict.fromkeys(seed for seeds in own or [self.training.seeds] for seed in seeds))

    def get_runs(self, system: str, table: str | None = None) -> list[str]:
        """What runs of a system in a table are called in paths.

        There is one for each seed; without chance there is a single one, and of a system from elsewhere as many as it
        has files for a set.
        """
        if self.is_neural(system):
            return [f"seed{seed}" for seed in self.get_seeds(table)]
        outside = self.find_external_system(system)
        runs = 1 if outside is None else outside.run_count
        return ["single"] if runs == 1 else [f"run{number}" for number in range(1, runs + 1)]

    def get_rows(self, table: str) -> list[str]:
        """The systems in the rows of a table; none where it is no table of systems."""
        return self.tables[table].rows

    def get_network_splits(self, network: str) -> list[str]:
        """The splits that a network reads for what is made when no target is named, contrastive sets among them."""
        tried = any(
            self.tables[table].get_contrastive_sets(self.corpora) and network in self.get_networks(row)
            for table in self.select_requested_names(self.tables)
            for row in self.get_rows(table)
        )
        return self.corpora.splits_and_contrastive_sets if tried else self.corpora.splits

    def sort_rows_for_tests(self, table: str) -> list[str]:
        """A table's systems as they are tested: the sign test puts each in the place of those before it."""
        return sorted(self.get_rows(table), key=self._test_order_ranks.__getitem__)

    @cached_property
    def _test_order_ranks(self) -> dict[str, int]:
        """The places of all systems in the order in which they are tested.

        In a table of BLEU the baseline comes first and what is proposed comes last. The order is that of all tables
        together, so that two systems have one p-value wherever they are shown; where two tables contradict each other,
        the one that is given first decides.
        """
        before: dict[str, list[str]] = {name: [] for name in self.systems}
        for options in self.tables.values():
            if isinstance(options, BleuTableConfig):
                ranks = {row: (row != options.baseline) + (row in options.proposed) for row in options.systems}
                wider = {
                    name: others + [row for row in ranks if ranks[row] < ranks.get(name, 0)]
                    for name, others in before.items()
                }
                try:
                    TopologicalSorter(wider).prepare()
                except CycleError:
                    continue
                before = wider
        return {name: place for place, name in enumerate(TopologicalSorter(before).static_order())}

    @property
    def target_folders(self) -> list[str]:
        """Folders of tables and figures."""
        return sorted({name.partition("/")[0] for name in (*self.tables, *self.figures) if "/" in name})

    def select_requested_names(self, configs_by_name: dict[str, Any]) -> list[str]:
        """Those tables or figures that are made when no target is named."""
        if self.targets is None:
            return [*configs_by_name]
        return [name for name in configs_by_name if {name, name.partition("/")[0]} & {*self.targets}]

    def get_output_folder(self, parent_folder: str) -> str:
        """Return the folder of files of a kind: "results" or "logs"."""
        return parent_folder if self.name is None else f"{parent_folder}/{self.name}"

    @property
    def times_folder(self) -> str:
        """The folder in which Snakemake records the times of jobs, as its `benchmark` files."""
        return f"{self.get_output_folder('logs')}/times"

    def resolve_path(self, file: str) -> str:
        """The path of a file of `corpora`, `parsers` or `systems`.

        Raises:
            InputError: `~NAME` names nobody.
        """
        try:
            return str(Path(self.data) / Path(file).expanduser())
        except RuntimeError:
            raise InputError(f"{file}: there is no home folder of that name; write the whole path") from None

    @property
    def user_claim_files(self) -> list[str]:
        """The user's files of claims, as paths; what has no ending is a paper's."""
        return [self.resolve_path(file) for file in self.claims if Path(file).suffix]

    def collect_model_directories(self) -> list[str]:
        """The directories among what `collect_file_paths` names, as paths."""
        parsers = [parser.directory for parser in self.parsers.values() if isinstance(parser, StanzaParserConfig)]
        named = [self.corpora.source.stanza_directory, self.corpora.target.stanza_directory, *parsers]
        return [self.resolve_path(directory) for directory in named if directory is not None]

    def collect_file_paths(self) -> list[str]:
        """Every file and directory of the user's that the configuration names, as paths."""
        return [*map(self.resolve_path, self.collect_configured_files())]

    def collect_configured_files(self) -> list[str]:
        """Return every file and directory of the user's, as the configuration names it."""
        named: list[str | None] = []
        for text in self.corpora.train:
            named += [text.source, text.target]
        for held_out in self.corpora.held_out_sets.values():
            named += [held_out.source, *held_out.references]
        named += [file for text in self.corpora.contrast for file in text.file]
        named += [self.corpora.source.stanza_directory, self.corpora.target.stanza_directory]
        for parser in self.parsers.values():
            named += parser.get_named_files()
        for outside in filter(None, map(self.find_external_system, self.systems)):
            named += [file for files in (*outside.files.values(), *outside.scores.values()) for file in files]
        named += [file for file in self.claims if Path(file).suffix]
        return [file for file in named if file is not None]
