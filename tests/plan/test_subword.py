"""Plan of units, vocabularies and packed files."""

import pytest

SIDES = ("source", "target")


def test_without_bpe_words_are_pieces(build_plan):
    subword = build_plan(subword={"scheme": "words", "generalise": None}).subword
    assert subword.get_piece_path_pattern("default", "target") == subword.corpus.get_token_path_pattern("target")
    assert subword.get_syntax_path_pattern("default", "trees") == "<results>/syntax/{parser}/{split}.binary.ptb"
    assert subword.get_syntax_path_pattern("default", "units") == "<results>/syntax/{parser}/{split}.units.arrow"


def test_pieces_have_separate_syntax_files(build_plan):
    subword = build_plan(subword={"scheme": "bpe", "joint": True, "generalise": 3}).subword
    assert subword.get_word_path_pattern("default", "source") == "<results>/corpus/generalised/3/{split}.source"
    assert subword.get_piece_path_pattern("default", "source") == "<results>/subword/default/pieces/{split}.source"
    assert subword.get_syntax_path_pattern("default", "labels") == "<results>/subword/default/{parser}/{split}.labels"
    assert subword.get_codes_path("default", "source") == subword.get_codes_path("default", "target")
    assert subword.get_codes_path("default", "source") == "<results>/subword/default/codes.joint"


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("distances", "<results>/syntax/embedded/dev.distances.arrow"),
        ("labels", "<results>/subword/default/packed/embedded/dev.labels.arrow"),
        ("heads", "<results>/subword/default/packed/embedded/dev.heads.arrow"),
        ("lexical_trees", "<results>/subword/default/packed/dev.lexical_trees.arrow"),
    ],
)
def test_a_network_reads_its_own_parsers_syntax(build_plan, kind, file):
    assert build_plan().subword.get_network_syntax_paths("SDAtt", "dev", [kind]) == [file]


def test_label_vocabularies_depend_on_parser_and_like(build_plan):
    folder = "<results>/subword/default"
    crossed = "Sennrich-deponly [random]"
    plan = build_plan(systems={"Like": {"like": crossed, "encoders": ["lstm"], "scores": ["dot"], "decoder": "lstm"}})
    assert plan.subword.get_syntax_vocabulary_paths(crossed) == {"labels": f"{folder}/vocabulary.labels.random"}
    assert plan.subword.get_syntax_vocabulary_paths("Like") == plan.subword.get_syntax_vocabulary_paths(crossed)
    assert plan.subword.get_syntax_vocabulary_paths("SDRNMT-1") == {"units": f"{folder}/vocabulary.units"}


def test_both_sides_share_a_joint_vocabulary(build_plan):
    plan = build_plan(subword={"joint_vocabulary": {"max_size": 0}})
    shared = "<results>/subword/default/vocabulary.joint"
    assert (
        plan.subword.get_vocabulary_path("default", "source")
        == plan.subword.get_vocabulary_path("default", "target")
        == shared
    )
    inputs = plan.nmt.build_train_job("GlobalAtt", "seed1").files
    assert inputs["source_vocabulary"] == inputs["target_vocabulary"] == shared
    assert plan.nmt.build_translate_job("GlobalAtt", "seed1").files["target_vocabulary"] == shared
    assert (
        build_plan().subword.get_vocabulary_path("default", "target") == "<results>/subword/default/vocabulary.target"
    )


def test_auxiliary_tasks_have_separate_units(build_plan):
    systems = {
        "Task": {"auxiliary_task": "parsing"},
        "Other": {"auxiliary_task": "parsing", "parser": "random"},
    }
    plan = build_plan(systems=systems)
    units = "default.parsing.embedded"
    assert plan.nmt.experiment.get_subword_name("Task") == units
    assert plan.nmt.experiment.get_subword_name("Other") == "default.parsing.random"
    assert plan.nmt.experiment.get_subword_name("GlobalAtt") == "default"
    assert plan.subword.get_piece_path_pattern(units, "source") == f"<results>/subword/{units}/tagged/{{split}}.source"
    assert plan.subword.get_base_subword_name(units) == plan.subword.get_base_subword_name("default") == "default"
    trained = plan.nmt.build_train_job("Task", "seed1").files["train_source"]
    assert trained == f"<results>/subword/{units}/packed/train.source.arrow"
    translated = plan.nmt.build_translate_job("Task", "seed1").files_by_set["dev"]["source"]
    assert translated == [f"<results>/subword/{units}/packed/dev.source.arrow"]


def test_jobs_read_the_files_of_their_wildcards(build_plan):
    subword = build_plan(subword={"scheme": "bpe", "merges": 50, "joint": True, "generalise": 3}).subword
    folder, words = "<results>/subword/default", "<results>/corpus/generalised/3"
    learn = subword.build_learn_bpe_job("default", "joint")
    assert learn.files == {"input": [f"{words}/train.source", f"{words}/train.target"]}
    assert learn.settings == {"merges": 50, "min_frequency": 2}
    assert subword.build_learn_bpe_job("default", "target").files == {"input": [f"{words}/train.target"]}
    assert subword.build_apply_bpe_job("default", "dev", "target1").files == {
        "input": f"{words}/dev.target1",
        "codes": f"{folder}/codes.joint",
    }
    assert subword.build_pack_job("default", "dev", "target").files == {
        "input": f"{folder}/pieces/dev.target",
        "vocabulary": f"{folder}/vocabulary.target",
    }
    assert subword.build_pack_lexical_trees_job("default", "dev").files == {"pieces": f"{folder}/pieces/dev.source"}


def test_syntax_is_inherited_by_its_kind(build_plan):
    job = build_plan(subword={"scheme": "bpe"}).subword.build_inherit_job("default", "embedded", "dev", "binary.ptb")
    assert job.files == {
        "input": "<results>/syntax/embedded/dev.binary.ptb",
        "pieces": "<results>/subword/default/pieces/dev.source",
    }
    assert job.settings == {"kind": "trees"} and job.modules == ["kinds.trees"]


def test_vocabularies_have_the_cut_offs_of_their_tokens(build_plan):
    options = {"source_vocabulary": {"max_size": 90}, "unit_vocabulary": {"max_size": 70, "min_count": 2}}
    subword = build_plan(subword=options).subword
    assert subword.build_make_vocabulary_job("default", "source").settings == {"max_size": 90, "min_count": 1}
    units = subword.build_vocabulary_of_units_job("default")
    labels = subword.build_vocabulary_of_labels_job("default", "embedded")
    assert units.settings == {"max_size": 70, "min_count": 2} and labels.settings == {"max_size": 0, "min_count": 1}
    assert units.files == {"input": [subword.corpus.get_token_path_pattern("source").format(split="train")]}
    assert labels.files == {"input": ["<results>/syntax/embedded/train.labels"]}
    joint = build_plan(subword={"joint_vocabulary": {"max_size": 0}}).subword.build_make_vocabulary_job(
        "default", "joint"
    )
    assert joint.files == {
        "input": [subword.get_piece_path_pattern("default", side).format(split="train") for side in SIDES]
    }


def test_heads_and_parents_differ_in_one_setting(build_plan):
    subword = build_plan().subword
    heads, parents = (
        make("default", "embedded", "dev") for make in (subword.build_pack_heads_job, subword.build_pack_parents_job)
    )
    assert heads.files == parents.files and heads.files["trees"] == "<results>/syntax/embedded/dev.conllu"
    assert heads.settings == {} and parents.settings == {"parents": True}


def test_text_with_an_auxiliary_task_is_built_from_base_pieces(build_plan):
    subword = build_plan(systems={"Task": {"auxiliary_task": "parsing"}}).subword
    units = "default.parsing.embedded"
    assert subword.build_parsing_task_job(units).files == {
        **{side: subword.get_piece_path_pattern("default", side).format(split="train") for side in SIDES},
        "trees": "<results>/syntax/embedded/train.ptb",
    }
    for side, is_source in (("source", True), ("target1", False)):
        job = subword.build_tag_held_out_text_job(units, "dev", side)
        assert job.files == {"pieces": subword.get_piece_path_pattern("default", side).format(split="dev")}
        assert job.settings == {"is_source": is_source}
