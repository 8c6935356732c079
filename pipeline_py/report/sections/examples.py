"""Section with the sentences that two systems translate most differently, with tree and attention if available."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from pipeline_py.config.systems.system_types import NeuralSystemConfig
from pipeline_py.files.text_files import split_tokens
from pipeline_py.report.figures.attended_sentence import (
    AttendedSentence,
    read_attended_sentence,
    select_informative_steps,
)
from pipeline_py.report.figures.figure_files import InlineFigure
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.subword.vocabulary import EOS, SPECIAL_TOKENS

PAGE_ORDER = 90
MAX_EXAMPLES_PER_SIDE = 2
"""Largest number of examples in which one system of a pair is better."""

DifferenceSpan = tuple[str, bool]
"""Words, and whether only one translation has them."""


@dataclass(frozen=True)
class ScoredTranslation:
    """The translation of one system and its score in percent."""

    system: str
    text: str
    score: float


@dataclass(frozen=True)
class TranslationExample:
    """A sentence with two translations; sentence numbers start at 1."""

    sentence_number: int
    source: str
    reference: str
    system_translation: ScoredTranslation
    other_translation: ScoredTranslation

    @property
    def score_difference(self) -> float:
        """Score of the system minus score of the other system."""
        return self.system_translation.score - self.other_translation.score

    def split_into_spans(self) -> tuple[list[DifferenceSpan], list[DifferenceSpan]]:
        """Split both translations into equal and differing spans."""
        words = split_tokens(self.system_translation.text), split_tokens(self.other_translation.text)
        spans: tuple[list[DifferenceSpan], list[DifferenceSpan]] = ([], [])
        for kind, *ends in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
            for side, (start, end) in enumerate((ends[:2], ends[2:])):
                if end > start:
                    spans[side].append((" ".join(words[side][start:end]), kind != "equal"))
        return spans


@dataclass(frozen=True)
class RenderedExample:
    """An example with the display names of its systems and its figures."""

    example: TranslationExample
    system_label: str
    other_label: str
    figures: Sequence[InlineFigure] = ()


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Yield a section of examples for each set, folded after the first."""
    explanation = [
        "The sentences on which a proposed system and its baseline differ most (if the table proposes none: its first "
        "two systems), from the half of the set that is of medium length. Numbers are sentence chrF (0 to 100). "
        "Highlighted words are in only one of the two translations."
    ]
    for index, (split, path) in enumerate(chapter.manifest.iterate_set_files("examples", chapter.table_name)):
        examples = [*render_examples(chapter, split, path)]
        if examples:
            title = "Sentences where systems differ most" + (f": {chapter.get_set_name(split)}" if index else "")
            yield PageSection(
                title,
                explanation if index == 0 else [],
                template_data=examples,
                template_name="examples.html",
                is_folded=index > 0,
            )


def read_examples(path: Path) -> list[TranslationExample]:
    """Read the examples of a set."""
    table = read_tsv(path, ["score_system", "score_other"], ["sentence"])
    return [
        TranslationExample(
            row["sentence"],
            row["source"],
            row["reference"],
            *(
                ScoredTranslation(row[side], row[f"translation_{side}"], row[f"score_{side}"])
                for side in ("system", "other")
            ),
        )
        for row in table.to_dict("records")
    ]


def select_examples(examples: Sequence[TranslationExample], system: str, other_system: str) -> list[TranslationExample]:
    """Select the largest differences of two systems: first those in favour of `system`, then the opposite."""
    pair_examples = [
        example
        if example.system_translation.system == system
        else TranslationExample(
            example.sentence_number,
            example.source,
            example.reference,
            example.other_translation,
            example.system_translation,
        )
        for example in examples
        if {example.system_translation.system, example.other_translation.system} == {system, other_system}
    ]
    ranked = sorted(
        {example.sentence_number: example for example in pair_examples}.values(),
        key=lambda example: example.score_difference,
    )
    better_examples = [example for example in reversed(ranked) if example.score_difference > 0]
    return [
        *better_examples[:MAX_EXAMPLES_PER_SIDE],
        *(example for example in ranked[:MAX_EXAMPLES_PER_SIDE] if example.score_difference < 0),
    ]


REQUIRED_FILE_KINDS = ("source_pieces", "translation", "attention")
PANELS_PER_TRANSLATION = 2
"""Number of words of a translation with a panel."""


def render_examples(chapter: TableChapter, split: str, path: Path) -> Iterator[RenderedExample]:
    """Yield the selected examples of a set. Call it within `use_style()`."""
    examples = read_examples(path)
    pairs = chapter.select_pairs(
        [(example.system_translation.system, example.other_translation.system) for example in examples]
    )
    selected_examples = ((pair, example) for pair in pairs for example in select_examples(examples, *pair))
    for number, (pair, example) in enumerate(selected_examples, start=1):
        tree = chapter.manifest.find_file("source_tree", f"{chapter.table_name}:{pair[0]}:{split}")
        attended_sentences = {
            chapter.display_names[system]: attention
            for system in pair
            if (attention := _read_attention(chapter, system, split, example.sentence_number)) is not None
        }
        anchor = f"{chapter.anchor}-{split}-example-{number}"
        figures = [
            *_render_tree_comparison(tree, example.sentence_number, attended_sentences, anchor),
            *_render_phrase_attention(attended_sentences, anchor),
        ]
        yield RenderedExample(example, chapter.display_names[pair[0]], chapter.display_names[pair[1]], figures)


def _read_attention(chapter: TableChapter, system: str, split: str, sentence_number: int) -> AttendedSentence | None:
    """Read the attention of a system in a sentence; return None if the manifest lacks its files."""
    kinds = (*REQUIRED_FILE_KINDS, "gates", "tree")
    files = {kind: chapter.manifest.find_file("attended", f"{system}:{split}:{kind}") for kind in kinds}
    source, translation, attention = (files[kind] for kind in REQUIRED_FILE_KINDS)
    if source is None or translation is None or attention is None:
        return None
    experiment = chapter.experiment
    networks = [experiment.systems[network] for network in experiment.get_networks(system)]
    return read_attended_sentence(
        sentence_number,
        source_pieces=source,
        translation=translation,
        attention=attention,
        tree=files["tree"],
        gates=files["gates"],
        lexical=any(isinstance(network, NeuralSystemConfig) and network.reads_lexical_trees for network in networks),
    )


def _render_tree_comparison(
    tree: Path | None, sentence_number: int, attended_sentences: Mapping[str, AttendedSentence], figure_id: str
) -> list[InlineFigure]:
    """Draw the attention of both systems below the tree; systems with other words are omitted."""
    if tree is None or not attended_sentences:
        return []
    from pipeline_py.report.figures.attention_comparison import aggregate_by_word, draw_attention_comparison
    from pipeline_py.report.figures.figure_files import render_inline_figure
    from pipeline_py.report.figures.source_tree import read_source_tree

    source = read_source_tree(tree, sentence_number)
    attentions = [
        attention
        for label, attended in attended_sentences.items()
        if len((attention := aggregate_by_word(label, attended)).words) == len(source.words)
    ]
    if not attentions:
        return []
    title = (
        f"The source tree, and the attention of {' and '.join(attended.system_label for attended in attentions)}: a "
        "row for each word of the translation; a stronger colour is a higher weight; "
        f"{SPECIAL_TOKENS[EOS]} is the end of the sentence"
    )
    return [render_inline_figure(draw_attention_comparison(source, attentions), title, figure_id)]


def _render_phrase_attention(attended_sentences: Mapping[str, AttendedSentence], figure_id: str) -> list[InlineFigure]:
    """Draw the attention to phrases, for systems that read phrases."""
    figures = []
    for number, (label, attended) in enumerate(attended_sentences.items(), start=1):
        if attended.phrases:
            from pipeline_py.report.figures.attention_figure import draw_attention_figure
            from pipeline_py.report.figures.figure_files import render_inline_figure

            figure = draw_attention_figure("", attended, select_informative_steps(attended, PANELS_PER_TRANSLATION))
            title = (
                f"Attention of {label} to words and phrases, for some words of its translation; "
                f"{SPECIAL_TOKENS[EOS]} is the end of the sentence"
            )
            figures.append(render_inline_figure(figure, title, f"{figure_id}-phrases-{number}", has_fixed_colours=True))
    return figures
