"""Examples of a table's sets, with the source tree and the attention of both systems drawn where these are at hand."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.neural import NeuralSystem
from pipeline_py.config.tables import Table
from pipeline_py.report.attended_sentence import AttendedSentence, read_attended, telling_steps
from pipeline_py.report.chosen_pair import chosen_pair
from pipeline_py.report.example_sentences import chosen, read_examples
from pipeline_py.report.inline_svg import InlineFigure
from pipeline_py.report.page_parts import ShownExample
from pipeline_py.report.page_sources import Sources

NEEDED = ("source_pieces", "translation", "attention")
PANELS = 2
"""Words of a translation whose attention is drawn on phrases."""


def shown_examples(
    experiment: Experiment,
    table: Table,
    called: Mapping[str, str],
    split: str,
    path: Path,
    sources: Sources,
    name: str,
) -> Iterator[ShownExample]:
    """Yield the examples of a set that are shown; within `figure_files.style`."""
    examples = read_examples(path)
    pair = chosen_pair(table, [(each.system.system, each.other.system) for each in examples])
    if pair is None:
        return
    tree = sources.of("source_tree", f"{name}:{split}")
    for number, example in enumerate(chosen(examples, *pair), start=1):
        attended = {
            called[system]: found
            for system in pair
            if (found := _attended(experiment, system, split, example.sentence, sources)) is not None
        }
        anchor = f"{name.replace('/', '-')}-{split}-example-{number}"
        drawn = [*_compared(tree, example.sentence, attended, anchor), *_on_phrases(attended, anchor)]
        yield ShownExample(example, called[pair[0]], called[pair[1]], drawn)


def _attended(
    experiment: Experiment, system: str, split: str, number: int, sources: Sources
) -> AttendedSentence | None:
    """What a system attended to in a sentence; None where that was not asked for."""
    files = {option: sources.of("attended", f"{system}:{split}:{option}") for option in (*NEEDED, "gates", "tree")}
    source, translation, attention = (files[option] for option in NEEDED)
    if source is None or translation is None or attention is None:
        return None
    networks = [experiment.systems[network] for network in experiment.networks(system)]
    return read_attended(
        number,
        source_pieces=source,
        translation=translation,
        attention=attention,
        tree=files["tree"],
        gates=files["gates"],
        lexical=any(isinstance(each, NeuralSystem) and "lexical_trees" in each.syntax for each in networks),
    )


def _compared(
    tree: Path | None, number: int, attended: Mapping[str, AttendedSentence], name: str
) -> list[InlineFigure]:
    """Draw both systems below one tree; only those that read the words of this tree."""
    if tree is None or not attended:
        return []
    from pipeline_py.report.compared_attention import draw, of_words
    from pipeline_py.report.inline_svg import rendered
    from pipeline_py.report.source_tree import read_source_tree

    source = read_source_tree(tree, number)
    attentions = [
        found for called, each in attended.items() if len((found := of_words(called, each)).words) == len(source.words)
    ]
    if not attentions:
        return []
    title = (
        f"The source tree, and what {' and '.join(each.system for each in attentions)} attended to: a row for each "
        "word of the translation, the stronger the colour the more; a dot is the end of the sentence"
    )
    return [rendered(draw(source, attentions), title, name)]


def _on_phrases(attended: Mapping[str, AttendedSentence], name: str) -> list[InlineFigure]:
    """Draw what systems that read phrases attended to on these."""
    drawn = []
    for number, (called, each) in enumerate(attended.items(), start=1):
        if each.phrases:
            from pipeline_py.report.attention_figure import draw
            from pipeline_py.report.inline_svg import rendered

            figure = draw("", each, telling_steps(each, PANELS))
            title = f"What {called} attended to among words and phrases, at its most telling words"
            drawn.append(rendered(figure, title, f"{name}-phrases-{number}", own_colours=True))
    return drawn
