"""The workflow on a very small corpus, and the jobs that it plans for each target."""

import inspect
import json
import re
import shlex
from collections.abc import Iterator

import pytest

from pipeline_py.files.ragged_arrays import read_ragged_rows
from pipeline_py.run.cpu_usage import count_processors, get_memory_limit_mb
from pipeline_py.run.job import is_output_parameter
from pipeline_py.run.job_runner import StageFunction
from tests.project_copy import SMALL_CONFIG, ProjectCopy
from tests.text_files import read_table

RULE_FLAGS = re.MULTILINE | re.DOTALL


@pytest.fixture(scope="module")
def fresh_project(tmp_path_factory) -> ProjectCopy:
    return ProjectCopy(tmp_path_factory.mktemp("fresh"))


def test_a_table_of_attention_systems_needs_no_constituency_trees(fresh_project):
    jobs = fresh_project.count_planned_jobs()
    assert jobs["train"] == jobs["translate"] == 2
    assert jobs["train_parser"] == 2, "tagger and dependency parser"
    assert "binarize" not in jobs


def test_a_system_without_syntax_waits_for_no_parser(fresh_project):
    jobs = fresh_project.count_planned_jobs("results/nmt/GlobalAtt/seed1/model.safetensors")
    assert not {"parse", "train_parser", "compute_distances"} & set(jobs)


def test_constituency_trees_are_made_on_request(fresh_project):
    jobs = fresh_project.count_planned_jobs("results/syntax/embedded/one.binary.ptb")
    assert jobs["binarize"] == 1 and jobs["parse"] == 1 and jobs["train_parser"] == 2


def test_bpe_is_one_switch(fresh_project):
    jobs = fresh_project.count_planned_jobs(config={"subword": {"scheme": "bpe", "merges": 100}})
    assert jobs["learn_bpe"] == 2 and jobs["inherit"] == 4


def test_truecasing_is_one_switch(fresh_project):
    jobs = fresh_project.count_planned_jobs(
        config={"corpora": {"target": {"language": "de", "tokenizer": "none", "case": "true"}}}
    )
    assert jobs["learn_truecaser"] == 1


def test_normalizing_punctuation_is_one_switch(fresh_project):
    language_options = {"language": "en", "tokenizer": "moses", "punctuation": "normalize"}
    jobs = fresh_project.count_planned_jobs(
        "results/corpus/tokenized/one.source", config={"corpora": {"source": language_options}}
    )
    assert jobs["normalize_punctuation"] == jobs["tokenize"] == 1
    result = fresh_project.run_snakemake(
        "-n", config={"corpora": {"source": {**language_options, "tokenizer": "none"}}}
    )
    assert "corpora.source: punctuation is normalized before text is tokenized" in result.stdout + result.stderr


def test_bad_configuration_stops_before_any_job(fresh_project):
    result = fresh_project.run_snakemake("results/table1.tsv", config={"training": {"epochz": 1}})
    assert result.returncode != 0
    assert "\nconfiguration: unknown key `training.epochz`; did you mean `epochs`?" in result.stderr
    assert "Traceback" not in result.stderr and 'File "' not in result.stderr
    assert not (fresh_project.folder / "results").exists()


def test_unknown_targets_are_reported_with_suggestions(fresh_project):
    result = fresh_project.run_snakemake("--dry-run", "tabel2")
    output = result.stdout + result.stderr
    assert (
        result.returncode == 1
        and "there is no target `tabel2`; did you mean `table2`? tables: table1, table2," in output
    )


def test_unknown_test_sets_are_reported(fresh_project):
    result = fresh_project.run_snakemake("--dry-run", "results/evaluation/GlobalAtt/seed1/test.bleu.json")
    assert result.returncode == 1 and "no rule makes this file" in result.stdout + result.stderr


@pytest.mark.parametrize("options", [(), ("--workflow-profile", "none")])
def test_broken_configuration_files_are_reported_with_the_line(fresh_project, options):
    (fresh_project.folder / "broken.yaml").write_text("training:\n  epochs: 1\n  epochs: 2\n")
    result = fresh_project.run_snakemake("table1", "--configfile", "broken.yaml", *options)
    output = result.stdout + result.stderr
    assert result.returncode == 1 and "broken.yaml, line 3: `epochs` is in line 2 already" in output
    assert "Traceback" not in output


def test_missing_configuration_files_are_reported(fresh_project):
    result = fresh_project.run_snakemake("table1", "--configfile", "smal.yaml")
    assert result.returncode == 1 and "error: smal.yaml: no such file; did you mean small.yaml?" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["all", "train"])
def test_a_table_cannot_have_the_name_of_a_rule(fresh_project, name):
    result = fresh_project.run_snakemake(
        "--dry-run", config={"tables": {name: {**SMALL_CONFIG["tables"]["table1"], "title": "x", "baseline": "SDAtt"}}}
    )
    assert result.returncode != 0 and f"tables: `{name}` is the name of a rule" in result.stdout + result.stderr


def test_a_missing_file_stops_before_any_job(fresh_project):
    config = {"corpora": {"dev": {"name": "dev", "source": "gone.en", "references": ["gone.de"]}}}
    result = fresh_project.run_snakemake("results/table1.tsv", config=config)
    assert result.returncode != 0 and "gone.en: no such file" in result.stderr


def test_every_table_is_a_target_by_its_name(fresh_project):
    jobs = fresh_project.count_planned_jobs(
        "table2", config={"tables": {"table2": {"systems": ["PBSMT", "GlobalAtt", "+SDAtt"]}}}
    )
    assert (
        jobs["train"] == 2
        and jobs["train_smt"] == 1
        and jobs["render_table"] == jobs["draw_bleu_by_length"] == jobs["render_facts"] == 1
    )


def test_a_phrase_based_system_needs_no_parser_and_no_seeds(fresh_project):
    jobs = fresh_project.count_planned_jobs(
        "results/evaluation/PBSMT/single/one.bleu.json", config={"training": {"seeds": [1, 2]}}
    )
    assert jobs["train_smt"] == 1 and not {"parse", "train_parser", "pack", "train"} & jobs.keys()


def test_every_seed_is_a_run(fresh_project):
    jobs = fresh_project.count_planned_jobs(config={"training": {"seeds": [1, 2, 3]}})
    assert jobs["train"] == jobs["translate"] == 6 and jobs["parse"] == 4


def test_units_and_labels_are_made_for_systems_that_read_them(fresh_project):
    unit_jobs = fresh_project.count_planned_jobs("results/nmt/SDRNMT-2/seed1/model.safetensors")
    assert (
        unit_jobs["extract_units"] == unit_jobs["pack_units"] == 2
        and not {"extract_labels", "compute_distances"} & unit_jobs.keys()
    )
    label_jobs = fresh_project.count_planned_jobs("results/nmt/Sennrich-deponly/seed1/model.safetensors")
    assert (
        label_jobs["extract_labels"] == label_jobs["pack_labels"] == 2
        and not {"extract_units", "compute_distances"} & label_jobs.keys()
    )


def test_an_auxiliary_task_reads_trees_of_training_text_only(fresh_project):
    """The trees may be of any parser; all translated text gets the task's tag."""
    target = "results/nmt/{}/seed1/one.pieces"
    systems = {"Task": {"auxiliary_task": "parsing", "parser": "random"}}
    jobs = fresh_project.count_planned_jobs(target.format("Task"), config={"systems": systems})
    assert jobs["parsing_task"] == 1
    assert jobs["tag_held_out_text"] == 4, "source and target of dev, source of both tests"
    assert jobs["build_control_trees"] == 1 and jobs["vocabulary"] == 2 and jobs["pack"] == 6
    assert "parsing_task" not in fresh_project.count_planned_jobs(target.format("GlobalAtt"))


def test_a_dry_run_estimates_the_duration(fresh_project):
    output = fresh_project.run_snakemake("--dry-run", "results/table1.tsv").stdout
    assert output.count("Jobs to run, with estimated times:") == 1
    assert re.search(r"^In total about \d+ s on \d cores? \(from the embedded experiment", output, re.MULTILINE)
    assert not re.search("SNAKEMAKE|Job stats|Reasons:|This was a dry-run", output) and "\nrule train:\n" in output
    core_count = count_processors() + 7
    output = fresh_project.run_snakemake("--dry-run", "--cores", str(core_count), "results/table1.tsv").stdout
    assert f"{core_count} cores requested, {core_count - 7} available; at most {core_count - 7} job" in output
    assert re.search(r"^  [a-z]+/\w+ +\d+ × [\d.]+ s +=", output, re.MULTILINE)
    output = fresh_project.run_snakemake("--dry-run", "--quiet", "rules", "progress").stdout
    assert output.count("Jobs to run, with estimated times:") == 1


def test_unsuitable_parsers_and_tables_are_reported(fresh_project):
    """A parser of generated trees does not parse text in files, whether tables or single files need its trees."""
    (fresh_project.folder / "real").write_text("A sentence .\n")
    text = {"name": "real", "source": "real", "references": ["real"]}
    config = {
        "corpora": {"tests": [text, *SMALL_CONFIG["corpora"]["tests"]]},
        "model": {"embedding": 9, "hidden": 9},
        "tables": {"mine": {"title": "T", "systems": ["GlobalAtt", "LocalAtt"], "baseline": "GlobalAtt"}},
    }
    sentence = "parser: `embedded` is trained on generated trees, but the text of `real` is in files; name a parser"
    result = fresh_project.run_snakemake("--dry-run", "mine", config=config)
    assert result.returncode == 1 and sentence in result.stdout + result.stderr
    config["targets"] = ["mine"]
    result = fresh_project.run_snakemake("--dry-run", "mine", config=config)
    output = result.stdout + result.stderr
    assert result.returncode == 0 and sentence not in output
    assert re.search(r"^Left out from config.yaml, .*`hierarchical/table3`.* 9 is odd", output, re.MULTILINE)
    result = fresh_project.run_snakemake("--dry-run", "results/syntax/embedded/real.conllu", config=config)
    assert result.returncode == 1 and sentence in result.stdout + result.stderr
    assert fresh_project.run_snakemake("--dry-run", "results/syntax/embedded/one.conllu", config=config).returncode == 0


def test_a_plan_warns_of_tables_that_compare_more_than_systems(fresh_project):
    table = {"type": "measures", "title": "T", "systems": ["GlobalAtt", "Wide"], "columns": ["bleu"]}
    config = {
        "systems": {"Wide": {"type": "ensemble", "members": ["GlobalAtt"], "decoding": {"beam": 3}}},
        "tables": {"mine": table, "search": {**table, "about": ["search"]}, "unrequested": table},
    }
    result = fresh_project.run_snakemake("--dry-run", "mine", "search", config=config)
    warnings = [line for line in (result.stdout + result.stderr).splitlines() if line.startswith("Table `")]
    assert len(warnings) == 1
    assert warnings[0].startswith("Table `mine`: its systems also differ in search: beam 2 (GlobalAtt); beam 3 (Wide);")


@pytest.fixture(scope="module")
def shared_project(tmp_path_factory) -> ProjectCopy:
    """Return a project in which tests run jobs; their tables share text, parser and parses."""
    return ProjectCopy(tmp_path_factory.mktemp("made"))


def test_a_run_that_stops_before_the_answers_succeeds(tmp_path):
    result = ProjectCopy(tmp_path).run_snakemake("results/table1.tsv", "--until", "clean")
    assert result.returncode == 0, result.stderr[-5000:]
    assert "Error" not in result.stderr and "More in" not in result.stderr
    assert (tmp_path / "results/corpus").exists()


@pytest.mark.slow
def test_every_kind_of_system_in_one_table(shared_project):
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
    targets = "results/everything.tsv", "results/everything.facts.tsv", "results/figures/everything.length.svg"
    result = shared_project.run_snakemake(*targets, config=config)
    assert result.returncode == 0, result.stderr[-5000:]
    # Other tables have more runs and control trees, so this one gives no verdict; and no network has learned anything.
    reason = "since Three and Sennrich-deponly have not learned to translate."
    untested = f"Three: not tested against Sennrich-deponly, {reason}"
    markdown = (shared_project.folder / "results/everything.md").read_text(encoding="utf-8")
    summary = result.stderr[result.stderr.index("SDRNMT-2 has not learned to translate, so no verdict includes it: ") :]
    assert f"- {untested}\n" in markdown and f"  {untested}\n" in summary
    assert "More in: results/evaluation/everything/claims.tsv, results/everything.md\n" in summary
    for text in (summary, markdown):
        assert "Comparisons in this table (the verdict on syntax is in the report" in text
        assert "No verdict uses the set one: it has 20 different sentences, fewer than 100." in text
        assert "Does syntax help?" not in text and "Other claims" not in text
    rows = read_table(shared_project.folder / "results/everything.tsv")
    assert [row["system"] for row in rows] == ["Phrases", "Sennrich-deponly", "SDRNMT-2", "Three", "Tasks"]
    assert [bool(row["one_sd"]) for row in rows] == [False, True, True, True, True]
    facts = read_table(shared_project.folder / "results/everything.facts.tsv")
    assert [fact["seed"] for fact in facts] == ["", *["1", "2"] * 4]
    assert int(facts[0]["phrase_pairs"]) > 0 and not facts[0]["torch"]
    for seed in (1, 2):
        assert (shared_project.folder / f"results/evaluation/Three/seed{seed}/one.txt").read_text().count("\n") == 20
    report = shared_project.run_snakemake("--report", "snakemake.html", *targets, config=config)
    assert report.returncode == 0, report.stderr[-5000:]
    assert "All. Columns that end in" in (shared_project.folder / "snakemake.html").read_text(encoding="utf-8")
    dry_run = shared_project.run_snakemake("--dry-run", "--forceall", "results/everything.tsv", config=config)
    assert "jobs from earlier runs" in dry_run.stdout
    requests = re.findall(r"^ +output: ([^,\n]+).*?mem_mb=(\d+)", dry_run.stdout, re.MULTILINE | re.DOTALL)
    assert len(requests) > 50
    for output, request in requests:
        path = shared_project.folder / output
        record = json.loads((path.parent / f".{path.name}.job.json").read_text(encoding="utf-8"))
        assert record["peak_memory_mb"] <= int(request), output


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ([], {"mem_mb": get_memory_limit_mb()}),
        (["--resources", "mem_mb=3000"], {"mem_mb": 3000}),
        (["--resources", "mem=3GB"], {"mem_mb": 3000}),
        (["--executor", "slurm", "--jobs", "2"], {}),
    ],
)
def test_jobs_of_one_machine_share_its_memory(fresh_project, options, limit):
    if "slurm" in options:
        pytest.importorskip("snakemake_executor_plugin_slurm")
    snakefile = fresh_project.folder / "including.smk"
    snakefile.write_text(
        'include: "Snakefile"\n'
        "print('LIMITS', {name: item.value for name, item in workflow.global_resources.items() if 'mem' in name})\n"
    )
    result = fresh_project.run_snakemake(*options, "--dry-run", "--snakefile", "including.smk", "results/table1.tsv")
    assert f"LIMITS {limit}\n" in result.stdout, result.stderr[-3000:]


def test_folders_of_tables_are_targets(fresh_project):
    tree2seq, hierarchical = (
        fresh_project.count_planned_jobs("tree2seq"),
        fresh_project.count_planned_jobs("hierarchical"),
    )
    assert tree2seq["train"] == 19 and tree2seq["pretrain"] == 1 and tree2seq["length_model"] == 1
    assert tree2seq["draw_attention"] == hierarchical["draw_attention"] == 3
    assert hierarchical["train"] == 12 and hierarchical["render_table"] == 3 and "compute_distances" not in hierarchical


def test_default_targets_can_be_configured(fresh_project):
    config = {"targets": ["table1", "hierarchical/table2"]}
    jobs = fresh_project.count_planned_jobs("all", config=config)
    assert jobs["train"] == 2 and jobs["render_table"] == 2


def test_another_search_retrains_nothing(fresh_project):
    jobs = fresh_project.count_planned_jobs("results/evaluation/Tree2Seq-beam10/seed1/one.bleu.json")
    assert jobs["train"] == jobs["translate"] == 1 and "length_model" not in jobs


def test_a_matched_size_needs_no_other_training(fresh_project):
    jobs = fresh_project.count_planned_jobs("results/nmt/Seq2Seq-capacity/seed1/facts.json")
    assert jobs["train"] == 1 and "parse" not in jobs


def test_tables_and_figures_may_have_the_name_of_a_folder(fresh_project):
    """A table with an ensemble needs the facts of its members and the accuracy of their parser."""
    table = {"type": "measures", "title": "T", "systems": ["Tree2Seq-beam10"], "columns": ["beam", "bleu"]}
    picture = {"title": "P", "system": "Tree2Seq", "sentences": [4]}
    config = {"tables": {"mine": table, "mine/too": table}, "figures": {"mine": picture}}
    jobs = fresh_project.count_planned_jobs("mine", config=config)
    assert (
        jobs["train"] == jobs["draw_attention"] == jobs["measure_accuracy"] == 1
        and jobs["render_table"] == jobs["render_facts"] == 2
    )


def test_words_with_placeholders_are_not_split_into_pieces(fresh_project):
    jobs = fresh_project.count_planned_jobs(
        "results/nmt/Sequential/seed1/facts.json", config={"subword": {"scheme": "bpe", "merges": 100}}
    )
    assert jobs["generalise"] == 4 and "learn_bpe" not in jobs


def test_pretrained_parsers_are_measured_on_given_trees(fresh_project):
    parsers = {"given": {"type": "stanza", "constituency_test": "config.yaml"}, "unmeasured": {"type": "stanza"}}
    jobs = fresh_project.count_planned_jobs("results/syntax/given/accuracy.tsv", config={"parsers": parsers})
    assert jobs["measure_accuracy"] == 1 and "train_parser" not in jobs
    result = fresh_project.run_snakemake(
        "--dry-run", "results/syntax/unmeasured/accuracy.tsv", config={"parsers": parsers}
    )
    assert result.returncode != 0 and "give `test` (CoNLL-U) or `constituency_test` (PTB)" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr and "Wildcards" not in result.stdout + result.stderr


def test_parsers_and_sets_may_have_any_name(fresh_project):
    """Names may be equal to values that mean nothing, such as `none`, and to names of result folders."""
    names = ["none", "shards", "kept", "accuracy", "packed", "train", "SDAtt", "a-b_1"]
    sets = [name for name in names if name != "train"]
    table = {"type": "measures", "title": "T", "systems": ["none"], "sets": ["tests"], "columns": ["bleu"]}
    config = {
        "corpora": {"tests": [{"name": name, "generate": {"sentences": 20}} for name in sets]},
        "parsers": {name: {"type": "control", "shape": "balanced"} for name in names},
        "systems": {"none": {"contexts": ["syntax"], "parser": "none"}},
        "tables": {"names": {**table, "parsers": ["embedded", *names]}},
    }
    jobs = fresh_project.count_planned_jobs("names", "results/syntax/a-b_1/shards.binary.ptb", config=config)
    assert jobs["train"] == jobs["translate"] == len(names) + 1 and jobs["postprocess"] == jobs["train"]
    assert jobs["parse"] == len(sets) + 2 and jobs["binarize"] == 1


def test_permuted_trees_are_made_from_those_of_their_parser(fresh_project):
    table = {
        "title": "T",
        "systems": ["GlobalAtt", "SDAtt"],
        "baseline": "GlobalAtt",
        "proposed": ["SDAtt"],
        "parsers": ["default", "permuted"],
    }
    config = {
        "parsers": {"permuted": {"type": "control", "shape": "permuted", "parser": "embedded"}},
        "tables": {"mine": table},
    }
    jobs = fresh_project.list_planned_jobs("results/mine.tsv", config=config)
    splits = {
        rule: sorted(wildcards["split"] for name, wildcards in jobs if name == rule)
        for rule in ("parse", "permute_trees")
    }
    assert splits["permute_trees"] == splits["parse"] and len(splits["parse"]) == 4
    assert {wildcards["system"] for rule, wildcards in jobs if rule == "train"} == {
        *("GlobalAtt", "SDAtt", "SDAtt@permuted")
    }
    assert "build_control_trees" not in {rule for rule, _ in jobs}


def test_distances_of_permuted_trees_are_those_of_the_trees_in_another_order(tmp_path):
    project = ProjectCopy(tmp_path)
    config = {"parsers": {"permuted": {"type": "control", "shape": "permuted", "parser": "gold"}}}
    paths = [f"results/syntax/{parser}/one.distances.arrow" for parser in ("gold", "permuted")]
    result = project.run_snakemake(*paths, config=config)
    assert result.returncode == 0, result.stderr[-3000:]
    gold, permuted = (list(read_ragged_rows(project.folder / path)) for path in paths)
    assert [sorted(row) for row in gold] == [sorted(row) for row in permuted]
    assert any(list(row) != list(permuted_row) for row, permuted_row in zip(gold, permuted, strict=True))


def test_contrastive_sets_are_processed_like_a_test_set_with_two_references(fresh_project):
    """They are truecased, split and generalised like the training target; only networks score them."""
    file = fresh_project.folder / "pairs.json"
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
    jobs = fresh_project.list_planned_jobs(*targets, config=config)
    assert {rule for rule, wildcards in jobs if wildcards.get("split") == "told"} == {
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
    assert sorted(wildcards["system"] for rule, wildcards in jobs if rule == "force_decode") == ["Both", "Cut"]
    assert [wildcards["side"] for rule, wildcards in jobs if rule == "learn_truecaser"] == ["target"]
    assert sorted(wildcards["side"] for rule, wildcards in jobs if rule == "learn_bpe") == ["source", "target"]
    assert not {"translate", "generate_treebank", "parse"} & {rule for rule, _ in jobs}
    file.write_text("[]")
    result = fresh_project.run_snakemake("--dry-run", *targets, config=config)
    assert result.returncode != 0 and "pairs.json: the file has no contrastive pair" in result.stdout + result.stderr


def test_generated_contrastive_sets_come_with_gold_trees(fresh_project):
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
    jobs = fresh_project.list_planned_jobs("results/evaluation/mine/open.contrast.tsv", config=config)
    set_rules = {rule for rule, wildcards in jobs if wildcards.get("split") == "open"}
    assert {"generate_contrastive_pairs", "split_contrastive_pairs", "import_trees", "build_control_trees"} <= set_rules
    trees = "results/syntax/gold/open.conllu"
    result = fresh_project.run_snakemake("results/corpus/contrastive/open.pairs.tsv", trees, config=config)
    assert result.returncode == 0, result.stderr[-3000:]
    lines = (
        (fresh_project.folder / "results/corpus/contrastive/open.pairs.tsv").read_text(encoding="utf-8").splitlines()
    )
    numbers, set_kinds, *_ = zip(*(line.split("\t") for line in lines[1:]), strict=True)
    assert set_kinds == (*kinds * 3, kinds[0])
    assert numbers == ("1", "2", "1", "2", "3", "4", "3"), "both readings of a sentence have one number"
    assert (fresh_project.folder / trees).read_text(encoding="utf-8").count("\n\n") == 7


def test_errors_of_the_plan_are_reported_before_any_job(fresh_project):
    """Snakemake ignores errors in input functions if results of earlier runs exist."""
    published = {"paper": "sdat", "table": 1, "task": "en-de"}
    result = fresh_project.run_snakemake(
        "--dry-run", "generate", config={"tables": {"table1": {"published": published}}}
    )
    assert (
        result.returncode != 0
        and "unknown paper `sdat`; known are hierarchical, pascal, sdatt" in result.stdout + result.stderr
    )


@pytest.mark.slow
def test_trees_are_built_over_the_tokens_of_any_tokenizer(tmp_path):
    """With text and treebank in files, and in shards, contractions get distances, units, labels and a report."""
    project = ProjectCopy(tmp_path)
    splits = ["train", "dev", "one"]
    result = project.run_snakemake(*(f"results/corpus/generated/{name}.conllu" for name in splits))
    assert result.returncode == 0, result.stderr[-5000:]
    for name in splits:
        folder = project.folder / "results/corpus/generated"
        (folder / f"{name}.conllu").rename(project.folder / f"{name}.conllu")
        lines = (folder / f"{name}.source").read_text(encoding="utf-8").splitlines()
        questions = [f"{line.removesuffix(' .')}, isn't it, at 10:30?" for line in lines]
        (project.folder / f"{name}.en").write_text("\n".join(questions) + "\n", encoding="utf-8")
    texts = {name: {"source": f"{name}.en", "references": [f"{name}.en"]} for name in splits}
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
    result = project.run_snakemake(*views, "results/syntax/bank/report.tsv", config=config)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-5000:]
    counts = json.loads((project.folder / "results/syntax/bank/train.conllu.json").read_text())
    sentences = counts["in"]
    assert counts["kept"] == sentences > 100 and counts["dropped"] == {}
    assert counts["noted"]["parsed in other words than its tokens"] == sentences
    assert counts["noted"]["tokens that share a word with others"] == sentences, "isn"
    assert counts["noted"]["tokens that are a part of a word"] >= 4 * sentences, "'t 10 : 30"
    report = (project.folder / "results/syntax/bank/report.tsv").read_text(encoding="utf-8")
    assert "train\tdependency\tparsed in other words than its tokens (%)\t100.00\n" in report
    trees = (project.folder / "results/syntax/bank/train.conllu").read_text(encoding="utf-8")
    assert trees.count("\tisn\t") == trees.count("\t't\t") == sentences
    assert trees.count("\tflat\t") >= 2 * sentences


@pytest.mark.slow
def test_failed_sentences_get_the_trees_of_fallbacks(tmp_path):
    """Long sentences of given trees have failed: a model parses them, unless it fails, too; then they branch right."""
    project = ProjectCopy(tmp_path)
    gold = tmp_path / "results/corpus/generated/one.ptb"
    result = project.run_snakemake(str(gold.relative_to(tmp_path)))
    assert result.returncode == 0, result.stderr[-5000:]
    trees, sentences = [], gold.with_suffix(".source").read_text(encoding="utf-8").splitlines()
    for tree, sentence in zip(gold.read_text(encoding="utf-8").splitlines(), sentences, strict=True):
        words = "".join(f" (X {word})" for word in sentence.split())
        trees.append(f"(FAILED{words})" if len(sentence.split()) > 7 else tree)
    (tmp_path / "mine.ptb").write_text("\n".join(trees) + "\n", encoding="utf-8")
    config = {
        "parsers": {
            "mine": {"type": "given", "trees": {"one": {"ptb": "mine.ptb"}}, "fallback": "embedded"},
            "embedded": {"max_words": 11, "fallback": "right-branching"},
        },
        "corpora": {"tests": SMALL_CONFIG["corpora"]["tests"][:1]},
    }
    result = project.run_snakemake("results/syntax/mine/one.binary.ptb", config=config)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-5000:]
    lengths = [len(sentence.split()) for sentence in sentences]
    counts = [sum(low < length <= high for length in lengths) for low, high in ((0, 7), (7, 11), (11, 999))]
    assert all(counts) and sum(counts) == 20
    noted = json.loads((tmp_path / "results/syntax/mine/one.ptb.json").read_text(encoding="utf-8"))["noted"]
    assert noted == {
        "failed in embedded: more than 11 words": counts[2],
        "failed in mine: marked as failed": counts[1] + counts[2],
        **{
            f"trees of {name}": count
            for name, count in zip(("mine", "embedded", "right-branching"), counts, strict=True)
        },
    }
    outputs = (tmp_path / "results/syntax/mine/one.ptb").read_text(encoding="utf-8").splitlines()
    parsed_again = (tmp_path / "results/syntax/mine.before.embedded/failed/one.ptb.tokens").read_text(encoding="utf-8")
    assert parsed_again.splitlines() == [line for line, length in zip(sentences, lengths, strict=True) if length > 7]
    for tree, length in zip(outputs, lengths, strict=True):
        assert "FAILED" not in tree and tree.startswith("(X (X ") == (length > 11)
    binary = (tmp_path / "results/syntax/mine/one.binary.json").read_text(encoding="utf-8")
    assert json.loads(binary)["noted"] == {}


@pytest.mark.slow
def test_generated_sentences_with_gold_trees_are_mixed_into_text_of_files(tmp_path):
    """Systems that cannot see trees are right in half of the pairs, since each source has both readings."""
    project = ProjectCopy(tmp_path)
    generator = {"lexicon": "compact", "digits": False, "ambiguous": 0}
    texts = {"generator": generator, "train": {"generate": {"sentences": 600, "max_length": 16}}}
    result = project.run_snakemake("results/corpus/generated/train.source", config={"corpora": texts})
    assert result.returncode == 0, result.stderr[-5000:]
    for side in ("source", "target"):
        (tmp_path / f"results/corpus/generated/train.{side}").rename(tmp_path / f"mine.{side}")
    moses = {"tokenizer": "moses", "case": "lower"}
    mine = {"source": "mine.source", "references": ["mine.target"], "removed_from_training": False}
    config = {
        "name": "mixed",
        "parser": "right-branching",
        "corpora": {
            "source": moses,
            "target": moses,
            "generator": {**generator, "min_count": 1},
            "train": [
                {"source": "mine.source", "target": "mine.target"},
                {"generate": {"sentences": 30, "seed": 2, "focus": "ambiguous", "max_length": 16}},
            ],
            "dev": {"name": "dev", **mine},
            "tests": [{"name": "one", **mine}],
            "contrast": [{"name": "open", "generate": {"sentences": 12, "kinds": ["phrase_attachment"]}}],
        },
        "parsers": {"gold": {"type": "given", "partial": True, "fallback": "right-branching"}},
        "subword": {"scheme": "bpe", "merges": 90},
        "tables": {
            "control": {
                "type": "measures",
                "title": "C",
                "systems": ["GlobalAtt", "SDAtt [gold]", "Tree2Seq [gold]"],
                "columns": ["contrast", "bleu"],
            }
        },
    }
    result = project.run_snakemake("results/mixed/control.tsv", config=config)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-5000:]
    folder = tmp_path / "results/mixed"
    gold, text = (
        (folder / file).read_text(encoding="utf-8").splitlines()
        for file in ("corpus/generated/train.ptb", "corpus/tokenized/train.source")
    )
    trees = (folder / "syntax/gold/train.ptb").read_text(encoding="utf-8").splitlines()
    assert len(trees) == len(text) and trees[-1].lower() == gold[-1].lower()
    noted = json.loads((folder / "syntax/gold/train.ptb.json").read_text(encoding="utf-8"))["noted"]
    assert (noted["trees of gold"], noted["trees of right-branching"]) == (30, len(text) - 30)
    rows = {row["system"]: row for row in read_table(folder / "control.tsv")}
    assert [*rows] == ["GlobalAtt", "SDAtt [gold]", "Tree2Seq [gold]"]
    assert rows["GlobalAtt"]["contrast_open"] == "50.00"


CONTRASTIVE_PAIRS = [
    ("the dog sleeps at 10:30 .", "der Hund schläft um 10:30 .", "der Hund schlafen um 10:30 ."),
    ("she sees the old house .", "sie sieht das alte Haus .", "sie sieht der alte Haus ."),
    ("he buys 17 books .", "er kauft 17 Bücher .", "er kauft nicht 17 Bücher ."),
]


@pytest.mark.slow
def test_a_search_is_tuned_on_dev(shared_project):
    """The beam of a network and of an ensemble is chosen; a length model counts a text that is not trained on."""
    for name, word in (("source", "A dog sleeps ."), ("target", "Ein Hund schläft .")):
        (shared_project.folder / f"more.{name}").write_text(f"{word}\n" * 3, encoding="utf-8")
    search = {"beam": [1, 3], "retry_beam": 9, "max_length": 6, "max_length_ratio": None}
    table = {"systems": ["GlobalAtt", "Pair"], "baseline": "GlobalAtt", "proposed": [], "title": "Tuned"}
    config = {
        "corpora": {"length_texts": [{"name": "more", "source": "more.source", "target": "more.target"}]},
        "systems": {
            "GlobalAtt": {"decoding": search},
            "Pair": {
                "type": "ensemble",
                "members": ["GlobalAtt", "LocalAtt"],
                "decoding": {**search, "length_model": "more"},
            },
        },
        "tables": {"tuned": table},
    }
    result = shared_project.run_snakemake("results/tuned.tsv", "results/tuned.facts.tsv", config=config)
    assert result.returncode == 0, result.stderr[-5000:]
    results = shared_project.folder / "results"
    counts = (results / "nmt/length_model/default.more.tsv").read_text(encoding="utf-8")
    assert counts == "source_length\ttarget_length\tcount\n4\t4\t3\n"
    choices = {
        system: json.loads((results / f"nmt/{system}/seed1/dev.beam.json").read_text(encoding="utf-8"))
        for system in ("GlobalAtt", "Pair")
    }
    assert all([width["beam"] for width in choice["widths"]] == [1, 3] for choice in choices.values())
    facts = {row["system"]: row["chosen_beam"] for row in read_table(results / "tuned.facts.tsv")}
    assert facts == {
        "GlobalAtt": f"{choices['GlobalAtt']['beam']}; Pair: {choices['Pair']['beam']}",
        "LocalAtt": f"Pair: {choices['Pair']['beam']}",
    }
    pieces = (results / "nmt/GlobalAtt/seed1/one.pieces").read_text(encoding="utf-8").splitlines()
    assert max(len(line.split()) for line in pieces) <= search["max_length"]


@pytest.mark.slow
def test_systems_over_phrase_trees_in_one_table(shared_project):
    """Trees over words and pieces, placeholders, BlackOut, pretraining, an ensemble of different architectures."""
    systems = ["Seq2Seq-K50", "Tree2Seq-K50", "Dep2Seq", "Mixed", "Sequential-lexical", "Hierarchical-gated"]
    pairs = shared_project.folder / "pairs.tsv"
    pairs.write_text("source\tcorrect\tcontrastive\n" + "".join("\t".join(pair) + "\n" for pair in CONTRASTIVE_PAIRS))
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
    result = shared_project.run_snakemake("trees", config=config)
    assert result.returncode == 0, result.stderr[-5000:]

    def read_result_table(name: str) -> list[dict[str, str]]:
        return read_table(shared_project.folder / "results/trees" / f"{name}.tsv")

    table = read_result_table("all")
    assert [row["system"] for row in table] == systems
    assert [row["negative_samples"] for row in table] == ["50", "50", "200", "50", "", ""]
    assert [row["subword"] for row in table] == ["no"] * 4 + ["yes"] * 2
    assert [row["beam"] for row in table] == ["2", "2", "2", "3", "2", "2"]
    assert [bool(row["perplexity"]) for row in table] == [True] * 3 + [False] + [True] * 2
    assert int(table[1]["parameters"]) > int(table[0]["parameters"]) and not table[3]["parameters"]
    assert all(row["ribes_one"] and row["bleu_dev"] for row in table)
    for row in table:
        scores = [
            [float(line.split("\t")[0]) for line in (run_folder / f"told.{side}.tsv").read_text().splitlines()[1:]]
            for run_folder in [shared_project.folder / "results/nmt" / row["system"] / "seed1"]
            for side in ("correct", "contrastive")
        ]
        correct_count = sum(correct > contrastive for correct, contrastive in zip(*scores, strict=True))
        assert row["contrast_told"] == f"{100 * correct_count / len(CONTRASTIVE_PAIRS):.2f}" and all(
            score < 0 for score in scores[0]
        )
    markdown = (shared_project.folder / "results/trees/all.md").read_text(encoding="utf-8")
    assert re.search(r"Rows differ in search: beam 2 \(Seq2Seq-K50, .*\); beam 3 \(Mixed\)\.", markdown)
    facts = {row["system"]: row for row in read_result_table("all.facts")}
    assert facts["Seq2Seq-K50"]["search"] == "beam 2; Mixed: beam 3" and facts["Dep2Seq"]["search"] == "beam 2"
    assert facts["Dep2Seq"]["training"] == "pretraining_epochs 1"
    assert float(read_result_table("parsed")[0]["length"]) > 0
    assert [row["split"] for row in read_result_table("parses")] == ["Train", "Development", "one"]
    assert [row["sentences"] for row in read_result_table("parses")] == ["120", "20", "20"]
    (en, de) = read_result_table("vocabulary")
    assert int(en["original"]) > int(en["generalised"]) and int(de["original"]) > int(de["bpe"])
    assert [row["threshold"] for row in read_result_table("attention")] == ["0.2", "0.4", "0.6", "0.8"]
    assert (
        (shared_project.folder / "results/figures/trees/picture.2.svg").read_text(encoding="utf-8").startswith("<?xml")
    )
    counts = json.loads((shared_project.folder / "results/corpus/generalised/3/train.source.json").read_text())
    assert counts["in"] == counts["kept"] == 120 and counts["noted"]["sentence generalised"] > 0


def test_every_job_gets_all_inputs_and_outputs_of_its_rule(fresh_project):
    """The runner compares inputs with their records, and writes records of outputs."""
    result = fresh_project.run_snakemake("--dry-run", "--printshellcmds", "all")
    output = result.stdout + result.stderr
    jobs = re.findall(r"^rule (\w+):\n((?:(?!^rule ).)*?)^Shell command:\s+python -m (.*?) 2>", output, RULE_FLAGS)
    assert len({rule for rule, _, _ in jobs}) >= 40
    page_files = {}
    for rule, job_text, command in jobs:
        module, job_json = shlex.split(command)
        assert module == "pipeline_py.run"
        job = json.loads(job_json)
        parameters = inspect.signature(StageFunction(job["stage"]).function).parameters
        assert {*job["arguments"], *(name for call in job["calls"] for name in call)} <= parameters.keys()
        arguments = [argument for call in job["calls"] for argument in {**job["arguments"], **call}.items()]
        for kind in ("input", "output"):
            argument_files = {
                file
                for name, value in arguments
                if is_output_parameter(name) == (kind == "output")
                for file in find_strings(value)
            }
            match = re.search(rf"^    {kind}: (.*)$", job_text, flags=re.MULTILINE)
            files = {file for file in (match[1].split(", ") if match else []) if file.startswith("results/")}
            # Model cards come with a table, which does not read them.
            cards = {file for file in files if rule == "render_table" and file.endswith("/README.md")}
            unknown = files - argument_files - cards
            if rule == "write_page":  # whose files its manifest names; they are compared when that is read
                page_files[kind] = unknown
            else:
                assert not unknown, rule
    assert len(page_files["input"]) > 100 and not page_files["output"]


def find_strings(value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from find_strings(item)


IDENTITY_SNAKEFILE = """
import json

include: "Snakefile"

for name, wildcards in json.loads(os.environ["REQUESTS"]):
    identity = workflow.get_rule(name).params.get("identity")
    print("CONTENT", name, json.dumps(identity(wildcards)["contents"]))
"""


def read_identity_contents(
    project: ProjectCopy, config: dict, requests: list[tuple[str, dict[str, str]]]
) -> list[list[str]]:
    """Return the hashes of user files in the identity of jobs, which are given by rule and wildcards."""
    (project.folder / "identities.smk").write_text(IDENTITY_SNAKEFILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REQUESTS", json.dumps(requests))
        result = project.run_snakemake("--snakefile", "identities.smk", "--list-rules", config=config)
    assert result.returncode == 0, result.stderr
    return [json.loads(content) for content in re.findall(r"^CONTENT \w+ (.*)$", result.stdout, flags=re.MULTILINE)]


@pytest.mark.slow
def test_identities_of_jobs_contain_hashes_of_user_files(fresh_project):
    treebank = {f"{kind}{part}": f"{kind}{part}" for kind in ("", "constituency_") for part in ("train", "dev", "test")}
    models = [f"models/{file}" for file in ("resources.json", "zh-hans/pos/a.pt", "zh-hans/tokenize/a.pt")]
    given_trees = {split: {"conllu": f"{split}.conllu"} for split in ("train", "dev", "one")}
    texts = {split: {"source": f"{split}.source", "references": [f"{split}.target"]} for split in ("dev", "one")}
    files = [*treebank.values(), *models, *(f"{split}.conllu" for split in given_trees), "vectors", "gold"]
    files += [f"{split}.{side}" for split in given_trees for side in ("source", "target")]
    for file in files:
        (fresh_project.folder / file).parent.mkdir(parents=True, exist_ok=True)
        tree = "1\tx\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
        (fresh_project.folder / file).write_text(tree if file in treebank.values() else "x\n")
    (fresh_project.folder / "pairs.tsv").write_text("source\tcorrect\tcontrastive\na\tb\tc\n")
    index = {"zh": {"alias": "zh-hans"}, "zh-hans": {"pos": {"a": {}}, "packages": {"default": {"pos": "a"}}}}
    (fresh_project.folder / models[0]).write_text(json.dumps(index))
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
            "bank": {"type": "trained", "treebank": treebank, "vectors": "vectors"},
            "local": {"type": "stanza", "directory": "models", "test": "gold"},
            "mine": {"type": "given", "trees": given_trees},
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
    requests = [(rule, wildcards) for rule, wildcards, _ in expected]
    contents_before = read_identity_contents(fresh_project, config, requests)
    assert [len(content) for content in contents_before] == [len(files) for _, _, files in expected]
    for file in files:
        (fresh_project.folder / file).write_text((fresh_project.folder / file).read_text() + "\n")
    (fresh_project.folder / "pairs.tsv").write_text("source\tcorrect\tcontrastive\na\tb\td\n")
    for content, content_after in zip(
        contents_before, read_identity_contents(fresh_project, config, requests), strict=True
    ):
        assert not {*content} & {*content_after}

    config["corpora"]["source"] = {**chinese, "stanza_directory": "models"}
    (words,) = read_identity_contents(fresh_project, config, [("tokenize", {"split": "dev", "side": "source"})])
    assert len(words) == len([models[0], models[2]])
