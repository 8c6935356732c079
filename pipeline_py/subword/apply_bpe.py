"""Split words into pieces by byte-pair encoding (Sennrich et al. 2016)."""

from pathlib import Path

from pipeline_py.corpus.placeholders import PLACEHOLDERS
from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword import pieces
from pipeline_py.subword.vocabulary import read_token_counts

MAX_CACHED_WORDS = 500_000
"""Number of words whose pieces are cached; later words are rare and are split each time."""


def apply_bpe(
    *,
    input: Path,
    codes: Path,
    output: Path,
    vocabulary: Path | None = None,
    vocabulary_threshold: int = 1,
) -> None:
    """Write the pieces of each line; every piece except the last of a word ends with `@@`.

    The pieces are those of subword-nmt, with two exceptions: a placeholder for a time, date or number is never split;
    and if the last piece of a word would end with `@@` because the word does, its last character is a separate piece.
    Joining the pieces therefore restores every word. An empty line stays empty.

    Args:
        input: Tokenized text, one sentence a line.
        codes: The merges of `learn_bpe`.
        output: Pieces, separated by single spaces.
        vocabulary: Pieces of the training text with their counts; merges that lead to a piece outside of it are undone.
        vocabulary_threshold: A piece that is less frequent than this counts as outside the vocabulary.

    Raises:
        InputError: the input is not UTF-8, or the vocabulary has no piece that is frequent enough.
    """
    segmenter = Segmenter(codes, vocabulary, vocabulary_threshold)
    with open_atomic_text_file(output) as file:
        for line in show_progress(read_lines(input), f"apply_bpe {input.name}"):
            file.write(" ".join(segmenter.split_sentence(split_tokens(line))) + "\n")


class Segmenter:
    """A segmenter of words by learned merges, with a cache of the first `MAX_CACHED_WORDS` different words."""

    def __init__(self, codes: Path, vocabulary: Path | None = None, vocabulary_threshold: int = 1) -> None:
        """Read the codes, and optionally the vocabulary that pieces are restricted to."""
        from subword_nmt.apply_bpe import BPE

        allowed_pieces = None
        if vocabulary is not None:
            allowed_pieces = {token for token, count in read_token_counts(vocabulary) if count >= vocabulary_threshold}
            if not allowed_pieces:
                raise InputError(f"no piece occurs {vocabulary_threshold} times; lower the threshold", vocabulary)
        with codes.open(encoding="utf-8", newline="\n") as file:
            self._bpe = BPE(file, separator=pieces.CONTINUATION_MARK, vocab=allowed_pieces)
        self._pieces_by_word = {placeholder: [placeholder] for placeholder in PLACEHOLDERS}

    def split_word(self, word: str) -> list[str]:
        """Return the pieces of a word."""
        word_pieces = self._pieces_by_word.get(word)
        if word_pieces is None:
            *marked, last = self._bpe.segment_tokens([word])
            self._bpe.cache.clear()  # it is unbounded, and would store every word a second time
            word_pieces = pieces.mark_pieces(
                [*(piece.removesuffix(pieces.CONTINUATION_MARK) for piece in marked), last]
            )
            if len(self._pieces_by_word) < MAX_CACHED_WORDS:
                self._pieces_by_word[word] = word_pieces
        return word_pieces

    def split_sentence(self, words: list[str]) -> list[str]:
        """Return the pieces of a sentence."""
        return [piece for word in words for piece in self.split_word(word)]
