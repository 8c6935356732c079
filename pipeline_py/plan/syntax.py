"""Jobs of the rules of `syntax`: parsing in shards, tree transformations and reports."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_py.config.entry_errors import format_name_list
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.parsers import (
    DEFAULT_STANZA_PACKAGE,
    BaseStanzaParserConfig,
    BinarizedParserConfig,
    StanzaParserConfig,
    TrainedParserConfig,
)
from pipeline_py.files.language_properties import get_base_language
from pipeline_py.kinds.syntax_kind import TREE_FORMAT_NAMES, TreeFormat
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.parsers import ANNOTATION_NAMES, ParsersPlan
from pipeline_py.plan.paths import UserFileHasher, get_version_parser
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job, NestedPaths
from pipeline_py.syntax.stanza.model_directory import (
    list_model_languages,
    list_parser_model_files,
    list_tokenizer_files,
)
from pipeline_py.syntax.trees.head_rules import DEFAULT_RULES_LANGUAGE, HEAD_RULES_BY_LANGUAGE
from pipeline_py.syntax.trees.shared_words import describe_language_mismatch
from pipeline_py.syntax.trees.tree_formats import TreeKind

STANZA_PROCESSORS: dict[TreeFormat, list[str]] = {"conllu": ["tagger", "depparse"], "ptb": ["tagger", "constituency"]}


class HeadSource(NamedTuple):
    """The source of the heads of a parser's constituents.

    Attributes:
        language: language of the parser.
        is_dependency_based: whether heads come from the dependency trees of the same sentences, not from rules.
    """

    language: str
    is_dependency_based: bool

    @property
    def rule_language(self) -> str:
        """The language of the head rules."""
        language = get_base_language(self.language)
        return language if language in HEAD_RULES_BY_LANGUAGE else DEFAULT_RULES_LANGUAGE

    @property
    def is_english(self) -> bool:
        """True if the parser is for English."""
        return get_base_language(self.language) == "en"

    @property
    def has_foreign_rules(self) -> bool:
        """True if the heads come from rules of another language."""
        return not self.is_dependency_based and get_base_language(self.language) != self.rule_language

    def format_for_display(self) -> str:
        """Format the source for messages."""
        return (
            "dependency trees"
            if self.is_dependency_based
            else f"rules of {HEAD_RULES_BY_LANGUAGE[self.rule_language].name}"
        )


class SyntaxPlan:
    """Jobs that make trees and report on them.

    The user's folders are checked when the plan is built, since Snakemake continues with existing results if an input
    function fails.
    """

    def __init__(
        self, experiment: ExperimentConfig, hash_user_files: UserFileHasher, corpus: CorpusPlan, parsers: ParsersPlan
    ) -> None:
        """Plan the trees of an experiment.

        Raises:
            InputError: a Stanza directory is broken or incomplete.
        """
        self.experiment = experiment
        self.hash_user_files = hash_user_files
        self.corpus = corpus
        self.parsers = parsers
        self._model_files: dict[str, dict[str, list[str]]] = {}
        self._tokenizer_files: dict[str, list[str]] = {}
        self._foreign_parser_errors = experiment.foreign_parser_errors
        for name, parser in experiment.parsers.items():
            if isinstance(parser, StanzaParserConfig) and parser.directory is not None:
                directory = Path(experiment.resolve_path(parser.directory))
                language = experiment.resolve_parser_language(name)
                self._model_files[name] = {
                    trees: [*map(str, list_parser_model_files(directory, language, TreeKind(annotation)))]
                    for trees, annotation in ANNOTATION_NAMES.items()
                }
                languages = list_model_languages(directory)
                if languages and not any(map(_has_model_files, self._model_files[name].values())):
                    fault = f"only has models for {format_name_list(languages)} ({directory})"
                    self._foreign_parser_errors.setdefault(name, experiment.format_foreign_parser_error(name, fault))
                self._tokenizer_files[name] = [*map(str, list_tokenizer_files(directory, language))]
                if parser.words == "stanza" and not self._tokenizer_files[name]:
                    raise InputError(
                        f"parsers.{name}.words: stanza, but {directory} has no tokenizer; choose auto, text or english"
                    )

        read_parsers = dict.fromkeys(name for _, name, _, _ in experiment.iterate_tree_uses())
        for name in dict.fromkeys(name for parser in read_parsers for name in experiment.get_tree_sources(parser)):
            reason = self._foreign_parser_errors.get(name) or self._format_treebank_error(name)
            if reason is not None:
                raise InputError(reason)
        for name in experiment.parsers:
            self.resolve_head_source(name)

    @cached_property
    def sentences_per_shard(self) -> dict[str, int]:
        """The number of sentences per shard of each text; empty if no text is parsed.

        Raises:
            InputError: a text cannot be read.
        """
        texts = self.experiment.corpora.splits_and_contrastive_sets
        size = self.experiment.parsing.shard_size
        has_parsed_text = any(parser.runs_stanza for parser in self.experiment.parsers.values())
        return {split: self.corpus.estimate_sentence_count(size, split) for split in texts if has_parsed_text}

    @cached_property
    def shard_counts(self) -> dict[str, int]:
        """The number of shards of each text. Cleaning may leave the last shards of the training text empty.

        Raises:
            InputError: a text cannot be read.
        """
        return dict.fromkeys(self.experiment.corpora.splits_and_contrastive_sets, 1) | {
            split: max(1, ceil(self.corpus.count_raw_sentences(split) / sentences))
            for split, sentences in self.sentences_per_shard.items()
        }

    def _format_treebank_error(self, parser: str) -> str | None:
        """Return an error message if the words of a parser's treebank do not match the text; else None.

        Parsers whose language is known are not checked.
        """
        options, splits = self.experiment.parsers[parser], self.experiment.splits_in_files
        files = [file for split in splits for file in self.corpus.get_user_files(split, "source")][:1]
        if not isinstance(options, TrainedParserConfig) or options.find_parser_language() is not None or not files:
            return None
        treebank, *texts = map(Path, (self.parsers.get_treebank_path(parser, "train", "conllu"), *files))
        if not all(map(Path.is_file, (treebank, *texts))):
            return None
        difference = describe_language_mismatch(treebank, tuple(texts))
        if difference is None:
            return None
        return self.experiment.format_foreign_parser_error(parser, f"is for another language ({difference})")

    def resolve_head_source(self, parser: str) -> HeadSource | None:
        """Return the source of the heads of a parser's constituents; None if its branching needs no heads.

        Raises:
            InputError: the configuration requests heads from dependency trees, and there are none.
        """
        options = self.experiment.parsers[parser]
        if not isinstance(options, BinarizedParserConfig) or options.branching != "head-outward":
            return None
        by_rules = HeadSource(self.experiment.resolve_parser_language(parser), is_dependency_based=False)
        missing_trees = self._describe_missing_dependencies(parser)
        if options.heads == "dependencies" and missing_trees:
            raise InputError(f"parsers.{parser}.heads: dependencies, but {missing_trees}; choose auto or rules")
        prefers_rules = options.heads == "rules" or (options.heads == "auto" and by_rules.is_english)
        return by_rules if prefers_rules or missing_trees else by_rules._replace(is_dependency_based=True)

    def _describe_missing_dependencies(self, parser: str) -> str | None:
        """Return the reason why dependency trees are missing for a text with phrase trees; None if they exist."""
        for name in self.experiment.get_parser_chain(parser):
            options, splits = self.experiment.parsers[name], self.experiment.splits_in_files
            with_phrases = [split for split in splits if options.find_missing_trees("ptb", [split]) is None]
            if missing_splits := [
                split for split in with_phrases if options.find_missing_trees("conllu", [split]) is not None
            ]:
                return f"there are no {TREE_FORMAT_NAMES['conllu']} trees of {format_name_list(missing_splits)}"
            models = self._model_files.get(name, {}).get("conllu")
            if models is not None and not any(Path(file).parent.name == "depparse" for file in models):
                return "its directory has no dependency parser"
        return None

    def format_warnings(self) -> list[str]:
        """Format a warning for each parser whose phrase heads come from rules of another language."""
        parsers = {parser for _, parser, trees, _ in self.experiment.iterate_tree_uses() if trees == "ptb"}
        sources = {
            parser: heads for parser in sorted(parsers) if (heads := self.resolve_head_source(parser)) is not None
        }
        return [
            f"parsers.{parser}: {heads.format_for_display()} find the heads of phrases, since there are no rules for "
            f"`{heads.language}` and {self._describe_missing_dependencies(parser) or '`heads` is `rules`'}; give "
            "dependency trees too, or choose `branching: right` or `left`"
            for parser, heads in sources.items()
            if heads.has_foreign_rules
        ]

    def describe_head_source(self, parser: str) -> str | None:
        """Format the source of the heads of a parser's constituents; None for English rules in English."""
        heads = self.resolve_head_source(parser)
        return (
            None
            if heads is None or (heads.is_english and not heads.is_dependency_based)
            else heads.format_for_display()
        )

    def resolve_parser_words(self, parser: str) -> str:
        """Return the words that a parser reads: `text` (the tokens), `english`, `treebank` or `stanza`."""
        options = self.get_stanza_config(parser)
        is_downloaded = isinstance(options, StanzaParserConfig) and options.directory is None
        has_tokenizer = is_downloaded or bool(self._tokenizer_files.get(parser))
        return options.resolve_parser_words(self.experiment.corpora.source, has_tokenizer)

    def get_stanza_config(self, parser: str) -> BaseStanzaParserConfig:
        """Return the configuration of a parser, which must run Stanza."""
        options = self.experiment.parsers[parser]
        assert isinstance(options, BaseStanzaParserConfig)
        return options

    def get_model_files(self, parser: str, tree_format: TreeFormat) -> list[str]:
        """Return the model files that affect a parse; empty for a downloaded package."""
        if isinstance(self.get_stanza_config(parser), TrainedParserConfig):
            tagger, last = STANZA_PROCESSORS[tree_format]
            return [self.parsers.get_model_path(parser, name) for name in (tagger, last, f"{last}.pretrain")]
        return self._model_files[parser][tree_format] if parser in self._model_files else []

    def get_common_tree_formats(self, parser: str, other_parser: str) -> list[TreeFormat]:
        """Return the tree formats that systems read from both parsers."""
        return [
            trees
            for trees in self.experiment.get_parser_tree_formats(parser)
            if trees in self.experiment.get_parser_tree_formats(other_parser)
        ]

    def get_parser_pairs(self) -> list[tuple[str, str]]:
        """Return all pairs of requested parsers with a common tree format, each sorted by name."""
        pairs = combinations(sorted(self.experiment.requested_parsers), 2)
        return [
            (parser, other_parser)
            for parser, other_parser in pairs
            if self.get_common_tree_formats(parser, other_parser)
        ]

    def get_parser_report_paths(self) -> list[str]:
        """Return the reports on all requested parsers, and the agreement of each pair."""
        return [
            *(f"<results>/syntax/{parser}/report.tsv" for parser in sorted(self.experiment.requested_parsers)),
            *(
                f"<results>/syntax/{parser}/agreement.{other_parser}.tsv"
                for parser, other_parser in self.get_parser_pairs()
            ),
        ]

    # Jobs of the rules, named after their rules.

    def build_parse_job(self, parser: str, split: str, trees: TreeFormat) -> Job:
        """Build the job that parses a text."""
        return self._build_text_parse_job(parser, split, trees, {})

    def build_parse_shard_job(self, parser: str, split: str, shard: str, trees: TreeFormat) -> Job:
        """Build the job that parses a shard of a text."""
        sentences = self.sentences_per_shard[split]
        return self._build_text_parse_job(
            parser, split, trees, {"first": int(shard) * sentences, "sentences": sentences}
        )

    def _build_text_parse_job(
        self, parser: str, split: str, tree_format: TreeFormat, shard_settings: dict[str, int]
    ) -> Job:
        """Build the job that parses a part of a text.

        Raises:
            InputError: the parser is for another language or only for generated text.
        """
        parser = get_version_parser(parser)
        self.check_parser_suits_text(parser, split)
        tokens, text = (
            path.format(split=split)
            for path in (
                self.corpus.get_token_path_pattern("source"),
                self.corpus.get_untokenized_path_pattern("source"),
            )
        )
        return self.build_stanza_job(parser, tree_format, tokens, text, shard_settings)

    def check_parser_suits_text(self, parser: str, split: str) -> None:
        """Raise an InputError if a parser is for another language than a text, or only for generated text."""
        if parser in self._foreign_parser_errors:
            raise InputError(self._foreign_parser_errors[parser])
        if parser in self.experiment.generator_only_parser_errors and split in self.experiment.splits_in_files:
            raise InputError(self.experiment.generator_only_parser_errors[parser])

    def build_parse_held_out_trees_job(self, parser: str, trees: TreeFormat) -> Job:
        """Build the job that parses the words of a parser's gold trees."""
        return self.build_stanza_job(parser, trees, f"<results>/syntax/{parser}/accuracy/{trees}.tokens", None, {})

    def build_parse_raw_text_job(self, parser: str) -> Job:
        """Build the job that parses the text of a parser's gold trees."""
        folder = f"<results>/syntax/{parser}/treebank"
        return self.build_stanza_job(
            parser, "conllu", f"{folder}/test.tokens", f"{folder}/test.text", {"over_words": True}
        )

    def build_stanza_job(
        self,
        parser: str,
        tree_format: TreeFormat,
        tokens_path: str,
        text_path: str | None,
        extra_settings: Mapping[str, Any],
    ) -> Job:
        """Build the job that parses tokens, or an untokenized text in the words that the parser reads."""
        options = self.get_stanza_config(parser)
        models = self.get_model_files(parser, tree_format)
        execution: dict[str, Any] = {}
        files: dict[str, NestedPaths] = {}
        if isinstance(options, TrainedParserConfig):
            files |= dict(zip([*STANZA_PROCESSORS[tree_format], "pretrain"], models, strict=True))
        elif isinstance(options, StanzaParserConfig) and options.directory is not None:
            files |= {"directory_files": models}
            execution |= {"directory": self.experiment.resolve_path(options.directory)}
        words = "text" if text_path is None else self.resolve_parser_words(parser)
        if words in ("english", "stanza"):
            files |= {"text": text_path}
        if words == "treebank":
            files |= {"word_table": self.parsers.get_word_table_path(parser)}
        elif words == "stanza" and isinstance(options, TrainedParserConfig):
            files |= self.parsers.get_word_model_paths(parser)
        elif words == "stanza":
            files |= {"directory_files": [*models, *self._tokenizer_files.get(parser, [])]}
        package = options.package or DEFAULT_STANZA_PACKAGE if isinstance(options, StanzaParserConfig) else None
        is_downloaded = package is not None and "directory" not in execution
        return Job(
            "syntax.parse",
            files={"tokens": tokens_path, **files},
            settings={
                "annotation": ANNOTATION_NAMES[tree_format],
                "language": self.experiment.resolve_parser_language(parser),
                "device": self.experiment.training.device,
                **({"words": words} if words in ("english", "stanza") else {}),
                **options.model_dump(include={"max_words", "batch_size"}),
                **({"package": package} if is_downloaded else {}),
                **extra_settings,
            },
            execution_settings=execution,
            software=["stanza", "torch"],
            is_cached=not is_downloaded,
        )

    def build_tokenize_treebank_job(self, parser: str, part: str) -> Job:
        """Build the job that tokenizes the text of a part of a parser's treebank like the source."""
        return self.corpus.build_tokenization_job(f"<results>/syntax/{parser}/treebank/{part}.text", "source")

    def build_write_parser_report_job(self, parser: str) -> Job:
        """Build the job that reports on the trees of each text that systems read from a parser."""
        kinds = self.experiment.get_parser_tree_formats(parser)

        def get_files_by_split(file_ending: str) -> dict[str, dict[str, str]]:
            return {
                split: {
                    ANNOTATION_NAMES[trees]: f"<results>/syntax/{parser}/{split}.{trees}{file_ending}"
                    for trees in kinds
                }
                for split in self.experiment.corpora.splits
            }

        return Job(
            "syntax.write_parser_report",
            files={
                "statistics": get_files_by_split(".statistics.json"),
                "counts": get_files_by_split(".json"),
                "facts": get_files_by_split(".facts.json"),
                "accuracy": {
                    ANNOTATION_NAMES[trees]: f"<results>/syntax/{parser}/accuracy/{trees}.tsv"
                    for trees in kinds
                    if self.parsers.has_gold_trees(parser, trees)
                },
            },
        )

    def build_binarize_job(self, parser: str, split: str) -> Job:
        """Build the job that binarizes the phrase trees of a text."""
        heads = self.resolve_head_source(parser)
        has_dependencies = heads is not None and heads.is_dependency_based
        dependencies = {"dependencies": f"<results>/syntax/{parser}/{split}.conllu"} if has_dependencies else {}
        has_rules = heads is not None and heads.rule_language != DEFAULT_RULES_LANGUAGE
        return Job(
            "syntax.binarize",
            files={**self._get_tree_and_token_files(parser, split, "ptb"), **dependencies},
            settings={
                "branching": self.experiment.parsers[parser].branching,
                **({"rules": heads.rule_language} if heads is not None and has_rules else {}),
            },
        )

    def build_compute_distances_job(self, parser: str, split: str) -> Job:
        """Build the job that computes the distances of the words of a text."""
        return Job(
            "syntax.compute_distances", files=self._get_tree_and_token_files(parser, split), software=["pyarrow"]
        )

    def build_extract_units_job(self, parser: str, split: str) -> Job:
        """Build the job that extracts the dependency units of a text."""
        return Job("syntax.extract_units", files=self._get_tree_and_token_files(parser, split), software=["pyarrow"])

    def build_extract_labels_job(self, parser: str, split: str) -> Job:
        """Build the job that extracts the dependency labels of a text."""
        return Job("syntax.extract_labels", files=self._get_tree_and_token_files(parser, split))

    def _get_tree_and_token_files(self, parser: str, split: str, tree_format: TreeFormat = "conllu") -> dict[str, str]:
        return {
            "trees": f"<results>/syntax/{parser}/{split}.{tree_format}",
            "tokens": self.corpus.get_token_path_pattern("source").format(split=split),
        }

    def build_merge_trees_job(self, parser: str, split: str, trees: TreeFormat) -> Job:
        """Build the job that merges the trees of all shards of a text.

        Shards stay in the folder of the parser if it gets a fallback, and are not parsed again.
        """
        folder = f"<results>/syntax/{get_version_parser(parser)}/shards/{split}"
        parts = [f"{folder}/{shard:04}.{trees}" for shard in range(self.shard_counts[split])]
        return Job(
            "syntax.merge_trees",
            files={
                "parts": parts,
                "counts": [f"{part}.json" for part in parts],
                "facts": [f"{part}.facts.json" for part in parts],
                "tokens": self.corpus.get_token_path_pattern("source").format(split=split),
            },
            settings={"annotation": ANNOTATION_NAMES[trees]},
        )

    def build_import_trees_job(self, parser: str, split: str, trees: TreeFormat) -> Job:
        """Build the job that imports the user's trees of a text and the gold trees of its generated sentences.

        The user's trees override the gold trees of a text that is generated as a whole.
        """
        tree_files = self.experiment.resolve_tree_files(get_version_parser(parser), split, trees)
        generated_config = self.corpus.find_generated_config(split)
        is_in_files = split in self.experiment.splits_in_files
        is_partial = is_in_files and not tree_files
        tree_count = generated_config.sentences if generated_config is not None else 0
        needs_gold_trees = tree_count > 0 if is_in_files else not tree_files
        if needs_gold_trees:
            tree_files = [*tree_files, self.corpus.get_gold_tree_path(split, trees)]
        return Job(
            "syntax.import_trees",
            files={
                "trees": tree_files,
                "text": self.corpus.get_raw_path(split, "source"),
                "lines": f"<results>/corpus/clean/{split}.lines",
                "tokens": self.corpus.get_token_path_pattern("source").format(split=split),
            },
            settings={
                "annotation": ANNOTATION_NAMES[trees],
                "ignore_case": self.experiment.corpora.source.case != "keep",
                **({"tree_count": tree_count} if is_partial else {}),
            },
        )

    def build_build_control_trees_job(self, parser: str, split: str, trees: TreeFormat) -> Job:
        """Build the job that builds control trees for a text."""
        options = self.experiment.parsers[parser]
        return Job(
            "syntax.build_control_trees",
            files={"tokens": self.corpus.get_token_path_pattern("source").format(split=split)},
            settings={
                "annotation": ANNOTATION_NAMES[trees],
                **options.model_dump(mode="json", include={"shape", "seed"}),
            },
        )

    def build_permute_trees_job(self, parser: str, split: str, trees: TreeFormat) -> Job:
        """Build the job that assigns the nodes of another parser's trees to the words of a text at random."""
        options = self.experiment.parsers[parser]
        permuted_trees = f"<results>/syntax/{self.experiment.get_permuted_parser(parser)}/{split}.{trees}"
        return Job(
            "syntax.permute_trees",
            files={"trees": permuted_trees, "facts": f"{permuted_trees}.facts.json"},
            settings=options.model_dump(mode="json", include={"seed"}),
        )

    def build_compute_tree_statistics_job(self, parser: str, split: str, trees: TreeFormat) -> Job:
        """Build the job that computes statistics of the trees of a text."""
        return Job(
            "syntax.compute_tree_statistics",
            files={"trees": f"<results>/syntax/{parser}/{split}.{trees}"},
            settings={"annotation": ANNOTATION_NAMES[trees]},
        )

    def build_measure_agreement_job(self, parser: str, second_parser: str) -> Job:
        """Build the job that compares the trees that systems read from two parsers, phrase trees after binarization."""
        endings = {
            trees: trees if trees == "conllu" else f"binary.{trees}"
            for trees in self.get_common_tree_formats(parser, second_parser)
        }
        return Job(
            "syntax.measure_agreement",
            files={
                parameter: {
                    split: {
                        ANNOTATION_NAMES[trees]: f"<results>/syntax/{name}/{split}.{ending}"
                        for trees, ending in endings.items()
                    }
                    for split in self.experiment.corpora.splits
                }
                for parameter, name in (("first", parser), ("second", second_parser))
            },
        )


def _has_model_files(files: Sequence[str]) -> bool:
    return any(Path(file).suffix == ".pt" for file in files)
