"""An unknown word in the output becomes the source word that it attended to most (Luong et al. 2015, "copy")."""

from pathlib import Path
from typing import Literal

from pipeline_py.artifact import Ledger
from pipeline_py.stage import InputError

Joiner = Literal["bpe", "none"]

UNKNOWN = "<unk>"
CONTINUES = "@@"


def pieces_of(line: str) -> list[str]:
    """Give the pieces of a line."""
    # Only a space separates pieces: a no-break space, for one, may stand inside a piece.
    return [piece for piece in line.split(" ") if piece]


def words_of(pieces: list[str], joiner: Joiner) -> list[str]:
    """Give the words that pieces stand for; a word of nothing but joiners is none."""
    words = [_joined(pieces[start:end], joiner) for start, end in _spans(pieces, joiner)]
    return [word for word in words if word]


def _spans(pieces: list[str], joiner: Joiner) -> list[tuple[int, int]]:
    """Give [start, end) of each word; a word reaches up to the first piece that does not end in @@."""
    ends = [
        place
        for place, piece in enumerate(pieces, start=1)
        if joiner == "none" or not piece.endswith(CONTINUES) or place == len(pieces)
    ]
    return list(zip([0, *ends], ends, strict=False))


def _joined(pieces: list[str], joiner: Joiner) -> str:
    return pieces[0] if joiner == "none" else "".join(piece.removesuffix(CONTINUES) for piece in pieces)


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
        pieces, source_pieces = pieces_of(line), pieces_of(source)
        attended = self._positions(positions, len(pieces), len(source_pieces), number)
        word_at = [
            _joined(source_pieces[start:end], self.joiner)
            for start, end in _spans(source_pieces, self.joiner)
            for _ in range(start, end)
        ]
        words = []
        for start, end in _spans(pieces, self.joiner):
            restored = [
                self._restored(word_at, attended[place]) if pieces[place] == UNKNOWN else pieces[place]
                for place in range(start, end)
            ]
            words.append(_joined(restored, self.joiner))
        return [word for word in words if word]

    def _restored(self, word_at: list[str], position: int) -> str:
        if position == len(word_at):
            self.ledger.note("unknown word dropped: it attended to the end of the source")
            return ""
        self.ledger.note("unknown word replaced")
        return word_at[position]

    def _positions(self, line: str, pieces: int, source_pieces: int, number: int) -> list[int]:
        try:
            positions = [int(position) for position in line.split()]
        except ValueError as error:
            raise InputError(f"{error}; write one source position for each piece", self.alignment, number) from None
        if len(positions) != pieces:
            raise InputError(
                f"{len(positions)} positions for {pieces} output pieces; decode again to get both files anew",
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
