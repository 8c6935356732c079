"""Replacement of rare times, dates and numbers by `$time`, `$date` and `$number` (Yang et al. 2017, section 4.1)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import PositiveInt

from pipeline_py.corpus.placeholders import PLACEHOLDER_BY_KIND, PLACEHOLDERS, classify_number_or_date
from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file, write_json
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress


def generalise(*, input: Path, train: Path, min_count: PositiveInt, output: Path, counts_output: Path) -> None:
    """Replace the times, dates and numbers that are rare in the training text by placeholders.

    One word is replaced by one word, so that trees over the words stay valid. `corpus.placeholders` defines times,
    dates and numbers. All other words stay, also words that are already `$time`, `$date` or `$number`. If Moses has
    separated the parts of `12:30` or `12/05/2004`, each part is a number.

    The counts contain numbers of sentences, `words` by placeholder, and `types` (distinct words) before and after. For
    the training text, `types` are the vocabulary sizes of the paper's Table 2.

    Args:
        input: Tokenized text, one sentence a line.
        train: The training text of the same side, tokenized in the same way; it may be the input itself.
        min_count: Expressions with a lower frequency in the training text are rare.
        output: The generalised sentences.
        counts_output: JSON counts.

    Raises:
        InputError: a file is not UTF-8, or the training text has no word.
    """
    replacer = RareNumberAndDateReplacer(train, min_count)
    counts = SentenceCounts()
    placeholder_counts = Counter(dict.fromkeys(PLACEHOLDERS, 0))
    types_before: set[str] = set()
    types_after: set[str] = set()
    with open_atomic_text_file(output) as file:
        for tokens in show_progress(_read_tokens(input), f"generalise {input.name}"):
            generalised = [replacer.replace_word(token) for token in tokens]
            placeholders = [new for new, old in zip(generalised, tokens, strict=True) if new != old]
            counts.add_kept()
            if placeholders:
                counts.add_noted("sentence generalised")
            if not PLACEHOLDERS.isdisjoint(tokens):
                counts.add_noted("sentence with a placeholder of its own")
            placeholder_counts.update(placeholders)
            types_before.update(tokens)
            types_after.update(generalised)
            file.write(" ".join(generalised) + "\n")
    write_json(
        counts_output,
        {
            "in": counts.read_count,
            "kept": counts.kept_count,
            "dropped": {},
            "noted": dict(sorted(counts.noted_by_reason.items())),
            "words": dict(sorted(placeholder_counts.items())),
            "types": {"before": len(types_before), "after": len(types_after)},
        },
    )


class RareNumberAndDateReplacer:
    """A replacer of times, dates and numbers with fewer than `min_count` occurrences in a training text."""

    def __init__(self, train_path: Path, min_count: int) -> None:
        counts: Counter[str] = Counter()
        for tokens in show_progress(_read_tokens(train_path), f"generalise, counting {train_path.name}"):
            counts.update(tokens)
        if not counts:
            raise InputError("no word in the file; give the tokenized training text", train_path)
        self._replacements = {word: word for word, count in counts.items() if count >= min_count}

    def replace_word(self, word: str) -> str:
        """Return the placeholder of a rare time, date or number, and any other word itself."""
        replacement = self._replacements.get(word)
        if replacement is None:
            kind = classify_number_or_date(word)
            replacement = self._replacements[word] = word if kind is None else PLACEHOLDER_BY_KIND[kind]
        return replacement


def _read_tokens(path: Path) -> Iterator[list[str]]:
    return map(split_tokens, read_lines(path))
