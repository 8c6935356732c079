"""Generate contrastive pairs with gold trees: English sentences with a correct and a wrong German translation."""

from contextlib import ExitStack
from pathlib import Path

from pydantic import PositiveInt

from embedded_grammar.focus import Contrast, Focus
from embedded_grammar.lexicon.size import Lexicon
from embedded_grammar.limits import LONGEST, SHORTEST, Lengths, Limits
from embedded_grammar.tree import conllu
from pipeline_py.files.artifacts import Counts, writing
from pipeline_py.run.progress import progress

COLUMNS = ("source", "correct", "contrastive", "kind", "distance")


def generate_contrast(
    *,
    sentences: PositiveInt,
    pairs_output: Path,
    conllu_output: Path,
    ptb_output: Path,
    counts_output: Path,
    kinds: list[Contrast],
    seed: int = 1,
    share_from: float = 0.0,
    share_to: float = 1.0,
    min_length: int = SHORTEST,
    max_length: int = LONGEST,
    lengths: Lengths = Lengths.natural,
    lexicon: Lexicon = Lexicon.whole,
    digits: bool = True,
) -> None:
    """Write English sentences with two German translations that differ in one feature of their derivation.

    All kinds of errors have the same number of pairs, or one more. The kinds are: `agreement`, the finite verb agrees
    with a noun between it and its subject; `particle`, a separable verb has another prefix; `case` and `gender`, an
    article has another one; `verb_final`, the verb of a subordinate clause is in second position; `negation_dropped`
    and `negation_added`; `relative_attachment` and `phrase_attachment`, the German translation of the other reading of
    a sentence with an attachment ambiguity. Such a sentence occurs with both readings, so that only the tree tells
    which is meant; a system that reads only the words is right for exactly half of the pairs.

    Args:
        sentences: Number of pairs.
        pairs_output: TSV with a header: source, correct, contrastive, kind, distance; see `files.contrastive`.
        conllu_output: Dependency trees of the English side, Universal Dependencies.
        ptb_output: Constituency trees of the English side in Penn Treebank style, one a line.
        counts_output: JSON counts: drawn sentences, kept and dropped by reason; pairs by kind.
        kinds: Kinds of errors.
        seed: The same seed gives the same files.
        share_from: Start of the share of all sentences, in [0, 1); see `generate`.
        share_to: End of the share, exclusive, in (0, 1].
        min_length: Fewest English tokens, the full stop included.
        max_length: Most English tokens.
        lengths: `natural` or `uniform`.
        lexicon: `whole` or `compact`.
        digits: Whether there are numbers, times and dates in digits.

    Raises:
        InputError: an argument is out of range, there are not that many such pairs, or the lexicon has a mistake.
    """
    # Reads the lexicon.
    from embedded_grammar.contrastive_pairs import ContrastivePairs

    limits = Limits(share_from, share_to, min_length, max_length, lengths, Focus.any, lexicon, digits)
    counts = Counts()
    drawn = ContrastivePairs(seed, limits, kinds).distinct(sentences, counts)
    with ExitStack() as stack:
        pairs, dependencies, brackets = (
            stack.enter_context(writing(path)) for path in (pairs_output, conllu_output, ptb_output)
        )
        pairs.write("\t".join(COLUMNS) + "\n")
        for number, found in enumerate(progress(drawn, "generate_contrast", total=sentences), start=1):
            pair = found.pair
            columns = (pair.english, pair.german, found.contrastive, found.kind, str(found.distance))
            pairs.write("\t".join(columns) + "\n")
            dependencies.write(conllu(pair.leaves, str(number), pair.english))
            brackets.write(pair.tree.bracket() + "\n")
    counts.write(counts_output)
