"""Files of a page of a small experiment, with markup in names."""

import csv
from pathlib import Path
from typing import Any

import yaml

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.evaluation.judge_claims import CLAIM_COLUMNS as CLAIMS
from pipeline_py.evaluation.measure_contrastive_accuracy import CONTRAST_COMPARISON_COLUMNS as COMPARISONS
from pipeline_py.evaluation.select_example_sentences import EXAMPLE_COLUMNS as EXAMPLES
from pipeline_py.files.artifacts import write_json
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.report.tables.sheet import Cell, Column, Sheet
from pipeline_py.report.tables.system_comparison import TEST_NAMES
from tests.report.comparison_files import ComparisonRow, write_comparisons

ROOT = Path(__file__).parents[2]
HOSTILE_MARKUP = '</title><script>bad()</script>&amp; "x" \''
TABLE_TITLES = {"table1": f"Main `window: 6` {HOSTILE_MARKUP}", "paper/table3": "Others"}
SYSTEM_LABELS = {"SDAtt": "Ours <b>"}
BLEU_SCORES = {"GlobalAtt": "30.00", "SDAtt": "9.50", "+SDAtt": "31.25"}


def build_configuration_json() -> str:
    """Return the experiment as JSON, with a table of BLEU and a table of measures."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    config["targets"] = None
    config["tables"] = {
        "table1": {
            "title": TABLE_TITLES["table1"],
            "systems": [*BLEU_SCORES],
            "labels": SYSTEM_LABELS,
            "baseline": "GlobalAtt",
            "proposed": ["SDAtt"],
        },
        "paper/table3": {
            "type": "measures",
            "title": TABLE_TITLES["paper/table3"],
            "systems": [*BLEU_SCORES],
            "columns": ["bleu"],
        },
    }
    config["figures"] = {"attention": {"title": HOSTILE_MARKUP, "system": "SDAtt", "sentences": [1]}}
    return load_experiment(config).model_dump_json(exclude_unset=True)


def write_page_files(folder: Path) -> dict[str, dict[str, Path]]:
    """Write all files that a page can have, by kind and name."""

    def write_rows(name: str, *rows: list[Any]) -> Path:
        path = folder / name
        with path.open("w", encoding="utf-8", newline="\n") as file:
            lines = csv.writer(
                file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None, escapechar="\\"
            )
            lines.writerows(rows)
        return path

    tables = {}
    for name, title in TABLE_TITLES.items():
        layout = Sheet(
            title,
            [Column(name, name) for name in ("System", "Dev", "mixed", "AVG")],
            [
                [Cell(SYSTEM_LABELS.get(row, row)), Cell(bleu), Cell(bleu, marks="**"), Cell(bleu)]
                for row, bleu in BLEU_SCORES.items()
            ],
            [f"BLEU: nrefs:1|case:lc. {HOSTILE_MARKUP}"],
        )
        path = folder / f"{name.replace('/', '-')}.json"
        write_json(path, layout.to_json())
        tables[name] = path
    facts = write_rows(
        "facts.tsv",
        ["system", "parameters", "words_per_second", "seconds", "device", "torch"],
        *([row, 1_000_000 + place, 4000.5, 60, "cpu", "2.13.0"] for place, row in enumerate(BLEU_SCORES)),
    )
    comparisons = write_comparisons(
        folder / "comparisons.tsv",
        [
            ComparisonRow("SDAtt", "GlobalAtt", (9.5, 30), (10, 90, 0), dict.fromkeys(TEST_NAMES, 0.001)),
            ComparisonRow("+SDAtt", "GlobalAtt", (31.25, 30), (45, 55, 0), {"sign": (0.02, 0.04)}),
        ],
    )
    intervals = write_rows(
        "intervals.tsv",
        ["metric", "system", "score", "low", "high"],
        *(["bleu", row, 20, 18, 22] for row in BLEU_SCORES),
    )
    breakdown = write_rows(
        "breakdown.tsv",
        ["by", "bucket", "low", "high", "sentences", "system", "bleu", "sd", "bleu_low", "bleu_high"],
        *(
            ["length", bucket, "", bucket, size, row, 20 + place, "", 18, 24]
            for bucket, size in ((10, 1200), (20, 1197), (30, 3))
            for place, row in enumerate(BLEU_SCORES)
        ),
        *(["parse", "parsed", "", "", 2400, row, 20, "", 19, 21] for row in BLEU_SCORES),
    )
    words = write_rows(
        "words.tsv",
        ["frequency", "system", "precision", "recall", "f1", "f1_low", "f1_high", "words"],
        *(
            [group, row, 50, 50, 50 + place, 45, 55, 1234]
            for group in ("0", "1+")
            for place, row in enumerate(BLEU_SCORES)
        ),
    )
    sentence_scores = write_rows(
        "sentence_scores.tsv",
        ["by", "bucket", "low", "high", "system", "other", "sentences", "percent"],
        *(["score", low, low, low + 10, row, "", 240, 10] for row in BLEU_SCORES for low in range(0, 100, 10)),
        *(
            ["difference", sign, "", "", row, "GlobalAtt", 800, percent]
            for row in [*BLEU_SCORES][1:]
            for sign, percent in (("lower", 12.345), ("equal", 40), ("higher", 47.655))
        ),
    )
    ngrams = write_rows(
        "ngrams.tsv",
        ["system", "other", "ngram", "matches_system", "matches_other", "references", "share"],
        ["+SDAtt", "GlobalAtt", "of another pair", 5, 0, 5, 6 / 7],
        ["SDAtt", "GlobalAtt", HOSTILE_MARKUP, 41, 1, 57, 42 / 44],
        ["SDAtt", "GlobalAtt", "<i>ein</i> Satz", 7, 5, 9, 8 / 14],
        ["GlobalAtt", "SDAtt", "Wort " * 3 + "donaudampfschifffahrtsgesellschaftskapitän", 2, 0, 2, 0.75],
    )
    examples = write_rows(
        "examples.tsv",
        [*EXAMPLES],
        ["SDAtt", "GlobalAtt", 1, f"a {HOSTILE_MARKUP}", "der Satz", "<i>ein</i> Satz", "kein Satz", 70.0, 20.5],
    )
    contrast = write_rows(
        "contrast.tsv",
        ["by", "group", "pairs", "system", "accuracy", "sd", "low", "high", "ties"],
        *(
            [by, group, size, row, 60 + place, "", 55, 75, place]
            for by, group, size in (
                *(("all", "all", 1260), ("kind", "<b>gender</b>", 1000), ("kind", "number", 260)),
                *(("distance", "1", 900), ("distance", "2", 355), ("distance", ">15", 5)),
            )
            for place, row in enumerate([*BLEU_SCORES][:2])
        ),
    )
    contrast_comparisons = write_rows(
        "contrast_comparisons.tsv",
        [*COMPARISONS],
        ["SDAtt", "GlobalAtt", 61, 60, 1, 130, 117, 1013, 0.04, 0.12],
    )
    curve = write_rows(
        "curve.tsv", ["update", "seconds", "dev_loss", "dev_bleu"], [10, 1.5, 4.0, ""], [20, 3.0, 3.0, 12.5]
    )
    accuracy = write_rows("accuracy.tsv", ["metric", "value", "sentences", "words"], ["UAS", "95.02", 90, 1206])
    measures = write_rows(
        "measures.tsv",
        ["split", "trees", "measure", "value"],
        ["train", "dependency", "sentences", 4000],
        ["all", "dependency", "stanza", "1.15.0"],
    )
    claims = folder / "claims.tsv"
    write_tsv(
        claims,
        CLAIMS,
        [
            build_claim_row(
                "SDAtt",
                "GlobalAtt",
                -20.5,
                "SDAtt: no, worse",
                verdict="contradicted",
                paper=f"Chen <b> {HOSTILE_MARKUP}",
                about="syntax",
            ),
            build_claim_row("SDAtt [random]", "GlobalAtt", -21.25, role="control", trees="random"),
            build_claim_row("SDAtt", "SDAtt [random]", 0.75, role="against control", trees="random"),
            build_claim_row(
                "+SDAtt", "GlobalAtt", 1.25, "+SDAtt: better", verdict="confirmed", syntax="open", about="syntax"
            ),
            build_claim_row(
                "+SDAtt", "SDAtt", 21.75, "+SDAtt above SDAtt: confirmed", verdict="confirmed", about="other"
            ),
        ],
    )
    counts = folder / "counts.json"
    counts.write_text('{"in": 5000, "kept": 4000, "dropped": {"too_long": 1000}, "noted": {}}')
    figure = folder / "figures" / "attention.1.svg"
    figure.parent.mkdir(exist_ok=True)
    figure.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="300pt" viewBox="0 0 300 100"></svg>')
    published = ROOT / "workflow" / "published" / "tree2seq.tsv"
    return {
        "table": tables,
        "facts": dict.fromkeys(TABLE_TITLES, facts),
        "published": {"paper/table3": published},
        "comparisons": {f"table1:{split}": comparisons for split in ("mixed", "dev")},
        "intervals": {"table1:mixed": intervals},
        "breakdown": {"table1:mixed": breakdown},
        "sentence_scores": {"table1:mixed": sentence_scores},
        "words": {"table1:mixed": words},
        "ngrams": {f"table1:{split}": ngrams for split in ("mixed", "dev")},
        "examples": {"table1:mixed": examples},
        "contrast": {f"table1:{split}": contrast for split in ("agreement", "order")},
        "contrast_comparisons": {"table1:agreement": contrast_comparisons},
        "claims": {"all": claims},
        "curve": {"SDAtt:seed1": curve, "GlobalAtt:seed1": curve},
        "accuracy": {"embedded": accuracy},
        "parser": {"embedded": measures},
        "agreement": {"embedded:random": measures},
        "counts": {"train": counts},
        "figure": {"attention:1": figure},
    }


def build_claim_row(
    system: str, other_system: str, difference: float, claim_sentence: str = "", **overrides: str
) -> list[Any]:
    """Build a row of a file of claims for the mean over the test sets."""
    row = dict.fromkeys(CLAIMS, "") | {
        "claim": f"{system} above {other_system}",
        "metric": "bleu",
        "set": "AVG",
        "role": "claim",
        "system": system,
        "other": other_system,
        "relation": "better",
        "runs_system": 1,
        "runs_other": 1,
        "score_system": 30 + difference,
        "score_other": 30,
        "difference": difference,
        "low": difference - 1,
        "high": difference + 1,
        "p_value": 0.5,
        "detectable": 1.5,
        "run_deviation": 0.6,
        "run_deviation_from": "default",
        "about": "other",
        "verdict": "not distinguishable",
        "sentence": claim_sentence,
        "says": "It is better.",
        "printed": "+1.32 BLEU",
    }
    return [*(row | overrides).values()]


def write_manifest(folder: Path, page_files: dict[str, dict[str, Path]] | None = None, **overrides: Any) -> Path:
    """Write the manifest of a page with these files, or all files."""
    content = {
        "experiment": build_configuration_json(),
        "files": {
            kind: {name: str(path) for name, path in of.items()}
            for kind, of in (write_page_files(folder) if page_files is None else page_files).items()
        },
        "published": {"paper/table3": ["3"]},
        "code": {"nmt.train": "0123456789abcdef"},
        "versions": {"torch": "2.13.0"},
        "command": "snakemake --cores all results/report.html",
        **overrides,
    }
    write_json(folder / "manifest.json", content)
    return folder / "manifest.json"
