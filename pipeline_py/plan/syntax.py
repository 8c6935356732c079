"""What the rules of trees are given: models, texts in shards, and what is compared."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_py.config.entry_errors import listed
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.parsers import DEFAULT_PACKAGE, PhraseOptions, StanzaOptions, StanzaParser, TrainedParser
from pipeline_py.kinds.kind import NAMES_OF_TREES, Trees
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.parsers import ANNOTATION, ParsersPlan
from pipeline_py.plan.paths import ContentsOf
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Files, Job
from pipeline_py.syntax.stanza.models import languages_in, models_in, tokenizer_in
from pipeline_py.syntax.trees.formats import Annotation
from pipeline_py.syntax.trees.head_rules import DEFAULT_RULES, RULES
from pipeline_py.syntax.trees.shared_words import describe_difference

PROCESSORS: dict[Trees, list[str]] = {"conllu": ["tagger", "depparse"], "ptb": ["tagger", "constituency"]}


class HeadSource(NamedTuple):
    """Source of the heads of a parser's constituents.

    Attributes:
        language: of the parser.
        dependencies: whether they are those of the dependency trees of the same sentences.
    """

    language: str
    dependencies: bool

    @property
    def rules(self) -> str:
        """The language of the head rules that find them otherwise."""
        language = self.language.partition("-")[0]
        return language if language in RULES else DEFAULT_RULES

    @property
    def is_english(self) -> bool:
        """Whether the parser is for English."""
        return self.language.partition("-")[0] == "en"

    @property
    def is_foreign(self) -> bool:
        """Whether rules of another language find them."""
        return not self.dependencies and self.language.partition("-")[0] != self.rules

    def describe(self) -> str:
        """Name the source for people."""
        return "dependency trees" if self.dependencies else f"rules of {RULES[self.rules].name}"


class SyntaxPlan:
    """How trees are made and reported on.

    What may be wrong with a user's folder is found when the plan is made: where an input function fails, Snakemake
    goes on with what the results already hold.

    Attributes:
        sentences: how many sentences a shard of each text has; nothing where no text is parsed and so need be counted.
        shards: how many shards each text is parsed in. Cleaning may leave fewer sentences of the training text than
            that, so that its last shards may be empty.
    """

    def __init__(
        self, experiment: Experiment, contents_of: ContentsOf, corpus: CorpusPlan, parsers: ParsersPlan
    ) -> None:
        """Take an experiment, what hashes users' files, and the packages before.

        Raises:
            InputError: a text or a Stanza directory is broken, or has not what is asked for.
        """
        self.experiment = experiment
        self.contents_of = contents_of
        self.corpus = corpus
        self.parsers = parsers
        stanza = [name for name, parser in experiment.parsers.items() if parser.runs_stanza]
        texts = experiment.corpora.texts
        size = experiment.parsing.shard_size
        self.sentences = {split: corpus.sentences_with(size, split) for split in texts if stanza}
        self.shards = dict.fromkeys(texts, 1) | {
            split: max(1, ceil(corpus.most_sentences(split) / sentences)) for split, sentences in self.sentences.items()
        }
        self._models: dict[str, dict[str, list[str]]] = {}
        self._tokenizers: dict[str, list[str]] = {}
        self._foreign_parsers = experiment.foreign_parsers
        for name, parser in experiment.parsers.items():
            if isinstance(parser, StanzaParser) and parser.directory is not None:
                directory = Path(experiment.path(parser.directory))
                language = experiment.language_of(name)
                self._models[name] = {
                    trees: [*map(str, models_in(directory, language, Annotation(annotation)))]
                    for trees, annotation in ANNOTATION.items()
                }
                languages = languages_in(directory)
                if languages and not any(map(_has_models, self._models[name].values())):
                    fault = f"has models of {listed(languages)} alone ({directory})"
                    self._foreign_parsers.setdefault(name, experiment.describe_foreign_parser(name, fault))
                self._tokenizers[name] = [*map(str, tokenizer_in(directory, language))]
                if parser.words == "stanza" and not self._tokenizers[name]:
                    raise InputError(
                        f"parsers.{name}.words: stanza, but {directory} has no tokenizer; choose auto, text or english"
                    )

        for name in dict.fromkeys(name for _, name, _, _ in experiment.readings()):
            reason = self._foreign_parsers.get(name) or self._fault_of_treebank(name)
            if reason is not None:
                raise InputError(reason)
        for name in experiment.parsers:
            self.heads_of(name)

    def _fault_of_treebank(self, parser: str) -> str | None:
        """Format the error message for a parser whose treebank has other words than the text; None if it has the same.

        A parser whose language is known is not looked at.
        """
        options, splits = self.experiment.parsers[parser], self.experiment.splits_in_files
        files = [file for split in splits for file in self.corpus.files_of(split, "source")][:1]
        if not isinstance(options, TrainedParser) or options.known_language() is not None or not files:
            return None
        treebank, *texts = map(Path, (self.parsers.treebank(parser, "train", "conllu"), *files))
        if not all(map(Path.is_file, (treebank, *texts))):
            return None
        difference = describe_difference(treebank, tuple(texts))
        if difference is None:
            return None
        return self.experiment.describe_foreign_parser(parser, f"is for another language ({difference})")

    def heads_of(self, parser: str) -> HeadSource | None:
        """Return where the heads of a parser's constituents come from; None if its branching needs no heads.

        Raises:
            InputError: its dependency trees are asked for, and it has none.
        """
        options = self.experiment.parsers[parser]
        if not isinstance(options, PhraseOptions) or options.branching != "head-outward":
            return None
        by_rules = HeadSource(self.experiment.language_of(parser), dependencies=False)
        lacking = self._lacking_dependencies(parser)
        if options.heads == "dependencies" and lacking:
            raise InputError(f"parsers.{parser}.heads: dependencies, but {lacking}; choose auto or rules")
        prefers_rules = options.heads == "rules" or (options.heads == "auto" and by_rules.is_english)
        return by_rules if prefers_rules or lacking else by_rules._replace(dependencies=True)

    def _lacking_dependencies(self, parser: str) -> str | None:
        """Say why a parser has no dependency trees of a text that it has phrase trees of; None if it has them."""
        options, in_files = self.experiment.parsers[parser], self.experiment.splits_in_files
        with_phrases = [split for split in in_files if options.lacking("ptb", [split]) is None]
        if lacking := [split for split in with_phrases if options.lacking("conllu", [split]) is not None]:
            return f"there are no {NAMES_OF_TREES['conllu']} trees of {listed(lacking)}"
        models = self._models.get(parser, {}).get("conllu")
        if models is not None and not any(Path(file).parent.name == "depparse" for file in models):
            return "its directory has no dependency parser"
        return None

    def warnings(self) -> list[str]:
        """Format the warnings about parsers whose phrases are read: rules of another language find their heads."""
        parsers = {parser for _, parser, trees, _ in self.experiment.readings() if trees == "ptb"}
        sources = {parser: heads for parser in sorted(parsers) if (heads := self.heads_of(parser)) is not None}
        return [
            f"parsers.{parser}: {heads.describe()} find the heads of phrases, since there are no rules of "
            f"`{heads.language}` and {self._lacking_dependencies(parser) or '`heads` is `rules`'}; give dependency "
            "trees too, or choose `branching: right` or `left`"
            for parser, heads in sources.items()
            if heads.is_foreign
        ]

    def describe_heads(self, parser: str) -> str | None:
        """Name the source of the heads of a parser's constituents; None for the rules of English in English."""
        heads = self.heads_of(parser)
        return None if heads is None or (heads.is_english and not heads.dependencies) else heads.describe()

    def words_of(self, parser: str) -> str:
        """What a parser reads of the texts: `text` (their tokens), `english` or `stanza`."""
        options = self.stanza(parser)
        downloaded = isinstance(options, StanzaParser) and options.directory is None
        has_tokenizer = downloaded or bool(self._tokenizers.get(parser))
        return options.words_of(self.experiment.corpora.source, has_tokenizer)

    def stanza(self, parser: str) -> StanzaOptions:
        """The options of a parser that runs Stanza."""
        options = self.experiment.parsers[parser]
        assert isinstance(options, StanzaOptions)
        return options

    def models_of(self, parser: str, trees: Trees) -> list[str]:
        """Model files that a parse is made with, so that it is made again when they change; none for a download."""
        if isinstance(self.stanza(parser), TrainedParser):
            tagger, last = PROCESSORS[trees]
            return [self.parsers.model_file(parser, name) for name in (tagger, last, f"{last}.pretrain")]
        return self._models[parser][trees] if parser in self._models else []

    def kinds_of_both(self, parser: str, other: str) -> list[Trees]:
        """Kinds of trees that systems read of both parsers."""
        return [trees for trees in self.experiment.trees_of(parser) if trees in self.experiment.trees_of(other)]

    def pairs_of_parsers(self) -> list[tuple[str, str]]:
        """Parsers behind what is asked for that are compared; a pair has one file, whatever the order of `parsers`."""
        pairs = combinations(sorted(self.experiment.parsers_asked), 2)
        return [(parser, other) for parser, other in pairs if self.kinds_of_both(parser, other)]

    def reports_of_parsers(self) -> list[str]:
        """The reports on the parsers behind all that is asked for, and how far each two of them agree."""
        return [
            *(f"<results>/syntax/{parser}/report.tsv" for parser in sorted(self.experiment.parsers_asked)),
            *(f"<results>/syntax/{parser}/agreement.{other}.tsv" for parser, other in self.pairs_of_parsers()),
        ]

    # Jobs of the rules, each called like its rule.

    def parse(self, parser: str, split: str, trees: Trees) -> Job:
        """Parse a text."""
        return self._parse_text(parser, split, trees, {})

    def parse_shard(self, parser: str, split: str, shard: str, trees: Trees) -> Job:
        """Parse a shard of a text."""
        sentences = self.sentences[split]
        return self._parse_text(parser, split, trees, {"first": int(shard) * sentences, "sentences": sentences})

    def _parse_text(self, parser: str, split: str, trees: Trees, part: dict[str, int]) -> Job:
        """Return the job that parses a part of a text.

        Raises:
            InputError: the parser does not know such text, and is not asked for by name.
        """
        if parser in self._foreign_parsers:
            raise InputError(self._foreign_parsers[parser])
        if parser in self.experiment.unfit_parsers and split in self.experiment.splits_in_files:
            raise InputError(self.experiment.unfit_parsers[parser])
        tokens, text = (path.format(split=split) for path in (self.corpus.tokens("source"), self.corpus.text("source")))
        return self._parse(parser, trees, tokens, text, part)

    def parse_held_out_trees(self, parser: str, trees: Trees) -> Job:
        """Parse the words of a parser's gold trees."""
        return self._parse(parser, trees, f"<results>/syntax/{parser}/accuracy/{trees}.tokens", None, {})

    def parse_raw_text(self, parser: str) -> Job:
        """Parse the text of a parser's gold trees."""
        folder = f"<results>/syntax/{parser}/treebank"
        return self._parse(parser, "conllu", f"{folder}/test.tokens", f"{folder}/test.text", {"over_words": True})

    def _parse(self, parser: str, trees: Trees, tokens: str, text: str | None, settings: Mapping[str, Any]) -> Job:
        """Return the job that parses tokens, of an untokenized text in the words that the parser reads."""
        options = self.stanza(parser)
        models = self.models_of(parser, trees)
        execution: dict[str, Any] = {}
        files: dict[str, Files] = {}
        if isinstance(options, TrainedParser):
            files |= dict(zip([*PROCESSORS[trees], "pretrain"], models, strict=True))
        elif isinstance(options, StanzaParser) and options.directory is not None:
            files |= {"directory_files": models}
            execution |= {"directory": self.experiment.path(options.directory)}
        words = "text" if text is None else self.words_of(parser)
        if words in ("english", "stanza"):
            files |= {"text": text}
        if words == "treebank":
            files |= {"word_table": self.parsers.word_table(parser)}
        elif words == "stanza" and isinstance(options, TrainedParser):
            files |= self.parsers.learned_words(parser)
        elif words == "stanza":
            files |= {"directory_files": [*models, *self._tokenizers.get(parser, [])]}
        package = options.package or DEFAULT_PACKAGE if isinstance(options, StanzaParser) else None
        is_downloaded = package is not None and "directory" not in execution
        return Job(
            "syntax.parse",
            files={"tokens": tokens, **files},
            settings={
                "annotation": ANNOTATION[trees],
                "language": self.experiment.language_of(parser),
                "device": self.experiment.training.device,
                **({"words": words} if words in ("english", "stanza") else {}),
                **options.model_dump(include={"max_words", "batch_size"}),
                **({"package": package} if is_downloaded else {}),
                **settings,
            },
            execution=execution,
            software=["stanza", "torch"],
            is_cached=not is_downloaded,
        )

    def tokenize_treebank(self, parser: str, part: str) -> Job:
        """Tokenize the text of a part of a parser's treebank as the source is."""
        return self.corpus.tokenization_job(f"<results>/syntax/{parser}/treebank/{part}.text", "source")

    def parser_report(self, parser: str) -> Job:
        """Report what a parser did with each text, of the kinds of trees that systems read."""
        kinds = self.experiment.trees_of(parser)

        def files(ending: str) -> dict[str, dict[str, str]]:
            return {
                split: {ANNOTATION[trees]: f"<results>/syntax/{parser}/{split}.{trees}{ending}" for trees in kinds}
                for split in self.experiment.corpora.splits
            }

        return Job(
            "syntax.parser_report",
            files={
                "statistics": files(".statistics.json"),
                "counts": files(".json"),
                "facts": files(".facts.json"),
                "accuracy": {
                    ANNOTATION[trees]: f"<results>/syntax/{parser}/accuracy/{trees}.tsv"
                    for trees in kinds
                    if self.parsers.has_gold(parser, trees)
                },
            },
        )

    def binarize(self, parser: str, split: str) -> Job:
        """Make the phrase trees of a text binary."""
        heads = self.heads_of(parser)
        has_dependencies = heads is not None and heads.dependencies
        dependencies = {"dependencies": f"<results>/syntax/{parser}/{split}.conllu"} if has_dependencies else {}
        has_rules = heads is not None and heads.rules != DEFAULT_RULES
        return Job(
            "syntax.binarize",
            files={**self._trees_and_tokens(parser, split, "ptb"), **dependencies},
            settings={
                "branching": self.experiment.parsers[parser].branching,
                **({"rules": heads.rules} if heads is not None and has_rules else {}),
            },
        )

    def distances(self, parser: str, split: str) -> Job:
        """Compute the distances of the words of a text."""
        return Job("syntax.distances", files=self._trees_and_tokens(parser, split), software=["pyarrow"])

    def units(self, parser: str, split: str) -> Job:
        """Find the dependency units of a text."""
        return Job("syntax.units", files=self._trees_and_tokens(parser, split), software=["pyarrow"])

    def labels(self, parser: str, split: str) -> Job:
        """Write the dependency labels of a text."""
        return Job("syntax.labels", files=self._trees_and_tokens(parser, split))

    def _trees_and_tokens(self, parser: str, split: str, trees: Trees = "conllu") -> dict[str, str]:
        return {
            "trees": f"<results>/syntax/{parser}/{split}.{trees}",
            "tokens": self.corpus.tokens("source").format(split=split),
        }

    def merge_trees(self, parser: str, split: str, trees: Trees) -> Job:
        """Join the trees of all shards of a text."""
        folder = f"<results>/syntax/{parser}/shards/{split}"
        parts = [f"{folder}/{shard:04}.{trees}" for shard in range(self.shards[split])]
        return Job(
            "syntax.merge_trees",
            files={
                "parts": parts,
                "counts": [f"{part}.json" for part in parts],
                "facts": [f"{part}.facts.json" for part in parts],
                "tokens": self.corpus.tokens("source").format(split=split),
            },
            settings={"annotation": ANNOTATION[trees]},
        )

    def import_trees(self, parser: str, split: str, trees: Trees) -> Job:
        """Import trees of a text that the user gives, or those of the generator for a generated text."""
        given_trees = self.experiment.given_trees(parser, split, trees) or [self.corpus.gold_trees(split, trees)]
        return Job(
            "syntax.import_trees",
            files={
                "trees": given_trees,
                "text": self.corpus.raw(split, "source"),
                "lines": f"<results>/corpus/clean/{split}.lines",
                "tokens": self.corpus.tokens("source").format(split=split),
            },
            settings={
                "annotation": ANNOTATION[trees],
                "ignore_case": self.experiment.corpora.source.case != "keep",
            },
        )

    def control_trees(self, parser: str, split: str, trees: Trees) -> Job:
        """Make trees of a shape for a text."""
        options = self.experiment.parsers[parser]
        return Job(
            "syntax.control_trees",
            files={"tokens": self.corpus.tokens("source").format(split=split)},
            settings={
                "annotation": ANNOTATION[trees],
                **options.model_dump(mode="json", include={"shape", "seed"}),
            },
        )

    def tree_statistics(self, parser: str, split: str, trees: Trees) -> Job:
        """Sum up measures of the trees of a text."""
        return Job(
            "syntax.tree_statistics",
            files={"trees": f"<results>/syntax/{parser}/{split}.{trees}"},
            settings={"annotation": ANNOTATION[trees]},
        )

    def agreement(self, parser: str, other: str) -> Job:
        """Compare the trees of two parsers that systems read of both; phrase trees once they are binary."""
        endings = {
            trees: trees if trees == "conllu" else f"binary.{trees}" for trees in self.kinds_of_both(parser, other)
        }
        return Job(
            "syntax.agreement",
            files={
                parameter: {
                    split: {
                        ANNOTATION[trees]: f"<results>/syntax/{name}/{split}.{ending}"
                        for trees, ending in endings.items()
                    }
                    for split in self.experiment.corpora.splits
                }
                for parameter, name in (("first", parser), ("second", other))
            },
        )


def _has_models(files: Sequence[str]) -> bool:
    """Whether there are models among the files of a Stanza directory that a parse depends on."""
    return any(Path(file).suffix == ".pt" for file in files)
