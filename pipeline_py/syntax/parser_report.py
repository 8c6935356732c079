"""Report on a parser: failures, shapes of trees, speed, versions, models and accuracy."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from pipeline_py.files.artifacts import Counts
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.measures import ALL, Row, read_accuracies, warn_of_whole_tokens, write_measures
from pipeline_py.syntax.tree_statistics import read_statistics
from pipeline_py.syntax.trees.formats import Annotation, TreeFacts, fallbacks
from pipeline_py.syntax.words.parser_words import ACROSS, OTHER_WORDS, PART, SEVERAL, noted_of_words

Measures: TypeAlias = Iterator[tuple[str, str]]


def parser_report(
    *,
    statistics: dict[str, dict[Annotation, Path]],
    counts: dict[str, dict[Annotation, Path]],
    facts: dict[str, dict[Annotation, Path]],
    output: Path,
    accuracy: dict[Annotation, Path] | None = None,
) -> None:
    """Report what is known of a parser's trees, one measure in each row.

    The TSV has the columns `split`, `trees` (dependency, constituency), `measure` and `value`. The rows of each split
    come in the given order, followed by rows for the split `all`: versions of libraries, SHA-256 of models, accuracy on
    held-out trees, and a warning if many multi-word tokens of the held-out text are left whole. If splits differ in a
    version or model, each has its own row. Means and shares are over parsed sentences only (for dependency lengths,
    over dependencies); a mean over nothing is empty. Seconds per sentence are over all sentences, without loading
    models.

    Args:
        statistics: JSON of `syntax.tree_statistics` by split and kind of trees.
        counts: The counts of the same trees.
        facts: The facts of the same trees.
        output: The report as TSV.
        accuracy: TSV of `syntax.accuracy` by kind of trees.

    Raises:
        InputError: if files of the same trees differ in their number of sentences.
    """
    trees = [(split, kind) for split, kinds in statistics.items() for kind in kinds]
    facts_of = {(split, kind): TreeFacts.read(facts[split][kind]) for split, kind in trees}
    rows: list[Row] = []
    for split, kind in trees:
        files = statistics[split][kind], counts[split][kind], facts[split][kind]
        rows += [(split, kind, *row) for row in _of_split(kind, *files, facts_of[split, kind])]
    for annotation in dict.fromkeys(kind for _, kind in trees):
        rows += _software(annotation, {split: facts_of[split, kind] for split, kind in trees if kind is annotation})
    for kind, path in (accuracy or {}).items():
        accuracies = read_accuracies(path)
        rows += [(ALL, kind, of.metric, of.value) for of in accuracies]
        if (warning := warn_of_whole_tokens(accuracies)) is not None:
            rows.append((ALL, kind, "warning", warning))
    write_measures(output, rows)


def _of_split(annotation: Annotation, path: Path, counted: Path, facts: Path, about: TreeFacts) -> Measures:
    found = read_statistics(path)
    counts = Counts.of(counted)
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
