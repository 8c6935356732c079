"""`tables`: which systems stand in which table, what it says of them, and what its marks compare with."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from pipeline_py.config.base import LONGEST_NAME, NUMBER, Count, Section, Seed
from pipeline_py.config.corpora import NAME, Corpora
from pipeline_py.config.evaluation import METRICS, MetricName


def is_line(text: str) -> bool:
    """Whether people can read a text on one line."""
    return bool(text.strip()) and text.isprintable()


def _on_one_line(text: str) -> str:
    if not is_line(text):
        raise ValueError("give printable text on one line")
    return text


Line = Annotated[str, AfterValidator(_on_one_line)]
"""What people read in a table or figure."""


Compared = Literal["search", "training", "data", "units"]
"""Kinds of settings that rows of a table may differ in: how they are searched with, how they are trained, on which
pairs, and what they read and write."""


Tested = Literal["systems", "outputs"]
"""The subject of a table's marks: systems, beyond these sentences and runs, or these outputs alone."""


class AnyTable(Section):
    """What all tables have."""

    title: Line

    @property
    def rows(self) -> list[str]:
        """The systems that are its rows."""
        return []

    @property
    def systems_named(self) -> list[str]:
        """Every system that the table speaks of."""
        return []

    @property
    def phrases_of(self) -> str | None:
        """The parser whose phrase trees it counts."""
        return None

    def sets_in(self, corpora: Corpora) -> list[str]:
        """The held-out sets that its rows are compared on."""
        return []

    def contrasted_in(self, corpora: Corpora) -> list[str]:
        """The contrastive sets that its rows are tried on."""
        return []


class TableOfSystems(AnyTable):
    """A table with a row for each system."""

    systems: list[str] = Field(min_length=1, description="Rows, in order.")
    parsers: list[str] = Field(
        [],
        description="Each row that reads trees is repeated for each of these parsers, as `SYSTEM [PARSER]`; so it is "
        "among `proposed` and in `marks`. default: the experiment's `parser`. Empty: rows are as they are written.",
    )
    labels: dict[str, Line] = Field(
        {},
        description="Labels of rows, instead of their system's name; a label of SYSTEM also applies to "
        "`SYSTEM [PARSER]`, followed by the parser.",
    )
    seeds: list[Seed] | None = Field(
        None, min_length=1, description="Seeds of the runs that it uses; null: `seeds` of `training`."
    )
    tested: Tested = Field(
        "systems",
        description="What marks are about. systems: the interval over other sentences and other runs; outputs: the "
        "papers' own test of the given outputs, which says nothing about other runs: the sign test in tables of BLEU, "
        "the paired bootstrap in tables of measures.",
    )
    about: list[Compared] = Field(
        [],
        description="Settings that the table is about: its rows may differ in them without a warning. A note below "
        "the table says so in either case.",
    )

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        _check_once(self.parsers, "parser")
        _check_once(self.systems, "row")
        _check_once(self.seeds or [], "seed")
        return self

    @property
    def rows(self) -> list[str]:
        """The systems, in order."""
        return self.systems

    @property
    def called(self) -> dict[str, str]:
        """What rows are called: by their labels, with their names behind where several have the same."""
        labels = {row: self.labels.get(row, row) for row in self.systems}
        return {
            row: label if [*labels.values()].count(label) == 1 else f"{label} ({row})" for row, label in labels.items()
        }

    @property
    def systems_named(self) -> list[str]:
        """Rows, and what has a label."""
        return [*self.systems, *self.labels]


class PublishedNumbers(Section):
    """A table of a paper, shown beside ours; the experiment must use the paper's data."""

    paper: str = Field(
        pattern=NAME, max_length=LONGEST_NAME, description="A file of `workflow/published/`, without its ending."
    )
    table: Annotated[str, BeforeValidator(str)] = Field(description="Number of the table in the paper.")
    task: str = Field(description="As in the file, e.g. en-de.")
    names: dict[str, str] = Field({}, description="The paper's names of our systems, if not their labels.")


class BleuTable(TableOfSystems):
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
    published: PublishedNumbers | None = Field(
        None, description="Only if training, dev and test sets are the paper's; null: no published numbers."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_once(self.proposed, "row")
        names = [self.labels.get(system, system) for system in self.systems]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two rows are called `{repeated[0]}`; give them different labels")
        if self.baseline in self.proposed:
            raise ValueError(f"`{self.baseline}` is the baseline; it cannot be proposed as well")
        return self

    @property
    def systems_named(self) -> list[str]:
        """Rows, what has a label, and what paper's names are given for."""
        return [*super().systems_named, *(self.published.names if self.published else [])]

    def sets_in(self, corpora: Corpora) -> list[str]:
        """Dev and all test sets that have references."""
        return [*(["dev"] if corpora.dev else []), *corpora.scored_tests]

    def contrasted_in(self, corpora: Corpora) -> list[str]:
        """All there are."""
        return [*corpora.contrastive]


Fact = Literal[
    "negative_samples", "hidden", "subword", "parameters", "perplexity", "minutes", "cpu_minutes", "search", "beam"
]
"""What a table may say of a system whatever the set: K of BlackOut, the hidden size, whether its units are BPE's, how
many parameters it has, its perplexity on dev, the minutes that one epoch takes, on the wall and of processors, how it
is searched with, and the width of the beam."""

OfBleu = Literal["brevity", "length_ratio", "length"]
"""Measures of a system's outputs on a set beside metrics: BLEU's brevity penalty exp(1 − r/c), the length of outputs
relative to references c/r, and the mean length of outputs in words."""

CONTRAST = "contrast"
"""The column of what a table may say of a system on every contrastive set: how often it finds the correct translation
likelier."""

if TYPE_CHECKING:
    TableColumn = str
else:
    TableColumn = Literal[Fact, MetricName, OfBleu, CONTRAST]


class Mark(Section):
    """A symbol for scores that are significantly better than those of other rows, and another for worse scores."""

    symbol: Line = Field(description="Behind scores that are better than those of `against`.")
    worse: Line | None = Field(None, description="Behind scores that are worse; null: ↓ and the symbol.")
    rows: list[str] = Field(min_length=1, description="Rows that may get it.")
    against: list[str] = Field(min_length=1, description="Rows that must all be worse; for `worse`, all better.")
    level: Annotated[float, NUMBER] = Field(0.05, gt=0, lt=1, description="p must be below.")

    @property
    def symbols(self) -> tuple[str, str]:
        """The symbols for better and for worse."""
        return self.symbol, self.worse or f"↓{self.symbol}"


class MeasureTable(TableOfSystems):
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
    marks: list[Mark] = Field(
        [], description="A score gets the first that applies for being better, and the first for being worse."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_once(self.sets, "set")
        _check_once(self.columns, "column")
        if self.marks and not self.metrics:
            raise ValueError(
                f"only {', '.join(METRICS)} can have marks; add one of these columns, or leave out the marks"
            )
        better, worse = ({mark.symbols[place] for mark in self.marks} for place in (0, 1))
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
    def metrics(self) -> list[str]:
        """The metrics among its columns."""
        return [column for column in self.columns if column in METRICS]

    @property
    def phrases_of(self) -> str | None:
        """The parser whose failures are left out."""
        return self.parsed_by

    def sets_in(self, corpora: Corpora) -> list[str]:
        """Its sets, `tests` spelt out as those that have references."""
        tests = corpora.scored_tests
        return list(dict.fromkeys(name for given in self.sets for name in (tests if given == "tests" else [given])))

    def contrasted_in(self, corpora: Corpora) -> list[str]:
        """All there are, if it has a column of them."""
        return [*corpora.contrastive] if CONTRAST in self.columns else []

    @property
    def is_scored(self) -> bool:
        """Whether a column is of what systems said on a set."""
        return bool({*self.columns} & {*METRICS, *get_args(OfBleu)})


class ParseTable(AnyTable):
    """How many sentences of every split a parser has parsed (tree2seq Tables 1 and 2)."""

    type: Literal["parses"]
    parser: str = Field(description="One of `parsers`, or default.")

    @property
    def phrases_of(self) -> str | None:
        """That parser."""
        return self.parser


class VocabularyTable(AnyTable):
    """How many different words there are before and after generalisation and BPE (hierarchical Table 2)."""

    type: Literal["vocabulary"]
    subword: str = Field(description="One of `subwords`, which generalises and has a scheme of bpe.")


class AttentionTable(TableOfSystems):
    """Whether words or phrases are attended to (tree2seq Table 12)."""

    type: Literal["attention"]
    set: str = Field("dev", description="dev, or the name of a test set.")


def _check_once(names: Sequence[str | int], what: str) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"a table may name each {what} once; repeated: {', '.join(map(str, repeated))}")


def _type_of_table(given: Any) -> str:
    """Read the `type` of a table as it is configured, or of one that is validated; anything else is to fail as one."""
    return str(given.get("type", "bleu") if isinstance(given, Mapping) else getattr(given, "type", "bleu"))


Table = Annotated[
    Annotated[BleuTable, Tag("bleu")]
    | Annotated[MeasureTable, Tag("measures")]
    | Annotated[ParseTable, Tag("parses")]
    | Annotated[VocabularyTable, Tag("vocabulary")]
    | Annotated[AttentionTable, Tag("attention")],
    Discriminator(_type_of_table),
]


class AttentionFigure(Section):
    """What a system attends to in some sentences, drawn on their trees."""

    title: Line
    system: str
    set: str = Field("dev", description="dev, or the name of a test set.")
    sentences: list[Count] = Field([1], min_length=1, description="Counted from 1; a picture each.")
    words: list[Count] = Field(
        [], description="Words of the translation that get a panel, counted from 1; empty: the most telling ones."
    )
