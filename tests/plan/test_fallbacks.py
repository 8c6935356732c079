"""Plan of fallbacks: versions of trees, their jobs and rules, and the jobs of parsers without one."""

import re

import pytest

from pipeline_py.plan.text_jobs import TextJobFinder
from pipeline_py.run.errors import InputError

SPARE = {"type": "trained", "treebank": {"generate": 70}, "max_words": 300, "batch_size": 8}
CHAIN = {"embedded": {"fallback": "spare"}, "spare": {**SPARE, "fallback": "right-branching"}}
SYNTAX = "<results>/syntax"


def get_files(job) -> dict[str, str]:
    return {name: path.removeprefix(f"{SYNTAX}/") for name, path in job.files.items()}


def test_failed_sentences_alone_are_parsed_by_a_model(build_plan):
    fallbacks = build_plan(parsers=CHAIN, corpora={"source": {"tokenizer": "moses"}}).fallbacks
    assert fallbacks.get_tree_versions("embedded") == [
        "embedded.before.spare",
        "embedded.before.right-branching",
        "embedded",
    ]
    selection = fallbacks.build_select_failed_sentences_job("embedded.before.spare", "dev", "ptb")
    assert selection.files == {
        "trees": f"{SYNTAX}/embedded.before.spare/dev.ptb",
        "tokens": "<results>/corpus/tokenized/dev.source",
        "text": "<results>/corpus/clean/dev.source",
    }
    assert selection.settings == {"annotation": "constituency"}
    parsing = fallbacks.build_parse_failed_sentences_job("embedded.before.spare", "dev", "ptb")
    assert get_files(parsing) == {
        "tokens": "embedded.before.spare/failed/dev.ptb.tokens",
        "text": "embedded.before.spare/failed/dev.ptb.text",
        "tagger": "spare/model/tagger.pt",
        "constituency": "spare/model/constituency.pt",
        "pretrain": "spare/model/constituency.pretrain.pt",
    }
    assert (parsing.settings["max_words"], parsing.settings["batch_size"]) == (300, 8) and parsing.is_cached
    first = fallbacks.build_replace_failed_trees_job("embedded.before.right-branching", "dev", "ptb")
    assert get_files(first) == {
        "trees": "embedded.before.spare/dev.ptb",
        "counts": "embedded.before.spare/dev.ptb.json",
        "facts": "embedded.before.spare/dev.ptb.facts.json",
        "fallback_trees": "embedded.before.spare/failed/dev.ptb",
        "fallback_counts": "embedded.before.spare/failed/dev.ptb.json",
        "fallback_facts": "embedded.before.spare/failed/dev.ptb.facts.json",
    }
    assert first.settings == {"annotation": "constituency", "parser": "embedded", "fallback": "spare"}


def test_control_trees_are_those_of_the_text(build_plan):
    fallbacks = build_plan(parsers=CHAIN).fallbacks
    last = fallbacks.build_replace_failed_trees_job("embedded", "dev", "conllu")
    assert get_files(last) == {
        "trees": "embedded.before.right-branching/dev.conllu",
        "counts": "embedded.before.right-branching/dev.conllu.json",
        "facts": "embedded.before.right-branching/dev.conllu.facts.json",
        "fallback_trees": "right-branching/dev.conllu",
        "fallback_facts": "right-branching/dev.conllu.facts.json",
    }
    assert last.settings == {"annotation": "dependency", "parser": "embedded", "fallback": "right-branching"}


def test_trees_in_files_may_have_and_be_a_fallback(build_plan):
    parsers = {"gold": {"fallback": "mine"}, "mine": {"type": "given", "fallback": "random"}}
    plan = build_plan(parsers=parsers)
    files = get_files(plan.fallbacks.build_replace_failed_trees_job("gold.before.random", "dev", "ptb"))
    assert files["trees"] == "gold.before.mine/dev.ptb"
    assert files["fallback_trees"] == "mine.before.random/dev.ptb", "its own trees, so that each parser is counted"
    job, own_job = (plan.syntax.build_import_trees_job(name, "dev", "ptb") for name in ("gold.before.mine", "gold"))
    assert job == own_job


def test_a_parser_makes_its_own_trees_as_without_a_fallback(build_plan):
    """Shards stay where they are, so that a fallback does not parse them again."""
    options = {"parsing": {"shard_size": 1300}}
    completed, plain = (build_plan(**options, parsers=parsers).syntax for parsers in (CHAIN, {}))
    assert completed.build_merge_trees_job("embedded.before.spare", "dev", "ptb") == plain.build_merge_trees_job(
        "embedded", "dev", "ptb"
    )
    shard = ("embedded", "dev", "0001", "ptb")
    assert completed.build_parse_shard_job(*shard) == plain.build_parse_shard_job(*shard)
    assert completed.build_parse_job("embedded.before.spare", "dev", "ptb") == plain.build_parse_job(
        "embedded", "dev", "ptb"
    )


def test_each_version_has_one_rule(build_plan):
    fallbacks = build_plan(parsers=CHAIN).fallbacks
    versions = [version for parser in ("embedded", "spare") for version in fallbacks.get_tree_versions(parser)]
    assert len(versions) == 5
    patterns = {
        "parsed": fallbacks.own_tree_pattern("trained", "stanza"),
        "replaced": fallbacks.replaced_tree_pattern(),
        "parsed again": fallbacks.failed_tree_pattern(),
    }
    matches = {name: [text for text in versions if re.fullmatch(pattern, text)] for name, pattern in patterns.items()}
    assert matches == {
        "parsed": ["embedded.before.spare", "spare.before.right-branching"],
        "replaced": ["embedded.before.right-branching", "embedded", "spare"],
        "parsed again": ["embedded.before.spare"],
    }


def test_without_a_fallback_jobs_and_identities_are_the_same(build_plan):
    """A fallback of another parser changes nothing, nor does the key `fallback` with its default."""
    plans = [build_plan(parsers=parsers) for parsers in ({}, {"embedded": {"fallback": None}, "spare": CHAIN["spare"]})]
    plain = plans[0]
    types = ("trained", "stanza")
    assert plain.fallbacks.own_tree_pattern(*types) == plain.parsers.parser_name_pattern(*types) == "embedded"
    assert plain.fallbacks.own_tree_pattern("given") == plain.parsers.parser_name_pattern("given")
    assert plain.fallbacks.replaced_tree_pattern() == plain.fallbacks.failed_tree_pattern() == "(?!)"
    text = {"split": "dev", "trees": "ptb"}
    wildcards = {
        "syntax.parse": {"parser": "embedded", **text},
        "syntax.parse_shard": {"parser": "embedded", "shard": "0000", **text},
        "syntax.merge_trees": {"parser": "embedded", **text},
        "syntax.import_trees": {"parser": "gold", **text},
        "syntax.build_control_trees": {"parser": "random", **text},
        "syntax.parse_held_out_trees": {"parser": "embedded", "trees": "ptb"},
        "syntax.binarize": {"parser": "embedded", "split": "dev"},
        "syntax.compute_distances": {"parser": "embedded", "split": "dev"},
        "syntax.write_parser_report": {"parser": "embedded"},
        "parsers.train_parser": {"parser": "embedded", "processor": "tagger"},
        "nmt.train": {"system": "SDAtt", "run": "seed1"},
        "bundles.bundle_system": {"package": "nmt", "system": "SDAtt", "run": "seed1"},
        "report.render_table": {"table": "tree2seq/table1_2"},
        "report.facts_table": {"table": "table1"},
    }
    for name, values in wildcards.items():
        jobs = [plan.build_job(name, values) for plan in plans]
        identities = [plan.compute_identity(job) for plan, job in zip(plans, jobs, strict=True)]
        assert identities[0] == identities[1], name
        assert jobs[0].rule_inputs == jobs[1].rule_inputs and ".before." not in str(jobs[0]), name


def test_a_fallback_must_suit_the_text(build_plan, tmp_path):
    (tmp_path / "d.en").write_text("a\n")
    dev = {"name": "dev", "source": str(tmp_path / "d.en"), "references": ["d.de"]}
    parsers = {"foreign": {"type": "stanza", "fallback": "embedded"}, "embedded": {"max_words": 100}}
    fallbacks = build_plan(corpora={"dev": dev}, parsers=parsers).fallbacks
    assert fallbacks.experiment.generator_only_parser_errors == {}, "named as a fallback"
    parsers = {"embedded": {"fallback": "foreign"}, "foreign": {"type": "stanza", "language": "de"}}
    with pytest.raises(InputError, match=r"name another parser in `parsers.embedded.fallback` \(docs"):
        build_plan(parsers=parsers)


def test_a_new_text_is_parsed_by_the_fallback_too(build_plan):
    plan = build_plan(parsers=CHAIN)
    jobs, files = TextJobFinder(plan, "dev").resolve_jobs(["<results>/evaluation/SDAtt/seed1/dev.txt"])
    names = [job.job_name for job in jobs]
    assert [name for name in names if name.startswith(("fallbacks", "syntax"))] == [
        "syntax.parse",
        "fallbacks.select_failed_sentences",
        "fallbacks.parse_failed_sentences",
        "fallbacks.replace_failed_trees",
        "syntax.build_control_trees",
        "fallbacks.replace_failed_trees",
        "syntax.compute_distances",
    ]
    assert {f"{SYNTAX}/{parser}/model/depparse.pt" for parser in ("embedded", "spare")} <= {*files}
    config = plan.bundles.build_portable_config("SDAtt", "seed1", "dev")
    assert [*config["parsers"]] == ["embedded", "right-branching", "spare"]


def test_tables_and_names_show_fallbacks(build_plan):
    plan = build_plan(parsers=CHAIN)
    files = plan.report.get_table_files("tree2seq/table1_2")
    assert files["counts"]["dev"] == f"{SYNTAX}/embedded/dev.ptb.json"
    description = plan.report.build_table_description("tree2seq/table1_2")
    assert description["parser_chain"] == ["embedded", "spare", "right-branching"]
    settings = plan.report.build_facts_description("table1")["settings"]
    assert settings["fallback_parser"] == dict.fromkeys(["SDAtt", "SDRNMT-1"], "spare, right-branching")
    assert "<results>/syntax/spare/report.tsv" not in plan.syntax.get_parser_report_paths()


def test_heads_need_dependency_trees_of_the_fallback(build_plan):
    phrases = {split: {"ptb": f"{split}.ptb"} for split in ("train", "dev", "test")}
    text = {"name": "dev", "source": "d.zh", "references": ["d.en"]}
    corpora = {
        "source": {"language": "zh", "tokenizer": "none"},
        "target": {"language": "en"},
        "train": {"source": "t.zh", "target": "t.en"},
        "dev": text,
        "tests": [{**text, "name": "test"}],
    }
    parsers = {"main": {"type": "stanza", "fallback": "pcfg"}, "pcfg": {"type": "given", "trees": phrases}}
    table = {"type": "parses", "title": "T", "parser": "main"}
    options = {"corpora": corpora, "parser": "main", "tables": {"t": table}, "targets": ["t"]}
    assert build_plan(parsers=parsers, **options).syntax.resolve_head_source("main").is_dependency_based is False
    parsers = {"main": {"type": "stanza", "fallback": "right-branching"}}
    assert build_plan(parsers=parsers, **options).syntax.resolve_head_source("main").is_dependency_based
