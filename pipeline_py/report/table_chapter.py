"""The chapter of one table: its scores and what they cost, and everything that compares its systems."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.tables import BleuTable, MeasureTable, TableOfSystems
from pipeline_py.report import breakdown, ngrams, pairs
from pipeline_py.report.breakdown import Groups, read_breakdown, read_sentence_scores, read_words
from pipeline_py.report.costs import NOTE, costs_of, read_facts, shares_of_cores
from pipeline_py.report.examples import shown_examples
from pipeline_py.report.fact_table import fact_table
from pipeline_py.report.learning_curves import figures, read_curve
from pipeline_py.report.line_figure import Look, look_of
from pipeline_py.report.page_parts import Chapter, Part
from pipeline_py.report.page_sources import Sources
from pipeline_py.report.page_table import PageTable, beside, from_sheet
from pipeline_py.report.pair import Pair, both_ways, read_pairs
from pipeline_py.report.published import read_published
from pipeline_py.report.published_table import published_tables, source_of
from pipeline_py.report.sheet import Sheet, read_sheet
from pipeline_py.report.training_notes import note_on_shared_cores

CAPTIONS = {
    "bleu": "BLEU in percent of each system on the development set and on every test set; marks and signatures are "
    "explained below.",
    "measures": "What was measured of each system; sets, marks and signatures are explained below.",
    "parses": "How many sentences of each text have a parse.",
    "vocabulary": "How many different words the training text has as it is, after generalisation, and in pieces.",
    "attention": "How much of the attention lies on words and on phrases.",
}
"""What tables show, by their type."""


@dataclass(frozen=True)
class TableChapter:
    """What is known of a table of an experiment; `set_names` is what its sets are called."""

    experiment: Experiment
    name: str
    sources: Sources
    set_names: Mapping[str, str]
    published: tuple[str, ...] = ()

    @cached_property
    def sheet(self) -> Sheet:
        """The table as it was laid out."""
        return read_sheet(self.sources.files["table"][self.name])

    @cached_property
    def called(self) -> dict[str, str]:
        """What its systems are called: by their labels, where these differ."""
        table = self.experiment.tables[self.name]
        return table.called if isinstance(table, TableOfSystems) else {}

    @cached_property
    def looks(self) -> dict[str, Look]:
        """How their lines look in all figures of the chapter."""
        return {system: look_of(number) for number, system in enumerate(self.called)}

    @cached_property
    def pairs(self) -> dict[str, dict[str, list[Pair]]]:
        """What is known of pairs of its systems, by set and metric."""
        found: dict[str, dict[str, list[Pair]]] = {}
        for split, path in self.sources.by_set("comparisons", self.name):
            of_metrics = found.setdefault(split, {})
            for pair in read_pairs(path):
                of_metrics.setdefault(pair.metric, []).append(pair)
        return found

    def compared(self, system: str, other: str) -> dict[str, Pair]:
        """BLEU of one system beside another's, by set."""
        pairs = {split: both_ways(of_metrics.get("bleu", [])) for split, of_metrics in self.pairs.items()}
        return {split: of_set[system, other] for split, of_set in pairs.items() if (system, other) in of_set}

    @property
    def anchor(self) -> str:
        """The chapter's identifier on the page."""
        return self.name.replace("/", "-")

    def chapter(self) -> Chapter:
        """Everything that there are files for."""
        parts = [
            self._scores(),
            *self._published(),
            *self._pairs(),
            *self._by_groups("breakdown", "BLEU by kinds of sentences", read_breakdown),
            *self._by_groups(
                "sentence_scores",
                "Distribution of sentence scores",
                lambda path: read_sentence_scores(path, self.called),
            ),
            *self._by_groups("words", "Word accuracy by training frequency", read_words),
            *self._ngrams(),
            self._learning(),
            *self._examples(),
            *self._facts(),
        ]
        return Chapter(self.anchor, self.sheet.title, [part for part in parts if not part.is_empty])

    def _scores(self) -> Part:
        table = from_sheet(self.sheet, CAPTIONS[self.experiment.tables[self.name].type])
        facts = self.sources.of("facts", self.name)
        text = [f"Also in {self.name}.tsv, .md and .tex."]
        options = self.experiment.tables[self.name]
        if facts is None or not isinstance(options, BleuTable | MeasureTable):
            return Part(text=text, tables=[table])
        rows = options.systems
        members = {row: self.experiment.networks(row) or [row] for row in rows}
        trained = read_facts(facts)
        columns, cells = costs_of(rows, members, trained, self.sheet.heads)
        wide = beside(table, columns, cells)
        shared = note_on_shared_cores(shares_of_cores(trained), lambda name: self.called.get(name, name))
        notes = [*wide.notes, *([NOTE] if columns else []), *(note for note in shared if note not in wide.notes)]
        return Part(text=text, tables=[PageTable(wide.caption, wide.columns, wide.rows, notes)])

    def _published(self) -> Iterator[Part]:
        path = self.sources.of("published", self.name)
        if path is not None:
            source = source_of(path)
            yield Part(
                "As published",
                [
                    "Printed by the paper, from its own data and languages, not made here: such numbers say how "
                    "systems compare there, and cannot be set against ours one by one.",
                    source.text,
                ],
                tables=published_tables(read_published(path), self.published, source.short),
            )

    def _pairs(self) -> Iterator[Part]:
        """Intervals and differences of each set, the first set open; then everything about each pair."""
        of_set: dict[str, list[PageTable]] = {}
        for split, path in self.sources.by_set("intervals", self.name):
            of_set.setdefault(split, []).extend(pairs.intervals(path, self.called, self._on(split)))
        in_full = []
        for split, of_metrics in self.pairs.items():
            for found in of_metrics.values():
                of_set.setdefault(split, []).append(pairs.matrix(found, self.called, self._on(split)))
                in_full.append(pairs.listing(found, self.called, self._on(split)))
        for place, (split, tables) in enumerate(of_set.items()):
            yield Part(self._on(split) if place else "All pairs of systems", tables=tables, folded=place > 0)
        yield Part("Everything in numbers", tables=in_full, folded=True)

    def _by_groups(self, option: str, title: str, read: Callable[[Path], list[Groups]]) -> Iterator[Part]:
        """Figures of each set, the first set open, and what is no figure; then the numbers of the figures."""
        numbers, smallest = [], self.experiment.evaluation.smallest_group
        for place, (split, path) in enumerate(self.sources.by_set(option, self.name)):
            groups, on = [one.without_groups_below(smallest) for one in read(path)], self._on(split)
            shown = [one for one in groups if one.is_drawn and breakdown.is_telling(one)]
            numbers += [breakdown.table(one, self.called, on) for one in shown]
            anchor = f"{self.anchor}-{option}-{split}"
            yield Part(
                on if place else title,
                breakdown.sentences_about(groups, on, smallest),
                legend=self._legend({system for one in shown for system, _ in one.values}),
                figures=[breakdown.figure(one, self.looks, on, f"{anchor}-{n}") for n, one in enumerate(shown)],
                tables=[breakdown.table(one, self.called, on) for one in groups if not one.is_drawn],
                folded=place > 0,
            )
        yield Part("The same in numbers", tables=numbers, folded=True)

    def _ngrams(self) -> Iterator[Part]:
        """Those of each set, the first set open."""
        text = [
            "Sequences of one to four words of the references that the table's first proposed system and its baseline, "
            "or else its first two systems, match more or less often; of several runs in the first. They are ranked by "
            "the one system's share of both systems' matches, (its own + 1) / (those of both + 2), as compare-mt does. "
            "Of so many some differ by chance."
        ]
        of_sets = []
        for split, path in self.sources.by_set("ngrams", self.name):
            on = self._on(split)
            if shown := [*ngrams.tables(path, self.experiment.tables[self.name], self.called, on)]:
                of_sets.append((on, shown))
        for place, (on, shown) in enumerate(of_sets):
            title = on if place else "N-grams that one system gets right more often"
            yield Part(title, [] if place else text, tables=shown, folded=place > 0)

    def _learning(self) -> Part:
        curves = {
            system: [read_curve(path) for path in self._runs_of(system)]
            for system in self.called
            if self._runs_of(system)
        }
        drawn = figures(curves, self.looks, f"{self.anchor}-learning")
        return Part("Learning curves", legend=self._legend({*curves}), figures=drawn)

    def _examples(self) -> Iterator[Part]:
        """Those of each set, the first set open."""
        table = self.experiment.tables[self.name]
        text = [
            "Where a table's first proposed system and its baseline, or else its first two systems, differ most: "
            "numbers are chrF of the sentence. Marked words stand in one translation alone."
        ]
        for place, (split, path) in enumerate(self.sources.by_set("examples", self.name)):
            shown = [*shown_examples(self.experiment, table, self.called, split, path, self.sources, self.name)]
            if shown:
                title = self._on(split) if place else "Sentences where systems differ most"
                yield Part(title, text if place == 0 else [], examples=shown, folded=place > 0)

    def _facts(self) -> Iterator[Part]:
        path = self.sources.of("facts", self.name)
        if path is not None:
            yield Part("Facts of the trainings", tables=[fact_table(read_facts(path), self.called)], folded=True)

    def _runs_of(self, system: str) -> list[Path]:
        return [path for name, path in self.sources.files["curve"].items() if name.rpartition(":")[0] == system]

    def _legend(self, systems: set[str]) -> list[tuple[str, Look]]:
        return [(name, self.looks[system]) for system, name in self.called.items() if system in systems]

    def _on(self, split: str) -> str:
        return self.set_names.get(split, split)


def chapters(
    experiment: Experiment, sources: Sources, published: Mapping[str, tuple[str, ...]]
) -> Iterator[TableChapter]:
    """A chapter for each table that there is a file of, in their order."""
    dev = experiment.corpora.dev.name
    set_names = {"dev": "dev" if dev.lower() == "dev" else f"dev ({dev})"}
    for name in experiment.tables:
        if name in sources.files["table"]:
            yield TableChapter(experiment, name, sources, set_names, published.get(name, ()))
