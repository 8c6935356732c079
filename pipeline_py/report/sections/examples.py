"""Sentences that two systems translate most differently, with the tree and both attentions where these are known."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from pipeline_py.config.systems.any_system import NeuralSystem
from pipeline_py.files.text import tokens_of
from pipeline_py.report.figures.attended_sentence import AttendedSentence, read_attended, telling_steps
from pipeline_py.report.figures.figure_files import InlineFigure
from pipeline_py.report.page_parts import Part
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.subword.vocabulary import EOS, SPECIALS

PLACE = 90
MOST = 2
"""Examples for, and as many against a system, of each pair."""

Span = tuple[str, bool]
"""Words, and whether they are those of one translation alone."""


@dataclass(frozen=True)
class Translated:
    """What one system said, and how good it is, in percent."""

    system: str
    text: str
    score: float


@dataclass(frozen=True)
class Example:
    """A sentence, counted from 1, and two translations of it."""

    sentence: int
    source: str
    reference: str
    system: Translated
    other: Translated

    @property
    def difference(self) -> float:
        """How much better the system is."""
        return self.system.score - self.other.score

    def spans(self) -> tuple[list[Span], list[Span]]:
        """Both translations, cut where they differ."""
        words = tokens_of(self.system.text), tokens_of(self.other.text)
        both: tuple[list[Span], list[Span]] = ([], [])
        for kind, *ends in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
            for side, (start, end) in enumerate((ends[:2], ends[2:])):
                if end > start:
                    both[side].append((" ".join(words[side][start:end]), kind != "equal"))
        return both


@dataclass(frozen=True)
class ShownExample:
    """A sentence with what two systems, called by their labels, made of it."""

    example: Example
    system: str
    other: str
    figures: Sequence[InlineFigure] = ()


def section(chapter: TableChapter) -> Iterator[Part]:
    """Those of each set, the first set open."""
    text = [
        "The sentences on which a proposed system and its baseline differ most (if the table proposes none: its first "
        "two systems), from the half of the set that is of medium length. Numbers are sentence chrF (0 to 100). "
        "Highlighted words are in only one of the two translations."
    ]
    for place, (split, path) in enumerate(chapter.manifest.by_set("examples", chapter.name)):
        shown = [*shown_examples(chapter, split, path)]
        if shown:
            title = "Sentences where systems differ most" + (f": {chapter.on(split)}" if place else "")
            yield Part(title, text if place == 0 else [], own=shown, template="examples.html", folded=place > 0)


def read_examples(path: Path) -> list[Example]:
    """Read the examples of a set."""
    table = read_table(path, ["score_system", "score_other"], ["sentence"])
    return [
        Example(
            row["sentence"],
            row["source"],
            row["reference"],
            *(Translated(row[side], row[f"translation_{side}"], row[f"score_{side}"]) for side in ("system", "other")),
        )
        for row in table.to_dict("records")
    ]


def chosen(examples: Sequence[Example], system: str, other: str) -> list[Example]:
    """Of two systems those that differ most: where the one is better, then where the other is."""
    found = [
        each
        if each.system.system == system
        else Example(each.sentence, each.source, each.reference, each.other, each.system)
        for each in examples
        if {each.system.system, each.other.system} == {system, other}
    ]
    ranked = sorted({each.sentence: each for each in found}.values(), key=lambda each: each.difference)
    better = [each for each in reversed(ranked) if each.difference > 0]
    return [*better[:MOST], *(each for each in ranked[:MOST] if each.difference < 0)]


NEEDED = ("source_pieces", "translation", "attention")
PANELS = 2
"""Words of a translation whose attention is drawn on phrases."""


def shown_examples(chapter: TableChapter, split: str, path: Path) -> Iterator[ShownExample]:
    """Yield the examples of a set that are shown; within `figure_files.style`."""
    examples = read_examples(path)
    pairs = chapter.chosen_pairs([(each.system.system, each.other.system) for each in examples])
    found = ((pair, example) for pair in pairs for example in chosen(examples, *pair))
    for place, (pair, example) in enumerate(found, start=1):
        tree = chapter.manifest.of("source_tree", f"{chapter.name}:{pair[0]}:{split}")
        attended = {
            chapter.called[system]: attention
            for system in pair
            if (attention := _attended(chapter, system, split, example.sentence)) is not None
        }
        anchor = f"{chapter.anchor}-{split}-example-{place}"
        drawn = [*_compared(tree, example.sentence, attended, anchor), *_on_phrases(attended, anchor)]
        yield ShownExample(example, chapter.called[pair[0]], chapter.called[pair[1]], drawn)


def _attended(chapter: TableChapter, system: str, split: str, number: int) -> AttendedSentence | None:
    """What a system attended to in a sentence; None where that was not asked for."""
    kinds = (*NEEDED, "gates", "tree")
    files = {kind: chapter.manifest.of("attended", f"{system}:{split}:{kind}") for kind in kinds}
    source, translation, attention = (files[kind] for kind in NEEDED)
    if source is None or translation is None or attention is None:
        return None
    experiment = chapter.experiment
    networks = [experiment.systems[network] for network in experiment.networks(system)]
    return read_attended(
        number,
        source_pieces=source,
        translation=translation,
        attention=attention,
        tree=files["tree"],
        gates=files["gates"],
        lexical=any(isinstance(each, NeuralSystem) and each.reads_lexical_trees for each in networks),
    )


def _compared(
    tree: Path | None, number: int, attended: Mapping[str, AttendedSentence], name: str
) -> list[InlineFigure]:
    """Draw both systems below one tree; only those that read the words of this tree."""
    if tree is None or not attended:
        return []
    from pipeline_py.report.figures.compared_attention import draw, of_words
    from pipeline_py.report.figures.figure_files import rendered
    from pipeline_py.report.figures.source_tree import read_source_tree

    source = read_source_tree(tree, number)
    attentions = [
        found for called, each in attended.items() if len((found := of_words(called, each)).words) == len(source.words)
    ]
    if not attentions:
        return []
    title = (
        f"The source tree, and the attention of {' and '.join(each.system for each in attentions)}: a row for each "
        f"word of the translation; a stronger colour is a higher weight; {SPECIALS[EOS]} is the end of the sentence"
    )
    return [rendered(draw(source, attentions), title, name)]


def _on_phrases(attended: Mapping[str, AttendedSentence], name: str) -> list[InlineFigure]:
    """Draw what systems that read phrases attended to on these."""
    drawn = []
    for place, (called, each) in enumerate(attended.items(), start=1):
        if each.phrases:
            from pipeline_py.report.figures.attention_figure import draw
            from pipeline_py.report.figures.figure_files import rendered

            figure = draw("", each, telling_steps(each, PANELS))
            title = (
                f"Attention of {called} to words and phrases, for some words of its translation; {SPECIALS[EOS]} is "
                "the end of the sentence"
            )
            drawn.append(rendered(figure, title, f"{name}-phrases-{place}", own_colours=True))
    return drawn
