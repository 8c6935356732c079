"""Report on a parser: failures, shapes of trees, speed, versions, models and accuracy."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from pipeline_py import stage
from pipeline_py.artifact import Counts
from pipeline_py.input_error import InputError
from pipeline_py.syntax.files_by_split import ALL, files_by_split, need_the_same
from pipeline_py.syntax.measures import Row, read_accuracies, warn_of_whole_tokens, write_measures
from pipeline_py.syntax.tree_statistics import read_statistics
from pipeline_py.syntax.trees.formats import Annotation, fallbacks
from pipeline_py.syntax.trees.tree_facts import TreeFacts
from pipeline_py.syntax.words.parser_words import ACROSS, OTHER_WORDS, PART, SEVERAL, noted_of_words

Measures: TypeAlias = Iterator[tuple[str, str]]


def parser_report(
    *,
    statistics: list[str],
    counts: list[str],
    facts: list[str],
    output: Path,
    accuracy: list[str] | None = None,
) -> None:
    """Report what is known of a parser's trees, one measure in each row.

    The TSV has the columns `split`, `trees` (dependency, constituency), `measure` and `value`. The rows of each split
    come in the given order, followed by rows for the split `all`: versions of libraries, SHA-256 of models, accuracy on
    held-out trees, and a warning if many multi-word tokens of the held-out text are left whole. If splits differ in a
    version or model, each has its own row. Means and shares are over parsed sentences only (for dependency lengths,
    over dependencies); a mean over nothing is empty. Seconds per sentence are over all sentences, without loading
    models.

    Args:
        statistics: SPLIT:ANNOTATION=FILE, JSON of `syntax.tree_statistics`; repeatable, in order.
        counts: SPLIT:ANNOTATION=FILE, the counts of the same trees; repeatable.
        facts: SPLIT:ANNOTATION=FILE, the facts of the same trees; repeatable.
        output: The report as TSV.
        accuracy: ANNOTATION=FILE, TSV of `syntax.accuracy`; repeatable.

    Raises:
        InputError: if the options are not of the same trees, or a file is not what it should be.
    """
    counted, kept, about = (
        files_by_split(pairs, option)
        for pairs, option in ((statistics, "--statistics"), (counts, "--counts"), (facts, "--facts"))
    )
    need_the_same({"--statistics": counted, "--counts": kept, "--facts": about})
    facts_of = {trees: TreeFacts.read(path) for trees, path in about.items()}
    rows: list[Row] = []
    for trees, path in counted.items():
        rows += [(*trees, *row) for row in _of_split(trees[1], path, kept[trees], about[trees], facts_of[trees])]
    for annotation in dict.fromkeys(annotation for _, annotation in counted):
        rows += _software(annotation, {split: facts_of[split, kind] for split, kind in counted if kind is annotation})
    for of_all, path in files_by_split(accuracy or [], "--accuracy", "ANNOTATION").items():
        accuracies = read_accuracies(path)
        rows += [(*of_all, of.metric, of.value) for of in accuracies]
        if (warning := warn_of_whole_tokens(accuracies)) is not None:
            rows.append((*of_all, "warning", warning))
    write_measures(output, rows)


def _of_split(annotation: Annotation, path: Path, counted: Path, facts: Path, about: TreeFacts) -> Measures:
    found = read_statistics(path, annotation)
    counts = Counts.of(counted, "the file has no counts of sentences; make the trees again")
    noted = counts.noted
    for other, sentences in ((counted, counts.read), (facts, about.sentences)):
        if sentences != found["sentences"]:
            raise InputError(
                f"the file is about {sentences} sentences and {path} about {found['sentences']}; make the trees again",
                other,
            )
    trees, words = found["trees"], found["words"]
    yield "sentences", str(found["sentences"])
    yield "empty lines", str(found["empty"])
    yield "failed", str(found["failed"])
    for reason, sentences in fallbacks(noted).items():
        yield f"failed: {reason}", str(sentences)
    yield from _words(noted, trees, words)
    yield "mean words per tree", _mean(words, trees)
    yield "mean depth", _mean(found["depth"], trees)
    if annotation is Annotation.DEPENDENCY:
        yield "mean dependency length", _mean(found["dependency_length"], found["dependencies"])
        yield "non-projective trees (%)", _mean(100 * found["non_projective"], trees)
        yield "trees with several roots (%)", _mean(100 * found["several_roots"], trees)
    else:
        yield "mean phrases per tree", _mean(found["phrases"], trees)
        # Every node but the topmost is a child of one phrase.
        yield "mean children per phrase", _mean(found["phrases"] + words - trees, found["phrases"])
    yield "seconds per sentence", f"{about.seconds / about.sentences:.3g}" if about.sentences else ""
    yield "device", about.device


def _words(noted: Mapping[str, int], trees: int, tokens: int) -> Measures:
    """How many tokens were no words of the parser, where it did not read the tokens."""
    counts = noted_of_words(noted)
    if not counts:
        return
    yield f"{OTHER_WORDS} (%)", _mean(100 * counts.pop(OTHER_WORDS), trees)
    differing = sum(counts[what] for what in (SEVERAL, PART, ACROSS))
    yield "tokens that are no words of the parser (%)", _mean(100 * differing, tokens)
    yield from ((what, str(number)) for what, number in counts.items())


def _software(annotation: Annotation, facts: Mapping[str, TreeFacts]) -> Iterator[Row]:
    """Versions and models behind the trees of some splits."""
    named = {split: {**of.versions, **_models(of)} for split, of in facts.items()}
    for name in dict.fromkeys(name for of in named.values() for name in of):
        if len({of.get(name) for of in named.values()}) == 1:
            yield ALL, annotation, name, next(iter(named.values()))[name]
        else:
            yield from ((split, annotation, name, of[name]) for split, of in named.items() if name in of)


def _models(facts: TreeFacts) -> dict[str, str]:
    return {f"sha256 of {name}": checksum for name, checksum in facts.models.items()}


def _mean(total: int, number: int) -> str:
    return f"{total / number:.2f}" if number else ""


if __name__ == "__main__":
    stage.run(parser_report)
