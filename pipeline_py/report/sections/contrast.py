"""Contrastive sets: how often systems find the correct translation likelier, and by what the errors are like."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pipeline_py.report.groups import Groups, is_telling, parts, table
from pipeline_py.report.page_parts import Part
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import Cell, Sheet, listed, signed
from pipeline_py.report.tables.system_comparison import LEVEL, format_p_value

PLACE = 35
NUMBERS = ("accuracy", "low", "high", "ties")
COMPARISONS = ("accuracy_system", "accuracy_other", "difference", "p_mcnemar", "p_mcnemar_holm")
COUNTS = ("better", "worse", "ties")
MEASURE = "Accuracy"
KINDS = {
    "kind": "Kind of error",
    "distance": "Distance of the words that have to agree",
    "frequency": "Frequency in the training text",
}
TEXT = (
    "A contrastive pair has a correct translation and one with an error. Accuracy is the percentage of pairs for which "
    "a system gives the correct translation the higher probability (sum of log p over all subwords); guessing gives "
    "50. Intervals (Wilson, 95 %) and tests (McNemar) are over the pairs of these runs, and say nothing about other "
    "runs."
)


def section(chapter: TableChapter) -> Iterator[Part]:
    """All sets beside each other, each by kinds of errors, and systems by pairs."""
    files = dict(chapter.manifest.by_set("contrast", chapter.name))
    if not files:
        return
    whole, ties = of_whole_sets({chapter.on(split): path for split, path in files.items()})
    without = [row for row in chapter.called if not any(system == row for system, _ in whole.values)]
    notes = [
        *(
            f"{chapter.called[row]} is missing: "
            + (
                "no scores of these translations were given."
                if chapter.experiment.from_elsewhere(row)
                else "a phrase-based system cannot score a translation that it did not produce."
            )
            for row in without
        ),
        *sentences_on_ties(ties, chapter.called),
    ]
    yield Part("Contrastive sets", [TEXT], tables=[replace(table(whole, chapter.called, "all pairs"), notes=notes)])
    yield from parts(chapter, "contrast", "Contrastive sets by kind of error", read_groups)
    compared = chapter.manifest.by_set("contrast_comparisons", chapter.name)
    sheets = [comparisons(path, chapter.called, chapter.on(split)) for split, path in compared]
    yield Part("Pairs of systems on contrastive sets", tables=sheets, folded=True)


def of_whole_sets(files: Mapping[str, Path]) -> tuple[Groups, dict[tuple[str, str], float]]:
    """Read accuracies on all pairs of some sets, and how many of these are ties, by system and set."""
    sizes: dict[str, str] = {}
    values: dict[tuple[str, str], tuple[float, ...]] = {}
    for on, path in files.items():
        rows = read_table(path, NUMBERS, ["pairs"])
        for row in rows[rows["by"] == "all"].to_dict("records"):
            sizes[on] = str(row["pairs"])
            values[row["system"], on] = tuple(row[name] for name in NUMBERS)
    groups = Groups(
        "Contrastive set",
        MEASURE,
        sizes,
        "pair",
        {place: numbers[0] for place, numbers in values.items()},
        {place: (numbers[1], numbers[2]) for place, numbers in values.items()},
    )
    return groups, {place: numbers[3] for place, numbers in values.items()}


def sentences_on_ties(ties: Mapping[tuple[str, str], float], called: Mapping[str, str]) -> list[str]:
    """Say on which sets systems find both translations of how many pairs equally likely, if they do of any."""
    said = []
    for on in dict.fromkeys(on for _, on in ties):
        counts = [f"{name} {ties[system, on]:g}" for system, name in called.items() if ties.get((system, on))]
        if counts:
            said.append(
                f"Pairs of {on} with two equally likely translations, which count as wrong: {', '.join(counts)}."
            )
    return said


def read_groups(path: Path) -> list[Groups]:
    """Read accuracies by kind, distance and frequency, as far as there are several groups of a set."""
    rows = read_table(path, NUMBERS, ["pairs"])
    found = [
        Groups(
            KINDS[str(by)],
            MEASURE,
            dict(zip(of_kind["group"], of_kind["pairs"].map(str), strict=True)),
            "pair",
            of_kind.set_index(["system", "group"])["accuracy"].to_dict(),
            of_kind.set_index(["system", "group"])[["low", "high"]].apply(tuple, axis=1).to_dict(),
            bound="" if by == "kind" else "upper",
            is_drawn=by != "kind",
        )
        for by, of_kind in rows.groupby("by", sort=False)
        if by in KINDS
    ]
    return [groups for groups in found if is_telling(groups)]


def comparisons(path: Path, called: Mapping[str, str], on: str) -> Sheet:
    """Every pair of systems on a set."""
    rows = read_table(path, COMPARISONS, COUNTS).to_dict("records")
    return listed(
        f"Every pair of systems on {on}: accuracies; the number of pairs that only the system gets right (better), "
        "only the other (worse), and both or neither (alike); p of McNemar's test before and after Holm's correction. "
        f"p below {LEVEL} is bold.",
        ["System", "Other", MEASURE, f"{MEASURE} of other", "Difference", "Better", "Worse", "Alike", "p", "p, Holm"],
        [
            [
                *(called.get(row[name], row[name]) for name in ("system", "other")),
                *(f"{row[name]:.2f}" for name in COMPARISONS[:2]),
                Cell(signed(row["difference"]), str(row["difference"])),
                *(str(row[name]) for name in COUNTS),
                *(
                    Cell(format_p_value(row[name]).removeprefix("= "), str(row[name]), bold=row[name] < LEVEL)
                    for name in COMPARISONS[3:]
                ),
            ]
            for row in rows
        ],
        texts=["Other"],
    )
