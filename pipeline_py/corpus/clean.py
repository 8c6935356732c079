"""Drop unusable training pairs, and those that occur in held-out sets; check held-out text without dropping a line.

The criteria are those of Moses' clean-corpus-n.perl, and also duplicates and held-out sentences.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from pipeline_py.corpus.characters import without_controls, words
from pipeline_py.corpus.moses import are_escaped, unescape
from pipeline_py.corpus.shared_sentences import fingerprint, sentence_hasher
from pipeline_py.files.artifacts import Counts, writing
from pipeline_py.files.text import read_bytes, read_lines, read_parallel
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress

REPAIRED = "control characters replaced by spaces"

UNESCAPED = "escapes of Moses undone"

REPEATED = "duplicate pair", "occurs in held-out"
"""Reasons to drop a pair that say nothing against it alone."""

Repair = Callable[[str], str]
"""Changes a sentence of one side."""

LARGEST_UNUSABLE_SHARE = 0.95
FEWEST_JUDGED_PAIRS = 100
"""A training text of at least so many pairs of which more are unusable is refused."""


def clean(
    *,
    source_input: Path,
    target_input: list[Path] | None = None,
    source_output: Path,
    target_output: list[Path] | None = None,
    lines_output: Path,
    counts_output: Path,
    mode: Literal["train", "held-out"] = "train",
    held_out: list[Path] | None = None,
    min_length: int = 1,
    max_length: int = 80,
    max_ratio: float = 9.0,
    keep_duplicates: bool = False,
    source_tokenized: bool = False,
    target_tokenized: bool = False,
    ignore_case: bool = False,
    punctuation_language: str | None = None,
    originals: list[str | None] | None = None,
) -> None:
    """Clean parallel text, and keep its lines aligned.

    Mode `train` drops a pair for the first of these reasons that applies: a side is not UTF-8 ("invalid UTF-8"), has no
    word ("empty"), has fewer ("too short") or more words ("too long") than allowed; one side has more than `max_ratio`
    times the words of the other ("ratio"); its source is a held-out source ("occurs in held-out"); the pair has
    occurred before ("duplicate pair"). Mode `held-out` drops nothing. It refuses invalid UTF-8, and empty references,
    which cannot be scored.

    In both modes a control character (also a tab, a lone CR, U+2028 and U+2029) becomes a space, and the sentence is
    counted. In a tokenized side that tokenizer.perl has escaped (`&apos;`), the escapes are undone, and the sentence is
    counted; otherwise a network would learn them, and no other text has them. Nothing else is changed: no Unicode
    normalization, no merging of spaces.

    Words are separated by whitespace; each Han or Kana character also counts as a word, unless the side is tokenized.
    Two pairs are the same if their words are, whatever the spacing. A source is a held-out source if both look the same
    to a network, after all later steps (`sentence_key`). A target sentence of a held-out set may occur in the training
    text: without its source it does not reveal the answer. Duplicates and held-out sentences are recognised by a 64-bit
    hash, which needs 8 bytes per pair, and six times that for a moment.

    Args:
        source_input: One sentence a line, plain or compressed.
        target_input: The same lines in the other language. A held-out set may have several files (references), or none.
        source_output: Kept lines.
        target_output: Kept lines, one file for each target input.
        lines_output: The number of each kept line in the input, counted from 1.
        counts_output: JSON counts of pairs: read, kept, dropped by reason, and with control characters.
        mode: `train` or `held-out`.
        held_out: Raw sources of dev and test sets.
        min_length: Fewest words of either side.
        max_length: Most words of either side; 0: no limit.
        max_ratio: Most words of one side per word of the other.
        keep_duplicates: Keep duplicate pairs.
        source_tokenized: The source is tokenized: a Han or Kana character is not a word of its own, and escapes of
            Moses are undone.
        target_tokenized: The same for the targets.
        ignore_case: Sources that differ only by case are the same, since they are lower-cased or truecased later.
        punctuation_language: Sources are compared with punctuation normalized by the rules of this language, since it
            is normalized later.
        originals: For the source and each target, a file that it is a copy of, line by line: messages name that file.

    Raises:
        InputError: files differ in their number of lines; held-out text is not UTF-8 or a reference is empty;
            nothing is kept, or nearly all pairs of a training text are unusable.
    """
    targets, target_outputs = target_input or [], target_output or []
    if len(targets) != len(target_outputs):
        raise InputError("give as many target outputs as targets")
    if mode == "train" and len(targets) != 1:
        raise InputError("training text has one target; give several (references) in mode `held-out` only")
    if not 1 <= min_length <= (max_length or min_length):
        raise InputError("min_length must be at least 1 and at most max_length")
    counts = Counts()
    with ExitStack() as stack:
        stack.enter_context(_naming(dict(zip([source_input, *targets], originals or [], strict=False))))
        repairs = [_text_repair(source_input, source_tokenized)]
        repairs += [_text_repair(path, target_tokenized) for path in targets]
        if mode == "held-out":
            _check_line_counts([source_input, *targets])
            sentences = _held_out_sentences([source_input, *targets], repairs, counts)
        else:
            fingerprints = _fingerprints(source_input, targets[0])
            hash_source = sentence_hasher(source_tokenized, ignore_case, punctuation_language)
            held_out_sources = {hash_source(line) for path in held_out or [] for line in _repaired_lines(path)}
            repeats = bytes(len(fingerprints)) if keep_duplicates else _repeats(fingerprints)
            limits = _Limits(min_length, max_length, max_ratio, source_tokenized, target_tokenized)

            def is_held_out(source: str) -> bool:
                return bool(held_out_sources) and hash_source(source) in held_out_sources

            sentences = _training_pairs(source_input, targets[0], repairs, limits, is_held_out, repeats, counts)
        files = [stack.enter_context(writing(path)) for path in (lines_output, source_output, *target_outputs)]
        for numbered in sentences:
            for file, part in zip(files, numbered, strict=True):
                file.write(part + "\n")
        _check_kept(counts, source_input)
    counts.write(counts_output)


@contextmanager
def _naming(originals: Mapping[Path, str | None]) -> Iterator[None]:
    """Let messages name the files that people know."""
    try:
        yield
    except InputError as error:
        message = str(error)
        for copy in sorted(map(str, originals), key=len, reverse=True):  # dev.target1 before dev.target
            message = message.replace(copy, originals[Path(copy)] or copy)
        raise InputError(message) from None


@dataclass(frozen=True)
class _Limits:
    """How many words a training pair may have."""

    min_length: int
    max_length: int
    max_ratio: float
    source_tokenized: bool
    target_tokenized: bool

    def fault(self, source: str, target: str) -> str | None:
        """Return why a pair must go, or None."""
        shorter, longer = sorted((words(source, self.source_tokenized), words(target, self.target_tokenized)))
        if shorter == 0:
            return "empty"
        if shorter < self.min_length:
            return "too short"
        if self.max_length and longer > self.max_length:
            return "too long"
        return "ratio" if longer > self.max_ratio * shorter else None


def _training_pairs(
    source: Path,
    target: Path,
    repairs: Sequence[Repair | None],
    limits: _Limits,
    is_held_out: Callable[[str], bool],
    repeats: bytes,
    counts: Counts,
) -> Iterator[tuple[str, ...]]:
    """Yield the line number and both sides of each pair that is kept."""
    pairs = zip(read_bytes(source), read_bytes(target), strict=True)
    for number, lines in enumerate(progress(pairs, f"clean {source.name}", total=len(repeats)), start=1):
        try:
            raw = (lines[0].decode("utf-8"), lines[1].decode("utf-8"))
        except UnicodeDecodeError:
            counts.drop("invalid UTF-8")
            continue
        pair = _repaired_sides(raw, repairs, counts)
        if reason := limits.fault(*pair):
            counts.drop(reason)
        elif is_held_out(pair[0]):
            counts.drop("occurs in held-out")
        elif repeats[number - 1]:
            counts.drop("duplicate pair")
        else:
            counts.keep()
            yield str(number), *pair


def _held_out_sentences(
    paths: list[Path], repairs: Sequence[Repair | None], counts: Counts
) -> Iterator[tuple[str, ...]]:
    """Yield the line number and all sides of each sentence."""
    lines = progress(read_parallel(*paths), f"clean {paths[0].name}")
    for number, raw in enumerate(lines, start=1):
        sides = _repaired_sides(raw, repairs, counts)
        if not words(sides[0]):
            counts.note("empty source")
        for path, side in zip(paths[1:], sides[1:], strict=True):
            if not words(side):
                raise InputError(
                    "the reference is empty; add it, or remove the line from all files of the set", path, number
                )
        counts.keep()
        yield str(number), *sides


def _text_repair(path: Path, is_tokenized: bool) -> Repair | None:
    """Return what undoes the escapes of a tokenized text; None if it has none."""
    lines = (line.decode("utf-8", "replace") for line in read_bytes(path))
    return unescape if is_tokenized and are_escaped(lines) else None


def _repaired_sides(raw: Sequence[str], repairs: Sequence[Repair | None], counts: Counts) -> tuple[str, ...]:
    """Replace control characters and undo escapes in all sides of a sentence, and count what is changed."""
    clean_sides = [*map(without_controls, raw)]
    if clean_sides != [*raw]:
        counts.note(REPAIRED)
    sides = [side if repair is None else repair(side) for side, repair in zip(clean_sides, repairs, strict=True)]
    if sides != clean_sides:
        counts.note(UNESCAPED)
    return tuple(sides)


def _repaired_lines(path: Path) -> Iterator[str]:
    return map(without_controls, read_lines(path))


def _check_kept(counts: Counts, source: Path) -> None:
    """Refuse a text of which nothing is kept, and a training text of which nearly all pairs are unusable."""
    reasons = ", ".join(f"{reason} {count}" for reason, count in counts.dropped.most_common())
    if counts.kept == 0:
        raise InputError(f"no sentence is left ({reasons or 'the file is empty'})", source)
    unusable = counts.dropped.total() - sum(counts.dropped[reason] for reason in REPEATED)
    if counts.read >= FEWEST_JUDGED_PAIRS and unusable > LARGEST_UNUSABLE_SHARE * counts.read:
        raise InputError(
            f"{unusable:,} of {counts.read:,} pairs cannot be used ({reasons}); check that line N of both files is the "
            "same sentence, one a line and in UTF-8, or change `corpora.limits`",
            source,
        )


def _fingerprints(source: Path, target: Path) -> "array[int]":
    """Hash every pair, bad ones as well: an equal pair is equally bad, so the reason is the same.

    Raises:
        InputError: the files differ in their number of lines.
    """
    hashes = array("Q")
    for lines in zip_longest(read_bytes(source), read_bytes(target)):
        if None in lines:
            _check_line_counts([source, target])
        # Surrogates stand for bytes that are not UTF-8, so such a pair equals no valid one.
        sides = (without_controls(line.decode("utf-8", "surrogateescape")) for line in lines)
        hashes.append(fingerprint("\n".join(" ".join(side.split()) for side in sides)))
    return hashes


def _repeats(hashes: "array[int]") -> bytes:
    """Mark with 1 each place whose hash stands at an earlier place."""
    import numpy as np

    repeats = np.ones(len(hashes), dtype=np.uint8)
    _, first = np.unique(np.asarray(hashes), return_index=True)
    repeats[first] = 0
    return repeats.tobytes()


def _check_line_counts(paths: list[Path]) -> None:
    counts = [sum(1 for _ in read_bytes(path)) for path in paths]
    for path, count in zip(paths[1:], counts[1:], strict=True):
        if count != counts[0]:
            raise InputError(
                f"{paths[0]} has {counts[0]} lines and {path} has {count}; parallel files need the same number of lines"
            )
