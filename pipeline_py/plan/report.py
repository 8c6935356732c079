"""What the rules of `report` are given: the cells of a table."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.systems.any_system import Ensemble, NeuralSystem
from pipeline_py.config.systems.differences import describe_departures, notes, settings_of_trainings, warning
from pipeline_py.config.tables import (
    AttentionTable,
    BleuTable,
    MeasureTable,
    ParseTable,
    TableOfSystems,
    VocabularyTable,
)
from pipeline_py.plan.claims import EVERYTHING, ClaimsPlan
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.evaluation import EvaluationPlan
from pipeline_py.plan.parsers import ParsersPlan
from pipeline_py.plan.paths import folder_of_system, one_of
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.plan.syntax import SyntaxPlan
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job

SIDES = ("source", "target")


def called(target: str, names: Iterable[str]) -> list[str]:
    """Those that are called like a target, or stand in the folder that is."""
    return [name for name in names if name.partition("/")[0] == target]


def published_files(experiment: Experiment, papers: Path) -> dict[str, list[str]]:
    """What papers printed, by table of BLEU: a file of a folder, or none where it is not asked for.

    Raises:
        InputError: there is no such paper.
    """
    found = {}
    for name, table in experiment.tables.items():
        if isinstance(table, BleuTable):
            files = [papers / f"{table.published.paper}.tsv"] if table.published else []
            for file in files:
                if not file.is_file():
                    known = ", ".join(sorted(file.stem for file in papers.glob("*.tsv")))
                    raise InputError(f"tables.{name}.published: unknown paper `{file.stem}`; known are {known}")
            found[name] = [*map(str, files)]
    return found


@dataclass(frozen=True)
class ReportPlan:
    """What tables and figures are made of.

    Attributes:
        published: the printed numbers that stand beside ours, by table of BLEU.
        of_run: tables that this run asks the inputs of.
    """

    experiment: Experiment
    corpus: CorpusPlan
    parsers: ParsersPlan
    syntax: SyntaxPlan
    subword: SubwordPlan
    evaluation: EvaluationPlan
    claims: ClaimsPlan
    published: Mapping[str, list[str]]
    of_run: set[str] = field(default_factory=set)

    def description(self, table: str) -> dict[str, Any]:
        """Return the options of a table, and what else the configuration says of it."""
        options = self.experiment.tables[table]
        text = self.experiment.corpora.dev if "dev" in self.evaluation.compared_sets(table) else None
        dev = None if text is None else text.name
        if isinstance(options, MeasureTable):
            options = options.model_copy(update={"sets": self.evaluation.compared_sets(table) or options.sets})
        described: dict[str, Any] = {"table": options.model_dump(mode="json")}
        if isinstance(options, BleuTable | MeasureTable):
            described |= {
                "tests": self.evaluation.compared_tests(table),
                "dev": dev,
                "metrics": self.experiment.evaluation.metrics,
                "set_names": {} if dev is None else {"dev": "Dev" if dev.lower() == "dev" else f"Dev ({dev})"},
                "contrastive": options.contrasted_in(self.experiment.corpora)
                if isinstance(options, MeasureTable)
                else [],
                "settings": {system: self.settings(system) for system in options.systems},
                "notes": [*notes(self.experiment, options), *self._notes_on_sets(table)],
                "departures": describe_departures(self.experiment, options),
                "from_elsewhere": [*filter(self.experiment.from_elsewhere, options.systems)],
                "lowercase_trees": self.experiment.corpora.source.case == "lower",
            }
        return described

    def files(self, table: str) -> dict[str, dict[str, str]]:
        """What the stage `table` reads, by kind, and by what it is of."""
        options = self.experiment.tables[table]
        if isinstance(options, ParseTable):
            splits = self.experiment.corpora.splits
            return {"counts": {split: f"<results>/syntax/{options.parser}/{split}.binary.json" for split in splits}}
        if isinstance(options, VocabularyTable):
            corpora, units, subword = self.experiment.corpora, options.subword, self.subword
            return {
                form: {
                    language: file.format(split="train")
                    for language, file in zip((corpora.source.language, corpora.target.language), files, strict=True)
                }
                for form, files in (
                    ("original", map(self.corpus.tokens, SIDES)),
                    ("generalised", (subword.words(units, side) for side in SIDES)),
                    ("bpe", (subword.pieces(units, side) for side in SIDES)),
                )
            }
        if isinstance(options, AttentionTable):
            return {"shares": {"": f"<results>/evaluation/{table}/attention.tsv"}}
        sets = self._scored_sets(table)
        counted = {
            place: file for split in sets for place, file in self.evaluation.statistics_files(table, split).items()
        }
        of_facts = self.files_of_facts(table)
        files = {
            "statistics": {":".join(place): file for place, file in counted.items()},
            "facts": of_facts["facts"],
            "comparisons": self.comparisons(table),
            "claims": {"": self.claims.file(table)} if self.claims.is_scored(table) else {},
            "exclusions": {"": self.claims.exclusions_file(table)} if self.claims.is_scored(table) else {},
            "ceiling": of_facts["ceiling"],
        }
        if isinstance(options, BleuTable):
            return {**files, "published": dict(zip([""], self.published[table], strict=False))}
        parsed = {split: file for split in sets for file in self.evaluation.parsed_only(table, split).values()}
        told_apart = {
            kind: {
                f"{system}:{run}:{split}": file
                for split in self.evaluation.contrastive_sets(table)
                for system, runs in self.evaluation.told_apart(table, split)[kind].items()
                for run, file in runs.items()
            }
            for kind in ("correct", "contrastive")
        }
        has_lengths = "length" in options.columns and options.parsed_by is None
        words = {
            "words": {
                ":".join((system, run, split)): file.replace(".statistics.arrow", ".json")
                for (system, run, split), file in counted.items()
                if not self.experiment.from_elsewhere(system)
            },
            "reference_tokens": {split: f"<results>/corpus/tokenized/{split}.target" for split in sets},
        }
        return {
            **files,
            "parsed": parsed,
            "accuracy": of_facts["accuracy"],
            **told_apart,
            **(words if has_lengths else {}),
        }

    def files_of_facts(self, table: str) -> dict[str, dict[str, str]]:
        """What the stage `facts` reads, by kind, and by what it is of."""
        return {
            **{
                kind: {":".join(place): file for place, file in of_kind.items()}
                for kind, of_kind in (("facts", self.facts(table)), ("accuracy", self.accuracy(table)))
            },
            "ceiling": {"": self.evaluation.ceilings} if self._scored_sets(table) else {},
        }

    def description_of_facts(self, table: str) -> dict[str, Any]:
        """Return what the configuration says of the systems of a table."""
        options = self.experiment.tables[table]
        assert isinstance(options, TableOfSystems)
        settings: dict[str, dict[str, str]] = {}
        for (system, column), text in settings_of_trainings(self.experiment, options).items():
            settings.setdefault(column, {})[system] = text
        parsers = {system: self.experiment.systems[system].parser for system in self.trained_for(table)}
        heads = {
            system: source
            for system, parser in parsers.items()
            if parser is not None and "ptb" in self.experiment.trees_read(system)
            if (source := self.syntax.describe_heads(parser)) is not None
        }
        if heads:
            settings["phrase_heads"] = heads
        described: dict[str, Any] = {"parsers": parsers, "settings": settings, "sets": self._scored_sets(table)}
        if origins := {
            row: outside.origin for row in options.systems if (outside := self.experiment.from_elsewhere(row))
        }:
            described["from_elsewhere"] = origins
        return described

    def of_type(self, *types: str) -> str:
        """A pattern for the names of tables of some types."""
        return one_of(name for name, table in self.experiment.tables.items() if table.type in types)

    def in_this_run(self, table: str) -> str:
        """Take note that this run makes a table."""
        self.of_run.add(table)
        return table

    def shown_of_run(self) -> list[str]:
        """What people read of what this run made: the page and its tables."""
        page = ["report.html"] if EVERYTHING in self.claims.of_run else []
        return [*page, *(f"{table}.md" for table in self.experiment.tables if table in self.of_run)]

    def warnings(self) -> list[str]:
        """How systems of a table of this run differ in what it does not ask about."""
        found = (warning(self.experiment, table) for table in self.experiment.tables if table in self.of_run)
        return [*filter(None, found)]

    def trained_for(self, table: str) -> list[str]:
        """The systems behind a table's rows that are trained here: themselves, or the members of an ensemble."""
        rows = [row for row in self.experiment.rows(table) if not self.experiment.from_elsewhere(row)]
        return list(dict.fromkeys(system for row in rows for system in self.experiment.networks(row) or [row]))

    def facts(self, table: str) -> dict[tuple[str, str], str]:
        """Facts of the trainings behind a table's rows, by system and run."""
        return {
            (system, run): f"{folder_of_system(self.experiment, system)}/{run}/facts.json"
            for system in self.trained_for(table)
            for run in self.experiment.runs(system, table)
        }

    def comparisons(self, table: str) -> dict[str, str]:
        """Comparisons of the table's systems by set, where it has marks; of a table of BLEU on the test sets."""
        options = self.experiment.tables[table]
        marked = self.evaluation.compared_tests(table)
        if isinstance(options, MeasureTable):
            marked = self.evaluation.compared_sets(table) if options.marks else []
        return {split: f"<results>/evaluation/{table}/{split}.comparisons.tsv" for split in marked}

    def settings(self, system: str) -> dict[str, str]:
        """What the configuration says of a system in the columns of a table."""
        options = self.experiment.systems[system]
        if not isinstance(options, NeuralSystem | Ensemble):
            return {}
        losses = [self.experiment.network(network).loss for network in self.experiment.networks(system)]
        samples = {f"{loss.drawn_words:,}" if loss.drawn_words else "" for loss in losses}
        search = [
            *(["normalized"] if options.decoding.length_normalization else []),
            *(["with length model"] if options.decoding.length_model else []),
        ]
        return {
            # Members of an ensemble may differ.
            "negative_samples": samples.pop() if len(samples) == 1 else "",
            "subword": "yes" if self.evaluation.is_split(system) else "no",
            "search": ", ".join(search) or "plain",
            "beam": str(options.decoding.beam),
        }

    def everything_of(self, table: str) -> list[str]:
        """A table and, as far as it has such, its facts and figure, in all formats; translations without a score."""
        options = self.experiment.tables[table]
        endings = ["tsv", "md", "tex", *(["facts.tsv"] if isinstance(options, BleuTable | MeasureTable) else [])]
        of_figure = ["svg", "pdf"] if self.evaluation.is_drawn_by_length(table) else []
        return [
            *(f"<results>/{table}.{ending}" for ending in endings),
            *(f"<results>/figures/{table}.length.{ending}" for ending in of_figure),
            *self.evaluation.unscored_outputs(table),
        ]

    def pictures_of(self, figure: str) -> list[str]:
        """The pictures of a figure, one for each sentence."""
        return [
            f"<results>/figures/{figure}.{sentence}.{ending}"
            for sentence in self.experiment.figures[figure].sentences
            for ending in ("svg", "pdf")
        ]

    def accuracy(self, table: str) -> dict[tuple[str, str], str]:
        """Accuracy of the trees that the table's systems read, by parser and kind, where there are gold ones."""
        read = {
            (parser, trees)
            for system in self.trained_for(table)
            if (parser := self.experiment.systems[system].parser) is not None
            for trees in self.experiment.trees_read(system)
        }
        return {
            (parser, trees): f"<results>/syntax/{parser}/accuracy/{trees}.tsv"
            for parser, trees in sorted(read)
            if self.parsers.has_gold(parser, trees)
        }

    def _notes_on_sets(self, table: str) -> Iterator[str]:
        """Say which sets are not scored for want of references, and which cells are empty for want of translations."""
        options = self.experiment.tables[table]
        assert isinstance(options, TableOfSystems)
        scored = self._scored_sets(table)
        for row in options.systems:
            if missing := [split for split in scored if not self.experiment.has_output(row, split)]:
                tests = self.corpus.tests
                average = isinstance(options, BleuTable) and len(tests) > 1 and {*missing} & {*tests}
                yield (
                    f"{options.called[row]} has no translations of {', '.join(missing)}"
                    f"{', and so no average over the test sets' if average else ''}."
                )
        for split in self.experiment.corpora.unscored_tests if isinstance(options, BleuTable) else ():
            yield f"{split} has no references: it is translated, in evaluation/SYSTEM/RUN/{split}.txt, and not scored."

    def _scored_sets(self, table: str) -> list[str]:
        """The sets on which a table's systems have scores there."""
        options = self.experiment.tables[table]
        scored = not isinstance(options, MeasureTable) or options.is_scored
        return self.evaluation.compared_sets(table) if scored else []

    # Jobs of the rules, each called like its rule.

    def table(self, table: str) -> Job:
        """Make a table of scores, measures or counts."""
        return Job(
            "report.table",
            files={"files": self.files(table)},
            settings={"description": self.description(table)},
            modules=[f"evaluation.metrics.{metric}" for metric in self.evaluation.metrics],
        )

    def facts_table(self, table: str) -> Job:
        """Make the table of facts about the systems of a table."""
        return Job(
            "report.facts",
            files={"files": self.files_of_facts(table)},
            settings={"description": self.description_of_facts(table)},
            software=["stanza", "sacrebleu"],
        )

    def plot(self, table: str) -> Job:
        """Draw the scores of a table by sentence length."""
        options = self.experiment.tables[table]
        assert isinstance(options, TableOfSystems)
        return Job(
            "report.plot",
            files={"buckets": f"<results>/evaluation/{table}/tests.by_sentence.tsv"},
            settings={
                "title": options.title,
                "labels": options.called,
                "smallest_group": self.experiment.evaluation.smallest_group,
            },
            software=["matplotlib"],
        )

    def attention(self, figure: str, sentence: str) -> Job:
        """Draw what a system attended to in a sentence, on its tree if it has one; of several runs in the first."""
        options = self.experiment.figures[figure]
        system, split = options.system, options.set
        units, network = self.experiment.units_of(system), self.experiment.network(system)
        stem = f"<results>/nmt/{system}/{self.experiment.runs(system)[0]}/{split}"
        trees = self.subword.syntax(units, "trees").format(parser=network.parser, split=split)
        return Job(
            "report.attention",
            files={
                **({"tree": trees} if "trees" in network.syntax else {}),
                "source_pieces": self.subword.pieces(units, "source").format(split=split),
                "translation": f"{stem}.pieces",
                "attention": f"{stem}.attention.arrow",
                "gates": f"{stem}.gates.arrow",
                **(
                    {"reference": f"<results>/corpus/tokenized/{split}.target"} if self.corpus.references[split] else {}
                ),
            },
            settings={
                "sentence": int(sentence),
                "title": options.title,
                "words": options.words,
                "lexical": network.reads_lexical_trees,
            },
            software=["matplotlib"],
        )
