"""What the sections of a table's chapter know of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.tables import TableOfSystems
from pipeline_py.report.figures.line_figure import Look, look_of
from pipeline_py.report.page_parts import Manifest
from pipeline_py.report.tables.sheet import Sheet, read_sheet
from pipeline_py.report.tables.system_comparison import (
    SystemComparison,
    index_both_ways,
    read_system_comparisons,
)

WIDEST = 12
"""Systems that a figure or a matrix shows well on paper."""


@dataclass(frozen=True)
class TableChapter:
    """What is known of a table of an experiment; `set_names` is what its sets are called."""

    manifest: Manifest
    name: str
    set_names: Mapping[str, str]

    @property
    def experiment(self) -> Experiment:
        """The configuration."""
        return self.manifest.experiment

    @cached_property
    def sheet(self) -> Sheet:
        """The table as it was laid out."""
        return read_sheet(self.manifest.all("table")[self.name])

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
    def pairs(self) -> dict[str, dict[str, list[SystemComparison]]]:
        """What is known of pairs of its systems, by set and metric."""
        found: dict[str, dict[str, list[SystemComparison]]] = {}
        for split, path in self.manifest.by_set("comparisons", self.name):
            of_metrics = found.setdefault(split, {})
            for pair in read_system_comparisons(path):
                is_tested = not {pair.system, pair.other} & {*self.manifest.exclusions.systems}
                of_metrics.setdefault(pair.metric, []).append(pair if is_tested else pair.without_inference())
        return found

    @property
    def is_wide(self) -> bool:
        """Whether it has more systems than a figure or a matrix on paper shows well."""
        return len(self.called) > WIDEST

    @property
    def anchor(self) -> str:
        """The chapter's identifier on the page."""
        return self.name.replace("/", "-")

    def compared(self, system: str, other: str) -> dict[str, SystemComparison]:
        """BLEU of one system beside another's, by set."""
        pairs = {split: index_both_ways(of_metrics.get("bleu", [])) for split, of_metrics in self.pairs.items()}
        return {split: of_set[system, other] for split, of_set in pairs.items() if (system, other) in of_set}

    def chosen_pairs(self, known: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """The systems that the table is about: each proposed row and the baseline, or else the two that come first.

        Args:
            known: pairs of which there is something to show, whichever of both comes first.

        Returns:
            Nothing where there is no pair at all.
        """
        asked = self.experiment.proposals(self.name)
        return [pair for pair in asked if pair in known or pair[::-1] in known] or [*known[:1]]

    def legend(self, systems: set[str]) -> list[tuple[str, Look]]:
        """What systems are called, and how their lines look."""
        return [(name, self.looks[system]) for system, name in self.called.items() if system in systems]

    def on(self, split: str) -> str:
        """What a set is called."""
        return self.set_names.get(split, split)


def chapters(manifest: Manifest) -> Iterator[TableChapter]:
    """A chapter for each table that there is a file of, in their order."""
    text = manifest.experiment.corpora.dev
    set_names = {} if text is None else {"dev": "dev" if text.name.lower() == "dev" else f"dev ({text.name})"}
    for name in manifest.experiment.tables:
        if name in manifest.all("table"):
            yield TableChapter(manifest, name, set_names)
