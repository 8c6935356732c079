"""The pages of the documentation, the blocks that stand in them, and the commands in these."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from tests.project_copy import ROOT

PAGE_FOLDERS = ("tutorials", "how_to", "reference", "explanation", "results")

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(
        page for page in (ROOT / "docs").rglob("*.md") if page.parts[len(ROOT.parts) + 1] not in ("kept", "outputs")
    ),
]

FENCE_PATTERN = re.compile(
    r"^(?P<indent> *)```(?P<language>\S*)[^\n]*\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)

INLINE_COMMAND_PATTERN = re.compile(r"`((?:snakemake|python -m|pytest) [^`\n]+)`")
"""Commands that are code in a sentence."""

PLACEHOLDER_PATTERN = re.compile(r"(?<![A-Za-z$-])[A-Z][A-Z_]+(?![A-Za-z=]|-\d)")
"""What a reader replaces, in capitals; not a variable, nor a system such as SDRNMT-1."""


@dataclass(frozen=True)
class CodeBlock:
    """What stands between two fences: on which page, in which line, in which language."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class PageCommand:
    """One command of a block, as words."""

    block: CodeBlock
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.block} {shlex.join(self.words)}"


def find_blocks(*languages: str) -> list[CodeBlock]:
    """Every fenced block of every page, or those in some languages."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE_PATTERN.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(CodeBlock(str(page.relative_to(ROOT)), line, match["language"], match["text"]))
    return [block for block in found if not languages or block.language in languages]


def find_commands() -> list[PageCommand]:
    """Every command of every block that a shell reads, and of sentences; `console` has them behind a dollar sign."""
    in_blocks = [
        PageCommand(block, words)
        for block in find_blocks("sh", "console")
        for line in block.text.replace("\\\n", " ").splitlines()
        if block.language == "sh" or line.startswith("$ ")
        for words in _split_commands(line.removeprefix("$ "))
    ]
    return [
        *in_blocks,
        *(PageCommand(block, words) for block in _find_inline_commands() for words in _split_commands(block.text)),
    ]


def _find_inline_commands() -> Iterator[CodeBlock]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fenced = [match.span() for match in FENCE_PATTERN.finditer(text)]
        for match in INLINE_COMMAND_PATTERN.finditer(text):
            if not any(start < match.start() < end for start, end in fenced):
                line = text.count("\n", 0, match.start()) + 1
                yield CodeBlock(str(page.relative_to(ROOT)), line, "sh", match[1])


def _split_commands(line: str) -> Iterator[tuple[str, ...]]:
    """Split a line at `&&`, without its comment; anything else that a shell joins commands by is refused."""
    words: list[str] = []
    for word in [*shlex.split(line, comments=True), "&&"]:
        if word == "&&":
            if words:
                yield tuple(words)
            words = []
        else:
            assert not {*word} <= {*";|<>&"}, f"{line}: `{word}` is not looked into"
            words.append(word)
