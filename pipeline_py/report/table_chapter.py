"""What the sections of a table's chapter know of it."""

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
    index_by_system_pair,
    read_system_comparisons,
)

MAX_SYSTEMS_SHOWN = 12
"""Systems that a figure or a matrix shows well on paper."""


@dataclass(frozen=True)
class TableChapter:
    """What is known of a table of an experiment; `set_names` is what its sets are called."""

    manifest: PageManifest
    table_name: str
    set_names: Mapping[str, str]

    @property
    def experiment(self) -> ExperimentConfig:
        """The configuration."""
        return self.manifest.experiment

    @cached_property
    def sheet(self) -> Sheet:
        """The table as it was laid out."""
        return read_sheet(self.manifest.get_files("table")[self.table_name])

    @cached_property
    def display_names(self) -> dict[str, str]:
        """What its systems are called: by their labels, where these differ."""
        table = self.experiment.tables[self.table_name]
        return table.display_names if isinstance(table, SystemTableConfig) else {}

    @cached_property
    def line_styles(self) -> dict[str, LineStyle]:
        """How their lines look in all figures of the chapter."""
        return {system: get_line_style(number) for number, system in enumerate(self.display_names)}

    @cached_property
    def comparisons(self) -> dict[str, dict[str, list[SystemComparison]]]:
        """What is known of pairs of its systems, by set and metric."""
        found: dict[str, dict[str, list[SystemComparison]]] = {}
        for split, path in self.manifest.iterate_set_files("comparisons", self.table_name):
            of_metrics = found.setdefault(split, {})
            for pair in read_system_comparisons(path):
                is_tested = not {pair.system, pair.other_system} & {*self.manifest.exclusions.system_reasons}
                of_metrics.setdefault(pair.metric, []).append(pair if is_tested else pair.remove_inference())
        return found

    @property
    def is_wide(self) -> bool:
        """Whether it has more systems than a figure or a matrix on paper shows well."""
        return len(self.display_names) > MAX_SYSTEMS_SHOWN

    @property
    def anchor(self) -> str:
        """The chapter's identifier on the page."""
        return self.table_name.replace("/", "-")

    def find_bleu_comparisons(self, system: str, other_system: str) -> dict[str, SystemComparison]:
        """BLEU of one system beside another's, by set."""
        pairs = {
            split: index_by_system_pair(of_metrics.get("bleu", [])) for split, of_metrics in self.comparisons.items()
        }
        return {
            split: of_set[system, other_system] for split, of_set in pairs.items() if (system, other_system) in of_set
        }

    def select_pairs(self, available_pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """The systems that the table is about: each proposed row and the baseline, or else the two that come first.

        Args:
            available_pairs: pairs of which there is something to show, whichever of both comes first.

        Returns:
            Nothing where there is no pair at all.
        """
        asked = self.experiment.get_proposed_comparisons(self.table_name)
        return [pair for pair in asked if pair in available_pairs or pair[::-1] in available_pairs] or [
            *available_pairs[:1]
        ]

    def build_legend(self, systems: set[str]) -> list[tuple[str, LineStyle]]:
        """What systems are called, and how their lines look."""
        return [(name, self.line_styles[system]) for system, name in self.display_names.items() if system in systems]

    def get_set_name(self, split: str) -> str:
        """What a set is called."""
        return self.set_names.get(split, split)


def build_table_chapters(manifest: PageManifest) -> Iterator[TableChapter]:
    """A chapter for each table that there is a file of, in their order."""
    text = manifest.experiment.corpora.dev
    set_names = {} if text is None else {"dev": "dev" if text.name.lower() == "dev" else f"dev ({text.name})"}
    for name in manifest.experiment.tables:
        if name in manifest.get_files("table"):
            yield TableChapter(manifest, name, set_names)
