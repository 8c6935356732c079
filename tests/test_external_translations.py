"""Whole runs of what needs no training: translations from elsewhere, sets without references, sets that come later."""

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
WORSE = [line.replace("in dem", "im") if place % 3 else line for place, line in enumerate(GERMAN)]
WORST = [line.replace("Haus Nummer", "house") for line in WORSE]


PAIRS = [*zip(ENGLISH, GERMAN, strict=True)]


def described(folder: Path) -> dict[str, Any]:
    """An experiment that nothing is trained for, with its files."""
    for name, lines in (
        *(("one.en", ENGLISH), ("one.de", GERMAN), ("two.en", ENGLISH[::-1]), ("two.de", GERMAN[::-1])),
        *(("news.en", ENGLISH[:4]), ("good.one", WORSE), ("good.two", WORSE[::-1]), ("good.news", GERMAN[:4])),
        *(("bad.1.one", WORST), ("bad.2.one", [*WORST[:7], *WORSE[7:]])),
        ("pairs.tsv", ["source\tcorrect\tcontrastive", *(f"{en}\t{de}\t{de} x" for en, de in PAIRS)]),
        ("told.tsv", ["correct\tcontrastive", *(f"-{place}\t-7" for place in range(SENTENCES))]),
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


def run(place: ProjectCopy, config: dict[str, Any], *arguments: str) -> tuple[int, str]:
    (place.folder / "given.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    done = run_snakemake(["--cores", "2", *arguments, "--configfile", "given.yaml"], place.folder)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> ProjectCopy:
    return ProjectCopy(tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="module")
def made(place) -> Path:
    config = described(place.folder)
    code, said = run(place, config, "--dry-run")
    assert code == 0, said
    rules = {*re.findall(r"^(?:local)?rule (\w+):", said, flags=re.MULTILINE)}
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
    code, said = run(place, config)
    assert code == 0, said[-5000:]
    return place.folder / "results" / "given"


def test_scores_are_those_of_sacrebleu(made):
    bad, good = read_table(made / "t.tsv")
    assert float(good["one"]) == pytest.approx(sacrebleu.corpus_bleu(WORSE, [GERMAN]).score, abs=0.005)
    runs = [sacrebleu.corpus_bleu(one, [GERMAN]).score for one in (WORST, [*WORST[:7], *WORSE[7:]])]
    assert float(bad["one"]) == pytest.approx(sum(runs) / 2, abs=0.005) and float(bad["one_sd"]) > 0
    assert "dev" not in bad and "news" not in bad
    assert (bad["two"], bad["AVG"]) == ("", "") and good["two"] == good["one"] == good["AVG"]


def test_what_is_missing_has_a_reason(made):
    table = (made / "t.md").read_text(encoding="utf-8")
    assert "Bad has no translations of two, and therefore no average over the test sets." in table
    assert "news has no references: it is translated (evaluation/SYSTEM/RUN/news.txt), but not scored." in table
    assert "External translations: Bad; Good (a company, 2 May 2026). The training and search of these systems" in table
    assert (made / "evaluation/Good/single/news.txt").read_text(encoding="utf-8").splitlines() == GERMAN[:4]
    facts = read_table(made / "t.facts.tsv")
    assert [row["system"] for row in facts] == ["Bad", "Good"] and {row["parameters"] for row in facts} == {""}
    assert [row["origin"] for row in facts] == ["", "a company, 2 May 2026"]
    assert (made / "t.facts.md").read_text(encoding="utf-8").count("unknown") > 10


def test_every_comparison_is_made(made):
    (pair,) = read_table(made / "evaluation/t/one.comparisons.tsv")
    assert (pair["system"], pair["other"]) == ("Good", "Bad") and float(pair["p_sign_holm"]) <= 1
    assert read_table(made / "evaluation/t/two.comparisons.tsv") == []
    claim = next(row for row in read_table(made / "evaluation/t/claims.tsv") if row["set"] == "AVG")
    assert float(claim["difference"]) > 0 and " against Bad on one (" in claim["sentence"], (
        "there is no mean over both sets"
    )
    told = read_table(made / "evaluation/t/told.contrast.tsv")
    assert {(row["system"], float(row["accuracy"]) > 40) for row in told} == {("Good", True)}
    page = (made / "report.html").read_text(encoding="utf-8")
    for part in ("Bad is missing: no scores of these translations were given", "Sentences where systems differ most"):
        assert part in page
    assert "All pairs of systems" in page and "No network was trained." in page and "training frequency" not in page


@pytest.mark.parametrize(
    ("kept", "partial"),
    [
        (9, ["--until", "compute_metric_statistics"]),
        (8, ["--omit-from", "compute_metric_statistics"]),
        (7, ["--touch"]),
        (6, ["--rerun-triggers", "mtime"]),
    ],
)
def test_a_partial_run_does_not_repeat_old_answers(place, made, kept, partial):
    """After a change of a setting: the run names the command that brings them up to date."""
    assert run(place, described(place.folder))[0] == 0
    config = described(place.folder)
    config["evaluation"]["lowercase"] = "--rerun-triggers" not in partial  # else scores of both kinds would meet
    write_lines(place.folder / "good.one", [*WORSE[:kept], *GERMAN[kept:]])
    code, said = run(place, config, *partial)
    assert code == 0 and "Good: " not in said, said[-3000:]
    if "--rerun-triggers" in partial:  # times of the user's files do not count, so it has nothing to do
        assert "Nothing to be done" in said
        return
    assert (
        "Some answers are out of date after this run. To update them: snakemake --cores 8 --configfile given.yaml"
        in said
    )


def test_a_run_up_to_the_answers_gives_them(place, made):
    # A run with --touch, which another test makes, would be believed to have counted without case.
    assert run(place, described(place.folder))[0] == 0
    config = described(place.folder)
    config["evaluation"]["lowercase"] = True
    code, said = run(place, config, "results/given/evaluation/t/claims.tsv", "--until", "judge_claims")
    assert code == 0 and "Good: " in said and "evaluation/t/claims.tsv" in said, said[-3000:]
    write_lines(place.folder / "good.one", WORSE)
    assert run(place, described(place.folder))[0] == 0


def test_nothing_is_made_twice_and_a_new_file_is_read(place, made):
    config = described(place.folder)
    assert run(place, config)[0] == 0
    assert "Nothing to be done" in run(place, config, "--dry-run")[1]
    write_lines(place.folder / "good.news", [*GERMAN[:3], "Neu."])
    said = run(place, config, "--dry-run")[1]
    planned = re.findall(r"^(?:local)?rule (\w+):", said, flags=re.MULTILINE)
    assert {*planned} == {"manifest", "import_translations", "write_page", "all"}
    write_lines(place.folder / "good.news", GERMAN[:3])
    code, said = run(place, config)
    assert code != 0 and "good.news: the file has 3 lines and the set `news` has 4 sentences; give a line for" in said
    write_lines(place.folder / "good.news", GERMAN[:4])


def test_a_set_that_comes_later_trains_nothing_again(place):
    """Training text is cleaned again only where it has a sentence of the new set, and the plan says so."""
    config = described(place.folder)
    config["name"] = "later"
    write_lines(place.folder / "train.en", [f"a {line}" for line in ENGLISH])
    write_lines(place.folder / "train.de", GERMAN)
    corpora = config["corpora"]
    corpora["train"] = {"source": "train.en", "target": "train.de"}
    corpora["dev"] = {"name": "dev", "source": "two.en", "references": ["two.de"]}
    corpora["tests"], corpora["contrast"], config["systems"] = corpora["tests"][:1], [], {}
    config["tables"] = {"t": {"title": "T", "systems": ["GlobalAtt", "LocalAtt"], "baseline": "GlobalAtt"}}
    learnt = "results/later/subword/default/vocabulary.source"
    code, said = run(place, config, learnt)
    assert code == 0, said[-3000:]
    write_lines(place.folder / "new.en", ["something new .", *ENGLISH])
    write_lines(place.folder / "new.de", ["Neues.", *GERMAN])
    new = {"name": "new", "source": "new.en", "references": ["new.de"]}
    corpora["tests"].append(new)
    assert "Nothing to be done" in run(place, config, learnt, "--dry-run")[1]
    write_lines(place.folder / "new.en", ["something new .", *ENGLISH[1:], f"a  {ENGLISH[0]}"])
    said = run(place, config, learnt, "--dry-run")[1]
    assert "rule clean:" in said and "rule vocabulary:" in said
    assert said.count("The set `new` is new, and its sentences occur 1 time in the training text") == 1
    new["removed_from_training"] = False
    said = run(place, config, learnt, "--dry-run")[1]
    assert "Nothing to be done" in said and "is new" not in said
    corpora["tests"][-1] = {"name": "new", "source": "new.en"}
    assert "Nothing to be done" in run(place, config, learnt, "--dry-run")[1], "what is not scored leaks nothing"
