"""An unknown word in the output becomes the source word that it attended to most (Luong et al. 2015, "copy")."""

from pathlib import Path
from typing import Literal

from pipeline_py.artifact import Ledger
from pipeline_py.stage import InputError
from pipeline_py.subword import pieces
from pipeline_py.text import tokens_of

Joiner = Literal["bpe", "none"]

UNKNOWN = "<unk>"


def words_of(line: list[str], joiner: Joiner) -> list[str]:
    """Give the words that pieces stand for; a word of nothing but joiners is none."""
    return [word for word in _joined(line, joiner) if word]


def _joined(line: list[str], joiner: Joiner) -> list[str]:
    return line if joiner == "none" else pieces.join(line)


class AttendedWords:
    """Restores the unknown words of one file of outputs and counts them in a ledger."""

    def __init__(self, alignment: Path, joiner: Joiner, ledger: Ledger) -> None:
        self.alignment = alignment
        self.joiner: Joiner = joiner
        self.ledger = ledger

    def restore(self, line: str, positions: str, source: str, number: int) -> list[str]:
        """Give the words of `line` with each `<unk>` replaced.

        Args:
            line: output pieces.
            positions: the source position, from 0, of each output piece; as many as pieces.
            source: source pieces; a position behind the last one is EOS and leaves no word.
            number: line number from 1, for messages.

        Raises:
            InputError: if the positions do not fit the pieces of output and source.
        """
        output, source_pieces = tokens_of(line), tokens_of(source)
        attended = self._positions(positions, len(output), len(source_pieces), number)
        sizes = [1] * len(source_pieces) if self.joiner == "none" else map(len, pieces.by_word(source_pieces))
        source_words = zip(_joined(source_pieces, self.joiner), sizes, strict=True)
        word_at = [word for word, size in source_words for _ in range(size)]
        restored: list[str] = []
        for piece, position in zip(output, attended, strict=True):
            if piece != UNKNOWN:
                restored.append(piece)
            else:
                word = self._restored(word_at, position)
                restored += [word] if self.joiner == "none" else pieces.pieces_of_word([word])
        return words_of(restored, self.joiner)

    def _restored(self, word_at: list[str], position: int) -> str:
        if position == len(word_at):
            self.ledger.note("unknown word dropped: it attended to the end of the source")
            return ""
        self.ledger.note("unknown word replaced")
        return word_at[position]

    def _positions(self, line: str, output: int, source_pieces: int, number: int) -> list[int]:
        try:
            positions = [int(position) for position in line.split()]
        except ValueError as error:
            raise InputError(f"{error}; write one source position for each piece", self.alignment, number) from None
        if len(positions) != output:
            raise InputError(
                f"{len(positions)} positions for {output} output pieces; decode again to get both files anew",
                self.alignment,
                number,
            )
        for position in positions:
            if not 0 <= position <= source_pieces:
                raise InputError(
                    f"position {position} is outside the source of {source_pieces} pieces and EOS; "
                    "give the source that was translated",
                    self.alignment,
                    number,
                )
        return positions
