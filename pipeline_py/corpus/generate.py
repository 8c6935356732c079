"""Generation of an English-German parallel corpus with gold trees from the embedded grammar."""

from contextlib import ExitStack
from pathlib import Path

from pydantic import NonNegativeInt, PositiveInt

from embedded_grammar.lexicon.lexicon_size import LexiconSize
from embedded_grammar.sentence_limits import (
    MAX_SENTENCE_LENGTH,
    MIN_SENTENCE_LENGTH,
    LengthDistribution,
    SentenceLimits,
)
from embedded_grammar.syntactic_phenomena import Phenomenon
from embedded_grammar.syntax_tree import format_conllu
from embedded_grammar.vocabulary import read_vocabulary
from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.run.progress_display import show_progress


def generate(
    *,
    sentences: PositiveInt,
    source_output: Path,
    target_output: Path,
    conllu_output: Path,
    ptb_output: Path,
    counts_output: Path,
    seed: int = 1,
    share_from: float = 0.0,
    share_to: float = 1.0,
    min_length: int = MIN_SENTENCE_LENGTH,
    max_length: int = MAX_SENTENCE_LENGTH,
    focus: Phenomenon = Phenomenon.any,
    lengths: LengthDistribution = LengthDistribution.natural,
    lexicon: LexiconSize = LexiconSize.full,
    digits: bool = True,
    ambiguous: float = 0.0,
    source_texts: list[Path] | None = None,
    target_texts: list[Path] | None = None,
    min_count: NonNegativeInt = 0,
) -> None:
    """Generate distinct sentence pairs with gold trees of the English side.

    The sentences of the grammar are divided into shares by the lexical core of the main clause: its verb, and the heads
    of its subject and object. Runs with disjoint shares have no core in common, and therefore no English sentence, with
    any seeds. With `digits`, some sentences contain a number, a time or a date, most of which occur only once.

    Args:
        sentences: Number of sentence pairs.
        source_output: English, one tokenized sentence a line.
        target_output: German, aligned.
        conllu_output: Dependency trees of the English side, Universal Dependencies.
        ptb_output: Constituency trees of the English side in Penn Treebank style, one a line.
        counts_output: JSON counts of sentences: kept, dropped by reason, and by phenomenon.
        seed: The same seed gives the same files.
        share_from: Start of the share of all sentences, in [0, 1).
        share_to: End of the share, exclusive, in (0, 1].
        min_length: Fewest English tokens, the full stop included.
        max_length: Most English tokens.
        focus: A phenomenon that every sentence contains.
        lexicon: `whole`, or `compact` (the most frequent verbs with their most frequent nouns).
        digits: Generate numbers, times and dates in digits.
        ambiguous: Share of the sentences with an attachment ambiguity: their English words have two equally likely
            readings, which only the tree and the German translation distinguish. All other sentences are unambiguous.
        source_texts: English texts, plain or compressed, in which words are counted.
        target_texts: German texts.
        min_count: Generate only words that occur at least this often in these texts; 0: all words.
        lengths: `natural` (mean 14) or `uniform` over the range of lengths.

    Raises:
        InputError: an argument is out of range, the grammar has too few sentences, or the lexicon has an error.
    """
    # Reads the lexicon.
    from embedded_grammar.pair_generation import PairGenerator

    vocabulary = read_vocabulary(source_texts or [], target_texts or [], min_count)
    limits = SentenceLimits(
        share_from, share_to, min_length, max_length, lengths, focus, lexicon, digits, ambiguous, vocabulary
    )
    counts = SentenceCounts()
    with ExitStack() as stack:
        source, target, dependencies, brackets = (
            stack.enter_context(open_atomic_text_file(path))
            for path in (source_output, target_output, conllu_output, ptb_output)
        )
        pairs = PairGenerator(seed, limits).generate_distinct_pairs(sentences, counts)
        for number, pair in enumerate(show_progress(pairs, "generate", total=sentences), start=1):
            source.write(pair.english + "\n")
            target.write(pair.german + "\n")
            dependencies.write(format_conllu(pair.leaves, str(number), pair.english))
            brackets.write(pair.tree.to_bracket_string() + "\n")
    counts.write_json_file(counts_output)
