"""What a page is made of: chapters and their parts, and the manifest of its files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline_py.config.base import from_json
from pipeline_py.config.experiment import Experiment
from pipeline_py.evaluation.ceiling import Ceiling
from pipeline_py.report.figures.figure_files import InlineFigure
from pipeline_py.report.figures.line_figure import Look
from pipeline_py.report.stage_results import Exclusions, read_ceilings, read_exclusions
from pipeline_py.report.tables.sheet import Sheet
from pipeline_py.run.errors import InputError
from pipeline_py.run.record import check_input


@dataclass(frozen=True)
class Part:
    """A part of a chapter; what it has stands in the order of these attributes.

    Attributes:
        title: may be empty.
        text: paragraphs.
        legend: names of systems and how their lines look.
        figures: side by side where there is room.
        tables: one below the other.
        verbatim: text that keeps its lines.
        own: what the section's own template shows.
        template: of `templates`; a section that shows what no other does has one of its name.
        folded: whether it is opened by a click; it is open on paper.
    """

    title: str = ""
    text: Sequence[str] = ()
    legend: Sequence[tuple[str, Look]] = ()
    figures: Sequence[InlineFigure] = ()
    tables: Sequence[Sheet] = ()
    verbatim: str = ""
    own: Sequence[Any] = ()
    template: str = "part.html"
    folded: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.text or self.figures or self.tables or self.own or self.verbatim)


@dataclass(frozen=True)
class Chapter:
    """A chapter; `name` is what links to it say."""

    name: str
    title: str
    parts: Sequence[Part]

    @property
    def anchored(self) -> list[tuple[str, Part]]:
        """Parts and what links to them say, which is empty where a part belongs to a linked one: `TITLE: more`."""
        found: list[tuple[str, Part]] = []
        linked: list[str] = []
        for place, part in enumerate(self.parts):
            is_linked = part.title and not any(part.title.startswith(f"{title}: ") for title in linked)
            linked += [part.title] if is_linked else []
            found.append((f"{self.name}-{place}" if is_linked else "", part))
        return found


@dataclass(frozen=True)
class Manifest:
    """Files and facts of a page.

    Attributes:
        experiment: the configuration, its systems crossed with parsers.
        files: by kind, such as `comparisons`, and by what they are of, such as `TABLE:SET`.
        published: for some tables the numbers of a paper's tables that are shown below them.
        code: hash of the code of each stage.
        versions: of installed packages.
        command: what makes the results again.
    """

    experiment: Experiment
    files: Mapping[str, Mapping[str, Path]]
    published: Mapping[str, list[str]]
    code: Mapping[str, str]
    versions: Mapping[str, str]
    command: str

    def all(self, kind: str) -> Mapping[str, Path]:
        """The files of a kind; what is not given is left out of the page."""
        return self.files.get(kind, {})

    def of(self, kind: str, name: str) -> Path | None:
        """The file of a kind that is of a name; None where there is none."""
        return self.all(kind).get(name)

    @cached_property
    def exclusions(self) -> Exclusions:
        """Systems and sets without verdicts."""
        path = next(iter(self.all("exclusions").values()), None)
        return Exclusions() if path is None else read_exclusions(path)

    @cached_property
    def ceilings(self) -> list[Ceiling]:
        """The ceilings of BLEU on all sets."""
        return [ceiling for path in self.all("ceiling").values() for ceiling in read_ceilings(path)]

    def by_set(self, kind: str, table: str) -> Iterator[tuple[str, Path]]:
        """Sets of a table, and their files of a kind."""
        for name, path in self.all(kind).items():
            of_table, _, split = name.rpartition(":")
            if of_table == table:
                yield split, path


def read_manifest(path: Path) -> Manifest:
    """Read a manifest, and see to it that the files that it names are whole.

    Raises:
        InputError: if it names a file that is missing or damaged.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    files = {kind: {name: Path(file) for name, file in of.items()} for kind, of in content["files"].items()}
    for file in (file for of in files.values() for file in of.values()):
        if not file.is_file():
            raise InputError("no such file; make it, or the page's manifest again", file)
        check_input(file)
    experiment = from_json(Experiment, content["experiment"], "experiment")
    return Manifest(experiment, files, *(content[key] for key in ("published", "code", "versions", "command")))
