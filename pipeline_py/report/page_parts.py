"""Chapters and sections of the page, and the manifest of its files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os.path import relpath
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pipeline_py.config.base import parse_section_json
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.evaluation.compute_bleu_ceiling import BleuCeiling
from pipeline_py.report.figures.figure_files import InlineFigure
from pipeline_py.report.figures.line_figure import LineStyle
from pipeline_py.report.stage_results import VerdictExclusions, read_ceilings, read_verdict_exclusions
from pipeline_py.report.tables.sheet import Sheet
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_record import check_input_file


@dataclass(frozen=True)
class PageSection:
    """A section of a chapter. The page shows its contents in the order of these attributes.

    Attributes:
        title: title, may be empty.
        paragraphs: paragraphs of text.
        legend: name and line style of each system.
        figures: figures, side by side if they fit.
        tables: tables, one below the other.
        preformatted_text: text with fixed line breaks.
        template_data: data for a template of its own.
        template_name: file name in `templates`.
        is_folded: whether the section is collapsed until the reader clicks on it.
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
        """Return True if the section has no content."""
        return not (self.paragraphs or self.figures or self.tables or self.template_data or self.preformatted_text)


@dataclass(frozen=True)
class Chapter:
    """A chapter of the page; links refer to it by `anchor`."""

    anchor: str
    title: str
    sections: Sequence[PageSection]

    @property
    def anchored_sections(self) -> list[tuple[str, PageSection]]:
        """Pairs of anchor and section. A continuation (`TITLE: more`) of an anchored section has an empty anchor."""
        anchored: list[tuple[str, PageSection]] = []
        linked_titles: list[str] = []
        for index, section in enumerate(self.sections):
            is_linked = section.title and not any(section.title.startswith(f"{title}: ") for title in linked_titles)
            linked_titles += [section.title] if is_linked else []
            anchored.append((f"{self.anchor}:{index}" if is_linked else "", section))
        return anchored


@dataclass(frozen=True)
class PageManifest:
    """Files and metadata of a page.

    Attributes:
        experiment: the configuration, with systems crossed with parsers.
        files: paths by kind, such as `comparisons`, and name, such as `TABLE:SET`.
        published_tables: numbers of the paper's tables to show, by table.
        code_hashes: hash of the code of each stage.
        package_versions: versions of installed packages.
        rerun_command: command that reproduces the results.
        page_folder: folder of the page, from which links to files start.
    """

    experiment: ExperimentConfig
    files: Mapping[str, Mapping[str, Path]]
    published_tables: Mapping[str, list[str]]
    code_hashes: Mapping[str, str]
    package_versions: Mapping[str, str]
    rerun_command: str
    page_folder: Path = Path()

    def get_files(self, kind: str) -> Mapping[str, Path]:
        """Return the files of a kind by name."""
        return self.files.get(kind, {})

    def find_file(self, kind: str, name: str) -> Path | None:
        """Return one file of a kind, or None if the manifest lacks it."""
        return self.get_files(kind).get(name)

    def build_link(self, path: Path) -> str:
        """Return the address of a file, relative to the page."""
        return quote(Path(relpath(path, self.page_folder)).as_posix())

    @cached_property
    def verdict_exclusions(self) -> VerdictExclusions:
        """Systems and sets that verdicts exclude, with the reasons."""
        path = next(iter(self.get_files("exclusions").values()), None)
        return VerdictExclusions() if path is None else read_verdict_exclusions(path)

    @cached_property
    def ceilings(self) -> list[BleuCeiling]:
        """BLEU ceilings of all sets."""
        return [ceiling for path in self.get_files("ceiling").values() for ceiling in read_ceilings(path)]

    def iterate_set_files(self, kind: str, table: str) -> Iterator[tuple[str, Path]]:
        """Yield the sets of a table that have a file of a kind, and the file."""
        for name, path in self.get_files(kind).items():
            table_name, _, split = name.rpartition(":")
            if table_name == table:
                yield split, path


def read_manifest(path: Path, page_folder: Path) -> PageManifest:
    """Read the manifest of a page in `page_folder` and verify its files.

    Raises:
        InputError: if a file is missing or damaged.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    files = {kind: {name: Path(file) for name, file in paths.items()} for kind, paths in content["files"].items()}
    for file in (file for paths in files.values() for file in paths.values()):
        if not file.is_file():
            raise InputError("no such file; create it, or create the manifest of the page again", file)
        check_input_file(file)
    experiment = parse_section_json(ExperimentConfig, content["experiment"], "experiment")
    return PageManifest(
        experiment,
        files,
        content["published"],
        content["code"],
        content["versions"],
        content["command"],
        page_folder,
    )
