"""The keys of an experiment and properties derived from them; `experiment.py` validates them."""

from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import AfterValidator, Field, PrivateAttr, ValidationInfo, field_validator

from pipeline_py.config.base import MAX_NAME_LENGTH, ConfigSection, expand_home, format_folder_name
from pipeline_py.config.corpora import NAME_PATTERN, CorporaConfig, CorpusSide, LanguageConfig
from pipeline_py.config.entry_errors import EntryKey, format_name_list
from pipeline_py.config.evaluation import CometInstallation, EvaluationConfig, find_comet_installation
from pipeline_py.config.language_codes import is_same_language
from pipeline_py.config.parsers import (
    AnyParserConfig,
    BaseStanzaParserConfig,
    ControlParserConfig,
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
"""The name of the units of `subword` in paths."""


class LicensesConfig(ConfigSection):
    """Licences that model cards state."""

    weights: str | None = Field(None, description="Licence of the trained weights; null: not stated.")
    training_data: str | None = Field(None, description="Licence of the training text; null: not stated.")
    parser_models: str | None = Field(None, description="Licence of the parser models; null: not stated.")


class ParsingTask(NamedTuple):
    """Parsing as an auxiliary task, whose symbols and tags need a separate vocabulary.

    Attributes:
        base_subword: name of the units that words are split into.
        parser: name of the parser that provides the parses.
    """

    base_subword: str
    parser: str

    @property
    def subword_name(self) -> str:
        """The name of the units of both tasks in paths."""
        return f"{self.base_subword}.parsing.{self.parser}"


class BaseExperimentConfig(ConfigSection):
    """The keys of `config.yaml`."""

    name: str | None = Field(
        None,
        pattern=NAME_PATTERN,
        max_length=MAX_NAME_LENGTH,
        description="Results go to results/<name>; null: straight to results/.",
    )
    data: Annotated[str, AfterValidator(expand_home)] = Field(
        ".", description="The folder that relative paths of corpora and parsers start from."
    )
    recipe: str | None = Field(
        None,
        description="A file of `workflow/recipes/`, without its ending: settings that fit an amount of data. The "
        "experiment's own files override it; null: none.",
    )
    preset: str | None = Field(None, description="The preset, one of `presets`, that overrides the rest; null: none.")
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
    licenses: LicensesConfig = LicensesConfig()
    claims: list[str] = Field(
        ["sdrnmt", "sdatt", "tree2seq", "hierarchical"],
        description="Claims that one system is better than another: names of papers in `workflow/claims/`, or paths of "
        "files in the same format, with their ending. Claims about systems in tables are compared with the results.",
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
    _generator_only_parser_errors: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def omitted_entries(self) -> dict[EntryKey, str]:
        """Inherited entries that are left out because they are incompatible with the experiment, with the reason."""
        return self._omitted_entries

    @property
    def generator_only_parser_errors(self) -> dict[str, str]:
        """Error message of each parser that must not read text from files."""
        return self._generator_only_parser_errors

    @property
    def foreign_parser_errors(self) -> dict[str, str]:
        """Error message of each parser whose language differs from the source's."""
        languages = {name: parser.find_parser_language() for name, parser in self.parsers.items()}
        return {
            name: self.format_foreign_parser_error(name, f"is for `{language.code}` ({language.evidence})")
            for name, language in languages.items()
            if language is not None and not is_same_language(language.code, self.corpora.source.language)
        }

    def format_foreign_parser_error(self, parser: str, fault: str) -> str:
        """Format the error message for a parser of another language than the source's."""
        key = f"parsers.{parser}"
        keys = [f"parsers.{name}.fallback" for name, options in self.parsers.items() if options.fallback == parser]
        keys += [f"parsers.{name}.parser" for name in self.parsers if self.get_permuted_parser(name) == parser]
        hint = f"; to use models of another language on purpose, name it in `{key}.model_language`"
        is_stanza = isinstance(self.parsers[parser], StanzaParserConfig)
        return (
            f"{'parser' if parser == self.parser else key}: `{parser}` {fault}, but the text is in "
            f"`{self.corpora.source.language}`; name another parser in {format_name_list(keys or ['parser'])} "
            "(docs/how_to/parsers.md lists the types), choose `targets` that read no trees, or correct the language of "
            f"the text (`corpora.source.language`) or of the parser (`{key}.language`){hint if is_stanza else ''}"
        )

    def find_tokenizer_treebank(self, side: CorpusSide) -> TreebankConfig | None:
        """Return the treebank that Stanza's tokenizer of a side is trained on; None if it is not trained.

        It is the treebank of the experiment's parser, or else of the first parser that is trained from files in the
        language of the side. The words of the text then agree with those of the parser. A parser of unknown language
        belongs to the source.
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
        language = self.parsers[parser].find_parser_language()
        if language is None:
            return side == "source"
        return is_same_language(language.code, self.get_side_language(side).language)

    def resolve_parser_language(self, parser: str) -> str:
        """Return a parser's language for Stanza: that of its models, the configured one, or the source's."""
        options = self.parsers[parser]
        if isinstance(options, StanzaParserConfig) and options.model_language is not None:
            return options.model_language
        language = options.language if isinstance(options, BaseStanzaParserConfig) else None
        return language or self.corpora.source.language

    def set_omissions(self, omitted_entries: dict[EntryKey, str], generator_only_parser_errors: dict[str, str]) -> Self:
        """Set the omitted entries and the parsers for generated text only, each with reasons, and return self."""
        self._omitted_entries, self._generator_only_parser_errors = omitted_entries, generator_only_parser_errors
        return self

    @property
    def requested_networks(self) -> list[str]:
        """Networks that the default targets use; all networks if `targets` is null."""
        rows = [*self.systems]
        if self.targets is not None:
            rows = [row for table in self.select_requested_names(self.tables) for row in self.get_rows(table)]
            rows += [self.figures[name].system for name in self.select_requested_names(self.figures)]
        return list(dict.fromkeys(network for row in rows for network in self.get_networks(row)))

    @property
    def requested_parsers(self) -> list[str]:
        """Parsers that the requested networks use, in the order of `parsers`."""
        names = {self.systems[network].parser for network in self.requested_networks}
        return [name for name in self.parsers if name in names]

    def get_parser_chain(self, parser: str) -> list[str]:
        """Return a parser, its fallback, the fallback of that, and so on."""
        chain = [parser]
        while (fallback := self.parsers[chain[-1]].fallback) is not None:
            chain.append(fallback)
        return chain

    def get_permuted_parser(self, parser: str) -> str | None:
        """Return the parser whose trees a control permutes; None for other parsers."""
        options = self.parsers[parser]
        return options.parser if isinstance(options, ControlParserConfig) else None

    def get_tree_sources(self, parser: str) -> list[str]:
        """Return all parsers that determine the trees of a parser: itself, one that it permutes, and fallbacks."""
        permuted_parser = self.get_permuted_parser(parser)
        return self.get_parser_chain(parser) + (self.get_parser_chain(permuted_parser) if permuted_parser else [])

    @property
    def requested_trained_parsers(self) -> list[str]:
        """Requested parsers that are trained from a treebank."""
        return [name for name in self.requested_parsers if self.parsers[name].type == "trained"]

    @property
    def computed_metrics(self) -> list[str]:
        """Metrics of the experiment and of its tables of measures."""
        tables = [table for table in self.tables.values() if isinstance(table, MeasureTableConfig)]
        table_metrics = [metric for table in tables for metric in table.metric_columns]
        return [*dict.fromkeys([*self.evaluation.metrics, *table_metrics])]

    def find_comet_installation(self) -> CometInstallation | None:
        """Find COMET on this machine; return None if it is not among the metrics.

        Raises:
            InputError: the package or the weights are missing.
        """
        options = self.evaluation.comet
        if options is None or "comet" not in self.computed_metrics:
            return None
        return find_comet_installation(options.python, options.model, self.resolve_path(options.model))

    def get_system_parsers(self, system: str) -> list[str]:
        """Return the parsers whose trees a system or one of its members reads."""
        networks = map(self.get_network, self.get_networks(system))
        return [network.parser for network in networks if network.parser is not None]

    def has_control_trees(self, system: str) -> bool:
        """Return whether a system reads control trees."""
        return any(self.parsers[parser].type == "control" for parser in self.get_system_parsers(system))

    def get_proposed_comparisons(self, table: str) -> list[tuple[str, str]]:
        """Return pairs of a proposed row and the baseline of a BLEU table, without rows that read control trees."""
        options = self.tables[table]
        if not isinstance(options, BleuTableConfig):
            return []
        return [(row, options.baseline) for row in options.proposed if not self.has_control_trees(row)]

    def get_network_tree_formats(self, network: str) -> list[TreeFormat]:
        """Return the tree formats that a network reads or learns to predict; empty for other systems."""
        system = self.systems[network]
        if not isinstance(system, NeuralSystemConfig):
            return []
        formats = {load_syntax_kind(kind).tree_format for kind in system.parsed_syntax_names}
        return [tree_format for tree_format in TREE_FORMATS if tree_format in formats]

    def get_parser_tree_formats(self, parser: str) -> list[TreeFormat]:
        """Return the tree formats to make with a parser.

        These are the formats that requested networks read; if there are none, those that any network reads; else all
        that the parser provides.
        """
        provided_formats = [trees for trees in TREE_FORMATS if self.can_provide_trees(parser, trees)]
        for networks in (self.requested_networks, [*self.systems]):
            readers = [name for name in networks if self.systems[name].parser == parser]
            read_formats = {trees for name in readers for trees in self.get_network_tree_formats(name)}
            if formats := [trees for trees in provided_formats if trees in read_formats]:
                return formats
        return provided_formats

    def can_provide_trees(self, parser: str, tree_format: TreeFormat) -> bool:
        """Return whether a parser and its sources have trees in a format for every split, except contrastive sets."""
        splits = [split for split in self.splits_in_files if split in self.corpora.splits]
        sources = self.get_tree_sources(parser)
        return all(self.parsers[name].find_missing_trees(tree_format, splits) is None for name in sources)

    @property
    def splits_in_files(self) -> list[str]:
        """Splits whose text is in files, not generated."""
        return [split for split, is_generated in self.corpora.is_generated_by_split.items() if not is_generated]

    def resolve_tree_files(self, parser: str, split: str, tree_format: TreeFormat) -> list[str]:
        """Return paths of the user's trees of a split, in order; empty for generated text or a partial parser.

        Raises:
            InputError: the text of the split is in files, but its trees are not.
        """
        options = self.parsers[parser]
        assert isinstance(options, TreeFileParserConfig)
        files = options.get_split_files(split, tree_format)
        if not files and not options.partial and split in self.splits_in_files:
            raise InputError(
                f"parsers.{parser}: no {TREE_FORMAT_NAMES[tree_format]} trees of `{split}`; "
                f"give `trees.{split}.{tree_format}`"
            )
        return [self.resolve_path(file) for file in files]

    @property
    def subword_configs(self) -> dict[str, SubwordConfig]:
        """Units of models by their name in paths."""
        configs = {DEFAULT_SUBWORD_NAME: self.subword, **self.subwords}
        return {**configs, **{task.subword_name: configs[task.base_subword] for task in self.parsing_tasks.values()}}

    @property
    def parsing_tasks(self) -> dict[str, ParsingTask]:
        """Auxiliary tasks of networks by the name of their units in paths."""
        networks = (system for system in self.systems.values() if isinstance(system, NeuralSystemConfig))
        tasks = (
            ParsingTask(system.subword or DEFAULT_SUBWORD_NAME, system.parser or "")
            for system in networks
            if system.auxiliary_task
        )
        return {task.subword_name: task for task in tasks}

    def get_subword_name(self, system: str) -> str:
        """Return the name in paths of the units of a network, or of an ensemble's first member."""
        network = self.get_network(self.get_networks(system)[0])
        units = network.subword or DEFAULT_SUBWORD_NAME
        return ParsingTask(units, network.parser or "").subword_name if network.auxiliary_task else units

    @cached_property
    def systems_by_folder(self) -> dict[str, str]:
        """The systems by the name of their folders."""
        return {format_folder_name(system): system for system in self.systems}

    def get_network(self, name: str) -> NeuralSystemConfig:
        """Return the named system, which must be a single network."""
        system = self.systems[name]
        assert isinstance(system, NeuralSystemConfig)
        return system

    def get_networks(self, system: str) -> list[str]:
        """Return the networks of a system: itself, or the members of an ensemble; empty for other systems."""
        options = self.systems[system]
        return [system] if isinstance(options, NeuralSystemConfig) else options.members

    def is_neural(self, system: str) -> bool:
        """Return whether a system is a network or an ensemble."""
        return isinstance(self.systems[system], NeuralSystemConfig | EnsembleConfig)

    def is_beam_chosen(self, system: str) -> bool:
        """Return whether the beam width of a system is chosen on the development set."""
        options = self.systems[system]
        return isinstance(options, NeuralSystemConfig | EnsembleConfig) and options.decoding.is_beam_chosen

    def is_phrase_based(self, system: str) -> bool:
        """Return whether a system is phrase-based."""
        return isinstance(self.systems[system], PhraseBasedSystemConfig)

    def find_external_system(self, system: str) -> ExternalSystemConfig | None:
        """Return the options of an external system; None for other systems."""
        options = self.systems[system]
        return options if isinstance(options, ExternalSystemConfig) else None

    def has_output(self, system: str, split: str) -> bool:
        """Return whether a system has translations of a set, or scores of a contrastive set.

        Only external systems may lack them.
        """
        external = self.find_external_system(system)
        if external is None:
            return True
        return split in (external.scores if split in self.corpora.contrastive_sets else external.files)

    def has_contrast_scores(self, system: str, split: str) -> bool:
        """Return whether a system can score the translations of a contrastive set.

        A phrase-based system cannot: it assigns no probability to the translations of other systems.
        """
        return self.has_output(system, split) and not self.is_phrase_based(system)

    def get_compared_sets(self, table: str) -> list[str]:
        """Return the held-out sets of a table that at least one row has translations of."""
        sets, rows = self.tables[table].get_held_out_sets(self.corpora), self.get_rows(table)
        return [split for split in sets if any(self.has_output(row, split) for row in rows)]

    def get_seeds(self, table: str | None = None) -> list[int]:
        """Return the training seeds of the networks of a table; without a table, those of all requested tables."""
        tables = [self.tables[name] for name in ([table] if table else self.select_requested_names(self.tables))]
        table_seeds = [table.seeds or self.training.seeds for table in tables if isinstance(table, SystemTableConfig)]
        return list(dict.fromkeys(seed for seeds in table_seeds or [self.training.seeds] for seed in seeds))

    def get_runs(self, system: str, table: str | None = None) -> list[str]:
        """Return the names in paths of a system's runs in a table.

        A neural system has one run per seed, an external system one per file of a set, any other system a single one.
        """
        if self.is_neural(system):
            return [f"seed{seed}" for seed in self.get_seeds(table)]
        external = self.find_external_system(system)
        count = 1 if external is None else external.run_count
        return ["single"] if count == 1 else [f"run{number}" for number in range(1, count + 1)]

    def get_rows(self, table: str) -> list[str]:
        """Return the systems in the rows of a table; empty if its rows are not systems."""
        return self.tables[table].rows

    def get_network_splits(self, network: str) -> list[str]:
        """Return the splits that a network reads for the default targets, including contrastive sets."""
        reads_contrastive_sets = any(
            self.tables[table].get_contrastive_sets(self.corpora) and network in self.get_networks(row)
            for table in self.select_requested_names(self.tables)
            for row in self.get_rows(table)
        )
        return self.corpora.splits_and_contrastive_sets if reads_contrastive_sets else self.corpora.splits

    def sort_rows_for_tests(self, table: str) -> list[str]:
        """Return a table's systems in test order: the sign test substitutes each into the outputs of earlier ones."""
        return sorted(self.get_rows(table), key=self._test_order_ranks.__getitem__)

    @cached_property
    def _test_order_ranks(self) -> dict[str, int]:
        """Rank of each system in the order of significance tests.

        In a BLEU table the baseline comes first and proposed rows come last. All tables share one order, so that a pair
        of systems has one p-value in all tables. If two tables contradict each other, the earlier one decides.
        """
        predecessors: dict[str, list[str]] = {name: [] for name in self.systems}
        for options in self.tables.values():
            if isinstance(options, BleuTableConfig):
                ranks = {row: (row != options.baseline) + (row in options.proposed) for row in options.systems}
                candidate = {
                    name: names + [row for row in ranks if ranks[row] < ranks.get(name, 0)]
                    for name, names in predecessors.items()
                }
                try:
                    TopologicalSorter(candidate).prepare()
                except CycleError:
                    continue
                predecessors = candidate
        return {name: rank for rank, name in enumerate(TopologicalSorter(predecessors).static_order())}

    @property
    def target_folders(self) -> list[str]:
        """Folders of tables and figures."""
        return sorted({name.partition("/")[0] for name in (*self.tables, *self.figures) if "/" in name})

    def select_requested_names(self, configs_by_name: dict[str, Any]) -> list[str]:
        """Return the names of tables or figures that the default targets include."""
        if self.targets is None:
            return [*configs_by_name]
        return [name for name in configs_by_name if {name, name.partition("/")[0]} & {*self.targets}]

    def get_output_folder(self, parent_folder: str) -> str:
        """Return the experiment's folder below "results" or "logs"."""
        return parent_folder if self.name is None else f"{parent_folder}/{self.name}"

    @property
    def times_folder(self) -> str:
        """The folder of Snakemake's `benchmark` files with the times of jobs."""
        return f"{self.get_output_folder('logs')}/times"

    def resolve_path(self, file: str) -> str:
        """Return the path of a file of `corpora`, `parsers` or `systems`.

        Raises:
            InputError: `~NAME` is not a user.
        """
        try:
            return str(Path(self.data) / expand_home(file))
        except ValueError as error:
            raise InputError(str(error)) from None

    @property
    def user_claim_files(self) -> list[str]:
        """Paths of the user's claim files; a name without an ending is a paper in `workflow/claims`."""
        return [self.resolve_path(file) for file in self.claims if Path(file).suffix]

    def collect_model_directories(self) -> list[str]:
        """Return paths of the model directories among `collect_file_paths`."""
        directories = [parser.directory for parser in self.parsers.values() if isinstance(parser, StanzaParserConfig)]
        directories += [self.corpora.source.stanza_directory, self.corpora.target.stanza_directory]
        return [self.resolve_path(directory) for directory in directories if directory is not None]

    def collect_file_paths(self) -> list[str]:
        """Return paths of all files and directories that the configuration names."""
        return [*map(self.resolve_path, self.collect_configured_files())]

    def collect_configured_files(self) -> list[str]:
        """Return all files and directories of the user as they are written in the configuration."""
        names: list[str | None] = []
        for text in self.corpora.train:
            names += [text.source, text.target]
        for held_out in self.corpora.held_out_sets.values():
            names += [held_out.source, *held_out.references]
        names += [file for text in self.corpora.contrast for file in text.file]
        names += [file for text in self.corpora.length_texts for file in (text.source, text.target)]
        names += [self.corpora.source.stanza_directory, self.corpora.target.stanza_directory]
        for parser in self.parsers.values():
            names += parser.get_named_files()
        for external in filter(None, map(self.find_external_system, self.systems)):
            names += [file for files in (*external.files.values(), *external.scores.values()) for file in files]
        names += [file for file in self.claims if Path(file).suffix]
        return [file for file in names if file is not None]
