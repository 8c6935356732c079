"""What an experiment consists of, and what follows from it; `experiment.py` checks it."""

from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator

from pipeline_py.config.base import LONGEST_NAME, Section
from pipeline_py.config.corpora import NAME, Corpora, Language, Side
from pipeline_py.config.entry_errors import Entry
from pipeline_py.config.evaluation import Evaluation, FoundComet, find_comet
from pipeline_py.config.languages import is_same_language
from pipeline_py.config.parsers import (
    GivenParser,
    Parser,
    Parsing,
    StanzaOptions,
    StanzaParser,
    TrainedParser,
    Treebank,
)
from pipeline_py.config.subword import Subword
from pipeline_py.config.systems.any_system import AnySystem, Ensemble, NeuralSystem, Translations
from pipeline_py.config.systems.phrase_based import PhraseBased
from pipeline_py.config.systems.training import Decoding, Model, Training
from pipeline_py.config.tables import AttentionFigure, BleuTable, MeasureTable, Table, TableOfSystems
from pipeline_py.kinds.kind import NAMES_OF_TREES, TREES, Trees, kind_of
from pipeline_py.run.errors import InputError

DEFAULT_UNITS = "default"
"""What the units of `subword` are called in paths."""


class Task(NamedTuple):
    """Parsing as a second task, whose symbols and tags are in a vocabulary of their own.

    Attributes:
        of: the units that words are cut into.
        parser: whose trees are the parses.
    """

    of: str
    parser: str

    @property
    def units(self) -> str:
        """What the units of both tasks are called in paths."""
        return f"{self.of}.parsing.{self.parser}"


class Description(Section):
    """The keys of `config.yaml`, each with a model of its own."""

    name: str | None = Field(
        None,
        pattern=NAME,
        max_length=LONGEST_NAME,
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
    corpora: Corpora
    parsers: dict[str, Parser] = {}
    parser: str | None = Field(
        None, description="The parser of every system that reads trees and names none; tables call it `default`."
    )
    parsing: Parsing = Parsing()
    subword: Subword = Subword()
    subwords: dict[str, Subword] = Field({}, description="Further units; each overrides `subword`.")
    model: Model = Field(Model(), description="Sizes of every system that does not set its own.")
    systems: dict[str, AnySystem] = Field(
        description="Wherever one is named, `SYSTEM [PARSER]` is SYSTEM with the trees of another parser."
    )
    training: Training = Training()
    decoding: Decoding = Decoding()
    evaluation: Evaluation = Field(Evaluation(), validate_default=True)
    tables: dict[str, Table] = {}
    figures: dict[str, AttentionFigure] = {}
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
    def _resolve_evaluation(cls, evaluation: Evaluation, fields: ValidationInfo) -> Evaluation:
        corpora = fields.data.get("corpora")
        return evaluation if corpora is None else evaluation.resolve_for(corpora.target)

    _left_out: dict[Entry, str] = PrivateAttr(default_factory=dict)
    _unfit_parsers: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def left_out(self) -> dict[Entry, str]:
        """What the experiment inherits and does without, as it does not fit, with the reason."""
        return self._left_out

    @property
    def unfit_parsers(self) -> dict[str, str]:
        """Parsers that may not read text from files, with the reason."""
        return self._unfit_parsers

    @property
    def foreign_parsers(self) -> dict[str, str]:
        """Parsers that are known to be for another language than the source's, with the reason."""
        known = {name: parser.known_language() for name, parser in self.parsers.items()}
        return {
            name: self.describe_foreign_parser(name, f"is for `{language.code}` ({language.origin})")
            for name, language in known.items()
            if language is not None and not is_same_language(language.code, self.corpora.source.language)
        }

    def describe_foreign_parser(self, name: str, fault: str) -> str:
        """Format the error message for a parser of another language than the source's."""
        own = f"parsers.{name}"
        related = f"; to use models of another language on purpose, name it in `{own}.model_language`"
        return (
            f"{'parser' if name == self.parser else own}: `{name}` {fault}, but the text is in "
            f"`{self.corpora.source.language}`; name another parser in `parser` (docs/parsers.md lists the types), "
            "choose `targets` that read no trees, or correct the language of the text (`corpora.source.language`) or "
            f"of the parser (`{own}.language`){related if isinstance(self.parsers[name], StanzaParser) else ''}"
        )

    def tokenizer_treebank(self, side: Side) -> Treebank | None:
        """Return the treebank that teaches Stanza to tokenize a side; None if it learns nothing, or there is none.

        A parser knows the words of its treebank. So text and trees agree if the tokenizer of the source learns from the
        experiment's parser, or else from the first that is trained from files of its language. A parser whose language
        is unknown is for the source.
        """
        if not self.language_of_side(side).learns_tokenizer:
            return None
        names = sorted(self.parsers, key=lambda name: name != self.parser)
        parsers = {name: self.parsers[name] for name in names if self._is_parser_of(name, side)}
        treebanks = [parser.treebank for parser in parsers.values() if isinstance(parser, TrainedParser)]
        return next((treebank for treebank in treebanks if not treebank.is_generated), None)

    def language_of_side(self, side: Side) -> Language:
        """Return the options of a side's language."""
        return self.corpora.source if side == "source" else self.corpora.target

    def _is_parser_of(self, parser: str, side: Side) -> bool:
        known = self.parsers[parser].known_language()
        if known is None:
            return side == "source"
        return is_same_language(known.code, self.language_of_side(side).language)

    def language_of(self, parser: str) -> str:
        """Return the language that Stanza knows a parser by: that of its models, the stated one, or the source's."""
        options = self.parsers[parser]
        if isinstance(options, StanzaParser) and options.model_language is not None:
            return options.model_language
        stated = options.language if isinstance(options, StanzaOptions) else None
        return stated or self.corpora.source.language

    def loaded(self, left_out: dict[Entry, str], unfit_parsers: dict[str, str]) -> Self:
        """The same, with what is known of where it comes from."""
        self._left_out, self._unfit_parsers = left_out, unfit_parsers
        return self

    @property
    def networks_asked(self) -> list[str]:
        """Networks behind what is made when no target is named; all there are, where there are no `targets`."""
        rows = [*self.systems]
        if self.targets is not None:
            rows = [row for table in self.asked(self.tables) for row in self.rows(table)]
            rows += [self.figures[name].system for name in self.asked(self.figures)]
        return list(dict.fromkeys(network for row in rows for network in self.networks(row)))

    @property
    def parsers_asked(self) -> list[str]:
        """Parsers that these networks read, in the order of `parsers`."""
        read = {self.systems[network].parser for network in self.networks_asked}
        return [name for name in self.parsers if name in read]

    @property
    def trained_parsers(self) -> list[str]:
        """Those of them that are trained here."""
        return [name for name in self.parsers_asked if self.parsers[name].type == "trained"]

    @property
    def metrics_counted(self) -> list[str]:
        """What is counted of outputs: the metrics of the experiment, and those of tables of measures."""
        tables = [table for table in self.tables.values() if isinstance(table, MeasureTable)]
        of_tables = [metric for table in tables for metric in table.metrics]
        return [*dict.fromkeys([*self.evaluation.metrics, *of_tables])]

    def find_comet(self) -> FoundComet | None:
        """COMET on this machine; None where it is no metric.

        Raises:
            InputError: if the package or the weights are absent.
        """
        given = self.evaluation.comet
        if given is None or "comet" not in self.metrics_counted:
            return None
        return find_comet(given.python, given.model, self.data)

    def parsers_of(self, row: str) -> list[str]:
        """Parsers whose trees a system, or one of its members, reads."""
        networks = map(self.network, self.networks(row))
        return [network.parser for network in networks if network.parser is not None]

    def reads_control_trees(self, row: str) -> bool:
        """Whether a system reads control trees."""
        return any(self.parsers[parser].type == "control" for parser in self.parsers_of(row))

    def proposals(self, table: str) -> list[tuple[str, str]]:
        """What a table of BLEU proposes, and its baseline; rows that read control trees are left out."""
        options = self.tables[table]
        if not isinstance(options, BleuTable):
            return []
        return [(row, options.baseline) for row in options.proposed if not self.reads_control_trees(row)]

    def trees_read(self, network: str) -> list[Trees]:
        """The kinds of trees that a network reads, or is trained to predict; none where it is no network."""
        system = self.systems[network]
        if not isinstance(system, NeuralSystem):
            return []
        used = {kind_of(kind).trees for kind in system.kinds_parsed}
        return [trees for trees in TREES if trees in used]

    def trees_of(self, parser: str) -> list[Trees]:
        """The kinds of trees that networks read of a parser: those asked for, or if none of these reads it, any.

        Where none at all reads trees that the parser makes, it is all that it makes.
        """
        made = [trees for trees in TREES if self.makes(parser, trees)]
        for networks in (self.networks_asked, [*self.systems]):
            readers = [name for name in networks if self.systems[name].parser == parser]
            read = {trees for name in readers for trees in self.trees_read(name)}
            if found := [trees for trees in made if trees in read]:
                return found
        return made

    def makes(self, parser: str, trees: Trees) -> bool:
        """Whether a parser has trees of a kind for every split, contrastive sets left aside."""
        in_files = [split for split in self.splits_in_files if split in self.corpora.splits]
        return self.parsers[parser].lacking(trees, in_files) is None

    @property
    def splits_in_files(self) -> list[str]:
        """Splits whose text is not generated."""
        return [split for split, is_generated in self.corpora.is_generated.items() if not is_generated]

    def given_trees(self, parser: str, split: str, trees: Trees) -> list[str]:
        """Paths of the trees that the user brings for a split, in order; none where the generator's are taken.

        Raises:
            InputError: if the text of the split is in files, but its trees are not.
        """
        given = self.parsers[parser]
        assert isinstance(given, GivenParser)
        files = given.files(split, trees)
        if not files and split in self.splits_in_files:
            raise InputError(
                f"parsers.{parser}: no {NAMES_OF_TREES[trees]} trees of `{split}`; give `trees.{split}.{trees}`"
            )
        return [self.path(file) for file in files]

    @property
    def units(self) -> dict[str, Subword]:
        """Units of models by what they are called in paths."""
        found = {DEFAULT_UNITS: self.subword, **self.subwords}
        return {**found, **{task.units: found[task.of] for task in self.tasks.values()}}

    @property
    def tasks(self) -> dict[str, Task]:
        """The auxiliary tasks of networks, by what their units are called in paths."""
        networks = (system for system in self.systems.values() if isinstance(system, NeuralSystem))
        tasks = (
            Task(system.subword or DEFAULT_UNITS, system.parser or "") for system in networks if system.auxiliary_task
        )
        return {task.units: task for task in tasks}

    def units_of(self, system: str) -> str:
        """What the units of a network, or of an ensemble's first member, are called in paths."""
        network = self.network(self.networks(system)[0])
        units = network.subword or DEFAULT_UNITS
        return Task(units, network.parser or "").units if network.auxiliary_task else units

    def network(self, name: str) -> NeuralSystem:
        """A system that is a network."""
        system = self.systems[name]
        assert isinstance(system, NeuralSystem)
        return system

    def networks(self, system: str) -> list[str]:
        """The networks that a system translates with: itself, or its members; none where it is no network."""
        found = self.systems[system]
        return [system] if isinstance(found, NeuralSystem) else found.members

    def is_neural(self, system: str) -> bool:
        """Whether a system is a network or several."""
        return isinstance(self.systems[system], NeuralSystem | Ensemble)

    def is_phrase_based(self, system: str) -> bool:
        """Whether a system translates by phrases."""
        return isinstance(self.systems[system], PhraseBased)

    def from_elsewhere(self, system: str) -> Translations | None:
        """The files of a system that was made elsewhere; None of any other."""
        found = self.systems[system]
        return found if isinstance(found, Translations) else None

    def has_output(self, system: str, split: str) -> bool:
        """Whether there is something that a system says on a set: always, but of a system from elsewhere."""
        outside = self.from_elsewhere(system)
        return outside is None or split in (outside.scores if split in self.corpora.contrastive else outside.files)

    def gives_scores(self, system: str, split: str) -> bool:
        """Whether a system says how likely the translations of a contrastive set are.

        A phrase-based system does not: it gives no probability to a translation that it did not make.
        """
        return self.has_output(system, split) and not self.is_phrase_based(system)

    def compared_sets(self, table: str) -> list[str]:
        """The held-out sets on which a table's systems are compared, but those of which no row has translations."""
        sets, rows = self.tables[table].sets_in(self.corpora), self.rows(table)
        return [split for split in sets if any(self.has_output(row, split) for row in rows)]

    def seeds(self, table: str | None = None) -> list[int]:
        """The seeds that the networks of a table are trained with; without one, of all that is made without a target.

        A network that is trained with others of its own is no fair comparison.
        """
        tables = [self.tables[name] for name in ([table] if table else self.asked(self.tables))]
        own = [table.seeds or self.training.seeds for table in tables if isinstance(table, TableOfSystems)]
        return list(dict.fromkeys(seed for seeds in own or [self.training.seeds] for seed in seeds))

    def runs(self, system: str, table: str | None = None) -> list[str]:
        """What runs of a system in a table are called in paths.

        There is one for each seed; without chance there is a single one, and of a system from elsewhere as many as it
        has files for a set.
        """
        if self.is_neural(system):
            return [f"seed{seed}" for seed in self.seeds(table)]
        outside = self.from_elsewhere(system)
        runs = 1 if outside is None else outside.number_of_runs
        return ["single"] if runs == 1 else [f"run{number}" for number in range(1, runs + 1)]

    def rows(self, table: str) -> list[str]:
        """The systems in the rows of a table; none where it is no table of systems."""
        return self.tables[table].rows

    def texts_read(self, network: str) -> list[str]:
        """The splits that a network reads for what is made when no target is named, contrastive sets among them."""
        tried = any(
            self.tables[table].contrasted_in(self.corpora) and network in self.networks(row)
            for table in self.asked(self.tables)
            for row in self.rows(table)
        )
        return self.corpora.texts if tried else self.corpora.splits

    def tested_in_order(self, table: str) -> list[str]:
        """A table's systems as they are tested: the sign test puts each in the place of those before it."""
        return sorted(self.rows(table), key=self._order_of_tests.__getitem__)

    @cached_property
    def _order_of_tests(self) -> dict[str, int]:
        """The places of all systems in the order in which they are tested.

        In a table of BLEU the baseline comes first and what is proposed comes last. The order is that of all tables
        together, so that two systems have one p-value wherever they are shown; where two tables contradict each other,
        the one that is given first decides.
        """
        before: dict[str, list[str]] = {name: [] for name in self.systems}
        for options in self.tables.values():
            if isinstance(options, BleuTable):
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
    def folders(self) -> list[str]:
        """Folders of tables and figures."""
        return sorted({name.partition("/")[0] for name in (*self.tables, *self.figures) if "/" in name})

    def asked(self, names: dict[str, Any]) -> list[str]:
        """Those tables or figures that are made when no target is named."""
        if self.targets is None:
            return [*names]
        return [name for name in names if {name, name.partition("/")[0]} & {*self.targets}]

    def folder(self, kind: str) -> str:
        """Return the folder of files of a kind: "results" or "logs"."""
        return kind if self.name is None else f"{kind}/{self.name}"

    @property
    def times_folder(self) -> str:
        """The folder in which Snakemake records the times of jobs, as its `benchmark` files."""
        return f"{self.folder('logs')}/times"

    def path(self, file: str) -> str:
        """The path of a file of `corpora`, `parsers` or `systems`.

        Raises:
            InputError: `~NAME` names nobody.
        """
        try:
            return str(Path(self.data) / Path(file).expanduser())
        except RuntimeError:
            raise InputError(f"{file}: there is no home folder of that name; write the whole path") from None

    @property
    def own_claims(self) -> list[str]:
        """The user's files of claims, as paths; what has no ending is a paper's."""
        return [self.path(file) for file in self.claims if Path(file).suffix]

    def model_directories(self) -> list[str]:
        """The directories among what `files` names, as paths."""
        parsers = [parser.directory for parser in self.parsers.values() if isinstance(parser, StanzaParser)]
        named = [self.corpora.source.stanza_directory, self.corpora.target.stanza_directory, *parsers]
        return [self.path(directory) for directory in named if directory is not None]

    def files(self) -> list[str]:
        """Every file and directory of the user's that the configuration names, as paths."""
        return [*map(self.path, self.named_files())]

    def named_files(self) -> list[str]:
        """Return every file and directory of the user's, as the configuration names it."""
        named: list[str | None] = []
        for text in self.corpora.train:
            named += [text.source, text.target]
        for held_out in self.corpora.held_out.values():
            named += [held_out.source, *held_out.references]
        named += [file for text in self.corpora.contrast for file in text.file]
        named += [self.corpora.source.stanza_directory, self.corpora.target.stanza_directory]
        for parser in self.parsers.values():
            named += parser.files_named()
        for outside in filter(None, map(self.from_elsewhere, self.systems)):
            named += [file for files in (*outside.files.values(), *outside.scores.values()) for file in files]
        named += [file for file in self.claims if Path(file).suffix]
        return [file for file in named if file is not None]
