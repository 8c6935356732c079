"""Build the vocabulary of a model: tokens and their identifiers."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import NonNegativeInt, PositiveInt

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword import pieces

EOS = 0
UNK = 1
SPECIAL_TOKENS = ("</s>", "<unk>")
"""The tokens of EOS and UNK. If they occur in text, they are unknown words."""


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
    if 0 < max_size <= len(SPECIAL_TOKENS):
        raise InputError(f"max_size must be 0 (no limit) or more than the {len(SPECIAL_TOKENS)} special tokens")
    counts: Counter[str] = Counter()
    for text in input:
        for tokens in show_progress(pieces.read_tokens(text), f"vocabulary {text.name}"):
            counts.update(tokens)
    if not counts:
        raise InputError("no token in the file; give the tokenized training text", input[0])
    frequent = sorted(
        ((-count, token) for token, count in counts.items() if count >= min_count and token not in SPECIAL_TOKENS),
    )
    if not frequent:
        raise InputError(f"no token occurs {min_count} times; lower min_count", input[0])
    with open_atomic_text_file(output) as file:
        for token in SPECIAL_TOKENS:
            file.write(f"{token} 0\n")
        for negative, token in frequent[: max_size - len(SPECIAL_TOKENS) if max_size else None]:
            file.write(f"{token} {-negative}\n")


def read_token_counts(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the tokens of a vocabulary file with their counts."""
    for line in read_lines(path):
        token, _, count = line.rpartition(" ")
        yield token, int(count)


class Vocabulary:
    """A mapping between tokens and identifiers; EOS and UNK come first.

    Attributes:
        tokens: (V,) the token of each identifier.
        counts: (V,) how often it occurs in the training text; 0 for EOS and UNK.
    """

    def __init__(self, token_counts: Iterable[tuple[str, int]]) -> None:
        """Initialize from tokens and counts in the order of identifiers; the first two are `SPECIAL_TOKENS`."""
        self.tokens: list[str] = []
        self.counts: list[int] = []
        for token, count in token_counts:
            self.tokens.append(token)
            self.counts.append(count)
        self._ids_by_token = {token: id for id, token in enumerate(self.tokens)}
        for token in SPECIAL_TOKENS:
            del self._ids_by_token[token]

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read a vocabulary file.

        Raises:
            InputError: the file, which may be a user's argument of `force_decode`, is not a vocabulary.
        """
        try:
            return cls(read_token_counts(path))
        except (KeyError, ValueError):
            raise InputError("not a vocabulary; give a file that subword.vocabulary wrote", path) from None

    def __len__(self) -> int:
        """Return V, EOS and UNK included."""
        return len(self.tokens)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Return the identifier of each token, UNK for one outside the vocabulary; no EOS is appended."""
        return [self._ids_by_token.get(token, UNK) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the token of each identifier, `</s>` for EOS."""
        return [self.tokens[id] for id in ids]
