"""The pages of the documentation, the blocks that stand in them, and the commands in these."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from tests.workplace import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/results").glob("*.md")),
]

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\S*)[^\n]*\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)

WITHIN_SENTENCES = re.compile(r"`((?:snakemake|python -m|pytest) [^`\n]+)`")
"""Commands that are code in a sentence."""

PLACEHOLDER = re.compile(r"(?<![A-Za-z$-])[A-Z][A-Z_]+(?![A-Za-z=]|-\d)")
"""What a reader replaces, in capitals; not a variable, nor a system such as SDRNMT-1."""


@dataclass(frozen=True)
class Block:
    """What stands between two fences: on which page, in which line, in which language."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Command:
    """One command of a block, as words."""

    block: Block
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.block} {shlex.join(self.words)}"


def blocks(*languages: str) -> list[Block]:
    """Every fenced block of every page, or those in some languages."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(str(page.relative_to(ROOT)), line, match["language"], match["text"]))
    return [block for block in found if not languages or block.language in languages]


def commands() -> list[Command]:
    """Every command of every block that a shell reads, and of sentences; `console` has them behind a dollar sign."""
    in_blocks = [
        Command(block, words)
        for block in blocks("sh", "console")
        for line in block.text.replace("\\\n", " ").splitlines()
        if block.language == "sh" or line.startswith("$ ")
        for words in _commands_of(line.removeprefix("$ "))
    ]
    return [*in_blocks, *(Command(block, words) for block in _within_sentences() for words in _commands_of(block.text))]


def _within_sentences() -> Iterator[Block]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fenced = [match.span() for match in FENCE.finditer(text)]
        for match in WITHIN_SENTENCES.finditer(text):
            if not any(start < match.start() < end for start, end in fenced):
                line = text.count("\n", 0, match.start()) + 1
                yield Block(str(page.relative_to(ROOT)), line, "sh", match[1])


def _commands_of(line: str) -> Iterator[tuple[str, ...]]:
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
