"""Sentences that two systems translate most differently, with the tree and both attentions where these are known."""

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
"""Examples for, and as many against a system, of each pair."""

DifferenceSpan = tuple[str, bool]
"""Words, and whether they are those of one translation alone."""


@dataclass(frozen=True)
class ScoredTranslation:
    """What one system said, and how good it is, in percent."""

    system: str
    text: str
    score: float


@dataclass(frozen=True)
class TranslationExample:
    """A sentence, counted from 1, and two translations of it."""

    sentence_number: int
    source: str
    reference: str
    system_translation: ScoredTranslation
    other_translation: ScoredTranslation

    @property
    def score_difference(self) -> float:
        """How much better the system is."""
        return self.system_translation.score - self.other_translation.score

    def split_into_spans(self) -> tuple[list[DifferenceSpan], list[DifferenceSpan]]:
        """Both translations, cut where they differ."""
        words = split_tokens(self.system_translation.text), split_tokens(self.other_translation.text)
        both: tuple[list[DifferenceSpan], list[DifferenceSpan]] = ([], [])
        for kind, *ends in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
            for side, (start, end) in enumerate((ends[:2], ends[2:])):
                if end > start:
                    both[side].append((" ".join(words[side][start:end]), kind != "equal"))
        return both


@dataclass(frozen=True)
class RenderedExample:
    """A sentence with what two systems, called by their labels, made of it."""

    example: TranslationExample
    system_label: str
    other_label: str
    figures: Sequence[InlineFigure] = ()


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Those of each set, the first set open."""
    text = [
        "The sentences on which a proposed system and its baseline differ most (if the table proposes none: its first "
        "two systems), from the half of the set that is of medium length. Numbers are sentence chrF (0 to 100). "
        "Highlighted words are in only one of the two translations."
    ]
    for place, (split, path) in enumerate(chapter.manifest.iterate_set_files("examples", chapter.table_name)):
        shown = [*render_examples(chapter, split, path)]
        if shown:
            title = "Sentences where systems differ most" + (f": {chapter.get_set_name(split)}" if place else "")
            yield PageSection(
                title,
                text if place == 0 else [],
                template_data=shown,
                template_name="examples.html",
                is_folded=place > 0,
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
    """Of two systems those that differ most: where the one is better, then where the other is."""
    found = [
        each
        if each.system_translation.system == system
        else TranslationExample(
            each.sentence_number, each.source, each.reference, each.other_translation, each.system_translation
        )
        for each in examples
        if {each.system_translation.system, each.other_translation.system} == {system, other_system}
    ]
    ranked = sorted({each.sentence_number: each for each in found}.values(), key=lambda each: each.score_difference)
    better = [each for each in reversed(ranked) if each.score_difference > 0]
    return [
        *better[:MAX_EXAMPLES_PER_SIDE],
        *(each for each in ranked[:MAX_EXAMPLES_PER_SIDE] if each.score_difference < 0),
    ]


REQUIRED_FILE_KINDS = ("source_pieces", "translation", "attention")
PANELS_PER_TRANSLATION = 2
"""Words of a translation whose attention is drawn on phrases."""


def render_examples(chapter: TableChapter, split: str, path: Path) -> Iterator[RenderedExample]:
    """Yield the examples of a set that are shown; within `figure_files.style`."""
    examples = read_examples(path)
    pairs = chapter.select_pairs([(each.system_translation.system, each.other_translation.system) for each in examples])
    found = ((pair, example) for pair in pairs for example in select_examples(examples, *pair))
    for place, (pair, example) in enumerate(found, start=1):
        tree = chapter.manifest.find_file("source_tree", f"{chapter.table_name}:{pair[0]}:{split}")
        attended = {
            chapter.display_names[system]: attention
            for system in pair
            if (attention := _read_attention(chapter, system, split, example.sentence_number)) is not None
        }
        anchor = f"{chapter.anchor}-{split}-example-{place}"
        drawn = [
            *_render_tree_comparison(tree, example.sentence_number, attended, anchor),
            *_render_phrase_attention(attended, anchor),
        ]
        yield RenderedExample(example, chapter.display_names[pair[0]], chapter.display_names[pair[1]], drawn)


def _read_attention(chapter: TableChapter, system: str, split: str, sentence_number: int) -> AttendedSentence | None:
    """What a system attended to in a sentence; None where that was not asked for."""
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
        lexical=any(isinstance(each, NeuralSystemConfig) and each.reads_lexical_trees for each in networks),
    )


def _render_tree_comparison(
    tree: Path | None, sentence_number: int, attended_sentences: Mapping[str, AttendedSentence], figure_id: str
) -> list[InlineFigure]:
    """Draw both systems below one tree; only those that read the words of this tree."""
    if tree is None or not attended_sentences:
        return []
    from pipeline_py.report.figures.attention_comparison import aggregate_by_word, draw_attention_comparison
    from pipeline_py.report.figures.figure_files import render_inline_figure
    from pipeline_py.report.figures.source_tree import read_source_tree

    source = read_source_tree(tree, sentence_number)
    attentions = [
        found
        for called, each in attended_sentences.items()
        if len((found := aggregate_by_word(called, each)).words) == len(source.words)
    ]
    if not attentions:
        return []
    title = (
        f"The source tree, and the attention of {' and '.join(each.system_label for each in attentions)}: a row for each "
        f"word of the translation; a stronger colour is a higher weight; {SPECIAL_TOKENS[EOS]} is the end of the sentence"
    )
    return [render_inline_figure(draw_attention_comparison(source, attentions), title, figure_id)]


def _render_phrase_attention(attended_sentences: Mapping[str, AttendedSentence], figure_id: str) -> list[InlineFigure]:
    """Draw what systems that read phrases attended to on these."""
    drawn = []
    for place, (called, each) in enumerate(attended_sentences.items(), start=1):
        if each.phrases:
            from pipeline_py.report.figures.attention_figure import draw_attention_figure
            from pipeline_py.report.figures.figure_files import render_inline_figure

            figure = draw_attention_figure("", each, select_informative_steps(each, PANELS_PER_TRANSLATION))
            title = (
                f"Attention of {called} to words and phrases, for some words of its translation; {SPECIAL_TOKENS[EOS]} is "
                "the end of the sentence"
            )
            drawn.append(render_inline_figure(figure, title, f"{figure_id}-phrases-{place}", has_fixed_colours=True))
    return drawn
