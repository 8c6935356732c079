"""`tables`: which systems stand in which table, what it says of them, and what its marks compare with."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from pipeline_py.config.base import MAX_NAME_LENGTH, NUMBER_VALIDATOR, ConfigSection, Count, Seed
from pipeline_py.config.corpora import NAME_PATTERN, CorporaConfig
from pipeline_py.config.evaluation import METRIC_NAMES, MetricName


def is_single_line(text: str) -> bool:
    """Whether people can read a text on one line."""
    return bool(text.strip()) and text.isprintable()


def _check_single_line(text: str) -> str:
    if not is_single_line(text):
        raise ValueError("give printable text on one line")
    return text


SingleLine = Annotated[str, AfterValidator(_check_single_line)]
"""What people read in a table or figure."""


SettingKind = Literal["search", "training", "data", "units"]
"""Kinds of settings that rows of a table may differ in: how they are searched with, how they are trained, on which
pairs, and what they read and write."""


MarkSubject = Literal["systems", "outputs"]
"""The subject of a table's marks: systems, beyond these sentences and runs, or these outputs alone."""


class BaseTableConfig(ConfigSection):
    """What all tables have."""

    title: SingleLine

    @property
    def rows(self) -> list[str]:
        """The systems that are its rows."""
        return []

    @property
    def named_systems(self) -> list[str]:
        """Every system that the table speaks of."""
        return []

    @property
    def phrase_tree_parser(self) -> str | None:
        """The parser whose phrase trees it counts."""
        return None

    def get_held_out_sets(self, corpora: CorporaConfig) -> list[str]:
        """The held-out sets that its rows are compared on."""
        return []

    def get_contrastive_sets(self, corpora: CorporaConfig) -> list[str]:
        """The contrastive sets that its rows are tried on."""
        return []


class SystemTableConfig(BaseTableConfig):
    """A table with a row for each system."""

    systems: list[str] = Field(min_length=1, description="Rows, in order.")
    parsers: list[str] = Field(
        [],
        description="Each row that reads trees is repeated for each of these parsers, as `SYSTEM [PARSER]`; so it is "
        "among `proposed` and in `marks`. default: the experiment's `parser`. Empty: rows are as they are written.",
    )
    labels: dict[str, SingleLine] = Field(
        {},
        description="Labels of rows, instead of their system's name; a label of SYSTEM also applies to "
        "`SYSTEM [PARSER]`, followed by the parser.",
    )
    seeds: list[Seed] | None = Field(
        None, min_length=1, description="Seeds of the runs that it uses; null: `seeds` of `training`."
    )
    tested: MarkSubject = Field(
        "systems",
        description="What marks are about. systems: the interval over other sentences and other runs; outputs: the "
        "papers' own test of the given outputs, which says nothing about other runs: the sign test in tables of BLEU, "
        "the paired bootstrap in tables of measures.",
    )
    about: list[SettingKind] = Field(
        [],
        description="Settings that the table is about: its rows may differ in them without a warning. A note below "
        "the table says so in either case.",
    )

    @model_validator(mode="after")
    def _check_repetitions(self) -> Self:
        _check_unique_names(self.parsers, "parser")
        _check_unique_names(self.systems, "row")
        _check_unique_names(self.seeds or [], "seed")
        return self

    @property
    def rows(self) -> list[str]:
        """The systems, in order."""
        return self.systems

    @property
    def display_names(self) -> dict[str, str]:
        """What rows are called: by their labels, with their names behind where several have the same."""
        labels = {row: self.labels.get(row, row) for row in self.systems}
        return {
            row: label if [*labels.values()].count(label) == 1 else f"{label} ({row})" for row, label in labels.items()
        }

    @property
    def named_systems(self) -> list[str]:
        """Rows, and what has a label."""
        return [*self.systems, *self.labels]


class PublishedNumbersConfig(ConfigSection):
    """A table of a paper, shown beside ours; the experiment must use the paper's data."""

    paper: str = Field(
        pattern=NAME_PATTERN,
        max_length=MAX_NAME_LENGTH,
        description="A file of `workflow/published/`, without its ending.",
    )
    table: Annotated[str, BeforeValidator(str)] = Field(description="Number of the table in the paper.")
    task: str = Field(description="As in the file, e.g. en-de.")
    names: dict[str, str] = Field({}, description="The paper's names of our systems, if not their labels.")


class BleuTableConfig(SystemTableConfig):
    """BLEU on dev and all test sets, with significance marks."""

    type: Literal["bleu"] = "bleu"
    systems: list[str] = Field(min_length=2, description="Rows, in order.")
    baseline: str = Field(description="The row that * and ** compare with.")
    proposed: list[str] = Field([], description="Rows that † compares with the best of the other rows.")
    marks: Literal["sdatt", "sdrnmt", "none"] = Field(
        "sdatt",
        description="sdrnmt: only * and **, and only on proposed rows; none: no marks. ↓ before a mark: "
        "significantly worse.",
    )
    published: PublishedNumbersConfig | None = Field(
        None, description="Only if training, dev and test sets are the paper's; null: no published numbers."
    )

    @model_validator(mode="after")
    def _check_baseline_and_labels(self) -> Self:
        _check_unique_names(self.proposed, "row")
        names = [self.labels.get(system, system) for system in self.systems]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two rows are called `{repeated[0]}`; give them different labels")
        if self.baseline in self.proposed:
            raise ValueError(f"`{self.baseline}` is the baseline; it cannot be proposed as well")
        return self

    @property
    def named_systems(self) -> list[str]:
        """Rows, what has a label, and what paper's names are given for."""
        return [*super().named_systems, *(self.published.names if self.published else [])]

    def get_held_out_sets(self, corpora: CorporaConfig) -> list[str]:
        """Dev and all test sets that have references."""
        return [*(["dev"] if corpora.dev else []), *corpora.scored_tests]

    def get_contrastive_sets(self, corpora: CorporaConfig) -> list[str]:
        """All there are."""
        return [*corpora.contrastive_sets]


FactColumnName = Literal[
    "negative_samples", "hidden", "subword", "parameters", "perplexity", "minutes", "cpu_minutes", "search", "beam"
]
"""What a table may say of a system whatever the set: K of BlackOut, the hidden size, whether its units are BPE's, how
many parameters it has, its perplexity on dev, the minutes that one epoch takes, on the wall and of processors, how it
is searched with, and the width of the beam."""

BleuDetailColumnName = Literal["brevity", "length_ratio", "length"]
"""Measures of a system's outputs on a set beside metrics: BLEU's brevity penalty exp(1 − r/c), the length of outputs
relative to references c/r, and the mean length of outputs in words."""

CONTRAST_COLUMN = "contrast"
"""The column of what a table may say of a system on every contrastive set: how often it finds the correct translation
likelier."""

if TYPE_CHECKING:
    TableColumn = str
else:
    TableColumn = Literal[FactColumnName, MetricName, BleuDetailColumnName, CONTRAST_COLUMN]


class MarkConfig(ConfigSection):
    """A symbol for scores that are significantly better than those of other rows, and another for worse scores."""

    symbol: SingleLine = Field(description="Behind scores that are better than those of `against`.")
    worse: SingleLine | None = Field(None, description="Behind scores that are worse; null: ↓ and the symbol.")
    rows: list[str] = Field(min_length=1, description="Rows that may get it.")
    against: list[str] = Field(min_length=1, description="Rows that must all be worse; for `worse`, all better.")
    level: Annotated[float, NUMBER_VALIDATOR] = Field(0.05, gt=0, lt=1, description="p must be below.")

    @property
    def better_and_worse_symbols(self) -> tuple[str, str]:
        """The symbols for better and for worse."""
        return self.symbol, self.worse or f"↓{self.symbol}"


class MeasureTableConfig(SystemTableConfig):
    """Any measures on any sets, with significance marks."""

    type: Literal["measures"]
    sets: list[str] = Field(["dev"], min_length=1, description="dev, names of test sets, or tests for all of them.")
    columns: list[TableColumn] = Field(
        min_length=1,
        description="Settings and facts of systems, metrics, brevity, length_ratio or length; contrast: accuracy on "
        "every contrastive set, whatever the `sets`.",
    )
    parsed_by: str | None = Field(
        None, description="A parser, or default; only the sentences that it parsed are scored. null: all sentences are."
    )
    marks: list[MarkConfig] = Field(
        [], description="A score gets the first that applies for being better, and the first for being worse."
    )

    @model_validator(mode="after")
    def _check_marks(self) -> Self:
        _check_unique_names(self.sets, "set")
        _check_unique_names(self.columns, "column")
        if self.marks and not self.metric_columns:
            raise ValueError(
                f"only {', '.join(METRIC_NAMES)} can have marks; add one of these columns, or leave out the marks"
            )
        better, worse = ({mark.better_and_worse_symbols[place] for mark in self.marks} for place in (0, 1))
        if both := better & worse:
            raise ValueError(f"{min(both)} would mark both better and worse scores; give one of them another symbol")
        for mark in self.marks:
            for row in [*mark.rows, *mark.against]:
                if row not in self.systems:
                    raise ValueError(f"the mark {mark.symbol} compares `{row}`, which is not a row of the table")
            if same := {*mark.rows} & {*mark.against}:
                raise ValueError(f"the mark {mark.symbol} compares `{min(same)}` with itself")
        return self

    @property
    def metric_columns(self) -> list[str]:
        """The metrics among its columns."""
        return [column for column in self.columns if column in METRIC_NAMES]

    @property
    def phrase_tree_parser(self) -> str | None:
        """The parser whose failures are left out."""
        return self.parsed_by

    def get_held_out_sets(self, corpora: CorporaConfig) -> list[str]:
        """Its sets, `tests` spelt out as those that have references."""
        tests = corpora.scored_tests
        return list(dict.fromkeys(name for given in self.sets for name in (tests if given == "tests" else [given])))

    def get_contrastive_sets(self, corpora: CorporaConfig) -> list[str]:
        """All there are, if it has a column of them."""
        return [*corpora.contrastive_sets] if CONTRAST_COLUMN in self.columns else []

    @property
    def has_score_columns(self) -> bool:
        """Whether a column is of what systems said on a set."""
        return bool({*self.columns} & {*METRIC_NAMES, *get_args(BleuDetailColumnName)})


class ParseTableConfig(BaseTableConfig):
    """How many sentences of every split a parser has parsed (tree2seq Tables 1 and 2)."""

    type: Literal["parses"]
    parser: str = Field(description="One of `parsers`, or default.")

    @property
    def phrase_tree_parser(self) -> str | None:
        """That parser."""
        return self.parser


class VocabularyTableConfig(BaseTableConfig):
    """How many different words there are before and after generalisation and BPE (hierarchical Table 2)."""

    type: Literal["vocabulary"]
    subword: str = Field(description="One of `subwords`, which generalises and has a scheme of bpe.")


class AttentionTableConfig(SystemTableConfig):
    """Whether words or phrases are attended to (tree2seq Table 12)."""

    type: Literal["attention"]
    set: str = Field("dev", description="dev, or the name of a test set.")


def _check_unique_names(names: Sequence[str | int], noun: str) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"a table may name each {noun} once; repeated: {', '.join(map(str, repeated))}")


def _get_table_type(table: Any) -> str:
    """Read the `type` of a table as it is configured, or of one that is validated; anything else is to fail as one."""
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
    """What a system attends to in some sentences, drawn on their trees."""

    title: SingleLine
    system: str
    set: str = Field("dev", description="dev, or the name of a test set.")
    sentences: list[Count] = Field([1], min_length=1, description="Counted from 1; a picture each.")
    words: list[Count] = Field(
        [], description="Words of the translation that get a panel, counted from 1; empty: the most telling ones."
    )
