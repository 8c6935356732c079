"""`corpora`: the texts of the splits, the two languages, and the limits of training pairs."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeInt, model_validator

from pipeline_py.config.base import (
    MAX_NAME_LENGTH,
    NUMBER_VALIDATOR,
    ConfigSection,
    Count,
    CountOrZero,
    Seed,
    SquarablePositiveFloat32,
    check_name_collisions,
)
from pipeline_py.config.language_codes import resolve_language_code
from pipeline_py.files.language_properties import UNSPACED_LANGUAGES, get_base_language
from pipeline_py.files.set_names import ALL_SPLITS, AVERAGE_SET_NAME

HELD_OUT_SHARE_COUNT = 16
"""Number of shares of the generated language for held-out sets and treebanks; training text has the other half."""

MAX_TEST_SETS = HELD_OUT_SHARE_COUNT // 2
"""Limit of test sets of an experiment."""


class GeneratorConfig(ConfigSection):
    """The language of all generated text: train, dev and test sets, and treebanks."""

    lexicon: Literal["whole", "compact"] = Field(
        "whole", description="All words, or only the most frequent verbs with the most frequent nouns they occur with."
    )
    digits: bool = Field(True, description="Include numbers, times and dates in digits, most of them rare.")
    ambiguous: Annotated[float, NUMBER_VALIDATOR] = Field(
        0,
        ge=0,
        le=1,
        description="The share of sentences with an attachment that is ambiguous without a tree, in training text and "
        "in the training part of treebanks. Dev and test sets have none unless their `focus` is ambiguous.",
    )
    min_count: CountOrZero = Field(
        0,
        description="Only sentences whose words, in both languages, occur at least this often in the files of "
        "`corpora.train`, in upper or lower case; 0: all sentences.",
    )


class GeneratedSentencesConfig(ConfigSection):
    """Sentences of the embedded English-German corpus."""

    sentences: Count
    """Number of sentence pairs."""
    seed: Seed = 1
    """Seed of the random numbers."""
    min_length: Count = 3
    """Smallest number of tokens of a sentence."""
    max_length: Count = 45
    """Largest number of tokens of a sentence."""
    lengths: Literal["natural", "uniform"] = "natural"
    """natural: lengths as the grammar draws them; uniform: all lengths are equally frequent."""

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(f"min_length {self.min_length} exceeds max_length {self.max_length}")
        return self


class GeneratedTextConfig(GeneratedSentencesConfig):
    """Sentences of a generated training, dev or test set."""

    focus: Literal["any", "particle_verb", "relative_clause", "attachment", "agreement", "verb_final", "ambiguous"] = (
        Field("any", description="Only sentences that contain this phenomenon.")
    )


ContrastKind = Literal[
    "agreement",
    "particle",
    "case",
    "gender",
    "verb_final",
    "negation_dropped",
    "negation_added",
    "relative_attachment",
    "phrase_attachment",
]


AMBIGUOUS_ATTACHMENTS = ("relative_attachment", "phrase_attachment")
"""Kinds of errors that can only be recognized with a tree."""


class GeneratedContrastConfig(GeneratedSentencesConfig):
    """Sentences with a correct translation, and a contrastive one with a single error."""

    kinds: list[ContrastKind] = Field(
        [*get_args(ContrastKind)], min_length=1, description="Kinds of errors, with equally many pairs of each."
    )


LanguageShare = tuple[float, float]


def compute_split_share(split_index: NonNegativeInt) -> LanguageShare:
    """Return the share of the generated language of a split: 0 is train, 1 dev, 2… the test sets.

    A share depends on the index alone, so adding a test set does not change the others.
    """
    half = HELD_OUT_SHARE_COUNT * 2
    return (0.0, 0.5) if split_index == 0 else (0.5 + (split_index - 1) / half, 0.5 + split_index / half)


def compute_treebank_share(part_index: NonNegativeInt) -> LanguageShare:
    """Return the share of a treebank's train (0), dev (1) or test (2) part, counted from the end."""
    half = HELD_OUT_SHARE_COUNT * 2
    return (1.0 - (part_index + 1) / half, 1.0 - part_index / half)


def compute_contrast_share() -> LanguageShare:
    """Return the share of all contrastive sets, between those of test sets and treebanks."""
    return compute_split_share(2 + MAX_TEST_SETS)[0], compute_treebank_share(2)[0]


NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"
"""Names of splits and parsers, which are part of file names."""

RESERVED_SPLIT_NAMES = ("train", "dev", "tests", "facts", "config", "pretraining", ALL_SPLITS, AVERAGE_SET_NAME)
"""Names that test sets cannot have; `facts`, `config` and `pretraining` are other files in the folder of a run."""

DOWNLOAD_ID_PATTERN = r"^(mtdata|sacrebleu):\S+$"
LANGUAGE_CODE_PATTERN = r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*$"


def wrap_in_list(value: Any) -> Any:
    """Return a list of a single string or mapping, an empty list of null, and any other value unchanged."""
    return [] if value is None else [value] if isinstance(value, str | dict) else value


FileList = Annotated[list[str], BeforeValidator(wrap_in_list, json_schema_input_type=str | list[str])]
"""A file, or several files that are concatenated."""

DownloadId = Annotated[
    str | None,
    Field(
        pattern=DOWNLOAD_ID_PATTERN,
        description="Identifier of this text in mtdata or sacrebleu, e.g. sacrebleu:wmt14/full; `python -m "
        "pipeline_py.download` downloads it if its files do not exist.",
    ),
]


class TrainingTextConfig(ConfigSection):
    """A pair of parallel files; without files, generated sentences, which follow all files.

    Files override `generate`, so an experiment based on `config.yaml` need not remove its `generate`.
    """

    source: str | None = None
    """The file with the source sentences."""
    target: str | None = None
    """The file with their translations."""
    download: DownloadId = None
    generate: GeneratedTextConfig | None = None
    """Generate the text instead of reading files; null: read files."""

    @model_validator(mode="after")
    def _check_text_origin(self) -> Self:
        if (self.source is None) != (self.target is None):
            raise ValueError("parallel text needs both `source` and `target`")
        if self.source is None and self.generate is None:
            raise ValueError("give `source` and `target` files, or `generate`")
        if self.download is not None and self.source is None:
            raise ValueError("a `download` is stored in files; name them in `source` and `target`")
        return self


RemovedFromTrainingFlag = Annotated[
    bool,
    Field(
        description="Drop training sentences that occur in this set. false: keep them; a set that is added later then "
        "changes no training text, so nothing is trained again.",
    ),
]


class HeldOutTextConfig(ConfigSection):
    """A named dev or test set with one or more references; without files, generated sentences.

    A test set without references is translated, but not scored.
    """

    name: str = Field(pattern=NAME_PATTERN, max_length=MAX_NAME_LENGTH)
    """The name of the set in tables and files."""
    source: str | None = None
    """The file with the source sentences."""
    references: list[str] = []
    """Files with reference translations, one or more; empty: the set is translated but not scored."""
    download: DownloadId = None
    generate: GeneratedTextConfig | None = None
    """Generate the text instead of reading files; null: read files."""
    removed_from_training: RemovedFromTrainingFlag = True

    @model_validator(mode="after")
    def _check_text_origin(self) -> Self:
        if self.source is None and self.references:
            raise ValueError("`references` translate a `source`; name its file")
        if self.source is None and self.generate is None:
            raise ValueError("give a `source` file with a list of `references`, or `generate`")
        if self.download is not None and self.source is None:
            raise ValueError("a `download` is stored in files; name them in `source` and `references`")
        return self

    @property
    def has_references(self) -> bool:
        """True if there are references, in files or generated."""
        return self.source is None or bool(self.references)

    @property
    def files_by_side(self) -> dict[str, str | None]:
        """Files by side: `source`, `target` (first reference), `target1` … (further ones); None: generated."""
        references: list[str | None] = [None] if self.source is None else [*self.references]
        return {"source": self.source} | {
            f"target{number or ''}": reference for number, reference in enumerate(references)
        }


class LengthTextConfig(ConfigSection):
    """A parallel text whose sentence lengths are counted for a length model; it is not trained on or translated."""

    name: str = Field(pattern=NAME_PATTERN, max_length=MAX_NAME_LENGTH)
    """The name of the text in `decoding.length_model` and files."""
    source: str
    """The file with the source sentences."""
    target: str
    """The file with their translations."""
    download: DownloadId = None


class ContrastiveSetConfig(ConfigSection):
    """Pairs of a correct translation and one with an error; a system should give the correct one more probability."""

    name: str = Field(pattern=NAME_PATTERN, max_length=MAX_NAME_LENGTH)
    """The name of the set in tables and files."""
    file: FileList = Field(
        [],
        description="TSV with the columns source, correct, contrastive and, optionally, kind, distance, frequency; "
        "or LingEval97's JSON. One file or several; in a TSV without kinds, the file's name is the kind.",
    )
    generate: GeneratedContrastConfig | None = None
    """Generate the text instead of reading files; null: read files."""
    removed_from_training: RemovedFromTrainingFlag = True

    @model_validator(mode="after")
    def _check_text_origin(self) -> Self:
        if not self.file and self.generate is None:
            raise ValueError("give a `file`, or `generate`")
        return self


def _convert_true_to_word(value: Any) -> Any:
    """Convert YAML's boolean back to the option `true`."""
    return "true" if value is True else value


def _convert_false_to_code(value: Any) -> Any:
    """Convert YAML's boolean back to the language code `no` (Norwegian)."""
    return "no" if value is False else value


LanguageCode = Annotated[
    str,
    Field(
        pattern=LANGUAGE_CODE_PATTERN,
        description="ISO 639-1, 639-2 or 639-3 code, e.g. en, deu, zh, with or without script and region (fr-CA).",
    ),
    BeforeValidator(_convert_false_to_code),
    AfterValidator(resolve_language_code),
]
"""A language code, normalized to the one that all tools use."""


CorpusSide = Literal["source", "target"]


class LanguageConfig(ConfigSection):
    """One side of the corpus."""

    language: LanguageCode
    tokenizer: Literal["moses", "jieba", "stanza", "none"] = Field(
        "moses", description="none: the text is already tokenized, by spaces."
    )
    stanza_directory: str | None = Field(
        None,
        description="For tokenizer stanza: a local model directory; null: the tokenizer is trained on the treebank of "
        "the first parser of its language that is trained from files.",
    )
    stanza_package: str | None = Field(
        None,
        description="For tokenizer stanza: a package whose tokenizer is downloaded; default: the default package of "
        "the language; null: nothing is downloaded.",
    )
    punctuation: Literal["keep", "normalize"] = Field(
        "keep", description="normalize: unify quotation marks, dashes and spaces, as Moses does."
    )
    case: Annotated[Literal["keep", "lower", "true"], BeforeValidator(_convert_true_to_word)] = Field(
        "keep", description="Lower-case the text, or truecase it with a model learned from the training text."
    )

    @model_validator(mode="after")
    def _check_tokenizer(self) -> Self:
        if self.tokenizer == "jieba" and get_base_language(self.language) != "zh":
            tokenizers = "stanza or none" if self.is_unspaced else "moses, stanza or none"
            raise ValueError(f"jieba segments Chinese, not {self.language}; choose {tokenizers}")
        if self.tokenizer == "moses" and self.is_unspaced:
            tokenizers = "jieba, stanza or none" if get_base_language(self.language) == "zh" else "stanza or none"
            raise ValueError(f"moses needs spaces between words, but {self.language} has none; choose {tokenizers}")
        if self.punctuation == "normalize" and self.tokenizer == "none":
            raise ValueError("punctuation is normalized before text is tokenized; with tokenizer: none leave it out")
        if self.stanza_package is not None and self.stanza_directory is not None:
            raise ValueError("give either `stanza_package` (downloaded) or `stanza_directory` (local)")
        return self

    @property
    def comparison_options(self) -> dict[str, Any]:
        """Options for comparing clean sentences as if later steps were already applied."""
        return {
            "is_tokenized": self.tokenizer == "none",
            "ignores_case": self.case != "keep",
            "punctuation_language": self.language if self.punctuation == "normalize" else None,
        }

    @property
    def is_english(self) -> bool:
        """True for English of any region."""
        return self.language == "en"

    @property
    def is_unspaced(self) -> bool:
        """True if the language is written without spaces between words."""
        return get_base_language(self.language) in UNSPACED_LANGUAGES

    @property
    def is_chinese(self) -> bool:
        """True for Chinese in any script."""
        return get_base_language(self.language) == "zh"

    @property
    def should_train_tokenizer(self) -> bool:
        """True if Stanza's tokenizer has neither directory nor package and must be trained on a treebank."""
        return self.tokenizer == "stanza" and not self.stanza_directory and self.stanza_package is None


class PairLimitsConfig(ConfigSection):
    """Limits of training pairs; lengths are words of the raw text."""

    min_length: Count = 1
    """Pairs with fewer tokens on either side are dropped."""
    max_length: Count = 80
    """Training pairs with more tokens on either side are dropped."""
    max_ratio: SquarablePositiveFloat32 = 9.0
    """Training pairs are dropped if one side has more than this many times the tokens of the other."""
    keep_duplicates: bool = False
    """Keep repeated training pairs."""

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(f"min_length {self.min_length} exceeds max_length {self.max_length}")
        return self


class CorporaConfig(ConfigSection):
    """The text of one experiment."""

    source: LanguageConfig
    target: LanguageConfig
    train: Annotated[
        list[TrainingTextConfig],
        BeforeValidator(wrap_in_list, json_schema_input_type=TrainingTextConfig | list[TrainingTextConfig] | None),
    ] = Field(
        description="One pair of files or several, which are concatenated; generated sentences can be the last one. "
        "null: nothing is trained."
    )
    dev: HeldOutTextConfig | None = Field(description="Development set for early stopping; null: nothing is trained.")
    tests: list[HeldOutTextConfig] = Field(min_length=1)
    """The test sets."""
    contrast: list[ContrastiveSetConfig] = Field([], description="Sets for contrastive evaluation.")
    length_texts: list[LengthTextConfig] = Field(
        [], description="Further texts for `decoding.length_model`; `limits` do not apply to them."
    )
    limits: PairLimitsConfig = PairLimitsConfig()
    generator: GeneratorConfig = GeneratorConfig()

    @model_validator(mode="after")
    def _check_texts(self) -> Self:
        names = [*self.evaluation_set_names, *(text.name for text in self.length_texts)]
        for name in {*RESERVED_SPLIT_NAMES} & set(names):
            raise ValueError(f"a test set or length text cannot be called `{name}`; rename it")
        check_name_collisions("test sets and files", [*RESERVED_SPLIT_NAMES, *names])
        if repeated := {name for name in names if names.count(name) > 1}:
            raise ValueError(
                f"test sets and length texts need different names; repeated: {', '.join(sorted(repeated))}"
            )
        if len(self.tests) > MAX_TEST_SETS:
            raise ValueError(f"an experiment has at most {MAX_TEST_SETS} test sets; remove some")
        has_generated_text = any(self.is_generated_by_split.values()) or self.generated_training_text is not None
        if has_generated_text and (self.source.language, self.target.language) != ("en", "de"):
            raise ValueError("generated text is English (source: en) and German (target: de); name files instead")
        if any(text.source is None for text in self.train[:-1]):
            raise ValueError("train: one text can be generated, and follows all files; name it last")
        if self.generator.min_count and not any(text.source for text in self.train):
            raise ValueError("generator.min_count: words are counted in the files of `corpora.train`; name some")
        if self.dev is not None and not self.dev.has_references:
            raise ValueError("dev: early stopping needs its references; name them in `references`")
        if not self.train and "true" in (self.source.case, self.target.case):
            raise ValueError("case: true is learned from the training text, but `train` is null; choose keep or lower")
        return self

    @property
    def evaluation_set_names(self) -> list[str]:
        """Names of test sets and contrastive sets."""
        return [*(test.name for test in self.tests), *(text.name for text in self.contrast)]

    @property
    def held_out_sets(self) -> dict[str, HeldOutTextConfig]:
        """Development set, if there is one, and test sets by split."""
        return {**({"dev": self.dev} if self.dev else {}), **{test.name: test for test in self.tests}}

    @property
    def scored_tests(self) -> list[str]:
        """Names of test sets with references."""
        return [test.name for test in self.tests if test.has_references]

    @property
    def unscored_tests(self) -> list[str]:
        """Names of test sets without references."""
        return [test.name for test in self.tests if not test.has_references]

    @property
    def downloads(self) -> list[tuple[str, list[str]]]:
        """Texts that can be downloaded: pairs of identifier and files, source first."""
        texts = [(text.download, [text.source, text.target]) for text in self.train]
        texts += [(text.download, [*text.files_by_side.values()]) for text in self.held_out_sets.values()]
        texts += [(text.download, [text.source, text.target]) for text in self.length_texts]
        return [
            (identifier, [file for file in files if file is not None])
            for identifier, files in texts
            if identifier is not None
        ]

    @property
    def generated_training_text(self) -> GeneratedTextConfig | None:
        """Configuration of the generated sentences of the training text, which follow those of files; None if none."""
        return self.train[-1].generate if self.train and self.train[-1].source is None else None

    @property
    def is_generated_by_split(self) -> dict[str, bool]:
        """True for each split whose whole text is generated."""
        generated = {name: text.source is None for name, text in self.held_out_sets.items()}
        contrastive = {name: not text.file for name, text in self.contrastive_sets.items()}
        training = {"train": self.train[0].source is None} if self.train else {}
        return {**training, **generated, **contrastive}

    @property
    def contrastive_sets(self) -> dict[str, ContrastiveSetConfig]:
        """Contrastive sets by split."""
        return {text.name: text for text in self.contrast}

    @property
    def length_texts_by_name(self) -> dict[str, LengthTextConfig]:
        """Texts for length models by name."""
        return {text.name: text for text in self.length_texts}

    @property
    def splits(self) -> list[str]:
        """`train` and `dev`, if they exist, and test sets in order."""
        return [*(["train"] if self.train else []), *self.held_out_sets]

    @property
    def splits_and_contrastive_sets(self) -> list[str]:
        """Splits, then contrastive sets."""
        return [*self.splits, *self.contrastive_sets]
