"""`parsers`: named sources of trees; `parsing`: the size of parsing jobs."""

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
    """Gold trees in CoNLL-U and PTB files; without files, generated sentences that do not occur in the corpus."""

    generate: Count | None = Field(
        None, description="Number of training sentences; dev and test have a tenth of it each."
    )
    train: str | None = Field(None, description="CoNLL-U for the tagger and the dependency parser.")
    dev: str | None = None
    """CoNLL-U file by which the training of the parser stops."""
    test: str | None = None
    """CoNLL-U file on which the accuracy is measured."""
    constituency_train: str | None = Field(None, description="PTB brackets, one tree a line.")
    constituency_dev: str | None = None
    """PTB file by which the training of the constituency parser stops."""
    constituency_test: str | None = None
    """PTB file on which the accuracy of the constituency parser is measured."""

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
        """True if the treebank is generated, not in files."""
        return self.train is None

    @property
    def has_constituents(self) -> bool:
        """True if the treebank has constituency trees."""
        return self.is_generated or self.constituency_train is not None

    def get_files(self) -> list[str | None]:
        """Return the files of the treebank, dependency trees first."""
        return [*self.model_dump(exclude={"generate"}).values()]


BranchingOption = Literal["right", "left", "head-outward"]
"""Binarization of constituents with more than two children."""

HeadSourceOption = Literal["auto", "dependencies", "rules"]
"""Sources of the heads of constituents."""

ParserWordsOption = Literal["text", "english", "treebank", "stanza"]
"""Units that a parser reads: tokens, or words of English treebanks, its training treebank or Stanza's tokenizer."""


class BaseParserConfig(ConfigSection):
    """Base class of all parsers. Subclasses also define `branching`."""

    runs_stanza: ClassVar[bool] = False
    """True if Stanza parses the text, with `max_words` and `batch_size`."""

    def find_missing_trees(self, tree_format: TreeFormat, file_splits: Collection[str]) -> tuple[str, str] | None:
        """Return an error if the parser cannot provide trees in a format; else None.

        Args:
            tree_format: required format.
            file_splits: splits that need the trees, and whose text is in files.

        Returns:
            The suffix of the parser's key in the message, and the rest of the message with the placeholder `{reader}`.
        """
        return None

    def has_gold_trees(self, tree_format: TreeFormat) -> bool:
        """Return whether the accuracy of the parser is measured on gold trees in a format."""
        return False

    def get_named_files(self) -> list[str | None]:
        """Return the user's files and folders in the options."""
        return []

    def find_parser_language(self) -> ParserLanguage | None:
        """Return the language of the parser; None if it is unknown or does not matter."""
        return None


class BinarizedParserConfig(BaseParserConfig):
    """Options of parsers whose phrases may have more than two children."""

    branching: BranchingOption = Field(
        "head-outward", description="Binarization of constituents with more than two children."
    )
    heads: HeadSourceOption = Field(
        "auto",
        description="Heads of constituents, for branching head-outward. dependencies: those of the parser's "
        "dependency trees. rules: head rules of the language (English, Chinese), or else of English. auto: rules for "
        "English; for other languages dependencies, if the parser makes dependency trees, or else rules.",
    )

    @model_validator(mode="after")
    def _check_heads(self) -> Self:
        if self.heads != "auto" and self.branching != "head-outward":
            raise ValueError(f"branching: {self.branching} uses no heads; leave out `heads`, or choose head-outward")
        return self


class FallibleParserConfig(BinarizedParserConfig):
    """Options of parsers that may fail on a sentence."""

    fallback: str | None = Field(
        None,
        description="Another of `parsers`, whose trees replace those of sentences on which this parser fails, in the "
        "format that a system reads. `branching` and `heads` stay those of this parser. null: such sentences have no "
        "tree.",
    )


class BaseStanzaParserConfig(FallibleParserConfig):
    """Options of parsers that run Stanza."""

    runs_stanza: ClassVar[bool] = True
    language: LanguageCode | None = Field(
        None,
        description="Language of the parser. null: that of its treebank (English if generated; by file names such as "
        "fr_sequoia-ud-train.conllu), or else that of the source.",
    )
    max_words: Count = Field(150, description="Longer sentences are not parsed, but count as failed.")
    batch_size: BatchSize = Field(64, description="Sentences parsed at a time.")
    words: Literal["auto"] | ParserWordsOption = Field(
        "auto",
        description="Units that the parser reads; its trees are always over the tokens of the text. text: these "
        "tokens. english: words as in English treebanks of Universal Dependencies. treebank: words as in the treebank "
        "that the parser is trained from, by a table. stanza: words of the package's tokenizer, or of a tokenizer that "
        "is trained on the parser's treebank. auto: text for tokenized text (tokenizer: none); else stanza if the "
        "package has a tokenizer; else english for English; else treebank for a trained parser; else text.",
    )

    def find_parser_language(self) -> ParserLanguage | None:
        """Return the configured language."""
        return None if self.language is None else ParserLanguage(self.language, "its `language`")

    def resolve_parser_words(self, source_language: LanguageConfig, has_tokenizer: bool) -> ParserWordsOption:
        """Return the units that the parser reads.

        Args:
            source_language: options of the source side.
            has_tokenizer: true if the parser's models include a tokenizer.
        """
        if self.words != "auto":
            return self.words
        if source_language.tokenizer == "none":
            return "text"
        if has_tokenizer:
            return "stanza"
        return "english" if source_language.is_english else self._get_default_words(source_language)

    def _get_default_words(self, source_language: LanguageConfig) -> ParserWordsOption:
        """Return the default units for text that is not English if the models have no tokenizer."""
        return "text"


class ProcessorTrainingConfig(ConfigSection):
    """Epochs and size of one of a parser's networks."""

    epochs: Count | None = Field(None, description="Passes over the treebank; null: 5, constituency parser 2.")
    hidden: LayerSize | None = Field(None, ge=4, description=f"Size of the layers; null: {DEFAULT_HIDDEN_SIZE}.")


class TrainedParserConfig(BaseStanzaParserConfig):
    """Stanza trained from a treebank."""

    type: Literal["trained"]
    treebank: TreebankConfig
    vectors: str | None = Field(None, description="Word vectors in word2vec text format.")
    seed: Seed = 1
    """Seed of the random numbers."""
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
        """Return the language of the treebank if it is generated, else the configured one, else that in file names."""
        if self.treebank.is_generated:
            return ParserLanguage("en", "its treebank is generated")
        return super().find_parser_language() or find_treebank_language(self.treebank.get_files())

    def find_missing_trees(self, tree_format: TreeFormat, file_splits: Collection[str]) -> tuple[str, str] | None:
        """Return an error for phrase trees if the treebank has none."""
        if self.has_gold_trees(tree_format):
            return None
        return ".treebank", (
            f": no {TREE_FORMAT_NAMES[tree_format]} trees, but {{reader}} reads phrases of this parser; give "
            "`constituency_train`, `constituency_dev` and `constituency_test`, or `targets` that need no phrases"
        )

    def has_gold_trees(self, tree_format: TreeFormat) -> bool:
        """Return whether the treebank has trees in the format."""
        return tree_format == "conllu" or self.treebank.has_constituents

    def get_named_files(self) -> list[str | None]:
        """Return the file of word vectors and those of the treebank."""
        return [self.vectors, *self.treebank.get_files()]


DEFAULT_STANZA_PACKAGE = "default"
"""Stanza's name for the default package of a language."""


class StanzaParserConfig(BaseStanzaParserConfig):
    """A Stanza package in a local directory; without a directory it is downloaded."""

    type: Literal["stanza"]
    package: str | None = Field(None, description="Package to download; null: the default of the language.")
    directory: str | None = Field(None, description="A local Stanza directory, instead of a download.")
    model_language: LanguageCode | None = Field(
        None,
        description="Language of the models, if they are to parse text in another language, such as a related one "
        "without models; null: that of the parser.",
    )
    test: str | None = Field(None, description="Gold trees (CoNLL-U) to measure accuracy; null: not measured.")
    constituency_test: str | None = Field(
        None, description="Gold phrase trees (PTB brackets) to measure accuracy; null: not measured."
    )

    @model_validator(mode="after")
    def _check_package(self) -> Self:
        if self.package is not None and self.directory is not None:
            raise ValueError("give either `package` (downloaded) or `directory` (local)")
        if self.words == "treebank":
            raise ValueError("a Stanza package has no treebank here; set `words` to auto, stanza, text or english")
        return self.replace_defaults_by_null({"package": DEFAULT_STANZA_PACKAGE})

    def get_test_file(self, tree_format: TreeFormat) -> str | None:
        """Return the file of gold trees in a format; None if accuracy is not measured."""
        return self.test if tree_format == "conllu" else self.constituency_test

    def has_gold_trees(self, tree_format: TreeFormat) -> bool:
        """Return whether there is a test file in the format."""
        return self.get_test_file(tree_format) is not None

    def get_named_files(self) -> list[str | None]:
        """Return the model directory, its index, and the files of gold trees."""
        index = None if self.directory is None else f"{self.directory}/resources.json"
        return [self.directory, index, self.test, self.constituency_test]


class TreeFilesConfig(ConfigSection):
    """Files with one tree for each sentence of a split."""

    conllu: FileList = Field([], description="Dependency trees: a CoNLL-U file, or several that are concatenated.")
    ptb: FileList = Field(
        [], description="Phrase trees in PTB brackets, one tree a line: a file, or several that are concatenated."
    )

    def get_files(self, tree_format: TreeFormat) -> list[str]:
        """Return the files in a format, in order."""
        return self.conllu if tree_format == "conllu" else self.ptb


class TreeFileParserConfig(FallibleParserConfig):
    """Trees from the user's files; for generated text without files, the gold trees."""

    type: Literal["given"]
    trees: dict[str, TreeFilesConfig] = Field(
        {},
        description="Files by split: `train`, `dev` or the name of a test set. The files of `train` have the order of "
        "`corpora.train`; gold trees of generated sentences follow. A split whose text is generated needs none.",
    )
    partial: bool = Field(
        False,
        description="Sentences of texts in files that have no trees here count as failed, and get those of `fallback`.",
    )

    @model_validator(mode="after")
    def _check_partial_trees(self) -> Self:
        if self.partial and self.fallback is None:
            raise ValueError("partial: sentences without trees need those of another parser; name it in `fallback`")
        return self

    def get_split_files(self, split: str, tree_format: TreeFormat) -> list[str]:
        """Return the files of a split in a format, in order."""
        return self.trees[split].get_files(tree_format) if split in self.trees else []

    def find_missing_trees(self, tree_format: TreeFormat, file_splits: Collection[str]) -> tuple[str, str] | None:
        """Return an error if the trees of a split are missing."""
        splits = [split for split in file_splits if not self.get_split_files(split, tree_format)]
        if not splits or self.partial:
            return None
        return "", (
            f": no {TREE_FORMAT_NAMES[tree_format]} trees of {format_name_list(splits)}, which {{reader}} reads; give "
            f"{format_name_list([f'trees.{split}.{tree_format}' for split in splits])}"
        )

    def get_named_files(self) -> list[str | None]:
        """Return the files of trees."""
        return [
            file
            for split_trees in self.trees.values()
            for tree_format in TREE_FORMATS
            for file in split_trees.get_files(tree_format)
        ]


DEFAULT_CONTROL_SEED = 1

ORDER_PRESERVING_SHAPES = ("right-branching", "left-branching", "chain")
"""Shapes of control trees that preserve word order."""

RANDOM_SHAPES = ("random", "permuted")
"""Shapes of control trees that depend on a seed."""


class ControlParserConfig(BaseParserConfig):
    """Control trees: trees of one shape without information about syntax."""

    type: Literal["control"]
    branching: ClassVar[BranchingOption] = "right"
    """Has no effect, because the trees are binary."""
    fallback: ClassVar[None] = None
    """There is none, because control trees never fail, except permuted ones of a failed parse."""
    shape: Literal["right-branching", "left-branching", "balanced", "random", "chain", "permuted"] = Field(
        description="The shape of the trees; permuted: each dependency tree of `parser`, with its nodes assigned to "
        "the words at random."
    )
    parser: str | None = Field(
        None,
        description="For `shape: permuted`, another of `parsers`, whose trees are permuted. A sentence on which it "
        "fails has no tree here, either.",
    )
    seed: Seed = Field(DEFAULT_CONTROL_SEED, description="Seed of random and permuted trees.")

    @model_validator(mode="after")
    def _check_shape(self) -> Self:
        if self.seed != DEFAULT_CONTROL_SEED and self.shape not in RANDOM_SHAPES:
            raise ValueError(f"a shape of {self.shape} uses no random numbers; leave out `seed`")
        if self.shape == "permuted" and self.parser is None:
            raise ValueError("a shape of permuted needs trees; name their parser in `parser`")
        if self.shape != "permuted" and self.parser is not None:
            raise ValueError(f"a shape of {self.shape} reads no trees; leave out `parser`, or choose `shape: permuted`")
        return self

    def find_missing_trees(self, tree_format: TreeFormat, file_splits: Collection[str]) -> tuple[str, str] | None:
        """Return an error for permuted phrase trees, which do not exist."""
        if self.shape != "permuted" or tree_format == "conllu":
            return None
        return ".shape", (
            f": permuted has no {TREE_FORMAT_NAMES[tree_format]} trees, but {{reader}} reads phrases; cross it with "
            "another control, such as `shape: random`"
        )


AnyParserConfig = Annotated[
    TrainedParserConfig | StanzaParserConfig | TreeFileParserConfig | ControlParserConfig, Field(discriminator="type")
]


class ParsingConfig(ConfigSection):
    """Size of parsing jobs."""

    shard_size: Count = Field(
        200_000,
        description="Words per parsing job, at six bytes a word; the shards of a longer text are parsed in parallel "
        "and merged in order.",
    )
