"""Compare claims of papers, and what tables propose, with the results of this experiment."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pipeline_py import stage
from pipeline_py.config.claims import Claim, Printed, read_claims
from pipeline_py.evaluation.files.named_files import by_set, named_files
from pipeline_py.evaluation.files.tsv import write_rows
from pipeline_py.evaluation.metric import named
from pipeline_py.evaluation.significance import resampling
from pipeline_py.evaluation.significance.runs_and_sentences import (
    Difference,
    Resampled,
    difference,
    mean_over_sets,
    resampled,
)
from pipeline_py.evaluation.system_statistics import read_statistics
from pipeline_py.evaluation.verdict import Verdict
from pipeline_py.input_error import InputError
from pipeline_py.options import Option

AVERAGE = "AVG"
DEV = "dev"
COLUMNS = (
    *("paper", "claim", "metric", "set", "role", "trees", "system", "other", "runs", "score_system", "score_other"),
    *("difference", "low", "high", "visible", "about", "verdict", "of_syntax", "sentence", "says", "printed"),
)
Row = tuple[str | float, ...]
Scores = Mapping[str, Mapping[str, Mapping[str, Resampled]]]
"""By metric, set and system."""


@dataclass(frozen=True)
class Question:
    """A claim about two systems that there are.

    Attributes:
        paper: empty where a table asks.
        claim: what is claimed.
        system, other: whom of; the system of the claim, or the same with other trees.
        controls: the system with trees that mean nothing, by their parser.
    """

    paper: str
    claim: Claim
    system: str
    other: str
    controls: Mapping[str, str]


def claims(
    *,
    claims: list[Path],
    statistics: list[str],
    metric: list[str],
    output: Path,
    asked: list[str] | None = None,
    reads_trees: list[str] | None = None,
    control: list[str] | None = None,
    variant: list[str] | None = None,
    samples: Annotated[int, Option(min=2)] = resampling.SAMPLES,
    seed: Annotated[int, Option(min=0)] = resampling.SEED,
) -> None:
    """Decide for each claim whether it is confirmed, contradicted, or cannot be decided.

    For each claim whose systems both exist here, the TSV has the system's score minus the other's, with its 95 %
    interval over sentences and runs (`significance.runs_and_sentences`): in each of the claim's metrics that is
    computed here, or else in BLEU; on each set with scores of both, and as the mean over the test sets (`AVG`), or over
    the development set if there is no test set. Intervals are not corrected for the number of claims. `visible` is the
    smallest difference that an experiment with this standard error finds with a probability of 80 % at the two-sided
    level of 0.05 (minimum detectable effect, Bloom 1995).

    `verdict` is `confirmed` if the whole interval is on the claimed side of 0, `contradicted` if it is on the other
    side, or else `not distinguishable`. For a system that reads trees and whose gain is confirmed, `of_syntax` is `yes`
    if it is also better than itself with every kind of control trees, each by its interval; `not shown` otherwise;
    `untested` if there are no control trees. Control trees are made without looking at the words. Rows with the role
    `control` have the system with such trees minus the other; rows with `against control` have the system minus itself
    with such trees.

    Args:
        claims: File of claims: the paper, and which system is better than which. Claims about systems that do not exist
            here are left out. Repeatable.
        statistics: NAME:RUN:SET=FILE, the file of `evaluation.statistics` for a system's run on a set; no name may
            contain a colon. Repeatable.
        metric: A module of `evaluation/metrics` that is computed here; repeatable, BLEU first.
        output: The verdicts as TSV.
        asked: SYSTEM=OTHER, a comparison that a table proposes; left out if a paper claims the same. Repeatable.
        reads_trees: A system that reads trees; repeatable.
        control: SYSTEM:PARSER=NAME, where NAME is SYSTEM with control trees from PARSER; repeatable.
        variant: The same for other parsers, whose trees are meaningful: claims about SYSTEM are also compared with
            NAME. Repeatable.
        samples: Number of resampled sets.
        seed: Seed of the resampling.

    Raises:
        InputError: if a file is malformed, or runs of a system are not on all of its sets the same.
    """
    sets = by_set(named_files(statistics, "--statistics"))
    systems = list(dict.fromkeys(name for of_set in sets.values() for name in of_set))
    for name in systems:
        runs = [[*of_set[name]] for of_set in sets.values() if name in of_set]
        if any(one != runs[0] for one in runs):
            raise InputError(f"{name!r} has other runs on one set than on another; give each run on each set")
    trees = {option: _trees(pairs or [], option) for option, pairs in (("control", control), ("variant", variant))}
    reading = {*(reads_trees or [])}
    questions = [*_questions(_given(claims, asked or []), systems, reading, trees["control"], trees["variant"])]
    compared = {name for one in questions for name in (one.system, one.other, *one.controls.values())}
    asked_for = {name for one in questions for name in _metrics(one.claim, metric)}
    scores: dict[str, dict[str, dict[str, Resampled]]] = {name: {} for name in metric if name in asked_for}
    for on, of_set in sets.items():
        files = {name: [*runs.values()] for name, runs in of_set.items() if name in compared}
        for name, of_systems in read_statistics(files, [*scores]).items() if files else ():
            scores[name][on] = resampled(of_systems, on, samples, seed)
    twins: dict[str, str] = {}
    for one in questions:
        if one.system in reading and one.other not in reading:
            twins.setdefault(one.system, one.other)
    rows = [row for one in questions for row in _rows(one, scores, metric, reading, twins)]
    write_rows(output, COLUMNS, rows, quoted=False)


def _trees(pairs: Sequence[str], option: str) -> dict[str, dict[str, str]]:
    """By system and parser the system with that parser's trees."""
    found: dict[str, dict[str, str]] = {}
    for pair in pairs:
        place, _, name = pair.partition("=")
        system, _, parser = place.rpartition(":")
        if not (name and system and parser):
            raise InputError(f"--{option} {pair!r} is not of the form SYSTEM:PARSER=NAME; correct it")
        found.setdefault(system, {})[parser] = name
    return found


def _given(files: Iterable[Path], asked: Iterable[str]) -> list[tuple[str, Claim]]:
    """Claims and their papers, then what tables ask beside."""
    given = [(file.paper, claim) for file in map(read_claims, files) for claim in file.claims]
    claimed = {(claim.system, claim.above) for _, claim in given}
    for pair in dict.fromkeys(asked):
        system, _, other = pair.partition("=")
        if (system, other) not in claimed:
            given.append(("", Claim(system=system, above=other, says="A table proposes it.")))
    return given


def _questions(
    given: Iterable[tuple[str, Claim]],
    systems: Sequence[str],
    reads_trees: Collection[str],
    controls: Mapping[str, Mapping[str, str]],
    variants: Mapping[str, Mapping[str, str]],
) -> Iterator[Question]:
    """Claims about systems that there are, and about these with other trees."""
    seen: dict[tuple[str, str], set[str]] = {}
    for paper, claim in given:
        of_claim = {parser: name for parser, name in controls.get(claim.system, {}).items() if name in systems}
        pairs = [(claim.system, claim.above)]
        for parser, name in variants.get(claim.system, {}).items() if paper else ():
            # What reads trees too is to read the same.
            other = variants.get(claim.above, {}).get(parser, "") if claim.above in reads_trees else claim.above
            pairs.append((name, other))
        for pair in pairs:
            papers = seen.setdefault(pair, set())
            if {*pair} <= {*systems} and paper not in papers and (paper or not papers):
                papers.add(paper)
                yield Question(paper, claim, *pair, of_claim)


def _metrics(claim: Claim, counted: Sequence[str]) -> list[str]:
    """Metrics of the claim that are counted, else the first that is."""
    return [name for name in claim.metrics if name in counted] or [*counted[:1]]


def _rows(
    question: Question, scores: Scores, counted: Sequence[str], reads_trees: set[str], twins: Mapping[str, str]
) -> Iterator[Row]:
    """What is said of a question, by metric and set; a system's twin is the first without trees that it is beside."""
    claim, system, other = question.claim, question.system, question.other
    for metric in _metrics(claim, counted):
        both = [on for on, of in scores[metric].items() if {system, other} <= {*of}]
        averaged = [on for on in both if on != DEV] or both
        tests = [on for on in scores[metric] if on != DEV]
        for on, sets in [(AVERAGE, averaged), *((one, [one]) for one in both)] if both else ():
            there = [of for one, of in scores[metric].items() if one in sets]
            controls = {parser: name for parser, name in question.controls.items() if all(name in of for of in there)}
            means = {name: mean_over_sets([of[name] for of in there]) for name in (system, other, *controls.values())}
            verdict = Verdict(
                system,
                other,
                named(metric).label,
                difference(means[system], means[other]),
                is_twin=system in reads_trees and other not in reads_trees,
                is_answer=twins.get(system) == other,
                controls={parser: difference(means[name], means[other]) for parser, name in controls.items()},
                against_controls={parser: difference(means[system], means[name]) for parser, name in controls.items()},
                instead_of=[] if metric in claim.metrics else [named(name).label for name in claim.metrics],
                on="" if on == AVERAGE and averaged == tests else _joined(sets),
            )
            said = ("syntax" if verdict.is_twin else "other", verdict.word, verdict.of_syntax, verdict.sentence)
            about = (question.paper, f"{claim.system} above {claim.above}", metric, on)
            printed = " | ".join(map(_sentence, claim.printed))
            yield (*about, "claim", "", *_numbers(system, other, means, verdict.found), *said, claim.says, printed)
            for parser, name in controls.items():
                found = (name, other, means, verdict.controls[parser])
                yield (*about, "control", parser, *_numbers(*found), *[""] * 6)
                found = (system, name, means, verdict.against_controls[parser])
                yield (*about, "against control", parser, *_numbers(*found), *[""] * 6)


def _joined(sets: Sequence[str]) -> str:
    """Sets as they stand in a sentence."""
    return " and ".join("the development set" if on == DEV else on for on in sets)


def _numbers(system: str, other: str, means: Mapping[str, Resampled], found: Difference) -> Row:
    """Of two systems what stands in their row."""
    scores = (float(means[name].scores.mean()) for name in (system, other))
    return (system, other, found.runs, *scores, found.value, found.low, found.high, found.visible)


def _sentence(printed: Printed) -> str:
    """What is printed, in words."""
    tested = "" if printed.significance is None else f" ({printed.significance})"
    label = named(printed.metric).label
    return f"{printed.difference:+.2f} {label}{tested} on {printed.task}, {printed.sets}: {printed.where}"


if __name__ == "__main__":
    stage.run(claims)
