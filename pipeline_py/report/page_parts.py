"""What a page is made of: chapters, their parts, and what stands in these."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline_py.report.figures.inline_svg import InlineFigure
from pipeline_py.report.figures.line_figure import Look
from pipeline_py.report.tables.sheet import Sheet


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
