"""Plan of parsing: shards, words, models, heads and comparisons of parsers."""

import json

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job
from pipeline_py.syntax.trees import shared_words


def create_indexed_directory(folder, tokenizer: bool = False):
    folder.mkdir()
    packages = {"pos": "a", **({"tokenize": "a"} if tokenizer else {})}
    index = {"en": {name: {"a": {}} for name in packages} | {"packages": {"default": packages}}}
    (folder / "resources.json").write_text(json.dumps(index))
    for name in packages:
        (folder / "en" / name).mkdir(parents=True)
        (folder / "en" / name / "a.pt").touch()
    return str(folder)


def test_texts_are_split_into_shards_if_they_are_parsed(build_plan):
    assert build_plan().syntax.shard_counts == dict.fromkeys(["train", "dev", "mixed", "long", "particles"], 1)
    syntax = build_plan(parsing={"shard_size": 1300}).syntax  # words: 150 sentences
    assert syntax.shard_counts == {"train": 67, "dev": 2, "mixed": 4, "long": 2, "particles": 3}
    merging = syntax.build_merge_trees_job("embedded", "dev", "ptb")
    parts = [f"<results>/syntax/embedded/shards/dev/{number}.ptb" for number in ("0000", "0001")]
    assert merging.files["parts"] == parts
    assert merging.files["counts"] == [f"{part}.json" for part in parts]
    assert merging.files["facts"] == [f"{part}.facts.json" for part in parts]
    assert merging.settings == {"annotation": "constituency"}
    shard = syntax.build_parse_shard_job("embedded", "dev", "0001", "ptb")
    complete_job = syntax.build_parse_job("embedded", "dev", "ptb")
    assert shard.files == complete_job.files
    assert shard.settings == {
        **complete_job.settings,
        "first": 150,
        "sentences": 150,
    }


def test_a_parser_reads_the_words_of_its_tokenizer_if_it_has_one(build_plan, tmp_path):
    parsers = {
        "with": {"type": "stanza", "directory": create_indexed_directory(tmp_path / "with", tokenizer=True)},
        "without": {"type": "stanza", "directory": create_indexed_directory(tmp_path / "without")},
        "downloaded": {"type": "stanza"},
    }
    syntax = build_plan(parsers=parsers, corpora={"source": {"tokenizer": "moses"}}).syntax
    assert [syntax.resolve_parser_words(parser) for parser in parsers] == ["stanza", "english", "stanza"]
    text = "<results>/corpus/clean/dev.source"

    def job(parser: str) -> Job:
        return syntax.build_parse_job(parser, "dev", "conllu")

    models = [f"{tmp_path}/with/resources.json", f"{tmp_path}/with/en/pos/a.pt"]
    tokens = "<results>/corpus/tokenized/dev.source"
    tokenizer = f"{tmp_path}/with/en/tokenize/a.pt"
    assert job("with").files == {"tokens": tokens, "text": text, "directory_files": [*models, tokenizer]}
    assert job("downloaded").files == {"tokens": tokens, "text": text, "directory_files": []}
    assert job("without").files["text"] == text
    assert [job(parser).settings["words"] for parser in parsers] == ["stanza", "english", "stanza"]
    normalized = build_plan(
        parsers=parsers, corpora={"source": {"tokenizer": "moses", "punctuation": "normalize"}}
    ).syntax
    assert normalized.build_parse_job("without", "dev", "conllu").files["text"] == text.replace("clean", "normalized")
    held_out = syntax.build_parse_held_out_trees_job("with", "conllu")
    assert held_out.files == {"tokens": "<results>/syntax/with/accuracy/conllu.tokens", "directory_files": models}
    assert "words" not in held_out.settings


FRENCH = {
    "source": {"language": "fr", "tokenizer": "moses"},
    "train": {"source": "x", "target": "y"},
    "dev": {"name": "dev", "source": "x", "references": ["y"]},
    "tests": [{"name": "one", "source": "x", "references": ["y"]}],
}


def test_a_trained_parser_reads_the_words_of_its_treebank(build_plan, tmp_path):
    (tmp_path / "x").write_text("a\n")
    bank = {part: f"{part}.conllu" for part in ("train", "dev", "test")}
    options = {
        "parsers": {"mine": {"type": "trained", "treebank": bank}},
        "parser": "mine",
        "targets": ["table1"],
        "data": str(tmp_path),
    }
    plan = build_plan(corpora=FRENCH, **options)
    model = "<results>/syntax/mine/model"
    for job in (plan.syntax.build_parse_job("mine", "dev", "conllu"), plan.syntax.build_parse_raw_text_job("mine")):
        assert {name: file for name, file in job.files.items() if name != "tokens"} == {
            "tagger": f"{model}/tagger.pt",
            "depparse": f"{model}/depparse.pt",
            "pretrain": f"{model}/depparse.pretrain.pt",
            "word_table": f"{model}/words.tsv",
        }
        assert "words" not in job.settings
    measuring = plan.parsers.build_measure_accuracy_job("mine", "conllu")
    assert measuring.files == {
        "gold": f"{tmp_path}/test.conllu",
        "predicted": "<results>/syntax/mine/accuracy/test.conllu",
        "raw_text": "<results>/syntax/mine/accuracy/raw.conllu",
    }
    assert measuring.settings == {"annotation": "dependency", "language": "fr", "lowercase": False}
    assert plan.parsers.build_original_text_of_treebank_job("mine", "train").settings == {
        "annotation": "dependency",
        "form": "original",
        "language": "fr",
    }


def test_a_trained_parser_may_read_the_words_of_a_tokenizer_of_its_treebank(build_plan, tmp_path):
    (tmp_path / "x").write_text("a\n")
    bank = {part: f"{part}.conllu" for part in ("train", "dev", "test")}
    plan = build_plan(
        corpora=FRENCH,
        parsers={"mine": {"type": "trained", "treebank": bank, "words": "stanza"}},
        parser="mine",
        targets=["table1"],
        data=str(tmp_path),
    )
    model = "<results>/syntax/mine/model"
    words = {
        "text": "<results>/corpus/clean/dev.source",
        "segmenter": f"{model}/segmenter.pt",
        "word_table": f"{model}/words.tsv",
    }
    text, raw_text = plan.syntax.build_parse_job("mine", "dev", "conllu"), plan.syntax.build_parse_raw_text_job("mine")
    assert words.items() <= text.files.items() and text.settings["words"] == "stanza"
    treebank = "<results>/syntax/mine/treebank"
    assert raw_text.files == text.files | {"text": f"{treebank}/test.text", "tokens": f"{treebank}/test.tokens"}
    assert raw_text.settings == {**text.settings, "over_words": True}
    learning = plan.parsers.build_learn_parser_segmenter_job("mine")
    assert learning.settings == {"language": "fr", "words": True}
    assert learning.files == {f"treebank_{part}": f"{tmp_path}/{part}.conllu" for part in ("train", "dev")}


def test_tokenized_text_is_retokenized_only_on_request(build_plan):
    assert build_plan().parsers.build_measure_accuracy_job("embedded", "conllu").files["raw_text"] is None
    plan = build_plan(parsers={"embedded": {"words": "treebank"}})
    assert (
        plan.parsers.build_measure_accuracy_job("embedded", "conllu").files["raw_text"]
        == "<results>/syntax/embedded/accuracy/raw.conllu"
    )
    assert plan.parsers.build_measure_accuracy_job("embedded", "ptb").files["raw_text"] is None
    text = plan.parsers.build_original_text_of_treebank_job("embedded", "test").settings
    assert (text["form"], text["language"]) == ("tokens", "en")
    english = build_plan(corpora={"source": {"tokenizer": "moses"}}).syntax.build_parse_raw_text_job("embedded")
    assert english.files["text"] == "<results>/syntax/embedded/treebank/test.text"
    assert english.settings["words"] == "english"


def test_a_broken_folder_is_rejected_by_the_plan(build_plan, tmp_path):
    parser = {"type": "stanza", "directory": create_indexed_directory(tmp_path / "local"), "words": "stanza"}
    with pytest.raises(InputError, match="local has no tokenizer; choose auto, text or english"):
        build_plan(parsers={"local": parser})
    (tmp_path / "local" / "resources.json").write_text("{")
    with pytest.raises(InputError, match="not the index of a Stanza directory"):
        build_plan(parsers={"local": parser})


def test_model_files_are_from_training_a_folder_or_none(build_plan, tmp_path):
    parsers = {
        "local": {"type": "stanza", "directory": create_indexed_directory(tmp_path / "local")},
        "package": {"type": "stanza", "package": "gum"},
    }
    syntax = build_plan(parsers=parsers).syntax
    trained = [
        f"<results>/syntax/embedded/model/{name}.pt" for name in ("tagger", "constituency", "constituency.pretrain")
    ]
    assert syntax.get_model_files("embedded", "ptb") == trained
    names = ("tagger", "constituency", "pretrain")
    job = syntax.build_parse_job("embedded", "dev", "ptb")
    assert {name: job.files[name] for name in names} == dict(zip(names, trained, strict=True)) and job.is_cached
    assert [file.split("/")[-1] for file in syntax.get_model_files("local", "conllu")] == ["resources.json", "a.pt"]
    job = syntax.build_parse_job("local", "dev", "conllu")
    assert job.files["directory_files"] == syntax.get_model_files("local", "conllu")
    assert job.execution_settings["directory"] == f"{tmp_path}/local"
    assert "package" not in job.settings
    assert job.is_cached
    assert syntax.get_model_files("package", "conllu") == []
    job = syntax.build_parse_job("package", "dev", "conllu")
    assert job.settings["package"] == "gum" and "directory" not in job.execution_settings and not job.is_cached


def test_parser_settings_change_the_identity(build_plan):
    options = {"max_words": 70, "batch_size": 9}
    job = build_plan(parsers={"embedded": options}, training={"device": "cpu"}).syntax.build_parse_job(
        "embedded", "dev", "ptb"
    )
    assert job.settings == {"annotation": "constituency", "language": "en", "device": "cpu", **options}
    assert job.software == ["stanza", "torch"]


def test_a_parser_of_generated_trees_does_not_parse_files(build_plan, tmp_path):
    (tmp_path / "d.en").write_text("a\n")
    dev = {"name": "dev", "source": str(tmp_path / "d.en"), "references": ["d.de"]}
    syntax = build_plan(corpora={"dev": dev}).syntax
    assert syntax.experiment.generator_only_parser_errors and syntax.build_parse_job("embedded", "train", "conllu")
    with pytest.raises(InputError, match="`embedded` is trained on generated trees"):
        syntax.build_parse_job("embedded", "dev", "conllu")


def test_two_parsers_are_compared_on_common_trees(build_plan):
    syntax = build_plan().syntax
    compared = syntax.build_measure_agreement_job("embedded", "random").files
    assert compared["first"]["dev"]["dependency"] == "<results>/syntax/embedded/dev.conllu"
    assert compared["second"]["dev"]["constituency"] == "<results>/syntax/random/dev.binary.ptb"
    splits = syntax.experiment.corpora.splits
    assert [*compared["first"]] == [*compared["second"]] == [*splits]
    assert {(*kinds,) for files in compared.values() for kinds in files.values()} == {("dependency", "constituency")}
    assert syntax.get_parser_pairs() == [
        ("embedded", "random"),
        ("embedded", "right-branching"),
        ("random", "right-branching"),
    ]
    assert "<results>/syntax/random/agreement.right-branching.tsv" in syntax.get_parser_report_paths()


def test_parser_reports_cover_trees_in_use_and_known_accuracies(build_plan):
    syntax = build_plan().syntax
    files = syntax.build_write_parser_report_job("embedded").files
    assert files["accuracy"]["constituency"] == "<results>/syntax/embedded/accuracy/ptb.tsv"
    assert files["counts"]["dev"]["dependency"] == "<results>/syntax/embedded/dev.conllu.json"
    assert files["facts"].keys() == files["statistics"].keys() == {*syntax.experiment.corpora.splits}
    assert syntax.build_write_parser_report_job("random").files["accuracy"] == {}


def create_stanza_directory(folder, *models: str, language: str = "zh"):
    """Create a Stanza directory with a model of each processor and no index of packages."""
    for model in models:
        (folder / language / model).mkdir(parents=True)
        (folder / language / model / "a.pt").touch()
    (folder / "resources.json").write_text(json.dumps({language: {}}))
    return {"type": "stanza", "directory": str(folder)}


TEXT = {"name": "dev", "source": "d.zh", "references": ["d.en"]}
CHINESE = {
    "source": {"language": "zh", "tokenizer": "none"},
    "target": {"language": "en"},
    "train": {"source": "t.zh", "target": "t.en"},
    "dev": TEXT,
    "tests": [{**TEXT, "name": "test"}],
}
TREES = {split: {"ptb": f"{split}.ptb", "conllu": f"{split}.conllu"} for split in ("train", "dev", "test")}
TABLE = {"type": "bleu", "title": "T", "systems": ["GlobalAtt", "Tree2Seq"], "baseline": "GlobalAtt"}


def build_chinese_plan(build_plan, tmp_path, parser, **corpora):
    for name in ("t.zh", "t.en", "d.zh", "d.en"):
        (tmp_path / name).write_text("a\n")
    targets = {"tables": {"t": TABLE}, "targets": ["t"], "parser": "mine"}
    return build_plan(data=str(tmp_path), corpora={**CHINESE, **corpora}, parsers={"mine": parser}, **targets)


def omit_trees(kind: str, *splits: str):
    return {
        split: {name: file for name, file in trees.items() if name != kind or split not in splits}
        for split, trees in TREES.items()
    }


@pytest.mark.parametrize(
    ("options", "dependencies", "rules"),
    [
        ({"type": "given", "trees": TREES}, True, "Chinese"),
        ({"type": "given", "trees": omit_trees("conllu", "train", "dev", "test")}, False, "Chinese"),
        ({"type": "given", "trees": omit_trees("conllu", "test")}, False, "Chinese"),
        ({"type": "given", "trees": TREES, "heads": "rules"}, False, "Chinese"),
        ({"type": "given", "trees": TREES, "branching": "left"}, False, None),
        ({"type": "stanza"}, True, "Chinese"),
        ({"type": "stanza", "language": "zh-hant", "heads": "dependencies"}, True, "Chinese"),
    ],
)
def test_heads_are_from_dependency_trees_or_language_rules(build_plan, tmp_path, options, dependencies, rules):
    plan = build_chinese_plan(build_plan, tmp_path, options)
    syntax = plan.syntax
    file = "<results>/syntax/mine/dev.conllu"
    job = syntax.build_binarize_job("mine", "dev")
    assert job.files.get("dependencies") == (file if dependencies else None)
    assert job.settings.get("rules") == ("zh" if rules else None)
    assert syntax.format_warnings() == []
    description = "dependency trees" if dependencies else "rules of Chinese (Zhang and Clark 2008)"
    heads = plan.report.build_facts_description("t")["settings"].get("phrase_heads")
    assert heads == ({"Tree2Seq": description} if rules else None)


def test_english_head_rules_need_no_warning(build_plan):
    plan = build_plan()
    job = plan.syntax.build_binarize_job("embedded", "dev")
    assert job.settings == {"branching": "head-outward"} and "dependencies" not in job.files
    assert plan.syntax.format_warnings() == []
    for table in plan.syntax.experiment.tables:
        if plan.syntax.experiment.tables[table].type in ("bleu", "measures"):
            assert "phrase_heads" not in plan.report.build_facts_description(table)["settings"]
    syntax = build_plan(parsers={"embedded": {"heads": "dependencies"}}).syntax
    assert "dependencies" in syntax.build_binarize_job("embedded", "dev").files
    assert syntax.describe_head_source("embedded") == "dependency trees"


def test_foreign_head_rules_are_warned_of(build_plan, tmp_path):
    trees = omit_trees("conllu", "train", "dev", "test")
    source = {"language": "vi", "tokenizer": "none"}
    plan = build_chinese_plan(build_plan, tmp_path, {"type": "given", "trees": trees}, source=source)
    assert plan.syntax.format_warnings() == [
        "parsers.mine: rules of English (Collins 1999) find the heads of phrases, since there are no rules for `vi` "
        "and there are no CoNLL-U trees of `train`, `dev`, `test`; give dependency trees too, or choose "
        "`branching: right` or `left`"
    ]
    described = plan.report.build_facts_description("t")
    assert described["settings"]["phrase_heads"] == {"Tree2Seq": "rules of English (Collins 1999)"}


def test_heads_of_a_directory_without_a_dependency_parser(build_plan, tmp_path):
    parser = create_stanza_directory(tmp_path / "zh", "pos", "constituency")
    assert (
        build_chinese_plan(build_plan, tmp_path, parser).syntax.resolve_head_source("mine").is_dependency_based is False
    )
    with pytest.raises(InputError, match=r"parsers.mine.heads: dependencies, but its directory has no dependency"):
        build_chinese_plan(build_plan, tmp_path, {**parser, "heads": "dependencies"})
    complete_parser = create_stanza_directory(tmp_path / "both", "pos", "constituency", "depparse")
    assert (
        build_chinese_plan(build_plan, tmp_path, complete_parser).syntax.resolve_head_source("mine").is_dependency_based
        is True
    )


def test_missing_dependency_trees_for_heads_are_rejected(build_plan, tmp_path):
    parser = {"type": "given", "trees": omit_trees("conllu", "dev"), "heads": "dependencies"}
    with pytest.raises(InputError, match=r"parsers.mine.heads: dependencies, but there are no CoNLL-U trees of `dev`"):
        build_chinese_plan(build_plan, tmp_path, parser)


def test_a_directory_without_models_of_the_language_is_rejected(build_plan, tmp_path):
    english = create_stanza_directory(tmp_path / "en", "pos", "depparse", "constituency", language="en")
    message = r"parser: `mine` only has models for `en` \(.*en\), but the text is in `zh`; name another parser in"
    with pytest.raises(InputError, match=message):
        build_chinese_plan(build_plan, tmp_path, english)
    unread = {"parsers": {"mine": {"type": "control", "shape": "random"}, "local": english}}
    corpora = {"data": str(tmp_path), "corpora": CHINESE, "tables": {"t": TABLE}, "targets": ["t"], "parser": "mine"}
    syntax = build_plan(**corpora, **unread).syntax
    with pytest.raises(InputError, match=r"parsers.local: `local` only has models for `en`"):
        syntax.build_parse_job("local", "dev", "conllu")


def test_models_are_looked_up_by_the_language_of_the_parser(build_plan, tmp_path):
    parser = {**create_stanza_directory(tmp_path / "dir", "pos", "depparse", language="zh-hant"), "language": "zh-hant"}
    parser["branching"] = "right"
    syntax = build_chinese_plan(build_plan, tmp_path, parser).syntax
    assert f"{tmp_path}/dir/zh-hant/depparse/a.pt" in syntax.get_model_files("mine", "conllu")
    assert syntax.build_parse_job("mine", "dev", "conllu").settings["language"] == "zh-hant"


def test_models_of_a_related_language_are_used_on_request(build_plan, tmp_path):
    parser = create_stanza_directory(tmp_path / "yue", "pos", "depparse", language="yue")
    with pytest.raises(InputError, match=r"only has models for `yue` .* name it in `parsers.mine.model_language`"):
        build_chinese_plan(build_plan, tmp_path, {**parser, "branching": "right"})
    syntax = build_chinese_plan(build_plan, tmp_path, {**parser, "branching": "right", "model_language": "yue"}).syntax
    assert f"{tmp_path}/yue/yue/depparse/a.pt" in syntax.get_model_files("mine", "conllu")
    assert syntax.build_parse_job("mine", "dev", "conllu").settings["language"] == "yue"


def test_a_treebank_of_another_language_is_rejected(build_plan, tmp_path):
    def words(first: int) -> list[str]:
        return ["".join(chr(ord("a") + int(digit)) for digit in f"{number:04}") for number in range(first, first + 500)]

    rows = (f"1\t{word}\t_\tX\t_\t_\t0\troot\t_\t_\n\n" for word in words(1000))
    (tmp_path / "bank.conllu").write_text("".join(rows))
    parser = {"type": "trained", "treebank": dict.fromkeys(["train", "dev", "test"], "bank.conllu")}
    targets = {"data": str(tmp_path), "tables": {"t": {**TABLE, "systems": ["GlobalAtt", "SDAtt"]}}, "targets": ["t"]}

    def plan(text: list[str], **options):
        for name in ("t.zh", "t.en", "d.zh", "d.en"):
            (tmp_path / name).write_text("\n".join(text))
        corpora = {**CHINESE, "source": {"language": "fr", "tokenizer": "moses"}}
        build_plan(corpora=corpora, parsers={"mine": {**parser, **options}}, parser="mine", **targets)

    plan(words(1000))
    shared_words._count_text_words.cache_clear()
    message = (
        r"parser: `mine` is for another language \(its treebank .*bank.conllu has 0% of the 200 most frequent words"
    )
    with pytest.raises(InputError, match=message):
        plan(words(2000))
    plan(words(2000), language="fr")


def test_permuted_trees_depend_on_the_trees_of_their_parser(build_plan):
    permuted = {"type": "control", "shape": "permuted", "parser": "embedded", "seed": 3}
    plan = build_plan(parsers={"permuted": permuted})
    job = plan.build_job("syntax.permute_trees", {"parser": "permuted", "split": "dev", "trees": "conllu"})
    trees = "<results>/syntax/embedded/dev.conllu"
    assert job.files == {"trees": trees, "facts": f"{trees}.facts.json"}
    assert job.settings == {"seed": 3}
    assert plan.parsers.control_name_pattern(is_permuted=True) == "permuted"
    assert plan.parsers.control_name_pattern(is_permuted=False) == r"random|right\-branching"


def test_another_control_changes_no_identity(build_plan):
    plans = [
        build_plan(parsers=parsers)
        for parsers in ({}, {"permuted": {"type": "control", "shape": "permuted", "parser": "embedded"}})
    ]
    text = {"split": "dev", "trees": "conllu"}
    for name, wildcards in {
        "syntax.build_control_trees": {"parser": "random", **text},
        "syntax.parse": {"parser": "embedded", **text},
        "nmt.train": {"system": "SDAtt", "run": "seed1"},
    }.items():
        identities = [plan.compute_identity(plan.build_job(name, wildcards)) for plan in plans]
        assert identities[0] == identities[1], name


def test_sentences_of_files_without_trees_have_failed(build_plan):
    files = {"source": "a.en", "target": "a.de"}
    contrast = [{"name": "made", "generate": {"sentences": 30, "kinds": ["case"]}}]
    dev = {"name": "dev", "source": "d.en", "references": ["d.de"]}
    train = [files, {"generate": {"sentences": 40}}]
    table = {"type": "measures", "title": "M", "systems": ["SDAtt [gold]"], "columns": ["contrast"]}
    corpora = {"train": train, "dev": dev, "contrast": contrast}

    def build_import(split: str, **options):
        gold = {"type": "given", "fallback": "random", **options}
        plan = build_plan(parsers={"gold": gold}, corpora=corpora, tables={"m": table}, targets=["m"])
        job = plan.syntax.build_import_trees_job("gold.before.random", split, "conllu")
        return job.files["trees"], job.settings.get("tree_count")

    generated_trees = "<results>/corpus/generated/train.conllu"
    assert build_import("train", partial=True) == ([generated_trees], 40)
    assert build_import("dev", partial=True) == ([], 0)
    assert build_import("made", partial=True) == (["<results>/corpus/contrastive/made.conllu"], None)
    assert build_import("mixed", partial=True) == (["<results>/corpus/generated/mixed.conllu"], None)
    mine = {"train": {"conllu": "mine.conllu"}, "dev": {"conllu": "dev.conllu"}}
    assert build_import("train", trees=mine) == (["mine.conllu", generated_trees], None)
    assert build_import("dev", trees=mine) == (["dev.conllu"], None)
