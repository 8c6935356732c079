"""Generate an English-German parallel corpus with gold trees from the grammar beside this module."""

from contextlib import ExitStack
from pathlib import Path

from pipeline_py import stage
from pipeline_py.artifact import Counts, writing
from pipeline_py.corpus.grammar.focus import Focus
from pipeline_py.corpus.grammar.lexicon.size import Lexicon
from pipeline_py.corpus.grammar.limits import LONGEST, SHORTEST, Lengths, Limits
from pipeline_py.corpus.grammar.tree import conllu
from pipeline_py.input_error import InputError
from pipeline_py.progress import progress


def generate(
    *,
    sentences: int,
    source_output: Path,
    target_output: Path,
    conllu_output: Path,
    ptb_output: Path,
    counts_output: Path,
    seed: int = 1,
    share_from: float = 0.0,
    share_to: float = 1.0,
    min_length: int = SHORTEST,
    max_length: int = LONGEST,
    focus: Focus = Focus.any,
    lengths: Lengths = Lengths.natural,
    lexicon: Lexicon = Lexicon.whole,
    digits: bool = True,
    ambiguous: float = 0.0,
) -> None:
    """Write distinct sentence pairs with the gold trees of their English side.

    The space of sentences is divided by the lexical core of the main clause (its verb, and the heads of its subject and
    object), which can be read off the English sentence. Calls with disjoint shares have no core, hence no English
    sentence, in common, whatever their seeds. With `digits`, a few sentences have a number, a time or a date, which
    most often occurs nowhere else.

    Args:
        sentences: How many pairs.
        source_output: English, one tokenized sentence a line.
        target_output: German, aligned.
        conllu_output: Dependency trees of the English side, Universal Dependencies.
        ptb_output: Constituency trees of the English side in Penn Treebank style, one a line.
        counts_output: Counts: drawings kept and dropped by reason, sentences by phenomenon.
        seed: The same seed gives the same files.
        share_from: Start of the share of the space of sentences, in [0, 1).
        share_to: End of the share, exclusive, in (0, 1].
        min_length: Fewest English tokens, the full stop included.
        max_length: Most English tokens.
        focus: A phenomenon that every sentence contains.
        lexicon: `whole`, or `compact`: the most frequent verbs with the most frequent nouns that go with them.
        digits: Whether there are numbers, times and dates in digits.
        ambiguous: The share of sentences that leave an attachment open: English words with two readings, either as
            probable, of which the tree and the German have one. All others then leave none, so that nothing but the
            tree tells the reading.
        lengths: `natural` (mean 14) or `uniform` over the range, which fills groups of lengths alike.

    Raises:
        InputError: an argument is out of range, there are not that many such sentences, or the lexicon has a mistake.
    """
    # Reads the lexicon.
    from pipeline_py.corpus.grammar.pairs import Pairs

    if sentences < 1:
        raise InputError(f"sentences is {sentences}; ask for at least one")
    limits = Limits(share_from, share_to, min_length, max_length, lengths, focus, lexicon, digits, ambiguous)
    counts = Counts()
    with ExitStack() as stack:
        source, target, dependencies, brackets = (
            stack.enter_context(writing(path)) for path in (source_output, target_output, conllu_output, ptb_output)
        )
        drawn = progress(Pairs(seed, limits).distinct(sentences, counts), "generate", total=sentences)
        for number, pair in enumerate(drawn, start=1):
            source.write(pair.english + "\n")
            target.write(pair.german + "\n")
            dependencies.write(conllu(pair.leaves, str(number), pair.english))
            brackets.write(pair.tree.bracket() + "\n")
    counts.write(counts_output)


if __name__ == "__main__":
    stage.run(generate)
