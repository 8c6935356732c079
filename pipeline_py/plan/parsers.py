"""What the rules about parsers that are trained and measured here are given."""

from dataclasses import dataclass

from pipeline_py.config.corpora import Generated, share_of_treebank
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.parsers import StanzaOptions, TrainedParser
from pipeline_py.kinds.kind import TREES, Trees
from pipeline_py.plan.corpus import generation_job
from pipeline_py.plan.paths import ContentsOf, one_of
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job

ANNOTATION: dict[Trees, str] = {"conllu": "dependency", "ptb": "constituency"}

PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class ParsersPlan:
    """Treebanks, models, and what a parser's accuracy is measured on."""

    experiment: Experiment
    contents_of: ContentsOf

    def of_type(self, *types: str) -> str:
        """A pattern for the names of parsers of some types."""
        return one_of(name for name, parser in self.experiment.parsers.items() if parser.type in types)

    def trained(self, parser: str) -> TrainedParser:
        """The options of a parser that is trained here."""
        options = self.experiment.parsers[parser]
        assert isinstance(options, TrainedParser)
        return options

    def has_gold(self, parser: str, trees: Trees) -> bool:
        """Whether there are gold trees that a parser's accuracy is measured on."""
        return self.experiment.parsers[parser].has_gold(trees)

    def measures_raw_text(self, parser: str) -> bool:
        """Whether a parser's accuracy is also measured on the words that the pipeline makes of its gold text.

        Text that comes tokenized is not divided, unless that is asked for.
        """
        options = self.experiment.parsers[parser]
        if not isinstance(options, StanzaOptions) or not options.has_gold("conllu"):
            return False
        return self.experiment.corpora.source.tokenizer != "none" or options.words not in ("auto", "text")

    def treebank(self, parser: str, part: str, trees: Trees) -> str:
        """Gold trees of a parser: the user's, or generated.

        Raises:
            InputError: there are none.
        """
        options = self.experiment.parsers[parser]
        if isinstance(options, TrainedParser):
            if options.treebank.is_generated:
                return f"<results>/syntax/{parser}/treebank/{part}.{trees}"
            file = getattr(options.treebank, part if trees == "conllu" else f"constituency_{part}")
            if file is None:
                raise InputError(
                    f"parsers.{parser}.treebank: constituency trees are needed; give `constituency_{part}` "
                    "(PTB brackets)"
                )
            return self.experiment.path(file)
        if not isinstance(options, StanzaOptions):
            raise InputError(
                f"parsers.{parser}: its trees are not parsed, so they have no accuracy; ask for its report"
            )
        file = options.test_file(trees)
        if file is None:
            raise InputError(
                f"parsers.{parser}: to measure its accuracy, give `test` (CoNLL-U) or `constituency_test` (PTB)"
            )
        return self.experiment.path(file)

    def model_file(self, parser: str, name: str) -> str:
        """One of the models of a parser that is trained here."""
        return f"<results>/syntax/{parser}/model/{name}.pt"

    def word_table(self, parser: str) -> str:
        """The table from tokens to the words of a parser's treebank."""
        return f"<results>/syntax/{parser}/model/words.tsv"

    def learned_words(self, parser: str) -> dict[str, str]:
        """Return the tokenizer that is trained on a parser's treebank, and the table that expands its tokens."""
        return {"segmenter": self.model_file(parser, "segmenter"), "word_table": self.word_table(parser)}

    @property
    def _lowercase(self) -> bool:
        """Whether parsers see lower-cased text, so that they are measured on lower-cased words."""
        return self.experiment.corpora.source.case == "lower"

    # Jobs of the rules, each called like its rule.

    def train_parser(self, parser: str, processor: str) -> Job:
        """Train a tagger or a parser; the constituency parser learns from the tags that it will see."""
        options = self.trained(parser)
        trees: Trees = "ptb" if processor == "constituency" else "conllu"
        return Job(
            "syntax.train_parser",
            files={
                "treebank_train": self.treebank(parser, "train", trees),
                "treebank_dev": self.treebank(parser, "dev", trees),
                "vectors": self.experiment.path(options.vectors) if options.vectors else None,
                "tagger": self.model_file(parser, "tagger") if processor == "constituency" else None,
            },
            settings={
                "processor": processor,
                "language": self.experiment.language_of(parser),
                "seed": options.seed,
                "lowercase": self._lowercase,
                **{
                    name: value for name, value in getattr(options, processor).model_dump().items() if value is not None
                },
            },
            software=["stanza", "torch"],
            is_cached=True,
        )

    def generate_treebank(self, parser: str, part: str) -> Job:
        """Generate a part of a treebank."""
        sentences = self.trained(parser).treebank.generate
        assert sentences is not None
        what = Generated(sentences=sentences if part == "train" else max(sentences // 10, 20))
        share = share_of_treebank(PARTS.index(part))
        return generation_job(what, self.experiment.corpora.generator, share, is_learnt=part == "train")

    def treebank_text(self, parser: str, trees: Trees) -> Job:
        """Write the words of a parser's gold trees as text."""
        return Job(
            "syntax.treebank_text",
            files={"treebank": self.treebank(parser, "test", trees)},
            settings={"annotation": ANNOTATION[trees], "lowercase": self._lowercase},
        )

    def original_text_of_treebank(self, parser: str, part: str) -> Job:
        """Write the text of a parser's gold trees; if the source comes tokenized, the tokens."""
        source = self.experiment.corpora.source
        return Job(
            "syntax.treebank_text",
            files={"treebank": self.treebank(parser, part, "conllu")},
            settings={
                "annotation": "dependency",
                "form": "tokens" if source.tokenizer == "none" else "original",
                "language": source.language,
            },
        )

    def learn_words(self, parser: str) -> Job:
        """Learn which words of a parser's treebank the tokens of its text are."""
        return Job(
            "syntax.learn_words",
            files={
                "treebank": self.treebank(parser, "train", "conllu"),
                "tokens": f"<results>/syntax/{parser}/treebank/train.tokens",
            },
            settings={"lowercase": self._lowercase},
        )

    def learn_parser_segmenter(self, parser: str) -> Job:
        """Train a tokenizer of the words of a parser's treebank."""
        return Job(
            "corpus.learn_segmenter",
            files={f"treebank_{part}": self.treebank(parser, part, "conllu") for part in ("train", "dev")},
            settings={"language": self.experiment.language_of(parser), "words": True},
            software=["stanza", "torch", "jieba"],
        )

    def accuracy(self, parser: str, trees: Trees) -> Job:
        """Measure a parser on its gold trees, and on their raw text if that is divided into words."""
        has_raw_text = trees == "conllu" and self.measures_raw_text(parser)
        folder = f"<results>/syntax/{parser}/accuracy"
        return Job(
            "syntax.accuracy",
            files={
                "gold": self.treebank(parser, "test", trees),
                "predicted": f"{folder}/test.{trees}",
                "raw_text": f"{folder}/raw.conllu" if has_raw_text else None,
            },
            settings={
                "annotation": ANNOTATION[trees],
                "language": self.experiment.language_of(parser),
                "lowercase": self._lowercase,
            },
        )

    def accuracy_of_all_trees(self, parser: str) -> Job:
        """Join the accuracies of all kinds of trees for which there are gold trees; without any, name the remedy."""
        kinds = [trees for trees in TREES if self.has_gold(parser, trees)] or [*TREES]
        return Job(
            "syntax.accuracy_of_all_trees",
            files={"input": [f"<results>/syntax/{parser}/accuracy/{trees}.tsv" for trees in kinds]},
        )
