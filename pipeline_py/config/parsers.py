"""`parsers`: named sources of trees, and `parsing`: how texts are parsed.

A parser's name is part of the paths of all that depends on it.
"""

from collections.abc import Collection
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from pipeline_py.config.base import BatchSize, ConfigSection, Count, LayerSize, Seed
from pipeline_py.config.corpora import FileList, LanguageCode, LanguageConfig
from pipeline_py.config.entry_errors import format_name_list
from pipeline_py.config.language_codes import ParserLanguage, find_treebank_language
from pipeline_py.config.parser_defaults import DEFAULT_EPOCHS, DEFAULT_HIDDEN_SIZE
from pipeline_py.kinds.syntax_kind import TREE_FORMAT_NAMES, TREE_FORMATS, TreeFormat


class TreebankConfig(ConfigSection):
    """Gold trees: CoNLL-U and PTB files; without files, generated sentences.

    A generated treebank comes from shares of the language that hold no sentence of the corpus.
    """

    generate: Count | None = Field(None, description="Training sentences; a tenth of it for dev and for test.")
    train: str | None = Field(None, description="CoNLL-U for the tagger and the dependency parser.")
    dev: str | None = None
    test: str | None = None
    constituency_train: str | None = Field(None, description="PTB brackets, one tree a line.")
    constituency_dev: str | None = None
    constituency_test: str | None = None

    @model_validator(mode="after")
    def _check_treebank_origin(self) -> Self:
        dependency = [self.train, self.dev, self.test]
        constituency = [self.constituency_train, self.constituency_dev, self.constituency_test]
        if self.generate is None and not any(dependency):
            raise ValueError("give `train`, `dev` and `test` files, or `generate`")
        if any(dependency) and not all(dependency):
            raise ValueError("a treebank needs all of `train`, `dev` and `test` (CoNLL-U)")
        if any(constituency) and not all(constituency):
            raise ValueError("give all of `constituency_train`, `constituency_dev` and `constituency_test`, or none")
        return self

    @property
    def is_generated(self) -> bool:
        """Whether there are no files."""
        return self.train is None

    @property
    def has_constituents(self) -> bool:
        """Whether there are gold constituency trees."""
        return self.is_generated or self.constituency_train is not None

    def get_files(self) -> list[str | None]:
        """Return its files, dependency trees first."""
        return [*self.model_dump(exclude={"generate"}).values()]


BranchingOption = Literal["right", "left", "head-outward"]
"""How constituents of more than two children are binarized."""

HeadSourceOption = Literal["auto", "dependencies", "rules"]
"""Sources of the heads of constituents."""

ParserWordsOption = Literal["text", "english", "treebank", "stanza"]
"""Units that a parser reads: tokens, or words of English treebanks, of its own treebank or of Stanza's tokenizer."""


class BaseParserConfig(ConfigSection):
    """What all parsers say of themselves; each has a `branching` too, as an option or because it is of no matter."""

    runs_stanza: ClassVar[bool] = False
    """Whether Stanza parses the text, with `max_words` and `batch_size`."""

    def find_missing_trees(self, tree_format: TreeFormat, file_splits: Collection[str]) -> tuple[str, str] | None:
        """What there is not of trees of a kind.

        Args:
            tree_format: the kind.
            file_splits: the splits that need them and whose text is in files, and not generated.

        Returns:
            The key below the parser's that lacks it, and the end of a sentence that names the reader, `{reader}`.
        """
        return None

    def has_gold_trees(self, tree_format: TreeFormat) -> bool:
        """Whether there are gold trees of a kind that its accuracy is measured on."""
        return False

    def get_named_files(self) -> list[str | None]:
        """Files and folders of the user's that its options name."""
        return []

    def find_parser_language(self) -> ParserLanguage | None:
        """Return the language that it is made for; None if it is unknown or does not matter."""
        return None


class BinarizedParserConfig(BaseParserConfig):
    """Options of parsers whose phrases may have more than two children."""

    branching: BranchingOption = Field(
        "head-outward", description="How constituents of more than two children are binarized."
    )
    heads: HeadSourceOption = Field(
        "auto",
        description="The heads of constituents, for branching head-outward. dependencies: those of the parser's "
        "dependency trees. rules: by head rules of the language (English, Chinese), or else of English. auto: rules "
        "for English; for other languages dependencies, if the parser makes such trees, or else rules.",
    )

    @model_validator(mode="after")
    def _check_heads(self) -> Self:
        if self.heads != "auto" and self.branching != "head-outward":
            raise ValueError(f"branching: {self.branching} uses no heads; leave out `heads`, or choose head-outward")
        return self


class BaseStanzaParserConfig(BinarizedParserConfig):
    """Options of parsers that run Stanza."""

    runs_stanza: ClassVar[bool] = True
    language: LanguageCode | None = Field(
        None,
        description="The language that the parser is made for. null: what its treebank says "
        "(generated trees are English; names of files such as fr_sequoia-ud-train.conllu), or else that of the source.",
    )
    max_words: Count = Field(150, description="Longer sentences get the fallback, and are counted.")
    batch_size: BatchSize = Field(64, description="Sentences parsed at a time.")
    words: Literal["auto"] | ParserWordsOption = Field(
        "auto",
        description="What the parser reads; its trees are always over the tokens of the text. text: these tokens. "
        "english: the words of English treebanks of Universal Dependencies. treebank: the words of the treebank that "
        "the parser is trained from, by a table. stanza: the words of the package's tokenizer; of a trained parser "
        "those of a tokenizer that is trained on its treebank. auto: of text that came tokenized (tokenizer: none) its "
        "tokens; of other text the words of the package's tokenizer, where there is one, else of English as english, "
        "else of a trained parser as treebank, else the tokens.",
    )

    def find_parser_language(self) -> ParserLanguage | None:
        """Return the stated language."""
        return None if self.language is None else ParserLanguage(self.language, "its `language`")

    def resolve_parser_words(self, source_language: LanguageConfig, has_tokenizer: bool) -> ParserWordsOption:
        """What the parser reads of a text.

        Args:
            source_language: the language of the text, and how it was tokenized.
            has_tokenizer: whether a tokenizer belongs to the parser's models.
        """
        if self.words != "auto":
            return self.words
        if source_language.tokenizer == "none":
            return "text"
        if has_tokenizer:
            return "stanza"
        return "english" if source_language.is_english else self._get_default_words(source_language)

    def _get_default_words(self, source_language: LanguageConfig) -> ParserWordsOption:
        """Default units for text that is not English and has no tokenizer of Stanza's."""
        return "text"


class ProcessorTrainingConfig(ConfigSection):
    """How long and how wide one of a parser's networks is trained."""

    epochs: Count | None = Field(None, description="Passes over the trees; null: 5, of the constituency parser 2.")
    hidden: LayerSize | None = Field(None, ge=4, description=f"Size of the layers; null: {DEFAULT_HIDDEN_SIZE}.")


class TrainedParserConfig(BaseStanzaParserConfig):
    """Stanza trained from a treebank."""

    type: Literal["trained"]
    treebank: TreebankConfig
    vectors: str | None = Field(None, description="Word vectors in word2vec text format.")
    seed: Seed = 1
    tagger: ProcessorTrainingConfig = ProcessorTrainingConfig()
    depparse: ProcessorTrainingConfig = ProcessorTrainingConfig()
    constituency: ProcessorTrainingConfig = ProcessorTrainingConfig()

    @model_validator(mode="after")
    def _normalize_defaults(self) -> Self:
        for processor, epochs in DEFAULT_EPOCHS.items():
            getattr(self, processor).replace_defaults_by_null({"epochs": epochs, "hidden": DEFAULT_HIDDEN_SIZE})
        return self

    def _get_default_words(self, source_language: LanguageConfig) -> ParserWordsOption:
        # Chinese has no multi-word tokens, and its segmenter learns the words of the treebank.
        return "text" if source_language.is_chinese and source_language.should_train_tokenizer else "treebank"

    @model_validator(mode="after")
    def _check_generated_language(self) -> Self:
        if self.treebank.is_generated and self.language not in (None, "en"):
            raise ValueError(f"language: generated trees are English, not {self.language}; name files in `treebank`")
        return self

    def find_parser_language(self) -> ParserLanguage | None:
        """Return the stated language, or that of its treebank."""
        if self.treebank.is_generated:
            return ParserLanguage("en", "its treebank is generated")
        return super().find_parser_language() or find_treebank_language(self.treebank.get_files())

    def find_missing_trees(self, tree_format: TreeFormat, file_splits: Collection[str]) -> tuple[str, str] | None:
        """Phrase trees, where the treebank has none to learn from."""
        if self.has_gold_trees(tree_format):
            return None
        return ".treebank", (
            f": no {TREE_FORMAT_NAMES[tree_format]} trees, but {{reader}} reads phrases of this parser; give "
            "`constituency_train`, `constituency_dev` and `constituency_test`, or `targets` that do without"
        )

    def has_gold_trees(self, tree_format: TreeFormat) -> bool:
        """Whether the treebank has trees of the kind."""
        return tree_format == "conllu" or self.treebank.has_constituents

    def get_named_files(self) -> list[str | None]:
        """Word vectors and the treebank's."""
        return [self.vectors, *self.treebank.get_files()]


DEFAULT_STANZA_PACKAGE = "default"
"""Stanza's name for the default package of a language."""


class StanzaParserConfig(BaseStanzaParserConfig):
    """A Stanza package: of a local directory, or downloaded when no directory is given."""

    type: Literal["stanza"]
    package: str | None = Field(None, description="A package that is downloaded; null: the language's default.")
    directory: str | None = Field(None, description="A local Stanza directory, instead of a download.")
    model_language: LanguageCode | None = Field(
        None,
        description="The language of the models, if they shall read text in another one, such as a related language "
        "without models; null: that of the parser.",
    )
    test: str | None = Field(None, description="Gold trees (CoNLL-U) to measure its accuracy; null: not measured.")
    constituency_test: str | None = Field(None, description="The same for phrase trees (PTB brackets).")

    @model_validator(mode="after")
    def _check_package(self) -> Self:
        if self.package is not None and self.directory is not None:
            raise ValueError("give either `package` (downloaded) or `directory` (local)")
        if self.words == "treebank":
            raise ValueError("a Stanza package has no treebank here; set `words` to auto, stanza, text or english")
        return self.replace_defaults_by_null({"package": DEFAULT_STANZA_PACKAGE})

    def get_test_file(self, tree_format: TreeFormat) -> str | None:
        """The gold trees of a kind that its accuracy is measured on."""
        return self.test if tree_format == "conllu" else self.constituency_test

    def has_gold_trees(self, tree_format: TreeFormat) -> bool:
        """Whether `get_test_file` names some."""
        return self.get_test_file(tree_format) is not None

    def get_named_files(self) -> list[str | None]:
        """The directory with its index, and gold trees."""
        index = None if self.directory is None else f"{self.directory}/resources.json"
        return [self.directory, index, self.test, self.constituency_test]


class TreeFilesConfig(ConfigSection):
    """Trees of one split, as many as its text has sentences."""

    conllu: FileList = Field([], description="Dependency trees: a CoNLL-U file, or several one after the other.")
    ptb: FileList = Field([], description="Phrase trees: PTB brackets, one tree a line, likewise.")

    def get_files(self, tree_format: TreeFormat) -> list[str]:
        """The files of a kind, in order."""
        return self.conllu if tree_format == "conllu" else self.ptb


class TreeFileParserConfig(BinarizedParserConfig):
    """Trees from the user's files; for generated text without files, the true trees."""

    type: Literal["given"]
    trees: dict[str, TreeFilesConfig] = Field(
        {},
        description="Files by split: `train`, `dev` or the name of a test set. Those of `train` are one after the "
        "other, as the texts of `corpora.train`. A split whose text is generated needs none.",
    )

    def get_split_files(self, split: str, tree_format: TreeFormat) -> list[str]:
        """The files of a kind for a split, in order."""
        return self.trees[split].get_files(tree_format) if split in self.trees else []

    def find_missing_trees(self, tree_format: TreeFormat, file_splits: Collection[str]) -> tuple[str, str] | None:
        """Trees of splits that the user brings none for."""
        splits = [split for split in file_splits if not self.get_split_files(split, tree_format)]
        if not splits:
            return None
        return "", (
            f": no {TREE_FORMAT_NAMES[tree_format]} trees of {format_name_list(splits)}, which {{reader}} reads; give "
            f"{format_name_list([f'trees.{split}.{tree_format}' for split in splits])}"
        )

    def get_named_files(self) -> list[str | None]:
        """The trees."""
        return [file for given in self.trees.values() for trees in TREE_FORMATS for file in given.get_files(trees)]


DEFAULT_CONTROL_SEED = 1

ORDER_PRESERVING_SHAPES = ("right-branching", "left-branching", "chain")
"""Shapes of control trees that follow the order of words."""


class ControlParserConfig(BaseParserConfig):
    """Trees of one shape, without information about the syntax: a gain that remains with them is not from syntax."""

    type: Literal["control"]
    branching: ClassVar[BranchingOption] = "right"
    """Of no matter, since the trees are binary."""
    shape: Literal["right-branching", "left-branching", "balanced", "random", "chain"]
    seed: Seed = Field(DEFAULT_CONTROL_SEED, description="Of the shape random.")

    @model_validator(mode="after")
    def _check_seed(self) -> Self:
        if self.seed != DEFAULT_CONTROL_SEED and self.shape != "random":
            raise ValueError(f"a shape of {self.shape} uses no random numbers; leave out `seed`")
        return self


AnyParserConfig = Annotated[
    TrainedParserConfig | StanzaParserConfig | TreeFileParserConfig | ControlParserConfig, Field(discriminator="type")
]


class ParsingConfig(ConfigSection):
    """How much of a text one job parses."""

    shard_size: Count = Field(
        200_000,
        description="Words that one job parses, at six bytes a word; a longer text is parsed in shards side by side, "
        "which are merged in order.",
    )
