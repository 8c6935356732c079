"""The pages of the documentation, their code blocks, and the commands in these blocks."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from tests.project_copy import ROOT

PAGE_FOLDERS = ("tutorials", "how_to", "reference", "explanation", "results")

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CODE_OF_CONDUCT.md",
    ROOT / "config" / "README.md",
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
"""Placeholders in capitals that a reader replaces; not a variable, nor a system such as SDRNMT-1."""


@dataclass(frozen=True)
class CodeBlock:
    """A fenced block of code: its page, first line, language and text."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class PageCommand:
    """A command of a block, split into words."""

    block: CodeBlock
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.block} {shlex.join(self.words)}"


def find_blocks(*languages: str) -> list[CodeBlock]:
    """Return the fenced blocks of all pages, or only those in some languages."""
    blocks = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE_PATTERN.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            blocks.append(CodeBlock(str(page.relative_to(ROOT)), line, match["language"], match["text"]))
    return [block for block in blocks if not languages or block.language in languages]


def find_commands() -> list[PageCommand]:
    """Return all shell commands of blocks and of sentences; in `console` blocks they follow a dollar sign."""
    block_commands = [
        PageCommand(block, words)
        for block in find_blocks("sh", "console")
        for line in block.text.replace("\\\n", " ").splitlines()
        if block.language == "sh" or line.startswith("$ ")
        for words in _split_commands(line.removeprefix("$ "))
    ]
    return [
        *block_commands,
        *(PageCommand(block, words) for block in _find_inline_commands() for words in _split_commands(block.text)),
    ]


def _find_inline_commands() -> Iterator[CodeBlock]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fenced_spans = [match.span() for match in FENCE_PATTERN.finditer(text)]
        for match in INLINE_COMMAND_PATTERN.finditer(text):
            if not any(start < match.start() < end for start, end in fenced_spans):
                line = text.count("\n", 0, match.start()) + 1
                yield CodeBlock(str(page.relative_to(ROOT)), line, "sh", match[1])


def _split_commands(line: str) -> Iterator[tuple[str, ...]]:
    """Split a line at `&&`, without its comment; other operators of a shell are an error."""
    words: list[str] = []
    for word in [*shlex.split(line, comments=True), "&&"]:
        if word == "&&":
            if words:
                yield tuple(words)
            words = []
        else:
            assert not {*word} <= {*";|<>&"}, f"{line}: `{word}` is not supported"
            words.append(word)
