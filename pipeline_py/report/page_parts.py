"""What a page is made of: chapters and their parts, and the manifest of its files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline_py.config.base import parse_section_json
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.evaluation.compute_bleu_ceiling import BleuCeiling
from pipeline_py.report.figures.figure_files import InlineFigure
from pipeline_py.report.figures.line_figure import LineStyle
from pipeline_py.report.stage_results import VerdictExclusions, read_ceilings, read_exclusions
from pipeline_py.report.tables.sheet import Sheet
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_record import check_input_file


@dataclass(frozen=True)
class PageSection:
    """A part of a chapter; what it has stands in the order of these attributes.

    Attributes:
        title: may be empty.
        paragraphs: paragraphs.
        legend: names of systems and how their lines look.
        figures: side by side where there is room.
        tables: one below the other.
        preformatted_text: text that keeps its lines.
        template_data: what the section's own template shows.
        template_name: of `templates`; a section that shows what no other does has one of its name.
        is_folded: whether it is opened by a click; it is open on paper.
    """

    title: str = ""
    paragraphs: Sequence[str] = ()
    legend: Sequence[tuple[str, LineStyle]] = ()
    figures: Sequence[InlineFigure] = ()
    tables: Sequence[Sheet] = ()
    preformatted_text: str = ""
    template_data: Sequence[Any] = ()
    template_name: str = "page_section.html"
    is_folded: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.paragraphs or self.figures or self.tables or self.template_data or self.preformatted_text)


@dataclass(frozen=True)
class Chapter:
    """A chapter; `anchor` is what links to it say."""

    anchor: str
    title: str
    sections: Sequence[PageSection]

    @property
    def anchored_sections(self) -> list[tuple[str, PageSection]]:
        """Parts and what links to them say, which is empty where a part belongs to a linked one: `TITLE: more`."""
        found: list[tuple[str, PageSection]] = []
        linked: list[str] = []
        for place, part in enumerate(self.sections):
            is_linked = part.title and not any(part.title.startswith(f"{title}: ") for title in linked)
            linked += [part.title] if is_linked else []
            found.append((f"{self.anchor}-{place}" if is_linked else "", part))
        return found


@dataclass(frozen=True)
class PageManifest:
    """Files and facts of a page.

    Attributes:
        experiment: the configuration, its systems crossed with parsers.
        files: by kind, such as `comparisons`, and by what they are of, such as `TABLE:SET`.
        published_tables: for some tables the numbers of a paper's tables that are shown below them.
        code_hashes: hash of the code of each stage.
        package_versions: of installed packages.
        rerun_command: what makes the results again.
    """

    experiment: ExperimentConfig
    files: Mapping[str, Mapping[str, Path]]
    published_tables: Mapping[str, list[str]]
    code_hashes: Mapping[str, str]
    package_versions: Mapping[str, str]
    rerun_command: str

    def get_files(self, kind: str) -> Mapping[str, Path]:
        """The files of a kind; what is not given is left out of the page."""
        return self.files.get(kind, {})

    def find_file(self, kind: str, name: str) -> Path | None:
        """The file of a kind that is of a name; None where there is none."""
        return self.get_files(kind).get(name)

    @cached_property
    def exclusions(self) -> VerdictExclusions:
        """Systems and sets without verdicts."""
        path = next(iter(self.get_files("exclusions").values()), None)
        return VerdictExclusions() if path is None else read_exclusions(path)

    @cached_property
    def ceilings(self) -> list[BleuCeiling]:
        """The ceilings of BLEU on all sets."""
        return [ceiling for path in self.get_files("ceiling").values() for ceiling in read_ceilings(path)]

    def iterate_set_files(self, kind: str, table: str) -> Iterator[tuple[str, Path]]:
        """Sets of a table, and their files of a kind."""
        for name, path in self.get_files(kind).items():
            of_table, _, split = name.rpartition(":")
            if of_table == table:
                yield split, path


def read_manifest(path: Path) -> PageManifest:
    """Read a manifest, and see to it that the files that it names are whole.

    Raises:
        InputError: if it names a file that is missing or damaged.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    files = {kind: {name: Path(file) for name, file in of.items()} for kind, of in content["files"].items()}
    for file in (file for of in files.values() for file in of.values()):
        if not file.is_file():
            raise InputError("no such file; make it, or the page's manifest again", file)
        check_input_file(file)
    experiment = parse_section_json(ExperimentConfig, content["experiment"], "experiment")
    return PageManifest(experiment, files, *(content[key] for key in ("published", "code", "versions", "command")))
