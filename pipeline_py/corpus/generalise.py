"""Replace rare times, dates and numbers by `$time`, `$date` and `$number` (Yang et al. 2017, section 4.1)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import PositiveInt

from pipeline_py.corpus.expressions import PLACEHOLDER_OF, PLACEHOLDERS, kind_of
from pipeline_py.files.artifacts import Counts, write_json, writing
from pipeline_py.files.text import read_lines, tokens_of
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress


def generalise(*, input: Path, train: Path, min_count: PositiveInt, output: Path, counts_output: Path) -> None:
    """Write a text with a placeholder for each time, date and number that is rare in the training text.

    One word is replaced by one word, so trees over the words stay valid. `corpus.expressions` defines times, dates and
    numbers. All other words stay, also those that are already `$time`, `$date` or `$number`. Where Moses has separated
    the parts of `12:30` or `12/05/2004`, each part is a number.

    The counts are numbers of sentences, `words` by placeholder, and `types` (different words) before and after. For the
    training text, these are the vocabulary sizes of the paper's Table 2.

    Args:
        input: Tokenized text, one sentence a line.
        train: The training text of the same side, tokenized in the same way; it may be the input itself.
        min_count: What occurs less often than this in the training text is rare.
        output: The generalised sentences.
        counts_output: JSON counts.

    Raises:
        InputError: a file is not UTF-8, or the training text has no word.
    """
    rare = RareExpressions(train, min_count)
    counts = Counts()
    words = Counter(dict.fromkeys(PLACEHOLDERS, 0))
    before: set[str] = set()
    after: set[str] = set()
    with writing(output) as file:
        for tokens in progress(_read(input), f"generalise {input.name}"):
            generalised = [rare.word(token) for token in tokens]
            put = [new for new, old in zip(generalised, tokens, strict=True) if new != old]
            counts.keep()
            if put:
                counts.note("sentence generalised")
            if not PLACEHOLDERS.isdisjoint(tokens):
                counts.note("sentence with a placeholder of its own")
            words.update(put)
            before.update(tokens)
            after.update(generalised)
            file.write(" ".join(generalised) + "\n")
    write_json(
        counts_output,
        {
            "in": counts.read,
            "kept": counts.kept,
            "dropped": {},
            "noted": dict(sorted(counts.noted.items())),
            "words": dict(sorted(words.items())),
            "types": {"before": len(before), "after": len(after)},
        },
    )


class RareExpressions:
    """Times, dates and numbers that occur fewer than `min_count` times in a training text, seen in it or not."""

    def __init__(self, train: Path, min_count: int) -> None:
        """Count the words of the training text."""
        counts: Counter[str] = Counter()
        for tokens in progress(_read(train), f"generalise, counting {train.name}"):
            counts.update(tokens)
        if not counts:
            raise InputError("no word in the file; give the tokenized training text", train)
        self._becomes = {word: word for word, count in counts.items() if count >= min_count}

    def word(self, word: str) -> str:
        """Return the placeholder of a rare time, date or number, and any other word itself."""
        found = self._becomes.get(word)
        if found is None:
            kind = kind_of(word)
            found = self._becomes[word] = word if kind is None else PLACEHOLDER_OF[kind]
        return found


def _read(path: Path) -> Iterator[list[str]]:
    return map(tokens_of, read_lines(path))
