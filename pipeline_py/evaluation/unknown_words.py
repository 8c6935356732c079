"""An unknown word in the output becomes the source word that it attended to most (Luong et al. 2015, "copy")."""

from pipeline_py.artifact import Ledger
from pipeline_py.evaluation.attended import Attended

UNKNOWN = "<unk>"


def known_words(sentence: Attended, ledger: Ledger) -> dict[int, str]:
    """Give the word in the place of each `<unk>` of the output; one that attended to EOS leaves no word.

    Args:
        sentence: an output and its source.
        ledger: notes what became of each.

    Returns:
        Words by index of the output piece.
    """
    words = {}
    for place, piece in enumerate(sentence.pieces):
        if piece == UNKNOWN:
            end = sentence.attended[place] == len(sentence.original)
            ledger.note(
                "unknown word dropped: it attended to the end of the source" if end else "unknown word replaced"
            )
            words[place] = "" if end else sentence.original[sentence.attended[place]]
    return words
