"""Jobs of the rules that train and evaluate parsers."""

from dataclasses import dataclass

from pipeline_py.config.corpora import GeneratedTextConfig, compute_treebank_share
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.parsers import BaseStanzaParserConfig, TrainedParserConfig
from pipeline_py.kinds.syntax_kind import TREE_FORMATS, TreeFormat
from pipeline_py.plan.corpus import CorpusPlan, build_generation_job
from pipeline_py.plan.paths import UserFileHasher, build_name_pattern
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job

ANNOTATION_NAMES: dict[TreeFormat, str] = {"conllu": "dependency", "ptb": "constituency"}

TREEBANK_PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class ParsersPlan:
    """Jobs and file paths for treebanks, parser models and accuracies."""

    experiment: ExperimentConfig
    hash_user_files: UserFileHasher
    corpus: CorpusPlan

    def parser_name_pattern(self, *parser_types: str) -> str:
        """Return a regular expression for the names of parsers of some types."""
        return build_name_pattern(
            name for name, parser in self.experiment.parsers.items() if parser.type in parser_types
        )

    def control_name_pattern(self, *, is_permuted: bool) -> str:
        """Return a regular expression for the names of control parsers that do or do not permute other trees."""
        return build_name_pattern(
            name
            for name, parser in self.experiment.parsers.items()
            if parser.type == "control" and (self.experiment.get_permuted_parser(name) is not None) == is_permuted
        )

    def get_trained_parser_config(self, parser: str) -> TrainedParserConfig:
        """Return the configuration of a parser, which must be trained here."""
        options = self.experiment.parsers[parser]
        assert isinstance(options, TrainedParserConfig)
        return options

    def has_gold_trees(self, parser: str, tree_format: TreeFormat) -> bool:
        """Return whether there are gold trees to evaluate a parser on."""
        return self.experiment.parsers[parser].has_gold_trees(tree_format)

    def has_raw_text_accuracy(self, parser: str) -> bool:
        """Return whether a parser is also evaluated on the raw text of its gold trees, tokenized by the pipeline.

        Text that is already tokenized is only retokenized on request.
        """
        options = self.experiment.parsers[parser]
        if not isinstance(options, BaseStanzaParserConfig) or not options.has_gold_trees("conllu"):
            return False
        return self.experiment.corpora.source.tokenizer != "none" or options.words not in ("auto", "text")

    def get_treebank_path(self, parser: str, part: str, tree_format: TreeFormat) -> str:
        """Return the path of a parser's gold trees: the user's, or generated ones.

        Raises:
            InputError: the parser has no gold trees.
        """
        options = self.experiment.parsers[parser]
        if isinstance(options, TrainedParserConfig):
            if options.treebank.is_generated:
                return f"<results>/syntax/{parser}/treebank/{part}.{tree_format}"
            file = getattr(options.treebank, part if tree_format == "conllu" else f"constituency_{part}")
            if file is None:
                raise InputError(
                    f"parsers.{parser}.treebank: constituency trees are needed; give `constituency_{part}` "
                    "(PTB brackets)"
                )
            return self.experiment.resolve_path(file)
        if not isinstance(options, BaseStanzaParserConfig):
            raise InputError(
                f"parsers.{parser}: its trees are not parsed, so they have no accuracy; ask for its report"
            )
        file = options.get_test_file(tree_format)
        if file is None:
            raise InputError(
                f"parsers.{parser}: to measure its accuracy, give `test` (CoNLL-U) or `constituency_test` (PTB)"
            )
        return self.experiment.resolve_path(file)

    def get_model_path(self, parser: str, model_name: str) -> str:
        """Return the path of a model of a parser that is trained here."""
        return f"<results>/syntax/{parser}/model/{model_name}.pt"

    def get_word_table_path(self, parser: str) -> str:
        """Return the path of the table from tokens to the words of a parser's treebank."""
        return f"<results>/syntax/{parser}/model/words.tsv"

    def get_word_model_paths(self, parser: str) -> dict[str, str]:
        """Return the tokenizer trained on a parser's treebank, and the table that expands its tokens."""
        return {"segmenter": self.get_model_path(parser, "segmenter"), "word_table": self.get_word_table_path(parser)}

    @property
    def _is_lowercase(self) -> bool:
        """True if parsers read lower-cased text and are evaluated on it."""
        return self.experiment.corpora.source.case == "lower"

    # Jobs of the rules, named after their rules.

    def build_train_parser_job(self, parser: str, processor: str) -> Job:
        """Build the job that trains a tagger or a parser; the constituency parser is trained on predicted tags."""
        options = self.get_trained_parser_config(parser)
        trees: TreeFormat = "ptb" if processor == "constituency" else "conllu"
        return Job(
            "syntax.train_parser",
            files={
                "treebank_train": self.get_treebank_path(parser, "train", trees),
                "treebank_dev": self.get_treebank_path(parser, "dev", trees),
                "vectors": self.experiment.resolve_path(options.vectors) if options.vectors else None,
                "tagger": self.get_model_path(parser, "tagger") if processor == "constituency" else None,
            },
            settings={
                "processor": processor,
                "language": self.experiment.resolve_parser_language(parser),
                "seed": options.seed,
                "lowercase": self._is_lowercase,
                **{
                    name: value for name, value in getattr(options, processor).model_dump().items() if value is not None
                },
            },
            software=["stanza", "torch"],
            is_cached=True,
        )

    def build_generate_treebank_job(self, parser: str, part: str) -> Job:
        """Build the job that generates a part of a treebank."""
        sentences = self.get_trained_parser_config(parser).treebank.generate
        assert sentences is not None
        text_config = GeneratedTextConfig(sentences=sentences if part == "train" else max(sentences // 10, 20))
        share = compute_treebank_share(TREEBANK_PARTS.index(part))
        return build_generation_job(
            text_config,
            self.experiment.corpora.generator,
            share,
            self.corpus.vocabulary_texts,
            is_training_text=part == "train",
        )

    def build_treebank_text_job(self, parser: str, trees: TreeFormat) -> Job:
        """Build the job that writes the words of a parser's gold trees as text."""
        return Job(
            "syntax.treebank_text",
            files={"treebank": self.get_treebank_path(parser, "test", trees)},
            settings={"annotation": ANNOTATION_NAMES[trees], "lowercase": self._is_lowercase},
        )

    def build_original_text_of_treebank_job(self, parser: str, part: str) -> Job:
        """Build the job that writes the text of a parser's gold trees, or the tokens if the source is tokenized."""
        source = self.experiment.corpora.source
        return Job(
            "syntax.treebank_text",
            files={"treebank": self.get_treebank_path(parser, part, "conllu")},
            settings={
                "annotation": "dependency",
                "form": "tokens" if source.tokenizer == "none" else "original",
                "language": source.language,
            },
        )

    def build_learn_word_table_job(self, parser: str) -> Job:
        """Build the job that learns the table from tokens to the words of a parser's treebank."""
        return Job(
            "syntax.learn_word_table",
            files={
                "treebank": self.get_treebank_path(parser, "train", "conllu"),
                "tokens": f"<results>/syntax/{parser}/treebank/train.tokens",
            },
            settings={"lowercase": self._is_lowercase},
        )

    def build_learn_parser_segmenter_job(self, parser: str) -> Job:
        """Build the job that trains a tokenizer for the words of a parser's treebank."""
        return Job(
            "corpus.learn_segmenter",
            files={f"treebank_{part}": self.get_treebank_path(parser, part, "conllu") for part in ("train", "dev")},
            settings={"language": self.experiment.resolve_parser_language(parser), "words": True},
            software=["stanza", "torch", "jieba"],
        )

    def build_measure_accuracy_job(self, parser: str, trees: TreeFormat) -> Job:
        """Build the job that evaluates a parser on its gold trees, and on their raw text if that is tokenized."""
        has_raw_text = trees == "conllu" and self.has_raw_text_accuracy(parser)
        folder = f"<results>/syntax/{parser}/accuracy"
        return Job(
            "syntax.measure_accuracy",
            files={
                "gold": self.get_treebank_path(parser, "test", trees),
                "predicted": f"{folder}/test.{trees}",
                "raw_text": f"{folder}/raw.conllu" if has_raw_text else None,
            },
            settings={
                "annotation": ANNOTATION_NAMES[trees],
                "language": self.experiment.resolve_parser_language(parser),
                "lowercase": self._is_lowercase,
            },
        )

    def build_join_accuracies_job(self, parser: str) -> Job:
        """Build the job that joins the accuracies of all tree formats with gold trees.

        Without gold trees, the inputs raise an error.
        """
        kinds = [trees for trees in TREE_FORMATS if self.has_gold_trees(parser, trees)] or [*TREE_FORMATS]
        return Job(
            "syntax.join_accuracies",
            files={"input": [f"<results>/syntax/{parser}/accuracy/{trees}.tsv" for trees in kinds]},
        )
