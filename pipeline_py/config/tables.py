"""`tables` and `figures`: rows, columns and significance marks of tables, and figures of attention."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from pipeline_py.config.base import MAX_NAME_LENGTH, NUMBER_VALIDATOR, ConfigSection, Count, OmittedNull, Seed
from pipeline_py.config.corpora import NAME_PATTERN, CorporaConfig
from pipeline_py.config.evaluation import METRIC_NAMES, MetricName


def is_single_line(text: str) -> bool:
    """Return whether a text is not blank and printable on one line."""
    return bool(text.strip()) and text.isprintable()


def _check_single_line(text: str) -> str:
    if not is_single_line(text):
        raise ValueError("give printable text on one line")
    return text


SingleLine = Annotated[str, AfterValidator(_check_single_line)]
"""Text in a table or figure."""


SettingKind = Literal["search", "training", "data", "units"]
"""Kinds of settings that rows of a table may differ in: beam search, training, training pairs, and subword units."""


MarkSubject = Literal["systems", "outputs"]
"""The subject of a table's marks: systems, generalizing over sentences and runs, or these outputs alone."""


class PublishedNumbersConfig(ConfigSection):
    """Numbers of a paper, shown next to ours and used in no test; the experiment must use the paper's data."""

    paper: str = Field(
        pattern=NAME_PATTERN,
        max_length=MAX_NAME_LENGTH,
        description="A file of `workflow/published/`, without its ending.",
    )
    table: Annotated[str, BeforeValidator(str)] = Field(description="Number of the table in the paper.")
    task: str = Field(description="Task as in the file, e.g. en-de.")
    names: dict[str, str] = Field(
        {},
        description="Names of our systems in the paper, if they differ from the labels; of rows in a table of parses "
        "or vocabulary.",
    )
    columns: dict[str, str] = Field(
        {},
        description="Names of our sets in the paper, if they differ; of columns in a table of parses or vocabulary.",
    )
    sections: list[str] = Field(
        [], description="Sections of the paper whose text has further numbers of the systems, e.g. Section 5.3."
    )


class BaseTableConfig(ConfigSection):
    """Base class of all tables."""

    title: SingleLine
    """The caption."""
    published: Annotated[PublishedNumbersConfig | None, OmittedNull()] = Field(
        None, description="Only if training, dev and test sets are the paper's; null: no published numbers."
    )

    @property
    def rows(self) -> list[str]:
        """Systems in the rows."""
        return []

    @property
    def named_systems(self) -> list[str]:
        """All systems that the table refers to."""
        return []

    @property
    def phrase_tree_parser(self) -> str | None:
        """The parser whose phrase trees the table needs."""
        return None

    def get_held_out_sets(self, corpora: CorporaConfig) -> list[str]:
        """Return the held-out sets that rows are compared on."""
        return []

    def get_contrastive_sets(self, corpora: CorporaConfig) -> list[str]:
        """Return the contrastive sets that rows are evaluated on."""
        return []


class SystemTableConfig(BaseTableConfig):
    """A table with a row for each system."""

    systems: list[str] = Field(min_length=1, description="Rows, in order.")
    parsers: list[str] = Field(
        [],
        description="Repeat each row that reads trees for each of these parsers, as `SYSTEM [PARSER]`, also in "
        "`proposed` and `marks`. default: the experiment's `parser`. Empty: no row is repeated.",
    )
    labels: dict[str, SingleLine] = Field(
        {},
        description="Labels of rows, instead of their system's name; a label of SYSTEM also applies to "
        "`SYSTEM [PARSER]`, followed by the parser.",
    )
    seeds: list[Seed] | None = Field(
        None, min_length=1, description="Seeds of the runs in the table; null: `seeds` of `training`."
    )
    tested: MarkSubject = Field(
        "systems",
        description="Subject of marks. systems: the confidence interval over sentences and runs; outputs: the papers' "
        "test of these outputs, which says nothing about other runs: the sign test in BLEU tables, the paired "
        "bootstrap in tables of measures.",
    )
    about: list[SettingKind] = Field(
        [],
        description="Settings that the table compares: its rows may differ in them without a warning. A note below "
        "the table lists all differences.",
    )

    @model_validator(mode="after")
    def _check_repetitions(self) -> Self:
        _check_unique_names(self.parsers, "parser")
        _check_unique_names(self.systems, "row")
        _check_unique_names(self.seeds or [], "seed")
        return self

    @property
    def rows(self) -> list[str]:
        """Systems in the rows, in order."""
        return self.systems

    @property
    def display_names(self) -> dict[str, str]:
        """Labels of rows; the system's name is appended to a label that several rows have."""
        labels = {row: self.labels.get(row, row) for row in self.systems}
        return {
            row: label if [*labels.values()].count(label) == 1 else f"{label} ({row})" for row, label in labels.items()
        }

    @property
    def named_systems(self) -> list[str]:
        """Systems in the rows, in `labels` and in `published.names`."""
        return [*self.systems, *self.labels, *(self.published.names if self.published else [])]


class BleuTableConfig(SystemTableConfig):
    """BLEU on dev and all test sets, with significance marks."""

    type: Literal["bleu"] = "bleu"
    systems: list[str] = Field(min_length=2, description="Rows, in order.")
    baseline: str = Field(description="Row that * and ** compare with.")
    proposed: list[str] = Field([], description="Rows that † compares with the best of all other rows.")
    marks: Literal["sdatt", "sdrnmt", "none"] = Field(
        "sdatt",
        description="sdrnmt: only * and **, and only on proposed rows; none: no marks. ↓ before a mark: "
        "significantly worse.",
    )

    @model_validator(mode="after")
    def _check_baseline_and_labels(self) -> Self:
        _check_unique_names(self.proposed, "row")
        names = [self.labels.get(system, system) for system in self.systems]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two rows have the label `{repeated[0]}`; give them different labels")
        if self.baseline in self.proposed:
            raise ValueError(f"`{self.baseline}` is the baseline; it cannot be proposed as well")
        return self

    def get_held_out_sets(self, corpora: CorporaConfig) -> list[str]:
        """Return dev and all test sets with references."""
        return [*(["dev"] if corpora.dev else []), *corpora.scored_tests]

    def get_contrastive_sets(self, corpora: CorporaConfig) -> list[str]:
        """Return all contrastive sets."""
        return [*corpora.contrastive_sets]


FactColumnName = Literal[
    "negative_samples", "hidden", "subword", "parameters", "perplexity", "minutes", "cpu_minutes", "search", "beam"
]
"""Columns that do not depend on a set: K of BlackOut, hidden size, subword scheme, number of parameters, perplexity on
dev, minutes per epoch (wall-clock and CPU), search, and beam width."""

BleuDetailColumnName = Literal["brevity", "length_ratio", "length"]
"""Measures of outputs in addition to metrics: BLEU's brevity penalty exp(1 − r/c), the length ratio c/r of outputs and
references, and the mean length of outputs in words."""

CONTRAST_COLUMN = "contrast"
"""The column of accuracies on contrastive sets: how often the correct translation is more probable."""

if TYPE_CHECKING:
    TableColumn = str
else:
    TableColumn = Literal[FactColumnName, MetricName, BleuDetailColumnName, CONTRAST_COLUMN]


class MarkConfig(ConfigSection):
    """A symbol for scores that are significantly better than those of other rows, and one for worse scores."""

    symbol: SingleLine = Field(description="Symbol after scores that are better than those of `against`.")
    worse: SingleLine | None = Field(None, description="Symbol after scores that are worse; null: ↓ and `symbol`.")
    rows: list[str] = Field(min_length=1, description="Rows that may get the mark.")
    against: list[str] = Field(min_length=1, description="Rows that must all be worse; for `worse`, all better.")
    level: Annotated[float, NUMBER_VALIDATOR] = Field(0.05, gt=0, lt=1, description="Significance level: p < level.")

    @property
    def better_and_worse_symbols(self) -> tuple[str, str]:
        """Symbols for better and worse scores."""
        return self.symbol, self.worse or f"↓{self.symbol}"


class MeasureTableConfig(SystemTableConfig):
    """Any measures on any sets, with significance marks."""

    type: Literal["measures"]
    sets: list[str] = Field(["dev"], min_length=1, description="dev, names of test sets, or tests for all of them.")
    columns: list[TableColumn] = Field(
        min_length=1,
        description="Settings and facts of systems, metrics, brevity, length_ratio or length; contrast: accuracy on "
        "every contrastive set, independent of `sets`.",
    )
    parsed_by: str | None = Field(
        None, description="A parser, or default: only sentences that it could parse are scored; null: all sentences."
    )
    marks: list[MarkConfig] = Field(
        [], description="A score gets the first mark that applies for better, and the first for worse."
    )

    @model_validator(mode="after")
    def _check_marks(self) -> Self:
        _check_unique_names(self.sets, "set")
        _check_unique_names(self.columns, "column")
        if self.marks and not self.metric_columns:
            raise ValueError(
                f"only {', '.join(METRIC_NAMES)} can have marks; add one of these columns, or leave out the marks"
            )
        better, worse = ({mark.better_and_worse_symbols[index] for mark in self.marks} for index in (0, 1))
        if ambiguous := better & worse:
            raise ValueError(
                f"{min(ambiguous)} would mark both better and worse scores; give one of them another symbol"
            )
        for mark in self.marks:
            for row in [*mark.rows, *mark.against]:
                if row not in self.systems:
                    raise ValueError(f"the mark {mark.symbol} compares `{row}`, which is not a row of the table")
            if same := {*mark.rows} & {*mark.against}:
                raise ValueError(f"the mark {mark.symbol} compares `{min(same)}` with itself")
        return self

    @property
    def metric_columns(self) -> list[str]:
        """Columns that are metrics."""
        return [column for column in self.columns if column in METRIC_NAMES]

    @property
    def phrase_tree_parser(self) -> str | None:
        """The parser whose failures are not scored."""
        return self.parsed_by

    def get_held_out_sets(self, corpora: CorporaConfig) -> list[str]:
        """Return `sets` with `tests` expanded to all test sets with references."""
        tests = corpora.scored_tests
        return list(dict.fromkeys(split for name in self.sets for split in (tests if name == "tests" else [name])))

    def get_contrastive_sets(self, corpora: CorporaConfig) -> list[str]:
        """Return all contrastive sets if there is a column for them."""
        return [*corpora.contrastive_sets] if CONTRAST_COLUMN in self.columns else []

    @property
    def has_score_columns(self) -> bool:
        """True if a column depends on outputs on a set."""
        return bool({*self.columns} & {*METRIC_NAMES, *get_args(BleuDetailColumnName)})


class ParseTableConfig(BaseTableConfig):
    """Numbers of parsed sentences of every split (tree2seq Tables 1 and 2)."""

    type: Literal["parses"]
    parser: str = Field(description="One of `parsers`, or default.")

    @property
    def phrase_tree_parser(self) -> str | None:
        """The parser of the table."""
        return self.parser


class VocabularyTableConfig(BaseTableConfig):
    """Vocabulary sizes before and after generalisation and BPE (hierarchical Table 2)."""

    type: Literal["vocabulary"]
    subword: str = Field(description="One of `subwords`, which generalises and has a scheme of bpe.")


class AttentionTableConfig(SystemTableConfig):
    """Shares of attention on words and phrases (tree2seq Table 12)."""

    type: Literal["attention"]
    set: str = Field("dev", description="dev, or the name of a test set.")

    @model_validator(mode="after")
    def _check_published(self) -> Self:
        if self.published and len(self.systems) > 1:
            raise ValueError("`published` is of one system; name one in `systems`, or leave out `published`")
        return self


def _check_unique_names(names: Sequence[str | int], noun: str) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"a table may name each {noun} once; repeated: {', '.join(map(str, repeated))}")


def _get_table_type(table: Any) -> str:
    """Return the `type` of a mapping or a validated table; other values count as a BLEU table, which rejects them."""
    return str(table.get("type", "bleu") if isinstance(table, Mapping) else getattr(table, "type", "bleu"))


AnyTableConfig = Annotated[
    Annotated[BleuTableConfig, Tag("bleu")]
    | Annotated[MeasureTableConfig, Tag("measures")]
    | Annotated[ParseTableConfig, Tag("parses")]
    | Annotated[VocabularyTableConfig, Tag("vocabulary")]
    | Annotated[AttentionTableConfig, Tag("attention")],
    Discriminator(_get_table_type),
]


class AttentionFigureConfig(ConfigSection):
    """Attention of a system in some sentences, drawn on their trees."""

    title: SingleLine
    """The caption."""
    system: str
    """The system whose attention is drawn."""
    set: str = Field("dev", description="dev, or the name of a test set.")
    sentences: list[Count] = Field([1], min_length=1, description="Sentences, counted from 1; one picture each.")
    words: list[Count] = Field(
        [], description="Words of the translation with a panel, counted from 1; empty: the most informative ones."
    )
