"""Complete runs without training: external translations, sets without references, and sets that are added later."""

import re
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import yaml

from tests.project_copy import ProjectCopy, run_snakemake
from tests.text_files import read_table, write_lines

pytestmark = pytest.mark.slow

SENTENCES = 15
ENGLISH = [
    f"the {animal} {verb} in the house number {n} ."
    for n in range(5)
    for animal, verb in (("dog", "sleeps"), ("cat", "eats"), ("bird", "sings"))
]
GERMAN = [
    f"Der {animal} {verb} in dem Haus Nummer {n}."
    for n in range(5)
    for animal, verb in (("Hund", "schläft"), ("Kater", "frisst"), ("Vogel", "singt"))
]
WORSE = [line.replace("in dem", "im") if index % 3 else line for index, line in enumerate(GERMAN)]
WORST = [line.replace("Haus Nummer", "house") for line in WORSE]


PAIRS = [*zip(ENGLISH, GERMAN, strict=True)]


def write_experiment(folder: Path) -> dict[str, Any]:
    """Write the files of an experiment without training, and return its configuration."""
    for name, lines in (
        *(("one.en", ENGLISH), ("one.de", GERMAN), ("two.en", ENGLISH[::-1]), ("two.de", GERMAN[::-1])),
        *(("news.en", ENGLISH[:4]), ("good.one", WORSE), ("good.two", WORSE[::-1]), ("good.news", GERMAN[:4])),
        *(("bad.1.one", WORST), ("bad.2.one", [*WORST[:7], *WORSE[7:]])),
        ("pairs.tsv", ["source\tcorrect\tcontrastive", *(f"{en}\t{de}\t{de} x" for en, de in PAIRS)]),
        ("told.tsv", ["correct\tcontrastive", *(f"-{index}\t-7" for index in range(SENTENCES))]),
    ):
        write_lines(folder / name, lines)
    return {
        "name": "given",
        "targets": ["t"],
        "corpora": {
            "train": None,
            "dev": None,
            "tests": [
                {"name": "one", "source": "one.en", "references": ["one.de"]},
                {"name": "two", "source": "two.en", "references": ["two.de"]},
                {"name": "news", "source": "news.en"},
            ],
            "contrast": [{"name": "told", "file": "pairs.tsv"}],
        },
        "systems": {
            "Good": {
                "type": "translations",
                "origin": "a company, 2 May 2026",
                "files": {"one": "good.one", "two": "good.two", "news": "good.news"},
                "scores": {"told": "told.tsv"},
            },
            "Bad": {"type": "translations", "files": {"one": ["bad.1.one", "bad.2.one"]}},
        },
        "evaluation": {
            "lowercase": False,
            "fewest_sentences": 10,
            "trained": {"score": 0, "chance": 0, "distinct": 0, "repetition": 1, "length": [0.01, 100]},
        },
        "tables": {"t": {"title": "T", "systems": ["Bad", "Good"], "baseline": "Bad"}},
    }


def run_experiment(project: ProjectCopy, config: dict[str, Any], *arguments: str) -> tuple[int, str]:
    (project.folder / "given.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    result = run_snakemake(["--cores", "2", *arguments, "--configfile", "given.yaml"], project.folder)
    return result.returncode, result.stdout + result.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> ProjectCopy:
    return ProjectCopy(tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="module")
def results_folder(project) -> Path:
    config = write_experiment(project.folder)
    code, output = run_experiment(project, config, "--dry-run")
    assert code == 0, output
    rules = {*re.findall(r"^(?:local)?rule (\w+):", output, flags=re.MULTILINE)}
    assert {
        "import_translations",
        "import_scores",
        "compare_systems",
        "judge_claims",
        "render_table",
        "render_facts",
        "write_page",
    } <= rules
    assert not {"train", "train_smt", "train_parser", "parse", "translate", "pack", "vocabulary", "postprocess"} & rules
    code, output = run_experiment(project, config)
    assert code == 0, output[-5000:]
    return project.folder / "results" / "given"


def test_scores_are_those_of_sacrebleu(results_folder):
    bad, good = read_table(results_folder / "t.tsv")
    assert float(good["one"]) == pytest.approx(sacrebleu.corpus_bleu(WORSE, [GERMAN]).score, abs=0.005)
    run_scores = [sacrebleu.corpus_bleu(lines, [GERMAN]).score for lines in (WORST, [*WORST[:7], *WORSE[7:]])]
    assert float(bad["one"]) == pytest.approx(sum(run_scores) / 2, abs=0.005) and float(bad["one_sd"]) > 0
    assert "dev" not in bad and "news" not in bad
    assert (bad["two"], bad["AVG"]) == ("", "") and good["two"] == good["one"] == good["AVG"]


def test_missing_values_have_a_reason(results_folder):
    table = (results_folder / "t.md").read_text(encoding="utf-8")
    assert "Bad has no translations of two, and therefore no average over the test sets." in table
    assert "news has no references: it is translated (evaluation/SYSTEM/RUN/news.txt), but not scored." in table
    assert "External translations: Bad; Good (a company, 2 May 2026). The training and search of these systems" in table
    assert (results_folder / "evaluation/Good/single/news.txt").read_text(encoding="utf-8").splitlines() == GERMAN[:4]
    facts = read_table(results_folder / "t.facts.tsv")
    assert [row["system"] for row in facts] == ["Bad", "Good"] and {row["parameters"] for row in facts} == {""}
    assert [row["origin"] for row in facts] == ["", "a company, 2 May 2026"]
    assert (results_folder / "t.facts.md").read_text(encoding="utf-8").count("unknown") > 10


def test_every_comparison_is_made(results_folder):
    (pair,) = read_table(results_folder / "evaluation/t/one.comparisons.tsv")
    assert (pair["system"], pair["other"]) == ("Good", "Bad") and float(pair["p_sign_holm"]) <= 1
    assert read_table(results_folder / "evaluation/t/two.comparisons.tsv") == []
    claim = next(row for row in read_table(results_folder / "evaluation/t/claims.tsv") if row["set"] == "AVG")
    assert float(claim["difference"]) > 0 and " against Bad on one (" in claim["sentence"], (
        "there is no mean over both sets"
    )
    contrast_rows = read_table(results_folder / "evaluation/t/told.contrast.tsv")
    assert {(row["system"], float(row["accuracy"]) > 40) for row in contrast_rows} == {("Good", True)}
    page = (results_folder / "report.html").read_text(encoding="utf-8")
    for part in ("Bad is missing: no scores of these translations were given", "Sentences where systems differ most"):
        assert part in page
    assert "All pairs of systems" in page and "No network was trained." in page and "training frequency" not in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unchanged_lines", "options"),
    [
        (9, ["--until", "compute_metric_statistics"]),
        (8, ["--omit-from", "compute_metric_statistics"]),
        (7, ["--touch"]),
        (6, ["--rerun-triggers", "mtime"]),
    ],
)
def test_a_partial_run_does_not_repeat_old_answers(project, results_folder, unchanged_lines, options):
    """After a change of a setting, a partial run gives the command that updates the answers."""
    assert run_experiment(project, write_experiment(project.folder))[0] == 0
    config = write_experiment(project.folder)
    config["evaluation"]["lowercase"] = (
        "--rerun-triggers" not in options
    )  # otherwise scores of both kinds would be mixed
    write_lines(project.folder / "good.one", [*WORSE[:unchanged_lines], *GERMAN[unchanged_lines:]])
    code, output = run_experiment(project, config, *options)
    assert code == 0 and "Good: " not in output, output[-3000:]
    if "--rerun-triggers" in options:  # times of the user's files do not count, so it has nothing to do
        assert "Nothing to be done" in output
        return
    assert (
        "Some answers are out of date after this run. To update them: snakemake --cores all --configfile given.yaml"
        in output
    )


@pytest.mark.slow
def test_a_run_until_the_answers_prints_them(project, results_folder):
    # After the run with --touch of another test, Snakemake would assume scores without case.
    assert run_experiment(project, write_experiment(project.folder))[0] == 0
    config = write_experiment(project.folder)
    config["evaluation"]["lowercase"] = True
    code, output = run_experiment(project, config, "results/given/evaluation/t/claims.tsv", "--until", "judge_claims")
    assert code == 0 and "Good: " in output and "evaluation/t/claims.tsv" in output, output[-3000:]
    write_lines(project.folder / "good.one", WORSE)
    assert run_experiment(project, write_experiment(project.folder))[0] == 0


def test_a_run_that_makes_only_claims_prints_the_answers(project):
    config = {**write_experiment(project.folder), "name": "only_claims"}
    code, output = run_experiment(project, config, "results/only_claims/evaluation/t/claims.tsv")
    assert code == 0 and "Good: " in output and "Error" not in output, output[-3000:]


def test_nothing_is_made_twice_and_a_new_file_is_read(project, results_folder):
    config = write_experiment(project.folder)
    assert run_experiment(project, config)[0] == 0
    assert "Nothing to be done" in run_experiment(project, config, "--dry-run")[1]
    write_lines(project.folder / "good.news", [*GERMAN[:3], "Neu."])
    output = run_experiment(project, config, "--dry-run")[1]
    planned_rules = re.findall(r"^(?:local)?rule (\w+):", output, flags=re.MULTILINE)
    assert {*planned_rules} == {"manifest", "import_translations", "write_page", "all"}
    write_lines(project.folder / "good.news", GERMAN[:3])
    code, output = run_experiment(project, config)
    assert code != 0 and "good.news: the file has 3 lines and the set `news` has 4 sentences; give a line for" in output
    write_lines(project.folder / "good.news", GERMAN[:4])


def test_an_export_can_be_imported(project, results_folder):
    config = write_experiment(project.folder)
    code, output = run_experiment(project, config, "export")
    assert code == 0, output[-3000:]
    assert "Nothing to be done" in run_experiment(project, config, "export", "--dry-run")[1]
    text = results_folder / "export" / "text"
    assert {path.name for path in (text / "news").iterdir()} == {"source.txt", "Good.single.txt"}
    config["name"] = "imported"
    for system, files in (
        ("Good", {split: f"{text}/{split}/Good.single.txt" for split in ("one", "two", "news")}),
        ("Bad", {"one": [f"{text}/one/Bad.run{number}.txt" for number in (1, 2)]}),
    ):
        config["systems"][system]["files"] = files
    for test in config["corpora"]["tests"]:
        test["source"] = f"{text}/{test['name']}/source.txt"
        test["references"] = [f"{text}/{test['name']}/ref1.txt"] if test["name"] != "news" else []
    code, output = run_experiment(project, config, "results/imported/t.tsv")
    assert code == 0, output[-3000:]
    assert read_table(project.folder / "results" / "imported" / "t.tsv") == read_table(results_folder / "t.tsv")


@pytest.mark.slow
def test_a_set_that_is_added_later_retrains_nothing(project):
    """Training text is cleaned again only if it has a sentence of the new set, and the plan says so."""
    config = write_experiment(project.folder)
    config["name"] = "later"
    write_lines(project.folder / "train.en", [f"a {line}" for line in ENGLISH])
    write_lines(project.folder / "train.de", GERMAN)
    corpora = config["corpora"]
    corpora["train"] = {"source": "train.en", "target": "train.de"}
    corpora["dev"] = {"name": "dev", "source": "two.en", "references": ["two.de"]}
    corpora["tests"], corpora["contrast"], config["systems"] = corpora["tests"][:1], [], {}
    config["tables"] = {"t": {"title": "T", "systems": ["GlobalAtt", "LocalAtt"], "baseline": "GlobalAtt"}}
    target = "results/later/subword/default/vocabulary.source"
    code, output = run_experiment(project, config, target)
    assert code == 0, output[-3000:]
    write_lines(project.folder / "new.en", ["something new .", *ENGLISH])
    write_lines(project.folder / "new.de", ["Neues.", *GERMAN])
    new_set = {"name": "new", "source": "new.en", "references": ["new.de"]}
    corpora["tests"].append(new_set)
    assert "Nothing to be done" in run_experiment(project, config, target, "--dry-run")[1]
    write_lines(project.folder / "new.en", ["something new .", *ENGLISH[1:], f"a  {ENGLISH[0]}"])
    output = run_experiment(project, config, target, "--dry-run")[1]
    assert "rule clean:" in output and "rule vocabulary:" in output
    assert output.count("The set `new` is new, and its sentences occur 1 time in the training text") == 1
    new_set["removed_from_training"] = False
    output = run_experiment(project, config, target, "--dry-run")[1]
    assert "Nothing to be done" in output and "is new" not in output
    corpora["tests"][-1] = {"name": "new", "source": "new.en"}
    assert "Nothing to be done" in run_experiment(project, config, target, "--dry-run")[1], (
        "a set that is not scored leaks nothing"
    )
