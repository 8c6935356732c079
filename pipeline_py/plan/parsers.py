"""What the rules about parsers that are trained and measured here are given."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.generated import Generated, share_of_treebank
from pipeline_py.config.parsers import StanzaOptions, TrainedParser
from pipeline_py.input_error import InputError
from pipeline_py.kinds.kind import TREES, Trees
from pipeline_py.plan.corpus import generation_job
from pipeline_py.plan.paths import ContentsOf, one_of
from pipeline_py.provenance import made_by
from pipeline_py.run.job import Job

PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class ParsersPlan:
    """Treebanks, models, and what a parser's accuracy is measured on."""

    experiment: Experiment
    contents_of: ContentsOf

    @property
    def case(self) -> str:
        """An option: a parser of lower-cased text is measured on lower-cased words."""
        return "--lowercase" if self.experiment.corpora.source.case == "lower" else "--no-lowercase"

    def of_type(self, *types: str) -> str:
        """A pattern for the names of parsers of some types."""
        return one_of(name for name, parser in self.experiment.parsers.items() if parser.type in types)

    def trained(self, parser: str) -> TrainedParser:
        """The options of a parser that is trained here."""
        options = self.experiment.parsers[parser]
        assert isinstance(options, TrainedParser)
        return options

    def generate_treebank(self, parser: str, part: str) -> Job:
        """Generate a part of a treebank."""
        sentences = self.trained(parser).treebank.generate
        assert sentences is not None
        what = Generated(sentences=sentences if part == "train" else max(sentences // 10, 20))
        share = share_of_treebank(PARTS.index(part))
        return generation_job(what, self.experiment.corpora.generator, share, is_learnt=part == "train")

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

    def accuracies_of(self, parser: str) -> list[str]:
        """How good a parser is at each kind of trees that it has gold ones of; without any it is said what to give."""
        kinds = [trees for trees in TREES if self.has_gold(parser, trees)] or [*TREES]
        return [f"<results>/syntax/{parser}/accuracy/{trees}.tsv" for trees in kinds]

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

    def segmenter_training(self, parser: str) -> dict[str, Any]:
        """Parameters of `learn_segmenter` for the words of a parser's treebank."""
        return {
            "content": self.contents_of(self.treebank(parser, part, "conllu") for part in ("train", "dev")),
            "language": self.experiment.language_of(parser),
            "made_by": made_by("corpus.learn_segmenter", "stanza", "torch", "jieba"),
        }

    def treebank_tokens(self, parser: str, part: str) -> str:
        """The text of a parser's gold trees, tokenized as the source is."""
        return f"<results>/syntax/{parser}/treebank/{part}.tokens"

    def original_text(self, parser: str, part: str) -> dict[str, Any]:
        """Parameters of `treebank_text` for the text of gold trees; text that comes tokenized is that of its tokens."""
        return {
            "annotation": "dependency",
            "form": self.form_of_text(),
            "case": "--no-lowercase",
            "content": self.contents_of([self.treebank(parser, part, "conllu")]),
            "made_by": made_by("syntax.treebank_text"),
        }

    def form_of_text(self) -> list[str]:
        """Options of `treebank_text` for text like that of the source."""
        source = self.experiment.corpora.source
        form = "tokens" if source.tokenizer == "none" else "original"
        return [f"--form={form}", f"--language={source.language}"]

    def word_learning(self, parser: str) -> dict[str, Any]:
        """Parameters of `learn_words`."""
        treebank = self.contents_of([self.treebank(parser, "train", "conllu")])
        return {"case": self.case, "content": treebank, "made_by": made_by("syntax.learn_words")}

    def training_inputs(self, parser: str, processor: str) -> dict[str, str]:
        """Gold trees and word vectors; the constituency parser learns from the tags that it will see."""
        trees: Trees = "ptb" if processor == "constituency" else "conllu"
        vectors = self.trained(parser).vectors
        return {
            "train": self.treebank(parser, "train", trees),
            "dev": self.treebank(parser, "dev", trees),
            **({"vectors": self.experiment.path(vectors)} if vectors else {}),
            **({"tagger": self.model_file(parser, "tagger")} if processor == "constituency" else {}),
        }

    def training(self, parser: str, processor: str) -> dict[str, Any]:
        """Parameters of `train_parser`."""
        options = self.trained(parser)
        return {
            "language": self.experiment.language_of(parser),
            "seed": options.seed,
            "case": self.case,
            **getattr(options, processor).model_dump(),
            "content": self.contents_of(self.training_inputs(parser, processor).values()),
            "made_by": made_by("syntax.train_parser", "stanza", "torch"),
        }

    def training_options(self, parser: str, processor: str, inputs: Mapping[str, str]) -> list[str]:
        """Sizes, word vectors and tagger, as far as there are such, as options of `train_parser`."""
        sizes = getattr(self.trained(parser), processor).model_dump()
        return [
            *(f"--{name}={value}" for name, value in sizes.items() if value is not None),
            *(f"--{name}={inputs[name]}" for name in ("vectors", "tagger") if inputs.get(name)),
        ]
