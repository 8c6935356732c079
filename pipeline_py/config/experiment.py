"""The whole configuration of an experiment, validated before the first job starts."""

from collections.abc import Iterator
from typing import Self

from pydantic import model_validator

from pipeline_py.config.base import LONGEST_NAME, LONGEST_SYSTEM, check_collisions, is_name, is_name_of_system
from pipeline_py.config.corpora import Side
from pipeline_py.config.crossing import DEFAULT_PARSER, unknown_parser
from pipeline_py.config.description import DEFAULT_UNITS, Description
from pipeline_py.config.entry_errors import Entry, EntryError, listed, shortened, unknown
from pipeline_py.config.parsers import GivenParser, StanzaOptions
from pipeline_py.config.systems.any_system import NeuralSystem, Translations
from pipeline_py.config.tables import CONTRAST, AttentionTable, BleuTable, MeasureTable, Table, VocabularyTable
from pipeline_py.kinds.kind import Trees


class Experiment(Description):
    """All settings of a run of the workflow."""

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for kind, names in (("parser", self.parsers), ("subword", self.subwords), ("test set", self.corpora.names)):
            for name in names:
                if not is_name(name):
                    raise ValueError(
                        f"{kind} `{shortened(name)}`: use letters, digits, `_` and `-`, at most {LONGEST_NAME} and "
                        "none 20 times in a row; the name is part of paths"
                    )
        for kind, titles in (("table", [*self.tables]), ("figure", [*self.figures])):
            for name in titles:
                if name.count("/") > 1 or not all(is_name(part) for part in name.split("/")):
                    raise ValueError(
                        f"{kind} `{shortened(name)}`: use letters, digits, `_` and `-`, and one `/` if it stands in a "
                        f"folder, at most {LONGEST_NAME} on either side and none 20 times in a row"
                    )
        for name in self.systems:
            if not is_name_of_system(name):
                raise ValueError(
                    f"system {shortened(repr(name))}: the name is part of paths; leave out / = : * ? < > | quotes, "
                    "braces and unprintable characters, do not begin it with `.`, `-` or `@`, nor begin or end it with "
                    f"a space, and use at most {LONGEST_SYSTEM} bytes and nothing 20 times in a row"
                )
        check_collisions("systems", self.systems)
        check_collisions("parsers", self.parsers)
        check_collisions("subwords", [DEFAULT_UNITS, *(name for name in self.subwords if name != DEFAULT_UNITS)])
        check_collisions("tables", self.tables)
        check_collisions("figures", self.figures)
        if DEFAULT_PARSER in self.parsers:
            raise ValueError(f"parsers: `{DEFAULT_PARSER}` stands for the parser in `parser`; choose another name")
        if self.parser is not None and self.parser not in self.parsers:
            raise ValueError(f"parser: {unknown('parser', self.parser, self.parsers)}")
        if DEFAULT_UNITS in self.subwords:
            raise ValueError(f"subwords: `{DEFAULT_UNITS}` stands for the scheme in `subword`; choose another name")
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
                    raise EntryError("systems", name, f": {unknown('system', member, self.systems)}")
                if not isinstance(self.systems[member], NeuralSystem):
                    raise EntryError("systems", name, f": its member `{member}` is not a network")
            if len({self._target_vocabulary(member) for member in system.members}) > 1:
                raise EntryError("systems", name, ": its members have different target vocabularies")
            if isinstance(system, NeuralSystem):
                self._check_neural(name, system)
            elif isinstance(system, Translations):
                self._check_sets(("systems", name), [*system.files])
                for split in system.scores:
                    if split not in self.corpora.contrastive:
                        known = self.corpora.contrastive
                        raise EntryError("systems", name, f": scores of an {unknown('contrastive set', split, known)}")
        return self

    def _target_vocabulary(self, network: str) -> tuple[str, str | None]:
        """What decides the target vocabulary of a network: its units, and the parses in it."""
        units = self.units_of(network)
        return self.units[units].target, self.tasks[units].parser if units in self.tasks else None

    def _check_neural(self, name: str, system: NeuralSystem) -> None:
        if system.parser is not None and system.parser not in self.parsers:
            raise EntryError("systems", name, f": {unknown('parser', system.parser, self.parsers)}")
        if system.kinds_parsed and system.parser is None:
            raise EntryError(
                "systems",
                name,
                f" reads {', '.join(system.kinds_parsed)}: name its `parser`, or that of all systems in `parser`",
            )
        if system.parser is not None and not system.kinds_parsed:
            raise EntryError("systems", name, " names a parser, but none of its parts reads syntax; leave it out")
        if system.subword is not None and system.subword not in self.subwords:
            raise EntryError("systems", name, f": {unknown('subword', system.subword, self.subwords)}")
        if system.reads_lexical_trees and self.units[self.units_of(name)].scheme != "bpe":
            raise EntryError("systems", name, " reads trees over the pieces of words, but its units are whole words")
        if system.model.tied_embeddings == "all" and self.units[self.units_of(name)].joint_vocabulary is None:
            both = " ties the embeddings of both sides: give `subword.joint_vocabulary`, or tie those of `target`"
            raise EntryError("systems", name, both)
        if system.like is not None:
            like = self.systems.get(system.like)
            if not isinstance(like, NeuralSystem):
                raise EntryError("systems", name, f": `like` must name a network, and `{system.like}` is not one")
            if system.pretrained_on or like.pretrained_on:
                raise EntryError("systems", name, f": `like` cannot be used with pretraining, as with `{system.like}`")
            if like.like is not None:
                raise EntryError("systems", name, f" is like `{system.like}`, which has `like` itself; name another")
            if self.units_of(name) != self.units_of(system.like):
                raise EntryError("systems", name, f" is like `{system.like}`, which has other units")
        for key in ("seeds", "device", "threads"):
            if getattr(system.training, key) != getattr(self.training, key):
                raise EntryError("systems", name, f": `{key}` is the same for all systems; set it in `training` alone")
        if system.training.epochs is None and system.training.updates is None:
            own = "" if self.training.epochs is None and self.training.updates is None else f"system `{name}`: "
            raise ValueError(f"{own}training: give `epochs`, `updates` or both")

    @model_validator(mode="after")
    def _check_tables(self) -> Self:
        for title, table in self.tables.items():
            for name in table.systems_named:
                if name not in self.systems:
                    raise EntryError("tables", title, f": {unknown('system', name, self.systems)}")
            if isinstance(table, BleuTable):
                for row in [table.baseline, *table.proposed]:
                    if row not in self.systems:
                        raise EntryError("tables", title, f": {unknown('system', row, self.systems)}")
                    if row not in table.systems:
                        raise EntryError("tables", title, f": `{row}` is compared with, but is not among its systems")
            if isinstance(table, MeasureTable):
                for metric in table.metrics:
                    if (obstacle := self.evaluation.find_obstacle(metric, self.corpora.target)) is not None:
                        raise EntryError("tables", title, f": {obstacle}")
            self._check_origins(("tables", title), table)
            self._check_from_elsewhere(("tables", title), table)
        for title, figure in self.figures.items():
            if not isinstance(self.systems.get(figure.system), NeuralSystem):
                raise EntryError("figures", title, f": `{figure.system}` is not a network among the systems")
            self._check_sets(("figures", title), [figure.set])
        return self

    def _check_origins(self, entry: Entry, table: Table) -> None:
        """Check the sets, parsers and schemes that a table names."""
        self._check_sets(entry, table.sets_in(self.corpora))
        self._check_references(entry, table.sets_in(self.corpora))
        if isinstance(table, MeasureTable) and CONTRAST in table.columns and not self.corpora.contrast:
            raise EntryError(*entry, f": has a column `{CONTRAST}`; name contrastive sets in `corpora.{CONTRAST}`")
        if isinstance(table, AttentionTable):
            self._check_sets(entry, [table.set])
            for row in table.systems:
                if not isinstance(self.systems[row], NeuralSystem):
                    raise EntryError(*entry, f": `{row}` is not a network, so it has no attention")
        if table.phrases_of is not None and table.phrases_of not in self.parsers:
            raise EntryError(*entry, f": {unknown_parser(table.phrases_of, self.parsers)}")
        if isinstance(table, VocabularyTable):
            scheme = self.subwords.get(table.subword)
            if scheme is None:
                raise EntryError(*entry, f": {unknown('subword', table.subword, self.subwords)}")
            if scheme.scheme != "bpe" or scheme.generalise is None:
                raise EntryError(*entry, f": `{table.subword}` does not both generalise and split words")
            if not self.corpora.train:
                raise EntryError(*entry, ": counts words of the training text; name one in `corpora.train`")

    def _check_from_elsewhere(self, entry: Entry, table: Table) -> None:
        """See to it that a table of scores has something to say of each of its rows, and of equally many runs."""
        if not isinstance(table, BleuTable | MeasureTable):
            return
        scored = table.sets_in(self.corpora) if isinstance(table, BleuTable) or table.is_scored else []
        if isinstance(table, BleuTable) and not {*scored} & {*self.corpora.scored_tests}:
            raise EntryError(*entry, ": no test set has references, so that nothing is scored; name some")
        asked = [*scored, *(table.contrasted_in(self.corpora) if isinstance(table, MeasureTable) else [])]
        for row in filter(self.from_elsewhere, table.rows):
            if not asked:
                raise EntryError(*entry, f": `{row}` was made elsewhere, and its columns are of networks; leave it out")
            if not any(self.has_output(row, split) for split in asked):
                keys = [key for key, sets in (("files", scored), ("scores", {*asked} - {*scored})) if sets]
                where = " or ".join(f"`systems.{row}.{key}`" for key in keys)
                raise EntryError(*entry, f": `{row}` has nothing of {listed(asked)}; give {where}, or leave it out")
        runs = {len(self.runs(row, entry[1])): row for row in table.rows}
        several = [f"`{row}` {number}" for number, row in runs.items() if number > 1]
        if len(several) > 1:
            raise EntryError(*entry, f": rows have equally many runs, or one, and not {' and '.join(several)}")

    def _check_sets(self, entry: Entry, names: list[str]) -> None:
        for name in names:
            if name not in self.corpora.held_out:
                raise EntryError(*entry, f": {unknown('set', name, self.corpora.held_out)}")

    def _check_references(self, entry: Entry, names: list[str]) -> None:
        for name in names:
            if name in self.corpora.unscored_tests:
                raise EntryError(*entry, f": `{name}` has no references, so that nothing is scored on it; leave it out")

    @model_validator(mode="after")
    def _check_tokenizers(self) -> Self:
        sides: tuple[Side, ...] = ("source", "target")
        for side in sides:
            language = self.language_of_side(side)
            if language.learns_tokenizer and self.tokenizer_treebank(side) is None:
                code = language.language
                raise ValueError(
                    f"corpora.{side}.tokenizer: stanza has no model of `{code}` here; name its folder in "
                    f"`stanza_directory`, add a parser to `parsers` that is trained from files in `{code}` (`language: "
                    f"{code}`), ask for a download by `stanza_package: default`, or choose another tokenizer"
                )
        return self

    @model_validator(mode="after")
    def _check_trees(self) -> Self:
        for name, parser in self.parsers.items():
            for split in parser.trees if isinstance(parser, GivenParser) else ():
                if split not in self.corpora.texts:
                    meant = "dev" if self.corpora.dev and split == self.corpora.dev.name else split
                    raise ValueError(f"parsers.{name}: {unknown('split', split, self.corpora.texts, last=meant)}")
            source = self.corpora.source
            if isinstance(parser, StanzaOptions) and parser.words == "english" and not source.is_english:
                raise ValueError(f"parsers.{name}.words: english, but the source is {source.language}; choose auto")
        for (section, reader), name, trees, splits in self.readings():
            parser, called = self.parsers[name], f"{'table ' if section == 'tables' else ''}`{reader}`"
            in_files = [split for split in splits if split in self.splits_in_files]
            if (lacking := parser.lacking(trees, in_files)) is not None:
                key, what = lacking
                raise EntryError(section, reader, what.format(reader=called), f"parsers.{name}{key}")
        return self

    def readings(self) -> Iterator[tuple[Entry, str, Trees, list[str]]]:
        """Yield what reads which parser's trees, of which kind and of which splits, of all that is asked for."""
        for network in self.networks_asked:
            parser = self.systems[network].parser
            if parser is not None:
                for trees in self.trees_read(network):
                    yield ("systems", network), parser, trees, self.texts_read(network)
        for title in self.asked(self.tables):
            table = self.tables[title]
            if table.phrases_of is not None:
                yield ("tables", title), table.phrases_of, "ptb", table.sets_in(self.corpora) or self.corpora.splits
