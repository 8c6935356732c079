"""Section on contrastive sets: accuracy in total and by kind of error, and pairs of systems."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pipeline_py.report.grouped_scores import GroupedScores, build_group_sections, build_group_table, has_several_groups
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import Cell, Sheet, build_sheet, format_signed
from pipeline_py.report.tables.system_comparison import SIGNIFICANCE_LEVEL, format_p_value_relation

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
    "50. Intervals (Wilson, 95 %, at the mean of the runs) count each pair once, whatever the number of runs; tests "
    "(McNemar) are over source sentences. Both take pairs with the same source as dependent, and neither includes "
    "variation between runs."
)


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Yield accuracies on all sets, accuracies by kind of error, and comparisons of systems."""
    files = dict(chapter.manifest.iterate_set_files("contrast", chapter.table_name))
    if not files:
        return
    accuracies, ties = read_set_accuracies({chapter.get_set_name(split): path for split, path in files.items()})
    missing_systems = [
        row for row in chapter.display_names if not any(system == row for system, _ in accuracies.values)
    ]
    notes = [
        *(
            f"{chapter.display_names[row]} is missing: "
            + (
                "no scores of these translations were given."
                if chapter.experiment.find_external_system(row)
                else "a phrase-based system cannot score a translation that it did not produce."
            )
            for row in missing_systems
        ),
        *describe_ties(ties, chapter.display_names),
    ]
    yield PageSection(
        "Contrastive sets",
        [EXPLANATION],
        tables=[replace(build_group_table(accuracies, chapter.display_names, "all pairs"), notes=notes)],
    )
    yield from build_group_sections(chapter, "contrast", "Contrastive sets by kind of error", read_accuracy_groups)
    comparison_files = chapter.manifest.iterate_set_files("contrast_comparisons", chapter.table_name)
    sheets = [
        build_comparison_table(path, chapter.display_names, chapter.get_set_name(split))
        for split, path in comparison_files
    ]
    yield PageSection("Pairs of systems on contrastive sets", tables=sheets, is_folded=True)


def read_set_accuracies(files: Mapping[str, Path]) -> tuple[GroupedScores, dict[tuple[str, str], float]]:
    """Read the accuracy and the number of ties on all pairs, by system and set."""
    sizes: dict[str, str] = {}
    values: dict[tuple[str, str], tuple[float, ...]] = {}
    for set_name, path in files.items():
        rows = read_tsv(path, ACCURACY_COLUMNS, ["pairs"])
        for row in rows[rows["by"] == "all"].to_dict("records"):
            sizes[set_name] = str(row["pairs"])
            values[row["system"], set_name] = tuple(row[name] for name in ACCURACY_COLUMNS)
    groups = GroupedScores(
        "Contrastive set",
        MEASURE_LABEL,
        sizes,
        "pair",
        {key: numbers[0] for key, numbers in values.items()},
        {key: (numbers[1], numbers[2]) for key, numbers in values.items()},
    )
    return groups, {key: numbers[3] for key, numbers in values.items()}


def describe_ties(ties: Mapping[tuple[str, str], float], display_names: Mapping[str, str]) -> list[str]:
    """Describe the number of ties of each system, a sentence for each set with ties."""
    sentences = []
    for set_name in dict.fromkeys(set_name for _, set_name in ties):
        counts = [
            f"{name} {ties[system, set_name]:g}"
            for system, name in display_names.items()
            if ties.get((system, set_name))
        ]
        if counts:
            sentences.append(
                f"Pairs of {set_name} with two equally likely translations, which count as wrong: {', '.join(counts)}."
            )
    return sentences


def read_accuracy_groups(path: Path) -> list[GroupedScores]:
    """Read accuracies by kind, distance and frequency, if a set has several groups."""
    rows = read_tsv(path, ACCURACY_COLUMNS, ["pairs"])
    all_groups = [
        GroupedScores(
            GROUPING_LABELS[str(grouping)],
            MEASURE_LABEL,
            dict(zip(group_rows["group"], group_rows["pairs"].map(str), strict=True)),
            "pair",
            group_rows.set_index(["system", "group"])["accuracy"].to_dict(),
            group_rows.set_index(["system", "group"])[["low", "high"]].apply(tuple, axis=1).to_dict(),
            named_bound="" if grouping == "kind" else "upper",
            is_drawn=grouping != "kind",
        )
        for grouping, group_rows in rows.groupby("by", sort=False)
        if grouping in GROUPING_LABELS
    ]
    return [groups for groups in all_groups if has_several_groups(groups)]


def build_comparison_table(path: Path, display_names: Mapping[str, str], set_name: str) -> Sheet:
    """Build the table of all pairs of systems on a set."""
    rows = read_tsv(path, COMPARISON_COLUMNS, COUNT_COLUMNS).to_dict("records")
    return build_sheet(
        f"Every pair of systems on {set_name}: accuracies; the number of source sentences of which the system gets "
        "more pairs right (better), the other does (worse), or both get as many (alike); p of McNemar's test before "
        f"and after Holm's correction. p below {SIGNIFICANCE_LEVEL} is bold.",
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
                        format_p_value_relation(row[name]).removeprefix("= "),
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
