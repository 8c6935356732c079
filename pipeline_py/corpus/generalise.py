"""Replace rare times, dates and numbers by `$time`, `$date` and `$number` (Yang et al. 2017, section 4.1)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import PositiveInt

from pipeline_py.corpus.placeholders import PLACEHOLDER_BY_KIND, PLACEHOLDERS, classify_expression
from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file, write_json
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress


def generalise(*, input: Path, train: Path, min_count: PositiveInt, output: Path, counts_output: Path) -> None:
    """Write a text with a placeholder for each time, date and number that is rare in the training text.

    One word is replaced by one word, so trees over the words stay valid. `corpus.placeholders` defines times, dates and
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
    rare = RareExpressionReplacer(train, min_count)
    counts = SentenceCounts()
    words = Counter(dict.fromkeys(PLACEHOLDERS, 0))
    before: set[str] = set()
    after: set[str] = set()
    with open_atomic_text_file(output) as file:
        for tokens in show_progress(_read_tokens(input), f"generalise {input.name}"):
            generalised = [rare.replace_word(token) for token in tokens]
            put = [new for new, old in zip(generalised, tokens, strict=True) if new != old]
            counts.add_kept()
            if put:
                counts.add_noted("sentence generalised")
            if not PLACEHOLDERS.isdisjoint(tokens):
                counts.add_noted("sentence with a placeholder of its own")
            words.update(put)
            before.update(tokens)
            after.update(generalised)
            file.write(" ".join(generalised) + "\n")
    write_json(
        counts_output,
        {
            "in": counts.read_count,
            "kept": counts.kept_count,
            "dropped": {},
            "noted": dict(sorted(counts.noted_by_reason.items())),
            "words": dict(sorted(words.items())),
            "types": {"before": len(before), "after": len(after)},
        },
    )


class RareExpressionReplacer:
    """Times, dates and numbers that occur fewer than `min_count` times in a training text, seen in it or not."""

    def __init__(self, train_path: Path, min_count: int) -> None:
        """Count the words of the training text."""
        counts: Counter[str] = Counter()
        for tokens in show_progress(_read_tokens(train_path), f"generalise, counting {train_path.name}"):
            counts.update(tokens)
        if not counts:
            raise InputError("no word in the file; give the tokenized training text", train_path)
        self._replacements = {word: word for word, count in counts.items() if count >= min_count}

    def replace_word(self, word: str) -> str:
        """Return the placeholder of a rare time, date or number, and any other word itself."""
        found = self._replacements.get(word)
        if found is None:
            kind = classify_expression(word)
            found = self._replacements[word] = word if kind is None else PLACEHOLDER_BY_KIND[kind]
        return found


def _read_tokens(path: Path) -> Iterator[list[str]]:
    return map(split_tokens, read_lines(path))
