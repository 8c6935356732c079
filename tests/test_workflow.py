"""The workflow on a very small corpus, and what it makes for which target."""

import inspect
import json
import re
import shlex
from collections.abc import Iterator

import pytest

from pipeline_py.run.cpu_usage import count_processors
from pipeline_py.run.job import is_output_parameter
from pipeline_py.run.job_runner import StageFunction
from tests.project_copy import SMALL_CONFIG, ProjectCopy
from tests.text_files import read_table

RULE = re.MULTILINE | re.DOTALL


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> ProjectCopy:
    return ProjectCopy(tmp_path_factory.mktemp("fresh"))


def test_a_table_of_attention_systems_needs_no_constituency_trees(fresh):
    jobs = fresh.count_planned_jobs()
    assert jobs["train"] == jobs["translate"] == 2
    assert jobs["train_parser"] == 2, "tagger and dependency parser"
    assert "binarize" not in jobs


def test_a_system_without_syntax_waits_for_no_parser(fresh):
    jobs = fresh.count_planned_jobs("results/nmt/GlobalAtt/seed1/model.safetensors")
    assert not {"parse", "train_parser", "compute_distances"} & set(jobs)


def test_constituency_trees_are_made_on_request(fresh):
    jobs = fresh.count_planned_jobs("results/syntax/embedded/one.binary.ptb")
    assert jobs["binarize"] == 1 and jobs["parse"] == 1 and jobs["train_parser"] == 2


def test_bpe_is_one_switch(fresh):
    jobs = fresh.count_planned_jobs(config={"subword": {"scheme": "bpe", "merges": 100}})
    assert jobs["learn_bpe"] == 2 and jobs["inherit"] == 4


def test_truecasing_is_one_switch(fresh):
    jobs = fresh.count_planned_jobs(
        config={"corpora": {"target": {"language": "de", "tokenizer": "none", "case": "true"}}}
    )
    assert jobs["learn_truecaser"] == 1


def test_normalizing_punctuation_is_one_switch(fresh):
    raw = {"language": "en", "tokenizer": "moses", "punctuation": "normalize"}
    jobs = fresh.count_planned_jobs("results/corpus/tokenized/one.source", config={"corpora": {"source": raw}})
    assert jobs["normalize_punctuation"] == jobs["tokenize"] == 1
    done = fresh.run_snakemake("-n", config={"corpora": {"source": {**raw, "tokenizer": "none"}}})
    assert "corpora.source: punctuation is normalized before text is tokenized" in done.stdout + done.stderr


def test_bad_configuration_stops_before_any_job(fresh):
    done = fresh.run_snakemake("results/table1.tsv", config={"training": {"epochz": 1}})
    assert done.returncode != 0
    assert "\nconfiguration: unknown key `training.epochz`; did you mean `epochs`?" in done.stderr
    assert "Traceback" not in done.stderr and 'File "' not in done.stderr
    assert not (fresh.folder / "results").exists()


def test_a_target_that_nothing_makes_is_told_with_what_is_near(fresh):
    done = fresh.run_snakemake("--dry-run", "tabel2")
    said = done.stdout + done.stderr
    assert (
        done.returncode == 1 and "there is no target `tabel2`; did you mean `table2`? tables: table1, table2," in said
    )


def test_a_test_set_that_is_not_there_is_told(fresh):
    done = fresh.run_snakemake("--dry-run", "results/evaluation/GlobalAtt/seed1/test.bleu.json")
    assert done.returncode == 1 and "no rule makes this file" in done.stdout + done.stderr


@pytest.mark.parametrize("options", [(), ("--workflow-profile", "none")])
def test_a_broken_file_of_the_configuration_is_told_with_its_line(fresh, options):
    (fresh.folder / "broken.yaml").write_text("training:\n  epochs: 1\n  epochs: 2\n")
    done = fresh.run_snakemake("table1", "--configfile", "broken.yaml", *options)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "broken.yaml, line 3: `epochs` is in line 2 already" in said
    assert "Traceback" not in said


def test_a_file_of_the_configuration_that_is_not_there_is_told(fresh):
    done = fresh.run_snakemake("table1", "--configfile", "smal.yaml")
    assert done.returncode == 1 and "error: smal.yaml: no such file; did you mean small.yaml?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["all", "train"])
def test_a_table_is_not_called_like_a_rule(fresh, name):
    done = fresh.run_snakemake(
        "--dry-run", config={"tables": {name: {**SMALL_CONFIG["tables"]["table1"], "title": "x", "baseline": "SDAtt"}}}
    )
    assert done.returncode != 0 and f"tables: `{name}` is the name of a rule" in done.stdout + done.stderr


def test_a_missing_file_stops_before_any_job(fresh):
    config = {"corpora": {"dev": {"name": "dev", "source": "gone.en", "references": ["gone.de"]}}}
    done = fresh.run_snakemake("results/table1.tsv", config=config)
    assert done.returncode != 0 and "gone.en: no such file" in done.stderr


def test_every_table_is_a_target_by_its_name(fresh):
    jobs = fresh.count_planned_jobs(
        "table2", config={"tables": {"table2": {"systems": ["PBSMT", "GlobalAtt", "+SDAtt"]}}}
    )
    assert (
        jobs["train"] == 2
        and jobs["train_smt"] == 1
        and jobs["render_table"] == jobs["draw_bleu_by_length"] == jobs["render_facts"] == 1
    )


def test_a_phrase_based_system_needs_no_parser_and_no_seeds(fresh):
    jobs = fresh.count_planned_jobs(
        "results/evaluation/PBSMT/single/one.bleu.json", config={"training": {"seeds": [1, 2]}}
    )
    assert jobs["train_smt"] == 1 and not {"parse", "train_parser", "pack", "train"} & jobs.keys()


def test_every_seed_is_a_run(fresh):
    jobs = fresh.count_planned_jobs(config={"training": {"seeds": [1, 2, 3]}})
    assert jobs["train"] == jobs["translate"] == 6 and jobs["parse"] == 4


def test_units_and_labels_are_made_for_those_that_read_them(fresh):
    units = fresh.count_planned_jobs("results/nmt/SDRNMT-2/seed1/model.safetensors")
    assert (
        units["extract_units"] == units["pack_units"] == 2
        and not {"extract_labels", "compute_distances"} & units.keys()
    )
    labels = fresh.count_planned_jobs("results/nmt/Sennrich-deponly/seed1/model.safetensors")
    assert (
        labels["extract_labels"] == labels["pack_labels"] == 2
        and not {"extract_units", "compute_distances"} & labels.keys()
    )


def test_a_second_task_takes_trees_of_the_training_text_alone(fresh):
    """Of any parser; all that is translated is tagged."""
    target = "results/nmt/{}/seed1/one.pieces"
    systems = {"Task": {"auxiliary_task": "parsing", "parser": "random"}}
    jobs = fresh.count_planned_jobs(target.format("Task"), config={"systems": systems})
    assert jobs["parsing_task"] == 1
    assert jobs["parsing_task_held_out"] == 4, "source and target of dev, source of both tests"
    assert jobs["build_control_trees"] == 1 and jobs["vocabulary"] == 2 and jobs["pack"] == 6
    assert "parsing_task" not in fresh.count_planned_jobs(target.format("GlobalAtt"))


def test_a_dry_run_says_how_long_it_will_take(fresh):
    said = fresh.run_snakemake("--dry-run", "results/table1.tsv").stdout
    assert said.count("Jobs to run, with estimated times:") == 1
    assert re.search(r"^In total about \d+ s on \d cores? \(from the embedded experiment", said, re.MULTILINE)
    assert not re.search("SNAKEMAKE|Job stats|Reasons:|This was a dry-run", said) and "\nrule train:\n" in said
    asked = count_processors() + 7
    said = fresh.run_snakemake("--dry-run", "--cores", str(asked), "results/table1.tsv").stdout
    assert f"{asked} cores requested, {asked - 7} available; at most {asked - 7} job" in said
    assert re.search(r"^  [a-z]+/\w+ +\d+ × [\d.]+ s +=", said, re.MULTILINE)
    everything = fresh.run_snakemake("--dry-run", "--quiet", "rules", "progress").stdout
    assert everything.count("Jobs to run, with estimated times:") == 1


def test_an_experiment_is_told_what_does_not_fit_it(fresh):
    """A parser of generated trees parses no text in files, by whatever path its trees are asked for."""
    (fresh.folder / "real").write_text("A sentence .\n")
    text = {"name": "real", "source": "real", "references": ["real"]}
    config = {
        "corpora": {"tests": [text, *SMALL_CONFIG["corpora"]["tests"]]},
        "model": {"embedding": 9, "hidden": 9},
        "tables": {"mine": {"title": "T", "systems": ["GlobalAtt", "LocalAtt"], "baseline": "GlobalAtt"}},
    }
    sentence = "parser: `embedded` is trained on generated trees, but the text of `real` is in files; name a parser"
    done = fresh.run_snakemake("--dry-run", "mine", config=config)
    assert done.returncode == 1 and sentence in done.stdout + done.stderr
    config["targets"] = ["mine"]
    done = fresh.run_snakemake("--dry-run", "mine", config=config)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and sentence not in said
    assert re.search(r"^Left out from config.yaml, .*`hierarchical/table3`.* 9 is odd", said, re.MULTILINE)
    done = fresh.run_snakemake("--dry-run", "results/syntax/embedded/real.conllu", config=config)
    assert done.returncode == 1 and sentence in done.stdout + done.stderr
    assert fresh.run_snakemake("--dry-run", "results/syntax/embedded/one.conllu", config=config).returncode == 0


def test_a_plan_warns_of_tables_that_compare_more_than_systems(fresh):
    table = {"type": "measures", "title": "T", "systems": ["GlobalAtt", "Wide"], "columns": ["bleu"]}
    config = {
        "systems": {"Wide": {"type": "ensemble", "members": ["GlobalAtt"], "decoding": {"beam": 3}}},
        "tables": {"mine": table, "asked": {**table, "about": ["search"]}, "unmade": table},
    }
    said = fresh.run_snakemake("--dry-run", "mine", "asked", config=config)
    warnings = [line for line in (said.stdout + said.stderr).splitlines() if line.startswith("Table `")]
    assert len(warnings) == 1
    assert warnings[0].startswith("Table `mine`: its systems also differ in search: beam 2 (GlobalAtt); beam 3 (Wide);")


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> ProjectCopy:
    """Where tables are really made; they share text, parser and parses."""
    return ProjectCopy(tmp_path_factory.mktemp("made"))


def test_a_run_that_stops_before_the_answers_ends_well(tmp_path):
    done = ProjectCopy(tmp_path).run_snakemake("results/table1.tsv", "--until", "clean")
    assert done.returncode == 0, done.stderr[-5000:]
    assert "Error" not in done.stderr and "More in" not in done.stderr
    assert (tmp_path / "results/corpus").exists()


@pytest.mark.slow
def test_every_kind_of_system_in_one_table(workplace):
    """Phrases, labels, units, two encoders, a graph, three contexts, two tasks, on pieces of words, with two seeds."""
    config = {
        "corpora": {"tests": SMALL_CONFIG["corpora"]["tests"][:1]},
        "subword": {"scheme": "bpe", "merges": 150},
        "training": {"seeds": [1, 2]},
        "systems": {
            "Three": {
                "encoders": [{"graph": "gcn"}],
                "contexts": ["global", "flexible", {"type": "syntax"}],
                "parser": "embedded",
            },
            "Tasks": {"auxiliary_task": "parsing", "parser": "random"},
        },
        "decoding": {"replace_unknown": True},
        "tables": {
            "everything": {
                "title": "All",
                "systems": ["PBSMT", "Sennrich-deponly", "SDRNMT-2", "Three", "Tasks"],
                "baseline": "Sennrich-deponly",
                "proposed": ["Three"],
                "labels": {"PBSMT": "Phrases"},
            }
        },
    }
    done = workplace.run_snakemake(
        "results/everything.tsv", "results/everything.facts.tsv", "results/figures/everything.length.svg", config=config
    )
    assert done.returncode == 0, done.stderr[-5000:]
    # Other tables have more runs and control trees, so this one gives no verdict; and no network has learned anything.
    reason = "since Three and Sennrich-deponly have not learned to translate."
    untested = f"Three: not tested against Sennrich-deponly, {reason}"
    markdown = (workplace.folder / "results/everything.md").read_text(encoding="utf-8")
    end = done.stderr[done.stderr.index("SDRNMT-2 has not learned to translate, so no verdict includes it: ") :]
    assert f"- {untested}\n" in markdown and f"  {untested}\n" in end
    assert "More in: results/evaluation/everything/claims.tsv, results/everything.md\n" in end
    for text in (end, markdown):
        assert "Comparisons in this table (the verdict on syntax is in the report" in text
        assert "No verdict uses the set one: it has 20 different sentences, fewer than 100." in text
        assert "Does syntax help?" not in text and "Other claims" not in text
    rows = read_table(workplace.folder / "results/everything.tsv")
    assert [row["system"] for row in rows] == ["Phrases", "Sennrich-deponly", "SDRNMT-2", "Three", "Tasks"]
    assert [bool(row["one_sd"]) for row in rows] == [False, True, True, True, True]
    facts = read_table(workplace.folder / "results/everything.facts.tsv")
    assert [fact["seed"] for fact in facts] == ["", *["1", "2"] * 4]
    assert int(facts[0]["phrase_pairs"]) > 0 and not facts[0]["torch"]
    for seed in (1, 2):
        assert (workplace.folder / f"results/evaluation/Three/seed{seed}/one.txt").read_text().count("\n") == 20
    again = workplace.run_snakemake("--dry-run", "--forceall", "results/everything.tsv", config=config)
    assert "jobs from earlier runs" in again.stdout


def test_folders_of_tables_are_targets(fresh):
    tree2seq, hierarchical = fresh.count_planned_jobs("tree2seq"), fresh.count_planned_jobs("hierarchical")
    assert tree2seq["train"] == 19 and tree2seq["pretrain"] == 1 and tree2seq["length_model"] == 1
    assert tree2seq["draw_attention"] == hierarchical["draw_attention"] == 3
    assert hierarchical["train"] == 12 and hierarchical["render_table"] == 3 and "compute_distances" not in hierarchical


def test_what_is_made_without_a_target_can_be_chosen(fresh):
    config = {"targets": ["table1", "hierarchical/table2"]}
    jobs = fresh.count_planned_jobs("all", config=config)
    assert jobs["train"] == 2 and jobs["render_table"] == 2


def test_another_search_trains_nothing_anew(fresh):
    jobs = fresh.count_planned_jobs("results/evaluation/Tree2Seq-beam10/seed1/one.bleu.json")
    assert jobs["train"] == jobs["translate"] == 1 and "length_model" not in jobs


def test_a_size_that_is_found_waits_for_no_other_training(fresh):
    jobs = fresh.count_planned_jobs("results/nmt/Seq2Seq-capacity/seed1/facts.json")
    assert jobs["train"] == 1 and "parse" not in jobs


def test_a_table_and_a_figure_are_targets_beside_a_folder_of_their_name(fresh):
    """What is behind an ensemble is its members: their facts, and how good their parser is."""
    table = {"type": "measures", "title": "T", "systems": ["Tree2Seq-beam10"], "columns": ["beam", "bleu"]}
    picture = {"title": "P", "system": "Tree2Seq", "sentences": [4]}
    config = {"tables": {"mine": table, "mine/too": table}, "figures": {"mine": picture}}
    jobs = fresh.count_planned_jobs("mine", config=config)
    assert (
        jobs["train"] == jobs["draw_attention"] == jobs["measure_accuracy"] == 1
        and jobs["render_table"] == jobs["render_facts"] == 2
    )


def test_words_with_placeholders_stay_words_where_others_are_split(fresh):
    jobs = fresh.count_planned_jobs(
        "results/nmt/Sequential/seed1/facts.json", config={"subword": {"scheme": "bpe", "merges": 100}}
    )
    assert jobs["generalise"] == 4 and "learn_bpe" not in jobs


def test_the_accuracy_of_a_parser_that_is_given_is_that_on_the_trees_that_are_given(fresh):
    parsers = {"given": {"type": "stanza", "constituency_test": "config.yaml"}, "unmeasured": {"type": "stanza"}}
    jobs = fresh.count_planned_jobs("results/syntax/given/accuracy.tsv", config={"parsers": parsers})
    assert jobs["measure_accuracy"] == 1 and "train_parser" not in jobs
    done = fresh.run_snakemake("--dry-run", "results/syntax/unmeasured/accuracy.tsv", config={"parsers": parsers})
    assert done.returncode != 0 and "give `test` (CoNLL-U) or `constituency_test` (PTB)" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr and "Wildcards" not in done.stdout + done.stderr


def test_names_are_free(fresh):
    """Neither a pattern that stands for nothing nor a folder of results is taken for the name of anything."""
    names = ["none", "shards", "kept", "accuracy", "packed", "train", "SDAtt", "a-b_1"]
    sets = [name for name in names if name != "train"]
    table = {"type": "measures", "title": "T", "systems": ["none"], "sets": ["tests"], "columns": ["bleu"]}
    config = {
        "corpora": {"tests": [{"name": name, "generate": {"sentences": 20}} for name in sets]},
        "parsers": {name: {"type": "control", "shape": "balanced"} for name in names},
        "systems": {"none": {"contexts": ["syntax"], "parser": "none"}},
        "tables": {"names": {**table, "parsers": ["embedded", *names]}},
    }
    jobs = fresh.count_planned_jobs("names", "results/syntax/a-b_1/shards.binary.ptb", config=config)
    assert jobs["train"] == jobs["translate"] == len(names) + 1 and jobs["postprocess"] == jobs["train"]
    assert jobs["parse"] == len(sets) + 2 and jobs["binarize"] == 1


def test_contrastive_sets_go_the_way_of_a_test_set_with_two_translations(fresh):
    """Cased, cut and generalised as the training text's target; only networks are asked how likely they are."""
    file = fresh.folder / "pairs.json"
    file.write_text('[{"source": "a", "reference": "b", "errors": [{"contrastive": "c"}]}]')
    table = {"type": "measures", "title": "M", "systems": ["PBSMT", "Cut", "Both"], "columns": ["contrast"]}
    german = {"language": "de", "tokenizer": "none", "case": "true"}
    config = {
        "parser": "embedded",
        "corpora": {"contrast": [{"name": "told", "file": "pairs.json"}], "target": german},
        "subwords": {"cut": {"scheme": "bpe", "merges": 9, "generalise": 3}},
        "systems": {"Cut": {"subword": "cut"}, "Both": {"type": "ensemble", "members": ["GlobalAtt", "FlexAtt"]}},
        "tables": {"mine": table},
    }
    targets = ("results/mine.tsv", "results/evaluation/mine/told.contrast.tsv")
    jobs = fresh.list_planned_jobs(*targets, config=config)
    assert {rule for rule, of in jobs if of.get("split") == "told"} == {
        *(
            "split_contrastive_pairs",
            "clean_held_out_with_2_references",
            "tokenize",
            "truecase",
            "generalise",
            "apply_bpe",
        ),
        *("pack", "measure_contrastive_accuracy"),
    }
    assert sorted(of["system"] for rule, of in jobs if rule == "force_decode") == ["Both", "Cut"]
    assert [of["side"] for rule, of in jobs if rule == "learn_truecaser"] == ["target"]
    assert sorted(of["side"] for rule, of in jobs if rule == "learn_bpe") == ["source", "target"]
    assert not {"translate", "generate_treebank", "parse"} & {rule for rule, _ in jobs}
    file.write_text("[]")
    done = fresh.run_snakemake("--dry-run", *targets, config=config)
    assert done.returncode != 0 and "pairs.json: the file has no contrastive pair" in done.stdout + done.stderr


def test_generated_contrastive_sets_bring_their_true_trees(fresh):
    kinds = ["relative_attachment", "phrase_attachment"]
    table = {
        "type": "measures",
        "title": "M",
        "systems": ["SDAtt"],
        "columns": ["contrast"],
        "parsers": ["gold", "right-branching"],
    }
    config = {
        "corpora": {
            "contrast": [{"name": "open", "generate": {"sentences": 7, "kinds": kinds, "max_length": 20}}],
            "generator": {"ambiguous": 0.1, "lexicon": "compact"},
        },
        "tables": {"mine": table},
    }
    jobs = fresh.list_planned_jobs("results/evaluation/mine/open.contrast.tsv", config=config)
    of_set = {rule for rule, of in jobs if of.get("split") == "open"}
    assert {"generate_contrastive_pairs", "split_contrastive_pairs", "import_trees", "build_control_trees"} <= of_set
    trees = "results/syntax/gold/open.conllu"
    done = fresh.run_snakemake("results/corpus/contrastive/open.pairs.tsv", trees, config=config)
    assert done.returncode == 0, done.stderr[-3000:]
    about = (fresh.folder / "results/corpus/contrastive/open.pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in about[1:]] == [*kinds * 3, kinds[0]]
    assert (fresh.folder / trees).read_text(encoding="utf-8").count("\n\n") == 7


def test_a_mistake_that_only_the_plan_sees_is_told_before_there_are_jobs(fresh):
    """What an input function says is not heard where the results of before are there."""
    published = {"paper": "sdat", "table": 1, "task": "en-de"}
    done = fresh.run_snakemake("--dry-run", "generate", config={"tables": {"table1": {"published": published}}})
    assert (
        done.returncode != 0
        and "unknown paper `sdat`; known are hierarchical, pascal, sdatt" in done.stdout + done.stderr
    )


@pytest.mark.slow
def test_trees_are_over_the_tokens_of_any_tokenizer(tmp_path):
    """Text and treebank in files, and shards: from contractions to distances, units, labels and a report."""
    place = ProjectCopy(tmp_path)
    generated = ["train", "dev", "one"]
    done = place.run_snakemake(*(f"results/corpus/generated/{name}.conllu" for name in generated))
    assert done.returncode == 0, done.stderr[-5000:]
    for name in generated:
        folder = place.folder / "results/corpus/generated"
        (folder / f"{name}.conllu").rename(place.folder / f"{name}.conllu")
        lines = (folder / f"{name}.source").read_text(encoding="utf-8").splitlines()
        asked = [f"{line.removesuffix(' .')}, isn't it, at 10:30?" for line in lines]
        (place.folder / f"{name}.en").write_text("\n".join(asked) + "\n", encoding="utf-8")
    texts = {name: {"source": f"{name}.en", "references": [f"{name}.en"]} for name in generated}
    config = {
        "corpora": {
            "source": {"tokenizer": "moses"},
            "train": [{"source": "train.en", "target": "train.en"}],
            "dev": texts["dev"],
            "tests": [{"name": "one", **texts["one"]}],
        },
        "parsing": {"shard_size": 500},
        "parsers": {
            "bank": {
                "type": "trained",
                "treebank": {"train": "train.conllu", "dev": "dev.conllu", "test": "one.conllu"},
                **{name: {"epochs": 1, "hidden": 16} for name in ("tagger", "depparse")},
            }
        },
        "systems": {"SDAtt": {"parser": "bank"}},
        "targets": ["table1"],
    }
    views = [f"results/syntax/bank/train.{view}" for view in ("distances.arrow", "units.arrow", "labels")]
    done = place.run_snakemake(*views, "results/syntax/bank/report.tsv", config=config)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    counts = json.loads((place.folder / "results/syntax/bank/train.conllu.json").read_text())
    sentences = counts["in"]
    assert counts["kept"] == sentences > 100 and counts["dropped"] == {}
    assert counts["noted"]["parsed in other words than its tokens"] == sentences
    assert counts["noted"]["tokens that share a word with others"] == sentences, "isn"
    assert counts["noted"]["tokens that are a part of a word"] >= 4 * sentences, "'t 10 : 30"
    report = (place.folder / "results/syntax/bank/report.tsv").read_text(encoding="utf-8")
    assert "train\tdependency\tparsed in other words than its tokens (%)\t100.00\n" in report
    trees = (place.folder / "results/syntax/bank/train.conllu").read_text(encoding="utf-8")
    assert trees.count("\tisn\t") == trees.count("\t't\t") == sentences
    assert trees.count("\tflat\t") >= 2 * sentences


PAIRS = [
    ("the dog sleeps at 10:30 .", "der Hund schläft um 10:30 .", "der Hund schlafen um 10:30 ."),
    ("she sees the old house .", "sie sieht das alte Haus .", "sie sieht der alte Haus ."),
    ("he buys 17 books .", "er kauft 17 Bücher .", "er kauft nicht 17 Bücher ."),
]


@pytest.mark.slow
def test_systems_over_phrase_trees_in_one_table(workplace):
    """Trees over words and pieces, placeholders, BlackOut, pretraining, an ensemble of different architectures."""
    systems = ["Seq2Seq-K50", "Tree2Seq-K50", "Dep2Seq", "Mixed", "Sequential-lexical", "Hierarchical-gated"]
    pairs = workplace.folder / "pairs.tsv"
    pairs.write_text("source\tcorrect\tcontrastive\n" + "".join("\t".join(pair) + "\n" for pair in PAIRS))
    config = {
        "parser": "embedded",
        "corpora": {
            "tests": SMALL_CONFIG["corpora"]["tests"][:1],
            "contrast": [{"name": "told", "file": "pairs.tsv", "removed_from_training": False}],
        },
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
                "columns": [
                    "negative_samples",
                    "subword",
                    "beam",
                    "parameters",
                    "perplexity",
                    "ribes",
                    "bleu",
                    "contrast",
                ],
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
    done = workplace.run_snakemake("trees", config=config)
    assert done.returncode == 0, done.stderr[-5000:]

    def rows(name: str) -> list[dict[str, str]]:
        return read_table(workplace.folder / "results/trees" / f"{name}.tsv")

    table = rows("all")
    assert [row["system"] for row in table] == systems
    assert [row["negative_samples"] for row in table] == ["50", "50", "200", "50", "", ""]
    assert [row["subword"] for row in table] == ["no"] * 4 + ["yes"] * 2
    assert [row["beam"] for row in table] == ["2", "2", "2", "3", "2", "2"]
    assert [bool(row["perplexity"]) for row in table] == [True] * 3 + [False] + [True] * 2
    assert int(table[1]["parameters"]) > int(table[0]["parameters"]) and not table[3]["parameters"]
    assert all(row["ribes_one"] and row["bleu_dev"] for row in table)
    for row in table:
        scores = [
            [float(line.split("\t")[0]) for line in (made / f"told.{side}.tsv").read_text().splitlines()[1:]]
            for made in [workplace.folder / "results/nmt" / row["system"] / "seed1"]
            for side in ("correct", "contrastive")
        ]
        right = sum(one > other for one, other in zip(*scores, strict=True))
        assert row["contrast_told"] == f"{100 * right / len(PAIRS):.2f}" and all(score < 0 for score in scores[0])
    markdown = (workplace.folder / "results/trees/all.md").read_text(encoding="utf-8")
    assert re.search(r"Rows differ in search: beam 2 \(Seq2Seq-K50, .*\); beam 3 \(Mixed\)\.", markdown)
    facts = {row["system"]: row for row in rows("all.facts")}
    assert facts["Seq2Seq-K50"]["search"] == "beam 2; Mixed: beam 3" and facts["Dep2Seq"]["search"] == "beam 2"
    assert facts["Dep2Seq"]["training"] == "pretraining_epochs 1"
    assert float(rows("parsed")[0]["length"]) > 0
    assert [row["split"] for row in rows("parses")] == ["Train", "Development", "one"]
    assert [row["sentences"] for row in rows("parses")] == ["120", "20", "20"]
    (en, de) = rows("vocabulary")
    assert int(en["original"]) > int(en["generalised"]) and int(de["original"]) > int(de["bpe"])
    assert [row["threshold"] for row in rows("attention")] == ["0.2", "0.4", "0.6", "0.8"]
    assert (workplace.folder / "results/figures/trees/picture.2.svg").read_text(encoding="utf-8").startswith("<?xml")
    counts = json.loads((workplace.folder / "results/corpus/generalised/3/train.source.json").read_text())
    assert counts["in"] == counts["kept"] == 120 and counts["noted"]["sentence generalised"] > 0


def test_every_job_is_given_all_that_its_rule_reads_and_writes(fresh):
    """The runner compares inputs with their records, and writes records of outputs."""
    done = fresh.run_snakemake("--dry-run", "--printshellcmds", "all")
    said = done.stdout + done.stderr
    jobs = re.findall(r"^rule (\w+):\n((?:(?!^rule ).)*?)^Shell command:\s+python -m (.*?) 2>", said, RULE)
    assert len({rule for rule, _, _ in jobs}) >= 40
    of_page = {}
    for rule, said, command in jobs:
        module, call = shlex.split(command)
        assert module == "pipeline_py.run"
        job = json.loads(call)
        parameters = inspect.signature(StageFunction(job["stage"]).function).parameters
        assert {*job["arguments"], *(name for of_call in job["calls"] for name in of_call)} <= parameters.keys()
        given = [argument for of_call in job["calls"] for argument in {**job["arguments"], **of_call}.items()]
        for kind in ("input", "output"):
            known = {
                file
                for name, value in given
                if is_output_parameter(name) == (kind == "output")
                for file in texts_in(value)
            }
            found = re.search(rf"^    {kind}: (.*)$", said, flags=re.MULTILINE)
            files = {file for file in (found[1].split(", ") if found else []) if file.startswith("results/")}
            unknown = files - known
            if rule == "write_page":  # whose files its manifest names; they are compared when that is read
                of_page[kind] = unknown
            else:
                assert not unknown, rule
    assert len(of_page["input"]) > 100 and not of_page["output"]


def texts_in(value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)


ASKED = """
import json

include: "Snakefile"

for name, wildcards in json.loads(os.environ["ASKED"]):
    identity = workflow.get_rule(name).params.get("identity")
    print("CONTENT", name, json.dumps(identity(wildcards)["contents"]))
"""


def contents(workplace: ProjectCopy, config: dict, asked: list[tuple[str, dict[str, str]]]) -> list[list[str]]:
    """The hashes of users' files in the identity of jobs, by rule and wildcards."""
    (workplace.folder / "asked.smk").write_text(ASKED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKED", json.dumps(asked))
        done = workplace.run_snakemake("--snakefile", "asked.smk", "--list-rules", config=config)
    assert done.returncode == 0, done.stderr
    return [json.loads(content) for content in re.findall(r"^CONTENT \w+ (.*)$", done.stdout, flags=re.MULTILINE)]


def test_what_users_files_hold_is_a_parameter_of_all_that_reads_them(fresh):
    bank = {f"{kind}{part}": f"{kind}{part}" for kind in ("", "constituency_") for part in ("train", "dev", "test")}
    models = [f"models/{file}" for file in ("resources.json", "zh-hans/pos/a.pt", "zh-hans/tokenize/a.pt")]
    given = {split: {"conllu": f"{split}.conllu"} for split in ("train", "dev", "one")}
    texts = {split: {"source": f"{split}.source", "references": [f"{split}.target"]} for split in ("dev", "one")}
    files = [*bank.values(), *models, *(f"{split}.conllu" for split in given), "vectors", "gold"]
    files += [f"{split}.{side}" for split in given for side in ("source", "target")]
    for file in files:
        (fresh.folder / file).parent.mkdir(parents=True, exist_ok=True)
        tree = "1\tx\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
        (fresh.folder / file).write_text(tree if file in bank.values() else "x\n")
    (fresh.folder / "pairs.tsv").write_text("source\tcorrect\tcontrastive\na\tb\tc\n")
    index = {"zh": {"alias": "zh-hans"}, "zh-hans": {"pos": {"a": {}}, "packages": {"default": {"pos": "a"}}}}
    (fresh.folder / models[0]).write_text(json.dumps(index))
    chinese = {"language": "zh", "tokenizer": "stanza"}
    config = {
        "parser": "bank",
        "corpora": {
            "source": chinese,
            "train": {"source": "train.source", "target": "train.target"},
            "dev": {"name": "dev", **texts["dev"]},
            "tests": [{"name": "one", **texts["one"]}],
            "contrast": [{"name": "told", "file": "pairs.tsv"}],
        },
        "parsers": {
            "bank": {"type": "trained", "treebank": bank, "vectors": "vectors"},
            "local": {"type": "stanza", "directory": "models", "test": "gold"},
            "mine": {"type": "given", "trees": given},
        },
    }
    phrases = {"parser": "bank", "trees": "ptb"}
    expected = [
        ("fetch", {"split": "dev", "side": "target"}, {"dev.target"}),
        ("split_contrastive_pairs", {"split": "told"}, {"pairs.tsv"}),
        ("learn_segmenter", {"side": "source"}, {"train", "dev"}),
        ("train_parser", {"parser": "bank", "processor": "depparse"}, {"train", "dev", "vectors"}),
        (
            "train_parser",
            {"parser": "bank", "processor": "constituency"},
            {"constituency_train", "constituency_dev", "vectors"},
        ),
        ("treebank_text", phrases, {"constituency_test"}),
        ("measure_accuracy", phrases, {"constituency_test"}),
        ("measure_accuracy", {"parser": "local", "trees": "conllu"}, {"gold"}),
        ("parse", {"parser": "local", "trees": "conllu", "split": "one"}, {*models}),  # in the words of its tokenizer
        ("parse", {"parser": "bank", "trees": "conllu", "split": "one"}, set()),
        ("import_trees", {"parser": "mine", "trees": "conllu", "split": "one"}, {"one.conllu"}),
    ]
    asked = [(rule, wildcards) for rule, wildcards, _ in expected]
    before = contents(fresh, config, asked)
    assert [len(content) for content in before] == [len(files) for _, _, files in expected]
    for file in files:
        (fresh.folder / file).write_text((fresh.folder / file).read_text() + "\n")
    (fresh.folder / "pairs.tsv").write_text("source\tcorrect\tcontrastive\na\tb\td\n")
    for content, now in zip(before, contents(fresh, config, asked), strict=True):
        assert not {*content} & {*now}

    config["corpora"]["source"] = {**chinese, "stanza_directory": "models"}
    (words,) = contents(fresh, config, [("tokenize", {"split": "dev", "side": "source"})])
    assert len(words) == len([models[0], models[2]])
