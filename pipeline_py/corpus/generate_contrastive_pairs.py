"""Generation of contrastive pairs with gold trees: English sentences with a correct and an incorrect translation."""

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
from embedded_grammar.syntactic_phenomena import ContrastiveErrorKind, Phenomenon
from embedded_grammar.syntax_tree import format_conllu
from embedded_grammar.vocabulary import read_vocabulary
from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.run.progress_display import show_progress

CONTRAST_COLUMNS = ("source", "correct", "contrastive", "kind", "distance")


def generate_contrastive_pairs(
    *,
    sentences: PositiveInt,
    pairs_output: Path,
    conllu_output: Path,
    ptb_output: Path,
    counts_output: Path,
    kinds: list[ContrastiveErrorKind],
    seed: int = 1,
    share_from: float = 0.0,
    share_to: float = 1.0,
    min_length: int = MIN_SENTENCE_LENGTH,
    max_length: int = MAX_SENTENCE_LENGTH,
    lengths: LengthDistribution = LengthDistribution.natural,
    lexicon: LexiconSize = LexiconSize.full,
    digits: bool = True,
    source_texts: list[Path] | None = None,
    target_texts: list[Path] | None = None,
    min_count: NonNegativeInt = 0,
) -> None:
    """Generate English sentences with two German translations that differ in one feature of their derivation.

    All kinds of errors have the same number of pairs, or one more. The kinds are: `agreement`, the finite verb agrees
    with a noun between it and its subject; `particle`, a separable verb has another prefix; `case` and `gender`, an
    article has another one; `verb_final`, the verb of a subordinate clause is in second position; `negation_dropped`
    and `negation_added`; `relative_attachment` and `phrase_attachment`, the German translation of the other reading of
    a sentence with an attachment ambiguity. An ambiguous sentence occurs once with each reading; a system that sees
    only the words is right in exactly half of these pairs.

    Args:
        sentences: Number of pairs.
        pairs_output: TSV with columns source, correct, contrastive, kind, distance (`files.contrastive_pair_files`).
        conllu_output: Dependency trees of the English side, Universal Dependencies.
        ptb_output: Constituency trees of the English side in Penn Treebank style, one a line.
        counts_output: JSON counts of pairs: kept, dropped by reason, and by kind.
        kinds: Kinds of errors.
        seed: The same seed gives the same files.
        share_from: Start of the share of all sentences, in [0, 1); see `generate`.
        share_to: End of the share, exclusive, in (0, 1].
        min_length: Fewest English tokens, the full stop included.
        max_length: Most English tokens.
        lengths: `natural` or `uniform`.
        lexicon: `whole` or `compact`.
        digits: Generate numbers, times and dates in digits.
        source_texts: English texts, plain or compressed, in which words are counted.
        target_texts: German texts.
        min_count: Generate only words that occur at least this often in these texts; 0: all words.

    Raises:
        InputError: an argument is out of range, the grammar has too few pairs, or the lexicon has an error.
    """
    # Reads the lexicon.
    from embedded_grammar.contrastive_pair_generation import ContrastivePairGenerator

    limits = SentenceLimits(
        share_from,
        share_to,
        min_length,
        max_length,
        lengths,
        Phenomenon.any,
        lexicon,
        digits,
        vocabulary=read_vocabulary(source_texts or [], target_texts or [], min_count),
    )
    counts = SentenceCounts()
    pairs = ContrastivePairGenerator(seed, limits, kinds).generate_distinct_pairs(sentences, counts)
    with ExitStack() as stack:
        table, dependencies, brackets = (
            stack.enter_context(open_atomic_text_file(path)) for path in (pairs_output, conllu_output, ptb_output)
        )
        table.write("\t".join(CONTRAST_COLUMNS) + "\n")
        progress = show_progress(pairs, "generate_contrastive_pairs", total=sentences)
        for number, contrastive_pair in enumerate(progress, start=1):
            pair = contrastive_pair.sentence_pair
            cells = (
                pair.english,
                pair.german,
                contrastive_pair.contrastive_german,
                contrastive_pair.contrast_kind,
                str(contrastive_pair.distance),
            )
            table.write("\t".join(cells) + "\n")
            dependencies.write(format_conllu(pair.leaves, str(number), pair.english))
            brackets.write(pair.tree.to_bracket_string() + "\n")
    counts.write_json_file(counts_output)
