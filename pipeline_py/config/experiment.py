"""The complete configuration of an experiment, validated before the first job starts."""

from collections.abc import Collection, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Self

from pydantic import model_validator

from pipeline_py.config.base import (
    MAX_NAME_LENGTH,
    MAX_SYSTEM_NAME_BYTES,
    check_name_collisions,
    format_folder_name,
    is_valid_name,
    is_valid_system_name,
)
from pipeline_py.config.base_experiment import DEFAULT_SUBWORD_NAME, BaseExperimentConfig
from pipeline_py.config.corpora import CorpusSide
from pipeline_py.config.entry_errors import (
    ConfigEntryError,
    EntryKey,
    format_name_list,
    format_unknown_name_error,
    shorten_text,
)
from pipeline_py.config.parser_crossing import DEFAULT_PARSER_NAME, format_unknown_parser_error
from pipeline_py.config.parsers import BaseStanzaParserConfig, TreeFileParserConfig
from pipeline_py.config.systems.system_types import (
    AnySystemConfig,
    EnsembleConfig,
    ExternalSystemConfig,
    NeuralSystemConfig,
)
from pipeline_py.config.systems.training import DecodingConfig
from pipeline_py.config.tables import (
    CONTRAST_COLUMN,
    AnyTableConfig,
    AttentionTableConfig,
    BleuTableConfig,
    MeasureTableConfig,
    SystemTableConfig,
    VocabularyTableConfig,
)
from pipeline_py.kinds.syntax_kind import TreeFormat


class ExperimentConfig(BaseExperimentConfig):
    """The complete configuration of an experiment."""

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if self.name is not None and self.name.lower() == "export":
            raise ValueError(f"name: results/{self.name} is the folder of exported results; choose another name")
        for kind, names in (
            ("parser", self.parsers),
            ("subword", self.subwords),
            ("test set", self.corpora.evaluation_set_names),
            ("length text", self.corpora.length_texts_by_name),
        ):
            for name in names:
                if not is_valid_name(name):
                    raise ValueError(
                        f"{kind} `{shorten_text(name)}`: use letters, digits, `_` and `-`, at most {MAX_NAME_LENGTH} "
                        "and none 20 times in a row; the name is part of paths"
                    )
        for kind, titles in (("table", [*self.tables]), ("figure", [*self.figures])):
            for name in titles:
                if name.count("/") > 1 or not all(is_valid_name(part) for part in name.split("/")):
                    raise ValueError(
                        f"{kind} `{shorten_text(name)}`: use letters, digits, `_` and `-`, and one `/` if it is in a "
                        f"folder, at most {MAX_NAME_LENGTH} on either side and none 20 times in a row"
                    )
        for name in self.systems:
            if not is_valid_system_name(name):
                raise ValueError(
                    f"system {shorten_text(repr(name))}: the name is part of paths; leave out / = : * ? < > | quotes, "
                    "braces and unprintable characters, do not begin it with `.`, `-` or `@`, nor begin or end it with "
                    f"a space, and use at most {MAX_SYSTEM_NAME_BYTES} bytes and nothing 20 times in a row"
                )
        check_name_collisions("systems", self.systems, format_folder_name)
        check_name_collisions("parsers", self.parsers)
        check_name_collisions(
            "subwords", [DEFAULT_SUBWORD_NAME, *(name for name in self.subwords if name != DEFAULT_SUBWORD_NAME)]
        )
        check_name_collisions("tables", self.tables)
        check_name_collisions("figures", self.figures)
        if DEFAULT_PARSER_NAME in self.parsers:
            raise ValueError(f"parsers: `{DEFAULT_PARSER_NAME}` means the parser in `parser`; choose another name")
        if self.parser is not None and self.parser not in self.parsers:
            raise ValueError(f"parser: {format_unknown_name_error('parser', self.parser, self.parsers)}")
        if DEFAULT_SUBWORD_NAME in self.subwords:
            raise ValueError(f"subwords: `{DEFAULT_SUBWORD_NAME}` means the scheme in `subword`; choose another name")
        known_targets = [*self.tables, *self.figures, *self.target_folders]
        for target in self.targets or []:
            if target not in known_targets:
                raise ValueError(
                    f"targets: {format_unknown_name_error('table, figure or folder', target, known_targets)}"
                )
        return self

    @model_validator(mode="after")
    def _check_fallbacks(self) -> Self:
        for name, parser in self.parsers.items():
            if parser.fallback is not None and parser.fallback not in self.parsers:
                problem = format_unknown_name_error("parser", parser.fallback, self.parsers)
                raise ValueError(f"parsers.{name}.fallback: {problem}")
        fallbacks = {name: [parser.fallback] for name, parser in self.parsers.items() if parser.fallback is not None}
        try:
            TopologicalSorter(fallbacks).prepare()
        except CycleError as error:
            cycle = error.args[1][::-1]
            raise ValueError(
                f"parsers.{cycle[0]}.fallback: {' → '.join(cycle)} is a cycle; name another parser"
            ) from None
        return self

    @model_validator(mode="after")
    def _check_permuted_parsers(self) -> Self:
        permuted_parsers = {name: parser for name in self.parsers if (parser := self.get_permuted_parser(name))}
        for name, parser in permuted_parsers.items():
            key = f"parsers.{name}.parser"
            if parser not in self.parsers:
                raise ValueError(f"{key}: {format_unknown_name_error('parser', parser, self.parsers)}")
            if parser in permuted_parsers:
                relation = "this parser" if parser == name else "itself permuted"
                raise ValueError(f"{key}: `{parser}` is {relation}; name a parser whose trees are not permuted")
        for name, options in self.parsers.items():
            if options.fallback in permuted_parsers:
                raise ValueError(
                    f"parsers.{name}.fallback: `{options.fallback}` has permuted trees, which can fail like those of "
                    "its `parser`; name another parser"
                )
        return self

    @model_validator(mode="after")
    def _check_systems(self) -> Self:
        for problem in self._find_search_problems(self.decoding):
            raise ValueError(problem)
        for name, system in self.systems.items():
            for problem in self._find_system_problems(name, system):
                raise ConfigEntryError("systems", name, problem)
            if isinstance(system, NeuralSystemConfig) and not (system.training.epochs or system.training.updates):
                is_inherited = not (self.training.epochs or self.training.updates)
                prefix = "" if is_inherited else f"system `{name}`: "
                raise ValueError(f"{prefix}training: give `epochs`, `updates` or both")
        return self

    def _find_system_problems(self, name: str, system: AnySystemConfig) -> Iterator[str]:
        yield from _find_unknown_names("system", system.members, self.systems)
        for member in system.members:
            if not isinstance(self.systems[member], NeuralSystemConfig):
                yield f": its member `{member}` is not a network"
        if len({self._get_target_vocabulary_key(member) for member in system.members}) > 1:
            yield ": its members have different target vocabularies"
        if isinstance(system, NeuralSystemConfig | EnsembleConfig):
            yield from (f": {problem}" for problem in self._find_search_problems(system.decoding))
        if isinstance(system, NeuralSystemConfig):
            yield from self._find_neural_system_problems(name, system)
        elif isinstance(system, ExternalSystemConfig):
            yield from _find_unknown_names("set", system.files, self.corpora.held_out_sets)
            yield from _find_unknown_names("contrastive set", system.scores, self.corpora.contrastive_sets)

    def _find_search_problems(self, decoding: DecodingConfig) -> Iterator[str]:
        beam, retry_beam = max(decoding.beam_widths), decoding.retry_beam
        if retry_beam is not None and retry_beam <= beam:
            yield f"decoding.retry_beam: {retry_beam} does not exceed beam {beam}; widen it or leave it out"
        text = decoding.length_text
        if text is not None and text not in ("train", "dev", *self.corpora.length_texts_by_name):
            yield (
                f"decoding.length_model: `corpora.length_texts` has no text `{shorten_text(text)}`; add it there, or "
                "choose train or dev"
            )

    def _get_target_vocabulary_key(self, network: str) -> tuple[str, str | None]:
        """Return the settings that determine a network's target vocabulary: its units, and the parser of parses."""
        units = self.get_subword_name(network)
        task = self.parsing_tasks.get(units)
        return self.subword_configs[units].target_vocabulary_settings, None if task is None else task.parser

    def _find_neural_system_problems(self, name: str, system: NeuralSystemConfig) -> Iterator[str]:
        if system.parser is not None:
            yield from _find_unknown_names("parser", [system.parser], self.parsers)
        if system.parsed_syntax_names and system.parser is None:
            kinds = ", ".join(system.parsed_syntax_names)
            yield f" reads {kinds}: name its `parser`, or that of all systems in `parser`"
        if system.parser is not None and not system.parsed_syntax_names:
            yield " names a parser, but none of its parts reads syntax; leave it out"
        if system.subword is not None:
            yield from _find_unknown_names("subword", [system.subword], self.subwords)
        units = self.subword if system.subword is None else self.subwords[system.subword]
        if system.reads_lexical_trees and units.scheme != "bpe":
            yield " reads trees over the pieces of words, but its units are whole words; choose `scheme: bpe`"
        if system.model.tied_embeddings == "all" and units.joint_vocabulary is None:
            yield " ties the embeddings of both sides: give `subword.joint_vocabulary`, or tie those of `target`"
        if system.like is not None:
            like = self.systems.get(system.like)
            if not isinstance(like, NeuralSystemConfig):
                yield f": `like` must name a network, and `{system.like}` is not one"
            elif system.pretraining_syntax_names or like.pretraining_syntax_names:
                yield f": `like` cannot be used with pretraining, as with `{system.like}`"
            elif like.like is not None:
                yield f" is like `{system.like}`, which has `like` itself; name another"
            elif self.get_subword_name(name) != self.get_subword_name(system.like):
                yield f" is like `{system.like}`, which has other units; give both the same `subword`"
        for key in ("seeds", "device", "threads", "processes"):
            if getattr(system.training, key) != getattr(self.training, key):
                yield f": `{key}` is the same for all systems; set it in `training` alone"

    @model_validator(mode="after")
    def _check_tables(self) -> Self:
        for title, table in self.tables.items():
            for problem in chain(self._find_table_problems(table), self._find_row_problems(title, table)):
                raise ConfigEntryError("tables", title, problem)
        for title, figure in self.figures.items():
            if not isinstance(self.systems.get(figure.system), NeuralSystemConfig):
                raise ConfigEntryError("figures", title, f": `{figure.system}` is not a network among the systems")
            for problem in _find_unknown_names("set", [figure.set], self.corpora.held_out_sets):
                raise ConfigEntryError("figures", title, problem)
        return self

    def _find_table_problems(self, table: AnyTableConfig) -> Iterator[str]:
        yield from _find_unknown_names("system", table.named_systems, self.systems)
        if isinstance(table, SystemTableConfig) and table.published:
            yield from _find_unknown_names("set", table.published.columns, self.corpora.held_out_sets)
        if isinstance(table, BleuTableConfig):
            for row in [table.baseline, *table.proposed]:
                yield from _find_unknown_names("system", [row], self.systems)
                if row not in table.systems:
                    yield f": `{row}` is its baseline or proposed, but not one of its `systems`"
        if isinstance(table, MeasureTableConfig):
            for metric in table.metric_columns:
                if (obstacle := self.evaluation.find_metric_obstacle(metric, self.corpora.target)) is not None:
                    yield f": {obstacle}"
        sets = table.get_held_out_sets(self.corpora)
        yield from _find_unknown_names("set", sets, self.corpora.held_out_sets)
        for name in sets:
            if name in self.corpora.unscored_tests:
                yield f": `{name}` has no references, so it cannot be scored; leave it out"
        if isinstance(table, MeasureTableConfig) and CONTRAST_COLUMN in table.columns and not self.corpora.contrast:
            yield f": has a column `{CONTRAST_COLUMN}`; name contrastive sets in `corpora.{CONTRAST_COLUMN}`"
        if isinstance(table, AttentionTableConfig):
            yield from _find_unknown_names("set", [table.set], self.corpora.held_out_sets)
            for row in table.systems:
                if not isinstance(self.systems[row], NeuralSystemConfig):
                    yield f": `{row}` is not a network, so it has no attention"
        if table.phrase_tree_parser is not None and table.phrase_tree_parser not in self.parsers:
            yield f": {format_unknown_parser_error(table.phrase_tree_parser, self.parsers)}"
        if isinstance(table, VocabularyTableConfig):
            yield from _find_unknown_names("subword", [table.subword], self.subwords)
            scheme = self.subwords[table.subword]
            if scheme.scheme != "bpe" or scheme.generalise is None:
                yield f": `{table.subword}` needs `scheme: bpe` and `generalise`"
            if not self.corpora.train:
                yield ": counts words of the training text; name one in `corpora.train`"

    def _find_row_problems(self, title: str, table: AnyTableConfig) -> Iterator[str]:
        """Yield a problem if a table has no scores of a row, or rows with different numbers of runs."""
        if not isinstance(table, BleuTableConfig | MeasureTableConfig):
            return
        has_scores = isinstance(table, BleuTableConfig) or table.has_score_columns
        scored = table.get_held_out_sets(self.corpora) if has_scores else []
        if isinstance(table, BleuTableConfig) and not {*scored} & {*self.corpora.scored_tests}:
            yield ": no test set has references, so there is nothing to score; give `references` of one"
        contrastive = table.get_contrastive_sets(self.corpora) if isinstance(table, MeasureTableConfig) else []
        sets = [*scored, *contrastive]
        for row in filter(self.find_external_system, table.rows):
            if not sets:
                yield f": `{row}` is an external system, but all columns are about networks; leave it out"
            elif not any(self.has_output(row, split) for split in sets):
                keys = [key for key, names in (("files", scored), ("scores", {*sets} - {*scored})) if names]
                options = " or ".join(f"`systems.{row}.{key}`" for key in keys)
                yield f": `{row}` has no output of {format_name_list(sets)}; give {options}, or leave it out"
        rows_by_run_count = {len(self.get_runs(row, title)): row for row in table.rows}
        counts = [f"`{row}` {count}" for count, row in rows_by_run_count.items() if count > 1]
        if len(counts) > 1:
            yield f": all rows with several runs need the same number of runs, not {' and '.join(counts)}"

    @model_validator(mode="after")
    def _check_tokenizers(self) -> Self:
        sides: tuple[CorpusSide, ...] = ("source", "target")
        for side in sides:
            language = self.get_side_language(side)
            if language.should_train_tokenizer and self.find_tokenizer_treebank(side) is None:
                code = language.language
                raise ValueError(
                    f"corpora.{side}.tokenizer: stanza has no model of `{code}` here; name its folder in "
                    f"`stanza_directory`, add a parser to `parsers` that is trained from files in `{code}` (`language: "
                    f"{code}`), request a download by `stanza_package: default`, or choose another tokenizer"
                )
        return self

    @model_validator(mode="after")
    def _check_trees(self) -> Self:
        known_splits = self.corpora.splits_and_contrastive_sets
        for name, parser in self.parsers.items():
            for split in parser.trees if isinstance(parser, TreeFileParserConfig) else ():
                if split not in known_splits:
                    intended_split = "dev" if self.corpora.dev and split == self.corpora.dev.name else split
                    problem = format_unknown_name_error("split", split, known_splits, last_part=intended_split)
                    raise ValueError(f"parsers.{name}: {problem}")
            source = self.corpora.source
            if isinstance(parser, BaseStanzaParserConfig) and parser.words == "english" and not source.is_english:
                raise ValueError(f"parsers.{name}.words: english, but the source is {source.language}; choose auto")
        for (section, reader), read_parser, tree_format, splits in self.iterate_tree_uses():
            file_splits = [split for split in splits if split in self.splits_in_files]
            reader_text = f"{'table ' if section == 'tables' else ''}`{reader}`"
            for name in self.get_tree_sources(read_parser):
                missing_trees = self.parsers[name].find_missing_trees(tree_format, file_splits)
                if missing_trees is not None:
                    key, problem = missing_trees
                    raise ConfigEntryError(section, reader, problem.format(reader=reader_text), f"parsers.{name}{key}")
                reader_text = f"`parsers.{name}.{'parser' if self.get_permuted_parser(name) else 'fallback'}`"
        return self

    def iterate_tree_uses(self) -> Iterator[tuple[EntryKey, str, TreeFormat, list[str]]]:
        """Yield the reader, parser, tree format and splits of each use of trees by requested systems and tables."""
        for network in self.requested_networks:
            parser = self.systems[network].parser
            if parser is not None:
                for tree_format in self.get_network_tree_formats(network):
                    yield ("systems", network), parser, tree_format, self.get_network_splits(network)
        for title in self.select_requested_names(self.tables):
            table = self.tables[title]
            if table.phrase_tree_parser is not None:
                yield (
                    ("tables", title),
                    table.phrase_tree_parser,
                    "ptb",
                    table.get_held_out_sets(self.corpora) or self.corpora.splits,
                )


def _find_unknown_names(kind: str, names: Iterable[str], known_names: Collection[str]) -> Iterator[str]:
    for name in names:
        if name not in known_names:
            yield f": {format_unknown_name_error(kind, name, known_names)}"
