"""Dependency trees in CoNLL-U files, read and written as a stream.

Two comments extend the format:

- `# parse = failed: REASON` marks a failed parse; its heads form a meaningless chain.
- A block that contains only comments is an empty sentence, so that block k belongs to line k of the text. Exceptions
  are a header before the first sentence, and comments that an empty line separates from their sentence (their `# text`
  has words).

Words are syntactic words; multi-word tokens (`3-4`) record which words the text joins. Empty nodes (`5.1`), byte order
marks and spaces around values are skipped. A space inside a form becomes U+00A0, because spaces separate words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO

from pipeline_py.files.text_files import BYTE_ORDER_MARK, MAX_DIGITS, is_whole_number, read_lines
from pipeline_py.run.errors import InputError

MISSING_TEXT_ERROR = (
    "all words of this sentence are `_`: the treebank comes without its text; restore the text as its README says, or "
    "use another treebank"
)
"""Error message for a sentence without word text (see `has_word_text`)."""


def read_treebank_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a plain or compressed UTF-8 file, without byte order marks at their beginnings.

    Raises:
        InputError: A line is not UTF-8.
    """
    for line in read_lines(path):
        yield line.removeprefix(BYTE_ORDER_MARK)


def has_word_text(words: Sequence[str]) -> bool:
    """Check that the words of a tree are not all `_`, as in treebanks that come without their text.

    A single `_` is a valid sentence.
    """
    return len(words) < 2 or any(word.strip("_") for word in words)


FAILED_PREFIX = "failed: "
COLUMN_COUNT = 10
FORM_COLUMN, UPOS_COLUMN, DEPREL_COLUMN = 1, 3, 7
UNSPECIFIED_VALUE = "_"
NO_SPACE_AFTER = "SpaceAfter=No"

_EMPTY_NODE_ID_PATTERN = re.compile(r"[0-9]+\.[0-9]+")
_MULTIWORD_ID_PATTERN = re.compile(rf"([0-9]{{1,{MAX_DIGITS}}})-([0-9]{{1,{MAX_DIGITS}}})")


@dataclass(frozen=True)
class MultiwordToken:
    """Neighbouring syntactic words that are written as one token: French `du` is `de le`.

    Attributes:
        first_word: First word, counted from 1.
        last_word: Last word.
        form: Form of the token.
    """

    first_word: int
    last_word: int
    form: str


@dataclass(frozen=True)
class DependencyTree:
    """The tree of one sentence of n words.

    Attributes:
        words: n forms.
        heads: n heads; 0 is the root, i is the i-th word counted from 1.
        labels: n relations, `_` if unknown.
        upos: n universal part-of-speech tags, `_` if unknown.
        failure_reason: Why parsing failed; None if it did not. The heads of a failed parse are meaningless.
        xpos: n language-specific tags. This and the following are empty unless read from a treebank.
        features: n morphological features as written.
        multiword_tokens: Tokens that join several words, from left to right.
        text_comment: The comment `# text`.
        unspaced_words: Last words of tokens that no space follows (`SpaceAfter=No`).
        line_number: Line of the file on which the block begins.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    upos: tuple[str, ...]
    failure_reason: str | None = None
    xpos: tuple[str, ...] = field(default=(), compare=False, repr=False)
    features: tuple[str, ...] = field(default=(), compare=False, repr=False)
    multiword_tokens: tuple[MultiwordToken, ...] = field(default=(), compare=False, repr=False)
    text_comment: str = field(default="", compare=False, repr=False)
    unspaced_words: frozenset[int] = field(default=frozenset(), compare=False, repr=False)
    line_number: int = field(default=0, compare=False, repr=False)

    @property
    def root_words(self) -> list[int]:
        """Words whose head is 0, counted from 1."""
        return [word for word, head in enumerate(self.heads, start=1) if head == 0]

    @property
    def tokens(self) -> list[MultiwordToken]:
        """All tokens from left to right; words outside of multi-word tokens are tokens of one word."""
        joined = {token.first_word: token for token in self.multiword_tokens}
        tokens: list[MultiwordToken] = []
        while (first := tokens[-1].last_word + 1 if tokens else 1) <= len(self.words):
            tokens.append(joined.get(first) or MultiwordToken(first, first, self.words[first - 1]))
        return tokens


def build_failed_dependency_tree(words: Sequence[str], reason: str) -> DependencyTree:
    """Build the marked tree of a sentence that could not be parsed: a chain from left to right."""
    return DependencyTree(
        words=tuple(words),
        heads=tuple(range(len(words))),
        labels=("root", *["dep"] * (len(words) - 1)) if words else (),
        upos=("X",) * len(words),
        failure_reason=reason,
    )


def find_head_error(heads: Sequence[int]) -> tuple[int, str] | None:
    """Check that heads form one or several trees under an artificial root.

    Returns:
        A word with a wrong head (counted from 1) and a description of the error; None if there is no error.
    """
    for word, head in enumerate(heads, start=1):
        if not 0 <= head <= len(heads):
            return word, f"head {head} of word {word} is outside of the sentence of {len(heads)} words"
    reaches_root = [False] * (len(heads) + 1)
    reaches_root[0] = True
    for word in range(1, len(heads) + 1):
        path: list[int] = []
        node = word
        while not reaches_root[node]:
            if len(path) == len(heads):
                return word, f"the heads of word {word} run in a cycle"
            path.append(node)
            node = heads[node - 1]
        for node in path:
            reaches_root[node] = True
    return None


def read_dependency_trees(path: Path) -> Iterator[DependencyTree]:
    """Yield the trees of a plain or gzipped CoNLL-U file.

    Raises:
        InputError: A block is not a tree; names its line.
    """
    block: list[str] = []
    start = 1
    number = 0
    is_first = True
    for number, line in enumerate(chain(read_treebank_lines(path), [""]), start=1):
        if "\r" in line and "\t" in line:
            raise InputError("a carriage return within the line; end lines by LF or CR LF", path, number)
        if line.strip():
            if not block:
                start = number
            block.append(line)
        elif block:
            if not _is_detached_comment_block(block, is_first):
                yield _parse_block(block, path, start)
                is_first = False
            block = []
    if number == 1:
        raise InputError("the file is empty; expected CoNLL-U, one block per sentence", path)


def _is_detached_comment_block(block: Sequence[str], is_first_block: bool) -> bool:
    """Return true for a header, and for comments that an empty line separates from their sentence."""
    if not all(line.startswith("#") for line in block):
        return False
    comments = dict(map(_parse_comment, block))
    return bool(comments["text"]) if "text" in comments else is_first_block and "parse" not in comments


def _parse_comment(line: str) -> tuple[str, str]:
    """Split a comment `# key = value`."""
    key, _, value = line.removeprefix("#").partition("=")
    return key.strip(), value.strip()


def _parse_block(block: list[str], path: Path, start_line: int) -> DependencyTree:
    failed = None
    text = ""
    unspaced: set[int] = set()
    rows: list[list[str]] = []
    lines: list[int] = []
    multiword: list[MultiwordToken] = []
    joined_at = start_line
    for number, line in enumerate(block, start_line):
        if line.startswith("#"):
            key, value = _parse_comment(line)
            if key == "parse" and value.startswith(FAILED_PREFIX.strip()):
                failed = value.removeprefix(FAILED_PREFIX.strip()).strip()
            elif key == "text":
                text = value
            continue
        row = _parse_row(line, path, number)
        if _EMPTY_NODE_ID_PATTERN.fullmatch(row[0]):
            continue
        if "-" in row[0]:
            multiword.append(_parse_multiword_token(row, len(rows) + 1, multiword, path, number))
            joined_at = number
            if NO_SPACE_AFTER in row[9]:
                unspaced.add(multiword[-1].last_word)
            continue
        if row[0] != str(len(rows) + 1):
            raise InputError(
                f"word id {row[0]!r} where {len(rows) + 1} was expected; number the words of a sentence from 1, and "
                "separate sentences by an empty line",
                path,
                number,
            )
        if not is_whole_number(row[6]):
            raise InputError(
                f"head {row[6]!r} is not the number of a word; every word needs a head (0 for the root)", path, number
            )
        rows.append(row)
        lines.append(number)
        if NO_SPACE_AFTER in row[9] and not (multiword and len(rows) <= multiword[-1].last_word):
            unspaced.add(len(rows))
    heads = tuple(int(row[6]) for row in rows)
    head_error = find_head_error(heads)
    if head_error is not None:
        word, description = head_error
        raise InputError(f"{description}; correct the heads of this sentence", path, lines[word - 1])
    if multiword and multiword[-1].last_word > len(rows):
        last = multiword[-1]
        raise InputError(
            f"multi-word token {last.first_word}-{last.last_word} goes beyond the sentence of {len(rows)} words; "
            "correct its id",
            path,
            joined_at,
        )
    return DependencyTree(
        words=tuple(row[FORM_COLUMN] for row in rows),
        heads=heads,
        labels=tuple(row[DEPREL_COLUMN] for row in rows),
        upos=tuple(row[UPOS_COLUMN] for row in rows),
        failure_reason=failed,
        xpos=tuple(row[4] for row in rows),
        features=tuple(row[5] for row in rows),
        multiword_tokens=tuple(multiword),
        text_comment=text,
        unspaced_words=frozenset(unspaced),
        line_number=start_line,
    )


def _parse_row(line: str, path: Path, line_number: int) -> list[str]:
    """Split a line into columns and strip the spaces around their values.

    Raises:
        InputError: The number of columns is wrong, a form is missing, or a tag or relation contains a space.
    """
    row = line.split("\t")
    if len(row) != COLUMN_COUNT:
        raise InputError(
            f"{len(row)} columns instead of {COLUMN_COUNT}; CoNLL-U separates its columns by tabs", path, line_number
        )
    if row == line.split():  # no empty values and no spaces
        return row
    for column, value in enumerate(row):
        # Spaces other than the ASCII space may belong to a word.
        row[column] = value.strip(" ") if column == FORM_COLUMN else value.strip() or UNSPECIFIED_VALUE
    if not row[FORM_COLUMN]:
        raise InputError("a word without a form; write the word into the second column", path, line_number)
    for column, name in ((UPOS_COLUMN, "tag"), (DEPREL_COLUMN, "relation")):
        if len(row[column].split()) > 1:
            raise InputError(f"the {name} {row[column]!r} contains a space; write one {name}", path, line_number)
    row[FORM_COLUMN] = row[FORM_COLUMN].replace(" ", "\u00a0")
    return row


def _parse_multiword_token(
    row: list[str], next_word: int, previous_tokens: Sequence[MultiwordToken], path: Path, line_number: int
) -> MultiwordToken:
    """Parse a row with a multi-word token that begins with the word `next_word`."""
    ends = _MULTIWORD_ID_PATTERN.fullmatch(row[0])
    if ends is None or int(ends[1]) > int(ends[2]):
        raise InputError(f"id {row[0]!r} of a multi-word token; write FIRST-LAST, e.g. 3-4", path, line_number)
    token = MultiwordToken(int(ends[1]), int(ends[2]), row[FORM_COLUMN])
    if token.first_word != next_word:
        raise InputError(
            f"multi-word token {row[0]} is before word {next_word}; put it right before its first word",
            path,
            line_number,
        )
    if previous_tokens and token.first_word <= previous_tokens[-1].last_word:
        previous_id = f"{previous_tokens[-1].first_word}-{previous_tokens[-1].last_word}"
        message = f"multi-word tokens {previous_id} and {row[0]} overlap; correct their ids"
        raise InputError(message, path, line_number)
    return token


def write_dependency_trees(file: IO[str], trees: Iterable[DependencyTree]) -> None:
    """Write trees as CoNLL-U; lemmas and missing columns are `_`.

    Raises:
        InputError: A word contains a tab or a line end.
    """
    for tree in trees:
        lines = [f"# text = {' '.join(tree.words)}"]
        if tree.failure_reason is not None:
            lines.append(f"# parse = {FAILED_PREFIX}{tree.failure_reason}")
        unknown = ("_",) * len(tree.words)
        columns = (tree.words, tree.upos, tree.xpos or unknown, tree.features or unknown, tree.heads, tree.labels)
        joined = {token.first_word: token for token in tree.multiword_tokens}
        for number, (word, upos, xpos, features, head, label) in enumerate(zip(*columns, strict=True), start=1):
            if "\t" in word or "\n" in word or "\r" in word:
                raise InputError(f"the word {word!r} contains a tab or a line end; clean the text first")
            if (token := joined.get(number)) is not None:
                lines.append(f"{number}-{token.last_word}\t{token.form}" + "\t_" * (COLUMN_COUNT - 2))
            lines.append(f"{number}\t{word}\t_\t{upos}\t{xpos}\t{features}\t{head}\t{label}\t_\t_")
        file.write("\n".join(lines) + "\n\n")
