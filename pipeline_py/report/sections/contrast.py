"""Contrastive sets: how often systems find the correct translation likelier, and by what the errors are like."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pipeline_py.report.grouped_scores import GroupedScores, build_group_sections, build_group_table, has_several_groups
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import Cell, Sheet, build_sheet, format_signed
from pipeline_py.report.tables.system_comparison import SIGNIFICANCE_LEVEL, format_p_value

PAGE_ORDER = 35
ACCURACY_COLUMNS = ("accuracy", "low", "high", "ties")
COMPARISON_COLUMNS = ("accuracy_system", "accuracy_other", "difference", "p_mcnemar", "p_mcnemar_holm")
COUNT_COLUMNS = ("better", "worse", "ties")
MEASURE_LABEL = "Accuracy"
GROUPING_LABELS = {
    "kind": "Kind of error",
    "distance": "Distance of the words that have to agree",
    "frequency": "Frequency in the training text",
}
EXPLANATION = (
    "A contrastive pair has a correct translation and one with an error. Accuracy is the percentage of pairs for which "
    "a system gives the correct translation the higher probability (sum of log p over all subwords); guessing gives "
    "50. Intervals (Wilson, 95 %) and tests (McNemar) are over the pairs of these runs, and say nothing about other "
    "runs."
)


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """All sets beside each other, each by kinds of errors, and systems by pairs."""
    files = dict(chapter.manifest.iterate_set_files("contrast", chapter.table_name))
    if not files:
        return
    whole, ties = read_set_accuracies({chapter.get_set_name(split): path for split, path in files.items()})
    without = [row for row in chapter.display_names if not any(system == row for system, _ in whole.values)]
    notes = [
        *(
            f"{chapter.display_names[row]} is missing: "
            + (
                "no scores of these translations were given."
                if chapter.experiment.find_external_system(row)
                else "a phrase-based system cannot score a translation that it did not produce."
            )
            for row in without
        ),
        *describe_ties(ties, chapter.display_names),
    ]
    yield PageSection(
        "Contrastive sets",
        [EXPLANATION],
        tables=[replace(build_group_table(whole, chapter.display_names, "all pairs"), notes=notes)],
    )
    yield from build_group_sections(chapter, "contrast", "Contrastive sets by kind of error", read_accuracy_groups)
    compared = chapter.manifest.iterate_set_files("contrast_comparisons", chapter.table_name)
    sheets = [
        build_comparison_table(path, chapter.display_names, chapter.get_set_name(split)) for split, path in compared
    ]
    yield PageSection("Pairs of systems on contrastive sets", tables=sheets, is_folded=True)


def read_set_accuracies(files: Mapping[str, Path]) -> tuple[GroupedScores, dict[tuple[str, str], float]]:
    """Read accuracies on all pairs of some sets, and how many of these are ties, by system and set."""
    sizes: dict[str, str] = {}
    values: dict[tuple[str, str], tuple[float, ...]] = {}
    for on, path in files.items():
        rows = read_tsv(path, ACCURACY_COLUMNS, ["pairs"])
        for row in rows[rows["by"] == "all"].to_dict("records"):
            sizes[on] = str(row["pairs"])
            values[row["system"], on] = tuple(row[name] for name in ACCURACY_COLUMNS)
    groups = GroupedScores(
        "Contrastive set",
        MEASURE_LABEL,
        sizes,
        "pair",
        {place: numbers[0] for place, numbers in values.items()},
        {place: (numbers[1], numbers[2]) for place, numbers in values.items()},
    )
    return groups, {place: numbers[3] for place, numbers in values.items()}


def describe_ties(ties: Mapping[tuple[str, str], float], display_names: Mapping[str, str]) -> list[str]:
    """Say on which sets systems find both translations of how many pairs equally likely, if they do of any."""
    said = []
    for on in dict.fromkeys(on for _, on in ties):
        counts = [f"{name} {ties[system, on]:g}" for system, name in display_names.items() if ties.get((system, on))]
        if counts:
            said.append(
                f"Pairs of {on} with two equally likely translations, which count as wrong: {', '.join(counts)}."
            )
    return said


def read_accuracy_groups(path: Path) -> list[GroupedScores]:
    """Read accuracies by kind, distance and frequency, as far as there are several groups of a set."""
    rows = read_tsv(path, ACCURACY_COLUMNS, ["pairs"])
    found = [
        GroupedScores(
            GROUPING_LABELS[str(by)],
            MEASURE_LABEL,
            dict(zip(of_kind["group"], of_kind["pairs"].map(str), strict=True)),
            "pair",
            of_kind.set_index(["system", "group"])["accuracy"].to_dict(),
            of_kind.set_index(["system", "group"])[["low", "high"]].apply(tuple, axis=1).to_dict(),
            named_bound="" if by == "kind" else "upper",
            is_drawn=by != "kind",
        )
        for by, of_kind in rows.groupby("by", sort=False)
        if by in GROUPING_LABELS
    ]
    return [groups for groups in found if has_several_groups(groups)]


def build_comparison_table(path: Path, display_names: Mapping[str, str], set_name: str) -> Sheet:
    """Every pair of systems on a set."""
    rows = read_tsv(path, COMPARISON_COLUMNS, COUNT_COLUMNS).to_dict("records")
    return build_sheet(
        f"Every pair of systems on {set_name}: accuracies; the number of pairs that only the system gets right (better), "
        "only the other (worse), and both or neither (alike); p of McNemar's test before and after Holm's correction. "
        f"p below {SIGNIFICANCE_LEVEL} is bold.",
        [
            "System",
            "Other",
            MEASURE_LABEL,
            f"{MEASURE_LABEL} of other",
            "Difference",
            "Better",
            "Worse",
            "Alike",
            "p",
            "p, Holm",
        ],
        [
            [
                *(display_names.get(row[name], row[name]) for name in ("system", "other")),
                *(f"{row[name]:.2f}" for name in COMPARISON_COLUMNS[:2]),
                Cell(format_signed(row["difference"]), str(row["difference"])),
                *(str(row[name]) for name in COUNT_COLUMNS),
                *(
                    Cell(
                        format_p_value(row[name]).removeprefix("= "),
                        str(row[name]),
                        bold=row[name] < SIGNIFICANCE_LEVEL,
                    )
                    for name in COMPARISON_COLUMNS[3:]
                ),
            ]
            for row in rows
        ],
        text_heads=["Other"],
    )
