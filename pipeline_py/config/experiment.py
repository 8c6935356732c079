"""The whole configuration of an experiment, validated before the first job starts."""

from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from pipeline_py.config.any_system import AnySystem
from pipeline_py.config.base import Section
from pipeline_py.config.corpora import NAME, Corpora
from pipeline_py.config.decoding import Decoding
from pipeline_py.config.ensemble import Ensemble
from pipeline_py.config.evaluation import Evaluation
from pipeline_py.config.neural import NeuralSystem
from pipeline_py.config.parsers import Parser, StanzaParser, TrainedParser
from pipeline_py.config.parts import KINDS_WITHOUT_PARSER
from pipeline_py.config.subword import Subword
from pipeline_py.config.systems import Model
from pipeline_py.config.tables import (
    AttentionFigure,
    AttentionTable,
    BleuTable,
    MeasureTable,
    Table,
    VocabularyTable,
)
from pipeline_py.config.training import Training
from pipeline_py.config.unknown import unknown

DEFAULT_UNITS = "default"
"""What the units of `subword` are called in paths."""


class Experiment(Section):
    """Everything that a run of the workflow is determined by."""

    name: str | None = Field(
        None, pattern=NAME, description="Results go to results/<name>; null: straight to results/."
    )
    data: str = Field(".", description="The folder that relative paths of corpora and parsers start from.")
    preset: str | None = Field(None, description="Which of `presets` is laid over the rest; null: none.")
    presets: dict[str, dict[str, Any]] = Field({}, description="Named partial configurations.")
    corpora: Corpora
    parsers: dict[str, Parser] = {}
    subword: Subword = Subword()
    subwords: dict[str, Subword] = Field({}, description="Further units, in what they depart from `subword`.")
    model: Model = Field(Model(), description="Sizes of every system that does not set its own.")
    systems: dict[str, AnySystem]
    training: Training = Training()
    decoding: Decoding = Decoding()
    evaluation: Evaluation = Evaluation()
    tables: dict[str, Table] = {}

    figures: dict[str, AttentionFigure] = {}
    targets: list[str] | None = Field(
        None, description="Tables and figures, or folders of them, that are made when no target is named; null: all."
    )

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for kind, names in (("parser", self.parsers), ("subword", self.subwords)):
            for name in names:
                if not _is_name(name):
                    raise ValueError(f"{kind} `{name}`: use letters, digits, `_` and `-`; the name is part of paths")
        for kind, titles in (("table", [*self.tables]), ("figure", [*self.figures])):
            for name in titles:
                if name.count("/") > 1 or not all(_is_name(part) for part in name.split("/")):
                    raise ValueError(
                        f"{kind} `{name}`: use letters, digits, `_` and `-`, and one `/` if it stands in a folder"
                    )
        for name in self.systems:
            if not _is_name_of_system(name):
                raise ValueError(
                    f"system {name!r}: the name is part of paths; leave out / = : * ? < > | quotes, braces and what is "
                    "not printable, and do not begin it with `.` or `-`, nor begin or end it with a space"
                )
        if DEFAULT_UNITS in self.subwords:
            raise ValueError(f"subwords: `{DEFAULT_UNITS}` is the scheme of `subword`; choose another name")
        for target in self.targets or []:
            if target not in self.folders and target not in {*self.tables, *self.figures}:
                known = [*self.tables, *self.figures, *self.folders]
                raise ValueError(f"targets: {unknown('table, figure or folder', target, known)}")
        return self

    @model_validator(mode="after")
    def _check_systems(self) -> Self:
        for name, system in self.systems.items():
            for member in system.members:
                if member not in self.systems:
                    raise ValueError(f"system `{name}`: {unknown('system', member, self.systems)}")
                if not isinstance(self.systems[member], NeuralSystem):
                    raise ValueError(f"system `{name}`: its member `{member}` is no network")
            if len({self.units[self.units_of(member)].target for member in system.members}) > 1:
                raise ValueError(f"system `{name}`: its members have different target vocabularies")
            if isinstance(system, NeuralSystem):
                self._check_neural(name, system)
        return self

    def _check_neural(self, name: str, system: NeuralSystem) -> None:
        if system.parser is not None and system.parser not in self.parsers:
            raise ValueError(f"system `{name}`: {unknown('parser', system.parser, self.parsers)}")
        parsed = [kind for kind in (*system.syntax, *system.pretrained_on) if kind not in KINDS_WITHOUT_PARSER]
        if parsed and system.parser is None:
            raise ValueError(f"system `{name}` reads {', '.join(parsed)}: name its `parser`")
        if system.parser is not None and not parsed:
            raise ValueError(f"system `{name}` names a parser, but none of its parts reads syntax; leave it out")
        if system.subword is not None and system.subword not in self.subwords:
            raise ValueError(f"system `{name}`: {unknown('subword', system.subword, self.subwords)}")
        if "lexical_trees" in system.syntax and self.units[self.units_of(name)].scheme != "bpe":
            raise ValueError(f"system `{name}` reads trees over the pieces of words, but its units are whole words")
        if system.like is not None:
            like = self.systems.get(system.like)
            if not isinstance(like, NeuralSystem):
                raise ValueError(f"system `{name}`: like names no network, but `{system.like}`")
            if system.pretrained_on or like.pretrained_on:
                raise ValueError(f"system `{name}` is like `{system.like}`, but sizes are not found for pretraining")
            if like.like is not None:
                raise ValueError(f"system `{name}` is like `{system.like}`, whose own size is found; name another")
            if self.units_of(name) != self.units_of(system.like):
                raise ValueError(f"system `{name}` is like `{system.like}`, which has other units")
        for key in ("seeds", "device", "threads"):
            if getattr(system.training, key) != getattr(self.training, key):
                raise ValueError(f"system `{name}`: `{key}` is the same for all systems; set it in `training` alone")
        if system.training.epochs is None and system.training.updates is None:
            own = "" if self.training.epochs is None and self.training.updates is None else f"system `{name}`: "
            raise ValueError(f"{own}training: give `epochs`, `updates` or both")

    @model_validator(mode="after")
    def _check_tables(self) -> Self:
        for title, table in self.tables.items():
            for name in table.systems_named:
                if name not in self.systems:
                    raise ValueError(f"table `{title}`: {unknown('system', name, self.systems)}")
            if isinstance(table, BleuTable):
                for row in [table.baseline, *table.proposed]:
                    if row not in self.systems:
                        raise ValueError(f"table `{title}`: {unknown('system', row, self.systems)}")
                    if row not in table.systems:
                        raise ValueError(f"table `{title}`: `{row}` is compared with but is not among its systems")
            self._check_origins(f"table `{title}`", table)
        for title, figure in self.figures.items():
            if not isinstance(self.systems.get(figure.system), NeuralSystem):
                raise ValueError(f"figure `{title}`: `{figure.system}` is no network among the systems")
            self._check_sets(f"figure `{title}`", [figure.set])
        return self

    def _check_origins(self, where: str, table: Any) -> None:
        """Check the sets, parsers and schemes that a table names."""
        if isinstance(table, MeasureTable):
            self._check_sets(where, self.sets_of(table))
        if isinstance(table, AttentionTable):
            self._check_sets(where, [table.set])
            for row in table.systems:
                if not isinstance(self.systems[row], NeuralSystem):
                    raise ValueError(f"{where}: `{row}` is no network, so that it has no attention")
        parser = getattr(table, "parsed_by", None) or getattr(table, "parser", None)
        if parser is not None and parser not in self.parsers:
            raise ValueError(f"{where}: {unknown('parser', parser, self.parsers)}")
        if isinstance(table, VocabularyTable):
            scheme = self.subwords.get(table.subword)
            if scheme is None:
                raise ValueError(f"{where}: {unknown('subword', table.subword, self.subwords)}")
            if scheme.scheme != "bpe" or scheme.generalise is None:
                raise ValueError(f"{where}: `{table.subword}` does not both generalise and split words")

    def _check_sets(self, where: str, names: list[str]) -> None:
        for name in names:
            if name not in self.corpora.held_out:
                raise ValueError(f"{where}: {unknown('set', name, self.corpora.held_out)}")

    @property
    def trained_parsers(self) -> list[str]:
        """Parsers that are trained here and read by some system; by one that is asked for, where targets say so."""
        tables = [self.tables[name] for name in self.asked(self.tables)]
        rows = [row for table in tables for row in getattr(table, "systems", [])]
        rows += [self.figures[name].system for name in self.asked(self.figures)]
        asked = {name for row in rows for name in self.networks(row)}
        read = {self.systems[name].parser for name in (self.systems if self.targets is None else asked)}
        return sorted(name for name, parser in self.parsers.items() if name in read and parser.type == "trained")

    @property
    def units(self) -> dict[str, Subword]:
        """Units of models by what they are called in paths."""
        return {DEFAULT_UNITS: self.subword, **self.subwords}

    def units_of(self, system: str) -> str:
        """What the units of a network, or of an ensemble's first member, are called in paths."""
        first = self.systems[self.networks(system)[0]]
        assert isinstance(first, NeuralSystem)
        return first.subword or DEFAULT_UNITS

    def networks(self, system: str) -> list[str]:
        """The networks that a system translates with: itself, or its members; none where it is phrase-based."""
        found = self.systems[system]
        return [system] if isinstance(found, NeuralSystem) else found.members

    def is_neural(self, system: str) -> bool:
        """Whether a system is a network or several, and not phrase-based."""
        return isinstance(self.systems[system], NeuralSystem | Ensemble)

    def runs(self, system: str) -> list[str]:
        """What the runs of a system are called in paths: one for each seed, or a single one without chance.

        Seeds are those of `training`; a network that is trained with others of its own is no fair comparison.
        """
        return [f"seed{seed}" for seed in self.training.seeds] if self.is_neural(system) else ["single"]

    def sets_of(self, table: MeasureTable) -> list[str]:
        """The sets of a table of measures, `tests` spelt out."""
        tests = [test.name for test in self.corpora.tests]
        return list(dict.fromkeys(name for given in table.sets for name in (tests if given == "tests" else [given])))

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
        """Where artifacts of a kind ("results", "logs", "benchmarks") go."""
        return kind if self.name is None else f"{kind}/{self.name}"

    def path(self, file: str) -> str:
        """The path of a file of `corpora` or `parsers`."""
        return str(Path(self.data) / Path(file).expanduser())

    def files(self) -> list[str]:
        """Every file and directory of the user's that the configuration names, as paths."""
        named: list[str | None] = []
        for text in self.corpora.train:
            named += [text.source, text.target]
        for held_out in self.corpora.held_out.values():
            named += [held_out.source, *held_out.references]
        named += [self.corpora.source.stanza_directory, self.corpora.target.stanza_directory]
        for parser in self.parsers.values():
            if isinstance(parser, StanzaParser):
                named += [parser.directory, parser.test, parser.constituency_test]
            elif isinstance(parser, TrainedParser):
                named += [parser.vectors, *parser.treebank.model_dump(exclude={"generate"}).values()]
        return [self.path(file) for file in named if file is not None]


def _is_name_of_system(name: str) -> bool:
    forbidden = set("/=:*?<>|\"'{}\\") & set(name)
    return bool(name) and name == name.strip() and name.isprintable() and not forbidden and name[0] not in ".-"


def _is_name(name: str) -> bool:
    return name.replace("_", "").replace("-", "").isalnum() and name[0].isalnum() and name.isascii()
