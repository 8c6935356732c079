"""Removal of unusable, duplicate and held-out training pairs, and validation of held-out text.

The criteria extend those of Moses' clean-corpus-n.perl.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from pipeline_py.corpus.characters import count_words, replace_control_characters
from pipeline_py.corpus.moses import has_moses_escapes, undo_moses_escapes
from pipeline_py.corpus.shared_sentences import build_sentence_hasher, hash_text
from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.files.text_files import check_line_counts, read_byte_lines, read_lines, read_parallel
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress

CONTROLS_REPLACED_NOTE = "control characters replaced by spaces"

ESCAPES_UNDONE_NOTE = "escapes of Moses undone"

REPETITION_REASONS = "duplicate pair", "occurs in held-out"
"""Reasons to drop a pair that is usable in itself."""

SentenceRepair = Callable[[str], str]
"""A function that repairs a sentence of one side."""

MAX_UNUSABLE_SHARE = 0.95
"""The share of unusable pairs above which a training text is rejected."""

MIN_JUDGED_PAIRS = 100
"""The smallest training text that is checked for unusable pairs."""


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
    times the words of the other ("ratio"); the source is a held-out source ("occurs in held-out"); the pair has
    occurred before ("duplicate pair"). Mode `held-out` drops nothing. It rejects invalid UTF-8, and empty references,
    which cannot be scored.

    In both modes, control characters (also tab, lone CR, U+2028 and U+2029) become spaces. The escapes of
    tokenizer.perl (`&apos;`) are undone in tokenized sides, since other texts do not have them. Sentences with either
    change are counted. Nothing else changes: Unicode is not normalized, and spaces are not merged.

    Words are separated by whitespace. Unless the side is tokenized, each Han or Kana character also counts as a word,
    and so do five letters of Thai, Lao, Tibetan, Burmese or Khmer.
    Two pairs are duplicates if their words are equal, regardless of spacing. A source is a held-out source if both are
    equal after all later preprocessing (`build_sentence_hasher`). A target sentence of a held-out set may occur in the
    training text. Sentences are compared by a 64-bit hash, with 8 bytes of memory per pair (at most 48 bytes).

    Args:
        source_input: One sentence a line, plain or compressed.
        target_input: The translations. A held-out set can have several files (references), or none.
        source_output: Kept lines.
        target_output: Kept lines, one file for each target input.
        lines_output: The input line number of each kept line, from 1.
        counts_output: JSON counts of pairs: read, kept, dropped by reason, and with control characters.
        mode: `train` or `held-out`.
        held_out: Raw sources of dev and test sets.
        min_length: Fewest words of either side.
        max_length: Most words of either side; 0: no limit.
        max_ratio: Most words of one side per word of the other.
        keep_duplicates: Keep duplicate pairs.
        source_tokenized: The source is tokenized: only whitespace separates words, and escapes of Moses are undone.
        target_tokenized: The same for the targets.
        ignore_case: Compare sources without case, because they are lower-cased or truecased later.
        punctuation_language: Compare sources with punctuation normalized for this language, because it is normalized
            later.
        originals: For the source and each target, the original file to name in messages instead of its copy.

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
    counts = SentenceCounts()
    with ExitStack() as stack:
        stack.enter_context(
            _replace_paths_in_errors(dict(zip([source_input, *targets], originals or [], strict=False)))
        )
        repairs = [_select_repair(source_input, source_tokenized)]
        repairs += [_select_repair(path, target_tokenized) for path in targets]
        if mode == "held-out":
            check_line_counts([source_input, *targets])
            sentences = _clean_held_out_sentences([source_input, *targets], repairs, counts)
        else:
            fingerprints = _hash_pairs(source_input, targets[0])
            hash_source = build_sentence_hasher(source_tokenized, ignore_case, punctuation_language)
            held_out_sources = {hash_source(line) for path in held_out or [] for line in _read_repaired_lines(path)}
            repeats = bytes(len(fingerprints)) if keep_duplicates else _flag_repeats(fingerprints)
            limits = _PairLimits(min_length, max_length, max_ratio, source_tokenized, target_tokenized)

            def is_held_out(source: str) -> bool:
                return bool(held_out_sources) and hash_source(source) in held_out_sources

            sentences = _clean_training_pairs(source_input, targets[0], repairs, limits, is_held_out, repeats, counts)
        files = [
            stack.enter_context(open_atomic_text_file(path)) for path in (lines_output, source_output, *target_outputs)
        ]
        for number_and_sides in sentences:
            for file, field in zip(files, number_and_sides, strict=True):
                file.write(field + "\n")
        _check_kept_counts(counts, source_input)
    counts.write_json_file(counts_output)


@contextmanager
def _replace_paths_in_errors(original_paths: Mapping[Path, str | None]) -> Iterator[None]:
    """Replace the paths of copies by their original paths in error messages."""
    try:
        yield
    except InputError as error:
        message = str(error)
        for copy_path in sorted(map(str, original_paths), key=len, reverse=True):  # dev.target1 before dev.target
            message = message.replace(copy_path, original_paths[Path(copy_path)] or copy_path)
        raise InputError(message) from None


@dataclass(frozen=True)
class _PairLimits:
    """Limits of the number of words in a training pair."""

    min_length: int
    max_length: int
    max_ratio: float
    source_tokenized: bool
    target_tokenized: bool

    def find_drop_reason(self, source: str, target: str) -> str | None:
        """Return the reason to drop a pair, or None."""
        shorter, longer = sorted(
            (count_words(source, self.source_tokenized), count_words(target, self.target_tokenized))
        )
        if shorter == 0:
            return "empty"
        if shorter < self.min_length:
            return "too short"
        if self.max_length and longer > self.max_length:
            return "too long"
        return "ratio" if longer > self.max_ratio * shorter else None


def _clean_training_pairs(
    source_path: Path,
    target_path: Path,
    repairs: Sequence[SentenceRepair | None],
    limits: _PairLimits,
    is_held_out: Callable[[str], bool],
    repeat_flags: bytes,
    counts: SentenceCounts,
) -> Iterator[tuple[str, ...]]:
    """Yield the line number and both sides of each kept pair."""
    pairs = zip(read_byte_lines(source_path), read_byte_lines(target_path), strict=True)
    for number, lines in enumerate(show_progress(pairs, f"clean {source_path.name}", total=len(repeat_flags)), start=1):
        try:
            raw = (lines[0].decode("utf-8"), lines[1].decode("utf-8"))
        except UnicodeDecodeError:
            counts.add_dropped("invalid UTF-8")
            continue
        pair = _repair_sides(raw, repairs, counts)
        if reason := limits.find_drop_reason(*pair):
            counts.add_dropped(reason)
        elif is_held_out(pair[0]):
            counts.add_dropped("occurs in held-out")
        elif repeat_flags[number - 1]:
            counts.add_dropped("duplicate pair")
        else:
            counts.add_kept()
            yield str(number), *pair


def _clean_held_out_sentences(
    paths: list[Path], repairs: Sequence[SentenceRepair | None], counts: SentenceCounts
) -> Iterator[tuple[str, ...]]:
    """Yield the line number and all sides of each sentence."""
    lines = show_progress(read_parallel(*paths), f"clean {paths[0].name}")
    for number, raw in enumerate(lines, start=1):
        sides = _repair_sides(raw, repairs, counts)
        if not count_words(sides[0]):
            counts.add_noted("empty source")
        for path, side in zip(paths[1:], sides[1:], strict=True):
            if not count_words(side):
                raise InputError(
                    "the reference is empty; add it, or remove the line from all files of the set", path, number
                )
        counts.add_kept()
        yield str(number), *sides


def _select_repair(path: Path, is_tokenized: bool) -> SentenceRepair | None:
    """Return the function that undoes escapes if a text is tokenized and escaped, otherwise None."""
    lines = (line.decode("utf-8", "replace") for line in read_byte_lines(path))
    return undo_moses_escapes if is_tokenized and has_moses_escapes(lines) else None


def _repair_sides(
    raw_sides: Sequence[str], repairs: Sequence[SentenceRepair | None], counts: SentenceCounts
) -> tuple[str, ...]:
    """Replace control characters and undo escapes in all sides of a sentence, and count the changes."""
    clean_sides = [*map(replace_control_characters, raw_sides)]
    if clean_sides != [*raw_sides]:
        counts.add_noted(CONTROLS_REPLACED_NOTE)
    sides = [side if repair is None else repair(side) for side, repair in zip(clean_sides, repairs, strict=True)]
    if sides != clean_sides:
        counts.add_noted(ESCAPES_UNDONE_NOTE)
    return tuple(sides)


def _read_repaired_lines(path: Path) -> Iterator[str]:
    return map(replace_control_characters, read_lines(path))


def _check_kept_counts(counts: SentenceCounts, source_path: Path) -> None:
    """Raise an error if nothing is kept, or if nearly all pairs of a training text are unusable."""
    reasons = ", ".join(f"{reason} {count}" for reason, count in counts.dropped_by_reason.most_common())
    if counts.kept_count == 0:
        raise InputError(f"no sentence is left ({reasons or 'the file is empty'})", source_path)
    unusable = counts.dropped_by_reason.total() - sum(counts.dropped_by_reason[reason] for reason in REPETITION_REASONS)
    if counts.read_count >= MIN_JUDGED_PAIRS and unusable > MAX_UNUSABLE_SHARE * counts.read_count:
        raise InputError(
            f"{unusable:,} of {counts.read_count:,} pairs cannot be used ({reasons}); check that line N of both files "
            "is the same sentence, one a line and in UTF-8, or change `corpora.limits`",
            source_path,
        )


def _hash_pairs(source_path: Path, target_path: Path) -> "array[int]":
    """Hash every pair, including unusable ones, whose duplicates are dropped for the same reason.

    Raises:
        InputError: the files differ in their number of lines.
    """
    hashes = array("Q")
    for lines in zip_longest(read_byte_lines(source_path), read_byte_lines(target_path)):
        if None in lines:
            check_line_counts([source_path, target_path])
        # Invalid bytes become surrogates, so that the pair differs from every valid one.
        sides = (replace_control_characters(line.decode("utf-8", "surrogateescape")) for line in lines)
        hashes.append(hash_text("\n".join(" ".join(side.split()) for side in sides)))
    return hashes


def _flag_repeats(pair_hashes: "array[int]") -> bytes:
    """Return a flag for each pair: 1 if an earlier pair has the same hash, otherwise 0."""
    import numpy as np

    flags = np.ones(len(pair_hashes), dtype=np.uint8)
    _, first_positions = np.unique(np.asarray(pair_hashes), return_index=True)
    flags[first_positions] = 0
    return flags.tobytes()
