"""Words of the output that come from the source: for unknown words, and for placeholders of times, dates and numbers.

An unknown word becomes the source word that it attended to most (Luong et al. 2015, "copy").

Yang et al. (2017, section 4.1) generalise rare times, dates and numbers and say nothing of putting them back; attention
tells which is which, as it does for unknown words.
"""

from pipeline_py.artifact import Counts
from pipeline_py.corpus.placeholders import PLACEHOLDERS
from pipeline_py.evaluation.restoring.attended import Attended

UNKNOWN = "<unk>"


def known_words(sentence: Attended, counts: Counts) -> dict[int, str]:
    """Give the word in the place of each `<unk>` of the output; one that attended to EOS leaves no word.

    Args:
        sentence: an output and its source.
        counts: notes what became of each.

    Returns:
        Words by index of the output piece.
    """
    words = {}
    for place, piece in enumerate(sentence.pieces):
        if piece == UNKNOWN:
            end = sentence.attended[place] == len(sentence.original)
            counts.note(
                "unknown word dropped: it attended to the end of the source" if end else "unknown word replaced"
            )
            words[place] = "" if end else sentence.original[sentence.attended[place]]
    return words


def put_back(sentence: Attended, taken: set[int], counts: Counts) -> dict[int, str]:
    """Give the word in the place of each placeholder of the output.

    It is the original of the source word that the placeholder attended to, if that word is the same placeholder, be
    it for the second time. The others, from left to right, take what is left of the source: first those for which it
    has the same placeholder, then, since languages differ in what they write as a number or a date, those for which
    it has another one. Of several the nearest is taken, in words, and of two as near the first. Where nothing is left
    the placeholder leaves no word: it is none of the target language.

    Args:
        sentence: an output and its source.
        taken: source words that are in the output already; only a placeholder that attended to one can repeat it.
        counts: notes what became of each.

    Returns:
        Words by index of the output piece.
    """
    read, attended = sentence.read, sentence.attended
    places = [place for place, piece in enumerate(sentence.pieces) if piece in PLACEHOLDERS]
    source: dict[int, int] = {}
    for place in places:
        if sentence.pieces[place] in read[attended[place] : attended[place] + 1]:
            source[place] = attended[place]
            counts.note("placeholder put back: it attended to its like")
    left = {word for word, form in enumerate(read) if form in PLACEHOLDERS} - taken - {*source.values()}
    for same, what in ((True, "the nearest of its like"), (False, "one of another kind")):
        for place in places:
            near = [word for word in left if not same or read[word] == sentence.pieces[place]]
            if place not in source and near:
                _, source[place] = min((abs(word - attended[place]), word) for word in near)
                left.remove(source[place])
                counts.note(f"placeholder put back: {what}")
    if len(source) < len(places):
        counts.note("placeholder dropped: the source has none left", len(places) - len(source))
    return {place: sentence.original[source[place]] if place in source else "" for place in places}
