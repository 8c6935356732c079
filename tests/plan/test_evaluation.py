"""Plan of scores, comparisons and breakdowns."""

MEASURES = {
    "type": "measures",
    "title": "T",
    "systems": ["SDAtt", "GlobalAtt"],
    "columns": ["ribes"],
    "sets": ["tests"],
}

REFERENCES = "<results>/corpus/clean/{}.target"
"""Path of the references of a set."""


def test_unknown_words_are_replaced_if_there_is_an_alignment(build_plan):
    subwords = {"numbers": {"scheme": "bpe", "generalise": 2}}
    systems = {"N": {"subword": "numbers"}, "U": {"decoding": {"replace_unknown": True}}}
    systems["T"] = {**systems["N"], "auxiliary_task": "parsing"}
    evaluation = build_plan(subwords=subwords, systems=systems).evaluation
    assert (
        set(evaluation.get_translation_path_patterns("GlobalAtt"))
        == set(evaluation.get_translation_path_patterns("PBSMT"))
        == {"pieces"}
    )
    assert evaluation.get_translation_path_patterns("PBSMT")["pieces"] == "<results>/smt/PBSMT/{run}/{split}.pieces"
    assert set(evaluation.get_translation_path_patterns("U")) == {"pieces", "alignment", "source_pieces"}
    assert set(evaluation.get_translation_path_patterns("N")) == {
        "pieces",
        "alignment",
        "source_pieces",
        "source_tokens",
    }
    settings = {
        system: evaluation.build_postprocess_job(system, "seed1").settings for system in ("GlobalAtt", "N", "T", "U")
    }
    assert {
        system: [name for name in ("replace_unknown", "restore_placeholders", "tagged") if of_system[name]]
        for system, of_system in settings.items()
    } == {
        "GlobalAtt": [],
        "N": ["restore_placeholders"],
        "T": ["restore_placeholders", "tagged"],
        "U": ["replace_unknown"],
    }
    assert [settings[system]["joiner"] for system in ("N", "U")] == ["bpe", "none"]
    assert evaluation.has_subword_pieces("N") and not evaluation.has_subword_pieces("U")


def test_one_job_postprocesses_all_sets(build_plan):
    evaluation = build_plan().evaluation
    sets = [*evaluation.experiment.corpora.held_out_sets]
    assert len(sets) > 1
    job = evaluation.build_postprocess_job("PBSMT", "single")
    assert job.files_by_set == {split: {"pieces": f"<results>/smt/PBSMT/single/{split}.pieces"} for split in sets}
    assert job.rule_inputs == {"pieces": [f"<results>/smt/PBSMT/single/{split}.pieces" for split in sets]}


def test_outputs_of_all_runs_follow_the_given_order(build_plan):
    evaluation = build_plan(training={"seeds": [1, 2]}, tables={"mine": MEASURES}).evaluation
    outputs = evaluation.get_output_paths("mine", "dev", ["GlobalAtt", "SDAtt"])
    assert {system: [*runs] for system, runs in outputs.items()} == {
        "GlobalAtt": ["seed1", "seed2"],
        "SDAtt": ["seed1", "seed2"],
    }
    assert [*outputs] == ["GlobalAtt", "SDAtt"]
    breakdown = evaluation.build_score_sentence_groups_job("mine", "tests")
    assert [*breakdown.files["statistics"]] == [*breakdown.files["properties"]] == ["mixed", "long", "particles"]
    file = "<results>/evaluation/SDAtt/seed2/{}.statistics.arrow"
    assert breakdown.files["statistics"]["long"]["SDAtt"]["seed2"] == file.format("long")
    assert evaluation.build_compare_systems_job("mine", "dev").files["statistics"]["SDAtt"]["seed2"] == file.format(
        "dev"
    )
    assert evaluation.get_first_run_paths("mine", "dev")["SDAtt"] == "<results>/evaluation/SDAtt/seed1/dev.txt"
    examples = evaluation.build_select_example_sentences_job("mine", "dev").files
    assert [*examples["outputs"]] == [*examples["statistics"]] == ["SDAtt", "GlobalAtt"]


def test_a_table_may_have_separate_seeds(build_plan):
    tables = {"mine": MEASURES, "again": {**MEASURES, "seeds": [3, 1]}}
    plan = build_plan(tables=tables, targets=["mine", "again"])
    runs = {table: [run for system, run, _ in plan.evaluation.get_statistics_paths(table, "dev")] for table in tables}
    assert runs == {"mine": ["seed1"] * 2, "again": ["seed3", "seed1"] * 2}
    assert plan.evaluation.get_first_run_paths("again", "dev")["SDAtt"] == "<results>/evaluation/SDAtt/seed3/dev.txt"
    assert [*plan.report.get_facts_paths("again")][:2] == [("SDAtt", "seed3"), ("SDAtt", "seed1")]
    assert plan.nmt.experiment.get_seeds() == [1, 3]
    assert plan.nmt.build_train_job("SDAtt", "seed1").execution_settings["name"] == "SDAtt (seed1)"
    assert {run for _, run, _ in plan.claims.get_statistics_paths("all")} == {"seed1", "seed3"}
    curves = {name for name in plan.page.get_page_files()["curve"] if name.startswith("SDAtt:")}
    assert curves == {"SDAtt:seed1", "SDAtt:seed3"}


def test_systems_of_score_tables_are_compared_on_their_sets(build_plan):
    marked = {**MEASURES, "marks": [{"symbol": "+", "rows": ["SDAtt"], "against": ["GlobalAtt"]}]}
    evaluation = build_plan(tables={"mine": MEASURES, "marked": marked}).evaluation
    assert evaluation.get_compared_sets("table1") == ["dev", "mixed", "long", "particles"]
    assert evaluation.get_compared_sets("mine") == ["mixed", "long", "particles"]
    assert evaluation.get_compared_sets("tree2seq/table1_2") == []
    assert (evaluation.get_tested_metrics("mine"), evaluation.get_tested_metrics("marked")) == (
        ["bleu"],
        ["bleu", "ribes"],
    )
    extended_plan = build_plan(tables={"mine": MEASURES}, evaluation={"metrics": ["bleu", "ter"]}).evaluation
    assert extended_plan.get_tested_metrics("mine") == ["bleu", "ter"]
    assert extended_plan.computed_metrics == [
        "bleu",
        "ter",
        "ribes",
    ]
    assert evaluation.get_systems_baseline_first("mine", "dev") == ["SDAtt", "GlobalAtt"]
    assert evaluation.get_systems_baseline_first("controls", "tests")[0] == "GlobalAtt"


def test_sentences_are_grouped_by_parsed_trees(build_plan):
    only = {"title": "T", "systems": ["GlobalAtt", "SDAtt [random]"], "baseline": "GlobalAtt"}
    evaluation = build_plan(tables={"only": only}, targets=["only"]).evaluation
    assert evaluation.get_properties_path("only", "dev") == "<results>/evaluation/source/dev.words.arrow"
    assert [*evaluation.build_measure_source_properties_job("dev", "words").files] == ["source"]
    attention_plan = build_plan(tables={"only": only}).evaluation
    assert attention_plan.get_properties_path("only", "dev") == "<results>/evaluation/source/dev.embedded.conllu.arrow"
    files = attention_plan.build_measure_source_properties_job("dev", "embedded.conllu").files
    assert {**files} == {"source": files["source"], "dependencies": "<results>/syntax/embedded/dev.conllu"}
    assert "phrases" in attention_plan.build_measure_source_properties_job("dev", "embedded.ptb").files


def test_a_table_may_score_only_parsed_sentences(build_plan):
    evaluation = build_plan(tables={"mine": {**MEASURES, "parsed_by": "embedded"}}).evaluation
    assert evaluation.get_parsed_sentences_file("mine", "dev") == {
        "sentence_properties": "<results>/evaluation/source/dev.embedded.ptb.arrow"
    }
    assert evaluation.get_parsed_sentences_file("table1", "dev") == {}


def test_contrastive_scores_are_from_networks_of_the_table(build_plan, tmp_path):
    (tmp_path / "g.tsv").write_text("source\tcorrect\tcontrastive\na\tb\tc\n")
    over = {"corpora": {"contrast": [{"name": "gender", "file": "g.tsv"}]}, "data": str(tmp_path), "targets": ["mine"]}
    mine = {**MEASURES, "systems": ["PBSMT", "GlobalAtt"], "columns": ["contrast"]}
    tables = {"mine": mine, "phrases": {**mine, "systems": ["PBSMT"]}, "plain": MEASURES}
    evaluation = build_plan(**over, tables=tables, training={"seeds": [1, 2]}).evaluation
    assert evaluation.get_contrastive_sets("mine") == ["gender"]
    assert evaluation.get_contrastive_sets("phrases") == evaluation.get_contrastive_sets("plain") == []
    assert evaluation.get_contrast_score_paths("mine", "gender") == {
        side: {"GlobalAtt": {run: f"<results>/nmt/GlobalAtt/{run}/gender.{side}.tsv" for run in ("seed1", "seed2")}}
        for side in ("correct", "contrastive")
    }


def test_ceilings_use_the_settings_of_scoring(build_plan):
    target = {"language": "deu", "tokenizer": "moses", "case": "true"}
    evaluation = build_plan(corpora={"target": target}, evaluation={"lowercase": False}).evaluation
    job = evaluation.build_compute_bleu_ceiling_job()
    assert job.files["tokens"]["mixed"] == "<results>/corpus/truecased/mixed.target"
    assert job.files["references"]["mixed"] == ["<results>/corpus/clean/mixed.target"]
    assert [*job.files["tokens"]] == [*job.files["references"]] == ["dev", "mixed", "long", "particles"]
    assert job.settings == {
        "language": "de",
        "detokenizer": "moses",
        "truecased": True,
        "tokenizer": "13a",
        "lowercase": False,
        "causes": {
            "corpora.target.language": "de",
            "corpora.target.tokenizer": "moses",
            "corpora.target.case": "true",
            "evaluation.detokenizer": "moses",
            "evaluation.tokenizer": "13a",
        },
    }


def test_tables_of_scores_read_the_ceilings(build_plan):
    report = build_plan(tables={"mine": MEASURES, "trained": {**MEASURES, "columns": ["parameters"]}}).report
    ceilings = {"": "<results>/evaluation/ceiling.tsv"}
    assert [report.get_table_files(table)["ceiling"] for table in ("table1", "mine", "trained")] == [
        ceilings,
        ceilings,
        {},
    ]
    assert [report.get_facts_files(table)["ceiling"] for table in ("table1", "trained")] == [ceilings, {}]


def test_outputs_of_all_requested_tables_are_exported(build_plan, tmp_path):
    (tmp_path / "news.en").write_text("a\n")
    corpora = {"tests": [{"name": "one", "generate": {"sentences": 20}}, {"name": "news", "source": "news.en"}]}
    bleu_table = {"title": "T", "systems": ["GlobalAtt", "PBSMT"], "baseline": "PBSMT"}
    tables = {
        "mine": {**bleu_table, "seeds": [1, 2]},
        "again": {**MEASURES, "seeds": [3]},
        "crossed": {**MEASURES, "systems": ["SDAtt [random]"], "seeds": [3]},
        "facts": {**MEASURES, "systems": ["FlexAtt"], "columns": ["parameters"]},
        "unused": {**bleu_table, "systems": ["LocalAtt", "PBSMT"]},
    }
    targets = ["mine", "again", "crossed", "facts"]
    overrides = {"corpora": corpora, "data": str(tmp_path), "tables": tables, "targets": targets}
    job = build_plan(**overrides).evaluation.build_export_job()
    runs = {
        split: {system: [*runs] for system, runs in systems.items()}
        for split, systems in job.files["translations"].items()
    }
    mine = {"GlobalAtt": ["seed1", "seed2"], "PBSMT": ["single"]}
    assert runs == {
        "dev": mine,
        "one": {
            "GlobalAtt": ["seed1", "seed2", "seed3"],
            "PBSMT": ["single"],
            "SDAtt": ["seed3"],
            "SDAtt@random": ["seed3"],
        },
        "news": mine,
    }
    assert job.files["scores"]["one"]["SDAtt"] == {
        "seed3": {metric: f"<results>/evaluation/SDAtt/seed3/one.{metric}.json" for metric in ("bleu", "ribes")}
    }
    assert [*job.files["scores"]] == ["dev", "one"]
    assert job.files["references"] == {"dev": [REFERENCES.format("dev")], "one": [REFERENCES.format("one")], "news": []}
    assert job.files["sources"]["news"] == "<results>/corpus/clean/news.source"
    assert job.settings == {"source_language": "en", "target_language": "de"}
