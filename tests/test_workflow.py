"""The workflow on a very small corpus: what it makes, and what it makes again after a change."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
SNAKEMAKE = Path(sys.executable).with_name("snakemake")

SMALL = {
    "corpora": {
        "train": {"generate": {"sentences": 120}},
        "dev": {"name": "dev", "generate": {"sentences": 20}},
        "tests": [{"name": "one", "generate": {"sentences": 20}}, {"name": "two", "generate": {"sentences": 20}}],
    },
    "parsers": {
        "embedded": {
            "treebank": {"generate": 60},
            **{name: {"epochs": 1, "hidden": 16} for name in ("tagger", "depparse", "constituency")},
        }
    },
    "systems": {"PBSMT": {"tuning": {"sentences": 5, "evaluations": 2}}},
    "model": {"embedding": 8, "hidden": 8},
    "training": {"epochs": 1},
    "decoding": {"beam": 2},
    "tables": {"table1": {"systems": ["GlobalAtt", "SDAtt"]}},
}


class Workplace:
    """A copy of the project to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("pipeline_py", "workflow", "profiles", "envs"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("Snakefile", "config.yaml"):
            shutil.copy(ROOT / name, folder)

    def snakemake(self, *arguments: str, config: dict | None = None) -> subprocess.CompletedProcess:
        (self.folder / "small.yaml").write_text(yaml.safe_dump(merged(SMALL, config or {})))
        return subprocess.run(
            [SNAKEMAKE, "--configfile", "small.yaml", "--cores", "2", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
        )

    def planned(self, *targets: str, config: dict | None = None) -> dict[str, int]:
        """How many jobs of each rule a run would start."""
        done = self.snakemake("--dry-run", *(targets or ("results/table1.tsv",)), config=config)
        assert done.returncode == 0, done.stderr
        listed = re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, flags=re.MULTILINE)
        return {rule: int(count) for rule, count in listed if rule != "total"}

    def planned_for(self, system: str, rule: str, config: dict | None = None) -> bool:
        """Whether a run would start a rule for a system."""
        done = self.snakemake("--dry-run", "results/table1.tsv", config=config)
        assert done.returncode == 0, done.stderr
        jobs = re.findall(r"^(?:local)?rule (\w+):\n((?: +.*\n)+)", done.stdout + done.stderr, flags=re.MULTILINE)
        return any(name == rule and f"system={system}" in text for name, text in jobs)


def merged(base: dict, over: dict) -> dict:
    both = {key: merged(base[key], over[key]) for key in base.keys() & over.keys() if isinstance(over[key], dict)}
    return {**base, **over, **both}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Workplace:
    return Workplace(tmp_path_factory.mktemp("fresh"))


def test_a_table_of_attention_systems_needs_no_constituency_trees(fresh):
    jobs = fresh.planned()
    assert jobs["train"] == 2 and jobs["translate"] == 6
    assert jobs["train_parser"] == 2, "tagger and dependency parser"
    assert "binarize" not in jobs


def test_a_system_without_syntax_waits_for_no_parser(fresh):
    jobs = fresh.planned("results/nmt/GlobalAtt/seed1/model.safetensors")
    assert not {"parse", "train_parser", "distances"} & set(jobs)


def test_constituency_trees_are_made_on_request(fresh):
    jobs = fresh.planned("results/syntax/embedded/one.binary.ptb")
    assert jobs["binarize"] == 1 and jobs["parse"] == 1 and jobs["train_parser"] == 2


def test_bpe_is_one_switch(fresh):
    jobs = fresh.planned(config={"subword": {"scheme": "bpe", "merges": 100}})
    assert jobs["learn_bpe"] == 2 and jobs["inherit"] == 4


def test_truecasing_is_one_switch(fresh):
    jobs = fresh.planned(config={"corpora": {"target": {"language": "de", "tokenizer": "none", "case": "true"}}})
    assert jobs["learn_truecaser"] == 1


def test_bad_configuration_stops_before_any_job(fresh):
    done = fresh.snakemake("results/table1.tsv", config={"training": {"epochz": 1}})
    assert done.returncode != 0
    assert "unknown key `training.epochz`; did you mean `epochs`?" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (fresh.folder / "results").exists()


@pytest.mark.parametrize("name", ["all", "train"])
def test_a_table_is_not_called_like_a_rule(fresh, name):
    done = fresh.snakemake(
        "--dry-run", config={"tables": {name: {**SMALL["tables"]["table1"], "title": "x", "baseline": "SDAtt"}}}
    )
    assert done.returncode != 0 and f"tables: `{name}` is what a rule is called" in done.stdout + done.stderr


def test_a_missing_file_stops_before_any_job(fresh):
    config = {"corpora": {"dev": {"name": "dev", "source": "gone.en", "references": ["gone.de"]}}}
    done = fresh.snakemake("results/table1.tsv", config=config)
    assert done.returncode != 0 and "gone.en: no such file" in done.stderr


def test_every_table_is_a_target_by_its_name(fresh):
    jobs = fresh.planned("table2", config={"tables": {"table2": {"systems": ["PBSMT", "GlobalAtt", "+SDAtt"]}}})
    assert jobs["train"] == 2 and jobs["train_smt"] == 1 and jobs["table"] == jobs["plot"] == jobs["facts"] == 1


def test_a_phrase_based_system_needs_no_parser_and_no_seeds(fresh):
    jobs = fresh.planned("results/evaluation/PBSMT/single/one.bleu.json", config={"training": {"seeds": [1, 2]}})
    assert jobs["train_smt"] == 1 and not {"parse", "train_parser", "pack", "train"} & jobs.keys()


def test_every_seed_is_a_run(fresh):
    jobs = fresh.planned(config={"training": {"seeds": [1, 2, 3]}})
    assert jobs["train"] == 6 and jobs["translate"] == 18 and jobs["parse"] == 4


def test_units_and_labels_are_made_for_those_that_read_them(fresh):
    units = fresh.planned("results/nmt/SDRNMT-2/seed1/model.safetensors")
    assert units["units"] == units["pack_units"] == 2 and not {"labels", "distances"} & units.keys()
    labels = fresh.planned("results/nmt/Sennrich-deponly/seed1/model.safetensors")
    assert labels["labels"] == labels["pack_labels"] == 2 and not {"units", "distances"} & labels.keys()


@pytest.mark.slow
def test_every_kind_of_system_in_one_table(tmp_path):
    """Phrases, labels, units, two encoders and three contexts, on pieces of words, with two seeds."""
    workplace = Workplace(tmp_path)
    config = {
        "corpora": {"tests": SMALL["corpora"]["tests"][:1]},
        "subword": {"scheme": "bpe", "merges": 150},
        "training": {"seeds": [1, 2]},
        "systems": {"Three": {"contexts": ["global", "flexible", {"type": "syntax"}], "parser": "embedded"}},
        "decoding": {"replace_unknown": True},
        "tables": {
            "everything": {
                "title": "All",
                "systems": ["PBSMT", "Sennrich-deponly", "SDRNMT-2", "Three"],
                "baseline": "Sennrich-deponly",
                "proposed": ["Three"],
                "labels": {"PBSMT": "Phrases"},
            }
        },
    }
    done = workplace.snakemake(
        "results/everything.tsv", "results/everything.facts.tsv", "results/figures/everything.length.svg", config=config
    )
    assert done.returncode == 0, done.stderr[-5000:]
    with (workplace.folder / "results/everything.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [row["system"] for row in rows] == ["Phrases", "Sennrich-deponly", "SDRNMT-2", "Three"]
    assert [bool(row["one_sd"]) for row in rows] == [False, True, True, True]
    with (workplace.folder / "results/everything.facts.tsv").open(encoding="utf-8", newline="") as file:
        facts = list(csv.DictReader(file, delimiter="\t"))
    assert [fact["seed"] for fact in facts] == ["", *["1", "2"] * 3]
    assert int(facts[0]["phrase_pairs"]) > 0 and not facts[0]["torch"]
    for seed in (1, 2):
        assert (workplace.folder / f"results/evaluation/Three/seed{seed}/one.txt").read_text().count("\n") == 20


def test_folders_of_tables_are_targets(fresh):
    tree2seq, hierarchical = fresh.planned("tree2seq"), fresh.planned("hierarchical")
    assert tree2seq["train"] == 18 and tree2seq["pretrain"] == 1 and tree2seq["length_model"] == 1
    assert tree2seq["attention"] == hierarchical["attention"] == 3
    assert hierarchical["train"] == 12 and hierarchical["vocabulary_sizes"] == 1 and "distances" not in hierarchical


def test_what_is_made_without_a_target_can_be_chosen(fresh):
    config = {"targets": ["table1", "hierarchical/table2"]}
    jobs = fresh.planned("all", config=config)
    assert jobs["train"] == 2 and jobs["vocabulary_sizes"] == 1 and "measures" not in jobs


def test_another_search_trains_nothing_anew(fresh):
    jobs = fresh.planned("results/evaluation/Tree2Seq-beam10/seed1/one.bleu.json")
    assert jobs["train"] == jobs["translate"] == 1 and "length_model" not in jobs


def test_a_size_that_is_found_waits_for_no_other_training(fresh):
    jobs = fresh.planned("results/nmt/Seq2Seq-capacity/seed1/facts.json")
    assert jobs["train"] == 1 and "parse" not in jobs


def test_a_size_is_found_with_the_labels_of_the_other_systems_parser(fresh):
    like = {"encoders": ["lstm"], "scores": ["dot"], "decoder": "lstm", "like": "Sennrich-deponly"}
    jobs = fresh.planned("results/nmt/Like/seed1/facts.json", config={"systems": {"Like": like}})
    assert jobs["train"] == jobs["vocabulary_of_labels"] == 1 and "pack_labels" not in jobs


def test_a_table_and_a_figure_are_targets_beside_a_folder_of_their_name(fresh):
    """What is behind an ensemble is its members: their facts, and how good their parser is."""
    table = {"type": "measures", "title": "T", "systems": ["Tree2Seq-beam10"], "columns": ["beam", "bleu"]}
    picture = {"title": "P", "system": "Tree2Seq", "sentences": [4]}
    config = {"tables": {"mine": table, "mine/too": table}, "figures": {"mine": picture}}
    jobs = fresh.planned("mine", config=config)
    assert jobs["train"] == jobs["attention"] == jobs["accuracy"] == 1 and jobs["measures"] == jobs["facts"] == 2


def test_words_with_placeholders_stay_words_where_others_are_split(fresh):
    jobs = fresh.planned(
        "results/nmt/Sequential/seed1/facts.json", config={"subword": {"scheme": "bpe", "merges": 100}}
    )
    assert jobs["generalise"] == 4 and "learn_bpe" not in jobs


def test_the_accuracy_of_a_parser_that_is_given_is_that_on_the_trees_that_are_given(fresh):
    parsers = {"given": {"type": "stanza", "constituency_test": "config.yaml"}, "unmeasured": {"type": "stanza"}}
    jobs = fresh.planned("results/syntax/given/accuracy.tsv", config={"parsers": parsers})
    assert jobs["accuracy"] == 1 and "train_parser" not in jobs
    done = fresh.snakemake("--dry-run", "results/syntax/unmeasured/accuracy.tsv", config={"parsers": parsers})
    assert done.returncode != 0 and "give `test` (CoNLL-U) or `constituency_test` (PTB)" in done.stdout


@pytest.mark.slow
def test_systems_over_phrase_trees_in_one_table(tmp_path):
    """Trees over words and pieces, placeholders, BlackOut, pretraining, an ensemble of different architectures."""
    workplace = Workplace(tmp_path)
    systems = ["Seq2Seq-K50", "Tree2Seq-K50", "Dep2Seq", "Mixed", "Sequential-lexical", "Hierarchical-gated"]
    config = {
        "corpora": {"tests": SMALL["corpora"]["tests"][:1]},
        "subwords": {"pieces": {"merges": 100}},
        "systems": {
            "Mixed": {"type": "ensemble", "members": ["Seq2Seq-K50", "Tree2Seq-K50"], "decoding": {"beam": 3}},
            "Dep2Seq": {"encoders": [{"type": "latent_graph", "pretraining_epochs": 1}]},
        },
        "tables": {
            "trees/all": {
                "type": "measures",
                "title": "All",
                "systems": systems,
                "sets": ["dev", "tests"],
                "columns": ["negative_samples", "subword", "beam", "parameters", "perplexity", "ribes", "bleu"],
                "marks": [{"symbol": "†", "rows": ["Tree2Seq-K50"], "against": ["Seq2Seq-K50", "Mixed"]}],
            },
            "trees/parsed": {
                "type": "measures",
                "title": "Parsed",
                "systems": ["Tree2Seq-K50"],
                "columns": ["bleu", "brevity", "length"],
                "parsed_by": "embedded",
            },
            "trees/attention": {"type": "attention", "title": "Attention", "systems": ["Hierarchical-gated"]},
            "trees/parses": {"type": "parses", "title": "Parses", "parser": "embedded"},
            "trees/vocabulary": {"type": "vocabulary", "title": "Words", "subword": "pieces"},
        },
        "figures": {"trees/picture": {"title": "Picture", "system": "Hierarchical-gated", "sentences": [2]}},
    }
    done = workplace.snakemake("trees", config=config)
    assert done.returncode == 0, done.stderr[-5000:]

    def rows(name: str) -> list[dict[str, str]]:
        with (workplace.folder / "results/trees" / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t"))

    table = rows("all")
    assert [row["system"] for row in table] == systems
    assert [row["negative_samples"] for row in table] == ["50", "50", "200", "50", "", ""]
    assert [row["subword"] for row in table] == ["no"] * 4 + ["yes"] * 2
    assert [row["beam"] for row in table] == ["20", "20", "20", "3", "2", "2"]
    assert [bool(row["perplexity"]) for row in table] == [True] * 3 + [False] + [True] * 2
    assert int(table[1]["parameters"]) > int(table[0]["parameters"]) and not table[3]["parameters"]
    assert all(row["ribes_one"] and row["bleu_dev"] for row in table)
    assert float(rows("parsed")[0]["length"]) > 0
    assert [row["split"] for row in rows("parses")] == ["Train", "Development", "one"]
    assert [row["sentences"] for row in rows("parses")] == ["120", "20", "20"]
    (en, de) = rows("vocabulary")
    assert int(en["original"]) > int(en["generalised"]) and int(de["original"]) > int(de["bpe"])
    assert [row["threshold"] for row in rows("attention")] == ["0.2", "0.4", "0.6", "0.8"]
    assert (workplace.folder / "results/figures/trees/picture.2.svg").read_text(encoding="utf-8").startswith("<?xml")
    ledger = json.loads((workplace.folder / "results/corpus/generalised/3/train.source.json").read_text())
    assert ledger["in"] == ledger["kept"] == 120 and ledger["noted"]["sentence generalised"] > 0


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Workplace:
    workplace = Workplace(tmp_path_factory.mktemp("finished"))
    done = workplace.snakemake("results/table1.tsv", "results/table1.facts.tsv")
    assert done.returncode == 0, done.stderr[-5000:]
    return workplace


@pytest.mark.slow
def test_the_table_is_made(finished):
    with (finished.folder / "results" / "table1.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [row["system"] for row in rows] == ["GlobalAtt", "SDAtt"]
    with (finished.folder / "results" / "table1.facts.tsv").open(encoding="utf-8", newline="") as file:
        facts = list(csv.DictReader(file, delimiter="\t"))
    assert [row["parser"] for row in facts][1].startswith("embedded")
    assert not (finished.folder / "results/syntax/embedded/model/constituency.pt").exists()
    assert not list(finished.folder.glob("<*")), "every path variable is resolved"


@pytest.mark.slow
def test_nothing_is_made_twice(finished):
    assert finished.planned() == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "again", "never"),
    [
        ({"decoding": {"beam": 3}}, {"translate"}, {"train", "parse", "pack"}),
        ({"training": {"seeds": [2]}}, {"train", "translate"}, {"parse", "pack", "clean"}),
        ({"evaluation": {"lowercase": False}}, {"score", "significance", "table"}, {"translate", "train"}),
        ({"subword": {"target_vocabulary": {"max_size": 50}}}, {"vocabulary", "pack", "train"}, {"parse", "distances"}),
        ({"parsers": {"embedded": {"constituency": {"epochs": 2}}}}, set(), {"parse", "train"}),
        ({"parsers": {"embedded": {"branching": "left"}}}, set(), {"parse", "train"}),
        ({"decoding": {"length_floor": 0.01}}, set(), {"translate"}),
        ({"tables": {"table1": {"title": "Another"}}}, {"table"}, {"score", "significance"}),
    ],
)
def test_only_what_depends_on_a_change_is_made_again(finished, change, again, never):
    jobs = finished.planned(config=change)
    assert again <= jobs.keys() and not never & jobs.keys()
    assert again or not jobs


@pytest.mark.slow
def test_a_change_of_the_parser_reaches_only_systems_that_read_trees(finished):
    change = {"parsers": {"embedded": {"max_words": 7}}}
    jobs = finished.planned(config=change)
    assert jobs["parse"] == 4 and jobs["train"] == 1 and jobs["translate"] == 3
    assert "train_parser" not in jobs
    assert finished.planned_for("SDAtt", "train", change) and not finished.planned_for("GlobalAtt", "train", change)


@pytest.mark.slow
def test_one_systems_option_reaches_only_that_system(finished):
    change = {"systems": {"GlobalAtt": {"model": {"hidden": 9}}}}
    assert finished.planned_for("GlobalAtt", "train", change) and not finished.planned_for("SDAtt", "train", change)


@pytest.mark.slow
def test_a_further_seed_trains_only_its_own_runs(finished):
    jobs = finished.planned(config={"training": {"seeds": [1, 2]}})
    assert jobs["train"] == 2 and jobs["translate"] == 6 and "pack" not in jobs


@pytest.mark.slow
def test_a_new_test_set_brings_only_its_own_chain(finished):
    tests = [*SMALL["corpora"]["tests"], {"name": "three", "generate": {"sentences": 20}}]
    jobs = finished.planned(config={"corpora": {"tests": tests}})
    assert jobs["translate"] == 2 and jobs["parse"] == 1 and jobs["generate"] == 1
    assert "train_parser" not in jobs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "again", "never"),
    [
        ("syntax/parse.py", {"parse", "train"}, {"train_parser", "generate"}),
        ("nmt/weighting/syntax.py", {"train"}, {"parse"}),
        ("evaluation/postprocess.py", {"postprocess"}, {"train", "translate"}),
    ],
)
def test_a_change_of_code_reaches_what_it_makes_and_a_comment_nothing(finished, module, again, never):
    file = finished.folder / "pipeline_py" / module
    code = file.read_text(encoding="utf-8")
    try:
        file.write_text(code + "\n# A remark.\n", encoding="utf-8")
        assert finished.planned() == {}
        file.write_text(code + "\nCHANGED = True\n", encoding="utf-8")
        jobs = finished.planned()
        assert again <= jobs.keys() and not never & jobs.keys()
        if module == "nmt/weighting/syntax.py":
            assert jobs["train"] == 1, "only the system that is composed of it"
    finally:
        file.write_text(code, encoding="utf-8")
