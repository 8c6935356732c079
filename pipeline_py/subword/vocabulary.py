"""Make the vocabulary of a model: its tokens and their identifiers."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import NonNegativeInt, PositiveInt

from pipeline_py.files.artifacts import writing
from pipeline_py.files.text import read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.subword import pieces

EOS = 0
UNK = 1
SPECIALS = ("</s>", "<unk>")
"""The tokens of EOS and UNK. Where they occur in text they are words like any other, and unknown."""


def vocabulary(*, input: list[Path], output: Path, max_size: NonNegativeInt = 0, min_count: PositiveInt = 1) -> None:
    """Write the tokens of a text with their counts: `token count`, most frequent first.

    The first lines are `</s> 0` and `<unk> 0`; equally frequent tokens are in code point order.

    Args:
        input: Training text as tokens or pieces, one sentence a line; that of both languages for a joint vocabulary.
        output: The vocabulary.
        max_size: Most lines of the output, including the two special tokens; 0: no limit.
        min_count: Tokens that are less frequent than this are left out.

    Raises:
        InputError: a text is not UTF-8, or they hold no token that is frequent enough.
    """
    if 0 < max_size <= len(SPECIALS):
        raise InputError(f"max_size must be 0 (no limit) or more than the {len(SPECIALS)} special tokens")
    counts: Counter[str] = Counter()
    for text in input:
        for tokens in progress(pieces.read(text), f"vocabulary {text.name}"):
            counts.update(tokens)
    if not counts:
        raise InputError("no token in the file; give the tokenized training text", input[0])
    frequent = sorted(
        ((-count, token) for token, count in counts.items() if count >= min_count and token not in SPECIALS),
    )
    if not frequent:
        raise InputError(f"no token occurs {min_count} times; lower min_count", input[0])
    with writing(output) as file:
        for token in SPECIALS:
            file.write(f"{token} 0\n")
        for negative, token in frequent[: max_size - len(SPECIALS) if max_size else None]:
            file.write(f"{token} {-negative}\n")


def read_counts(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the tokens of a vocabulary file with their counts."""
    for line in read_lines(path):
        token, _, count = line.rpartition(" ")
        yield token, int(count)


class Vocabulary:
    """Tokens by identifier and identifiers by token; EOS and UNK come first.

    Attributes:
        tokens: (V,) the token of each identifier.
        counts: (V,) how often it occurs in the training text; 0 for EOS and UNK.
    """

    def __init__(self, entries: Iterable[tuple[str, int]]) -> None:
        """Take tokens with their counts, in order of their identifiers; the first two are `SPECIALS`."""
        self.tokens: list[str] = []
        self.counts: list[int] = []
        for token, count in entries:
            self.tokens.append(token)
            self.counts.append(count)
        self._ids = {token: id for id, token in enumerate(self.tokens)}
        for token in SPECIALS:
            del self._ids[token]

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read a vocabulary file.

        Raises:
            InputError: the file, which may be a user's argument of `force_decode`, is not a vocabulary.
        """
        try:
            return cls(read_counts(path))
        except (KeyError, ValueError):
            raise InputError("not a vocabulary; give a file that subword.vocabulary wrote", path) from None

    def __len__(self) -> int:
        """Return V, EOS and UNK included."""
        return len(self.tokens)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Return the identifier of each token, UNK for one outside the vocabulary; no EOS is appended."""
        return [self._ids.get(token, UNK) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the token of each identifier, `</s>` for EOS."""
        return [self.tokens[id] for id in ids]
