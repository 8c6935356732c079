"""The chapter of a table: sheet, labels, line styles and comparisons that its sections share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.tables import SystemTableConfig
from pipeline_py.report.figures.line_figure import LineStyle, get_line_style
from pipeline_py.report.page_parts import PageManifest
from pipeline_py.report.tables.sheet import Sheet, read_sheet
from pipeline_py.report.tables.system_comparison import (
    SystemComparison,
    read_system_comparisons,
)

MAX_SYSTEMS_SHOWN = 12
"""Largest number of systems that fits into a figure or matrix."""


@dataclass(frozen=True)
class TableChapter:
    """A table of an experiment and its files; `set_names` has the display names of sets."""

    manifest: PageManifest
    table_name: str
    set_names: Mapping[str, str]

    @property
    def experiment(self) -> ExperimentConfig:
        """The configuration."""
        return self.manifest.experiment

    @cached_property
    def sheet(self) -> Sheet:
        """The sheet of the table."""
        return read_sheet(self.manifest.get_files("table")[self.table_name])

    @cached_property
    def display_names(self) -> dict[str, str]:
        """Display names of its systems."""
        table = self.experiment.tables[self.table_name]
        return table.display_names if isinstance(table, SystemTableConfig) else {}

    @cached_property
    def line_styles(self) -> dict[str, LineStyle]:
        """Line styles of its systems, the same in all figures of the chapter."""
        return {system: get_line_style(number) for number, system in enumerate(self.display_names)}

    @cached_property
    def comparisons(self) -> dict[str, dict[str, list[SystemComparison]]]:
        """Comparisons of its systems, by set and metric."""
        comparisons: dict[str, dict[str, list[SystemComparison]]] = {}
        for split, path in self.manifest.iterate_set_files("comparisons", self.table_name):
            metric_comparisons = comparisons.setdefault(split, {})
            for pair in read_system_comparisons(path):
                is_tested = not {pair.system, pair.other_system} & {*self.manifest.verdict_exclusions.system_reasons}
                metric_comparisons.setdefault(pair.metric, []).append(pair if is_tested else pair.remove_inference())
        return comparisons

    @property
    def is_wide(self) -> bool:
        """True if the table has more than `MAX_SYSTEMS_SHOWN` systems."""
        return len(self.display_names) > MAX_SYSTEMS_SHOWN

    @property
    def anchor(self) -> str:
        """Identifier of the chapter on the page, which no other table or chapter has."""
        return f"table/{self.table_name}"

    def select_pairs(self, available_pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Select the main pairs of the table: each proposed row and the baseline, or else the first available pair.

        Args:
            available_pairs: pairs with results, in either order.
        """
        proposed_pairs = self.experiment.get_proposed_comparisons(self.table_name)
        return [pair for pair in proposed_pairs if pair in available_pairs or pair[::-1] in available_pairs] or [
            *available_pairs[:1]
        ]

    def build_legend(self, systems: set[str]) -> list[tuple[str, LineStyle]]:
        """Return the display name and line style of each of these systems."""
        return [(name, self.line_styles[system]) for system, name in self.display_names.items() if system in systems]

    def get_set_name(self, split: str) -> str:
        """Return the display name of a set."""
        return self.set_names.get(split, split)


def build_table_chapters(manifest: PageManifest) -> Iterator[TableChapter]:
    """Yield a chapter for each table with a file, in the order of the configuration."""
    dev_text = manifest.experiment.corpora.dev
    set_names = (
        {} if dev_text is None else {"dev": "dev" if dev_text.name.lower() == "dev" else f"dev ({dev_text.name})"}
    )
    for name in manifest.experiment.tables:
        if name in manifest.get_files("table"):
            yield TableChapter(manifest, name, set_names)
