"""Plan of texts, cleaning and tokenization."""

import gzip
import json

import pytest

from pipeline_py.config.corpora import compute_split_share, compute_treebank_share
from pipeline_py.plan.corpus import CorpusPlan, count_contrastive_pairs
from pipeline_py.run.errors import InputError

FILES = {
    "train": [{"source": "a.en", "target": "a.de"}, {"source": "b.en.gz", "target": "b.de"}],
    "dev": {"name": "dev", "source": "d.en", "references": ["d.de", "d2.de"]},
}


MEASURED = {
    "tables": {"m": {"type": "measures", "title": "M", "systems": ["GlobalAtt"], "columns": ["contrast"]}},
    "targets": ["m"],
}


@pytest.fixture
def build_corpus_plan(load_config):
    return lambda **overrides: CorpusPlan(load_config(**overrides), list)


def test_text_is_from_user_files_or_generated(build_corpus_plan, tmp_path):
    corpus = build_corpus_plan(corpora=FILES, data=str(tmp_path))
    assert corpus.get_user_files("train", "source") == [f"{tmp_path}/a.en", f"{tmp_path}/b.en.gz"]
    assert corpus.get_user_files("dev", "target1") == [f"{tmp_path}/d2.de"]
    assert corpus.get_user_files("mixed", "source") == []
    assert corpus.get_raw_path("dev", "target") == "<results>/corpus/raw/dev.target"
    assert corpus.get_raw_path("mixed", "target") == "<results>/corpus/generated/mixed.target"
    assert corpus.reference_sides == {
        "dev": ["target", "target1"],
        **{name: ["target"] for name in corpus.scored_test_sets},
    }


def test_a_text_for_length_models_keeps_all_usable_pairs(build_corpus_plan, tmp_path):
    texts = [{"name": "more", "source": "more.en", "target": "more.de"}]
    corpus = build_corpus_plan(corpora={"length_texts": texts}, data=str(tmp_path))
    assert corpus.get_user_files("more", "target") == [f"{tmp_path}/more.de"]
    job = corpus.build_clean_length_text_job("more")
    assert job.files == {
        "source_input": "<results>/corpus/raw/more.source",
        "target_input": ["<results>/corpus/raw/more.target"],
    }
    limits = {"mode": "train", "max_length": 0, "max_ratio": 1e6, "keep_duplicates": True}
    assert job.settings == {**limits, "source_tokenized": True, "target_tokenized": True}
    assert "more" not in corpus.experiment.corpora.splits_and_contrastive_sets
    files = [f"{tmp_path}/more.en", f"{tmp_path}/more.de"]
    assert {*files} <= {*corpus.experiment.collect_file_paths()}


def test_cleaning_compares_sources_after_later_normalization(build_corpus_plan):
    source = {"language": "fr", "tokenizer": "moses"}
    target = {"language": "de", "tokenizer": "none"}

    tests = [{"name": "one", "source": "one.fr", "references": ["one.de"]}]

    def comparison(**options):
        texts = {**FILES, "tests": tests, "source": source | options, "target": target}
        job = build_corpus_plan(corpora=texts, targets=["table1"]).build_clean_job()
        names = ("source_tokenized", "target_tokenized", "ignore_case", "punctuation_language")
        assert job.software == (["sacremoses"] if job.settings["punctuation_language"] else [])
        return [job.settings[name] for name in names]

    assert comparison() == [False, True, False, None]
    assert comparison(case="lower") == comparison(case="true") == [False, True, True, None]
    assert comparison(punctuation="normalize") == [False, True, False, "fr"]
    assert comparison(tokenizer="none") == [True, True, False, None]


def test_a_text_of_one_file_is_its_copy(build_corpus_plan, tmp_path):
    corpus = build_corpus_plan(corpora=FILES, data=str(tmp_path))
    assert corpus.build_clean_job().execution_settings == {"originals": [None, None]}
    assert corpus.build_clean_held_out_job("dev").execution_settings == {
        "originals": [f"{tmp_path}/{x}" for x in ("d.en", "d.de", "d2.de")]
    }


def test_sets_are_cleaned_with_all_their_references(build_corpus_plan, tmp_path):
    corpus = build_corpus_plan(corpora=FILES, data=str(tmp_path))
    assert corpus.build_fetch_job("train", "source").files == {"input": [f"{tmp_path}/a.en", f"{tmp_path}/b.en.gz"]}
    assert corpus.build_fetch_job("train", "target").files["parallel_input"] == corpus.get_user_files("train", "source")
    dev, raw = corpus.build_clean_held_out_job("dev"), "<results>/corpus/raw"
    assert dev.files == {
        "source_input": f"{raw}/dev.source",
        "target_input": [f"{raw}/dev.target", f"{raw}/dev.target1"],
    }
    assert dev.settings == {"mode": "held-out", "source_tokenized": True, "target_tokenized": True}
    train = corpus.build_clean_job()
    assert train.files["target_input"] == [f"{raw}/train.target"] and train.settings["mode"] == "train"
    assert train.files["held_out"] == corpus.get_overlapping_set_paths()


def test_sentences_of_files_and_generated_text_are_counted(build_corpus_plan, tmp_path):
    (tmp_path / "a.en").write_text("a\n" * 3)
    with gzip.open(tmp_path / "b.en.gz", "wt") as file:
        file.write("b\n" * 4)
    corpus = build_corpus_plan(corpora=FILES, data=str(tmp_path))
    assert corpus.count_raw_sentences("train") == 7 and corpus.count_raw_sentences("long") == 200
    with pytest.raises(InputError, match=r"d\.en"):
        corpus.count_raw_sentences("dev")


def test_lengths_are_relative_to_generated_sentences(build_corpus_plan, tmp_path):
    (tmp_path / "a.en").write_text("x" * 104 + "\n")
    with gzip.open(tmp_path / "b.en.gz", "wt") as file:
        file.write("y" * 52 + "\n")
    corpus = build_corpus_plan(corpora=FILES, data=str(tmp_path))
    assert corpus.compute_relative_length("train") == pytest.approx(1.5, rel=0.02)
    assert corpus.compute_relative_length("long") == 1
    assert corpus.estimate_sentence_count(1000, "long") == 120, "8.7 words each"
    assert corpus.estimate_sentence_count(1000, "train") == 77 and corpus.estimate_sentence_count(1, "train") == 1
    with pytest.raises(InputError, match=r"d\.en"):
        corpus.compute_relative_length("dev")


def test_generated_sets_never_leak_into_generated_training_text(build_corpus_plan, tmp_path):
    assert build_corpus_plan().get_overlapping_set_paths() == []
    files = build_corpus_plan(corpora={"dev": {**FILES["dev"], "removed_from_training": False}})
    assert files.get_overlapping_set_paths() == []
    assert build_corpus_plan(corpora={"dev": FILES["dev"]}).get_overlapping_set_paths() == [
        "<results>/corpus/raw/dev.source"
    ]


def test_only_sets_that_overlap_with_training_text_are_removed_from_it(load_config):
    tests = [{"name": name, "source": f"{name}.en", "references": ["x.de"]} for name in ("some", "none", "unknown")]
    tests.append({"name": "unscored", "source": "u.en"})
    experiment = load_config(corpora={**FILES, "tests": tests}, targets=["sdrnmt"], parser="embedded")
    corpus = CorpusPlan(experiment, list, overlap_counts={"dev": 2, "some": 1, "none": 0, "unscored": 5})
    leaking = ["dev", "some", "unknown"]
    assert corpus.get_overlapping_set_paths() == [f"<results>/corpus/raw/{split}.source" for split in leaking]
    assert corpus.reference_sides["unscored"] == [] and corpus.scored_test_sets == ["some", "none", "unknown"]


def test_truecased_tokens_have_a_separate_folder(build_corpus_plan):
    corpus = build_corpus_plan(corpora={"target": {"case": "true"}})
    assert corpus.get_token_path_pattern("source") == "<results>/corpus/tokenized/{split}.source"
    assert corpus.get_token_path_pattern("target") == "<results>/corpus/truecased/{split}.target"


def test_text_is_normalized_before_it_is_tokenized_and_parsed(build_corpus_plan):
    raw = {"language": "en", "tokenizer": "moses"}
    corpus = build_corpus_plan(corpora={"source": {**raw, "punctuation": "normalize"}})
    assert corpus.get_untokenized_path_pattern("source") == "<results>/corpus/normalized/{split}.source"
    assert corpus.get_untokenized_path_pattern("target1") == "<results>/corpus/clean/{split}.target1"
    job = corpus.build_tokenize_job("dev", "source")
    assert job.files["input"] == "<results>/corpus/normalized/dev.source"
    assert job.settings == build_corpus_plan(corpora={"source": raw}).build_tokenize_job("dev", "source").settings
    normalized = corpus.build_normalize_punctuation_job("dev", "source")
    assert normalized.files == {"input": "<results>/corpus/clean/dev.source"}
    assert normalized.settings == {"language": "en"}


def test_a_tokenizer_gets_the_options_of_its_side(build_corpus_plan):
    side = {"tokenizer": "stanza", "stanza_directory": "models", "case": "lower"}
    corpus = build_corpus_plan(corpora={"source": side}, data="data")
    job, target_job = corpus.build_tokenize_job("dev", "source"), corpus.build_tokenize_job("dev", "target")
    settings = {"language": "en", "tokenizer": "stanza", "lowercase": True, "stanza_package": None}
    assert job.settings == settings
    assert job.execution_settings == {"stanza_directory": "data/models"} and job.software == ["stanza"]
    assert target_job.settings["lowercase"] is False and target_job.execution_settings == {"stanza_directory": None}
    assert corpus.has_stanza_tokenizer


def test_files_of_a_stanza_directory_decide_the_tokens(build_corpus_plan, tmp_path):
    index, model = tmp_path / "resources.json", tmp_path / "en" / "tokenize" / "mine.pt"
    index.write_text(json.dumps({"en": {"packages": {"default": {"tokenize": "mine"}}}}))
    model.parent.mkdir(parents=True)
    model.touch()
    side = {"tokenizer": "stanza", "stanza_directory": str(tmp_path)}
    files = build_corpus_plan(corpora={"source": side}).build_tokenize_job("dev", "source").files
    assert files["stanza_models"] == [str(index), str(model)]


def test_languages_without_moses_rules_are_warned_of(build_corpus_plan):
    assert build_corpus_plan().format_tokenizer_warnings() == []
    files = {"source": "x", "references": ["y"]}
    corpora = {
        "source": {"language": "tur", "tokenizer": "moses"},
        "target": {"language": "fra", "tokenizer": "moses"},
        "train": {"source": "x", "target": "y"},
        "dev": {"name": "dev", **files},
        "tests": [{"name": "one", **files}],
    }
    (warning,) = build_corpus_plan(corpora=corpora, parser="embedded").format_tokenizer_warnings()
    assert warning.startswith("corpora.source: Moses has no rules for tr and tokenizes it like English")


@pytest.mark.parametrize("language", ["zh", "fr", "vi"])
def test_tokenizers_are_trained_on_the_first_treebank_from_files(build_corpus_plan, language):
    bank = {part: f"{part}.conllu" for part in ("train", "dev", "test")}
    source = {"language": language, "tokenizer": "stanza"}
    files = {"source": "x", "references": ["y"]}
    corpora = {
        "source": source,
        "train": {"source": "x", "target": "y"},
        "dev": {"name": "dev", **files},
        "tests": [{"name": "one", **files}],
    }
    of_files = {"mine": {"type": "trained", "treebank": bank}}
    corpus = build_corpus_plan(corpora=corpora, parsers=of_files, parser="mine", targets=["table1"])
    assert corpus.get_segmenter_treebank("source") == {"train": "train.conllu", "dev": "dev.conllu"}
    assert corpus.get_segmenter_paths("source") == ["<results>/corpus/segmenter.source.pt"]
    assert corpus.get_segmenter_paths("target") == []
    assert build_corpus_plan().get_segmenter_paths("source") == []
    learning = corpus.build_learn_segmenter_job("source")
    assert learning.files == {"treebank_train": "train.conllu", "treebank_dev": "dev.conllu"}
    assert learning.settings == {"language": language}
    assert corpus.build_tokenize_job("dev", "source").files["segmenter"] == "<results>/corpus/segmenter.source.pt"
    assert corpus.build_tokenize_job("dev", "target").files["segmenter"] is None


def test_the_target_tokenizer_is_trained_on_a_treebank_of_its_language(build_corpus_plan):
    banks = {
        name: {"type": "trained", "treebank": {part: f"{name}.{part}" for part in ("train", "dev", "test")}}
        for name in ("unknown", "de_x", "en_x")
    }
    banks["de_x"]["language"], banks["en_x"]["language"] = "de", "en"
    sides = {"source": {"tokenizer": "stanza"}, "target": {"tokenizer": "stanza"}}
    corpus = build_corpus_plan(corpora=sides, parsers=banks)
    assert corpus.get_segmenter_treebank("source")["train"].endswith("unknown.train")
    assert corpus.get_segmenter_treebank("target")["train"].endswith("de_x.train")
    assert (
        corpus.get_segmenter_paths("target1")
        == corpus.get_segmenter_paths("target")
        == ["<results>/corpus/segmenter.target.pt"]
    )
    learning = corpus.build_learn_segmenter_job("target")
    assert learning.settings == {"language": "de"} and learning.files["treebank_train"].endswith("de_x.train")


def test_a_tokenizer_is_downloaded_only_on_request(build_corpus_plan):
    side = {"tokenizer": "stanza", "stanza_package": "default"}
    corpus = build_corpus_plan(corpora={"target": side})
    job = corpus.build_tokenize_job("dev", "target")
    assert job.settings["stanza_package"] == "default"
    assert job.files["segmenter"] is None and job.files["stanza_models"] == []
    assert corpus.build_tokenize_job("dev", "source").settings["stanza_package"] is None
    with pytest.raises(InputError, match="give either `stanza_package`"):
        build_corpus_plan(corpora={"target": {**side, "stanza_directory": "models"}})


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize(
    "parser",
    [
        {"type": "stanza", "directory": "models", "language": "LANGUAGE"},
        {"type": "trained", "treebank": {"generate": 60}},
        {"type": "trained", "treebank": {part: part for part in ("train", "dev", "test")}, "language": "fr"},
    ],
)
def test_a_side_without_a_tokenizer_model_is_rejected(build_corpus_plan, side, parser):
    code = {"source": "en", "target": "de"}[side]
    parser = {key: code if value == "LANGUAGE" else value for key, value in parser.items()}
    with pytest.raises(InputError) as caught:
        build_corpus_plan(corpora={side: {"tokenizer": "stanza"}}, parsers={"mine": parser})
    assert str(caught.value) == (
        f"configuration: corpora.{side}.tokenizer: stanza has no model of `{code}` here; name its folder in "
        f"`stanza_directory`, add a parser to `parsers` that is trained from files in `{code}` (`language: {code}`), "
        "request a download by `stanza_package: default`, or choose another tokenizer"
    )


def test_contrastive_translations_are_handled_like_two_references(build_corpus_plan, tmp_path):
    sets = [{"name": "gender", "file": "g.tsv"}, {"name": "two", "file": "t.tsv", "removed_from_training": False}]
    corpus = build_corpus_plan(corpora={"contrast": sets, "target": {"case": "true"}}, data=str(tmp_path), **MEASURED)
    assert corpus.reference_sides["gender"] == ["target", "target1"]
    assert corpus.get_raw_path("gender", "target1") == "<results>/corpus/contrastive/gender.target1"
    assert corpus.get_user_contrastive_files("gender") == [f"{tmp_path}/g.tsv"]
    assert corpus.build_clean_held_out_job("gender").execution_settings == {"originals": [None, None, None]}
    assert corpus.get_overlapping_set_paths() == ["<results>/corpus/contrastive/gender.source"]
    assert [corpus.get_training_side(side) for side in ("source", "target", "target1")] == [
        "source",
        "target",
        "target",
    ]


def test_contrastive_pairs_are_counted_and_checked(load_config, tmp_path):
    (tmp_path / "g.tsv").write_text("source\tcorrect\tcontrastive\na\tb\tc\na\tb\td\n")
    over = {"corpora": {"contrast": [{"name": "gender", "file": ["g.tsv", "g.tsv"]}]}, "data": str(tmp_path)}
    experiment = load_config(**over, **MEASURED)
    assert count_contrastive_pairs(experiment) == {"gender": 4}
    assert CorpusPlan(experiment, list, {"gender": 4}).count_raw_sentences("gender") == 4
    (tmp_path / "g.tsv").write_text("source\tcorrect\tcontrastive\na\tb\n")
    with pytest.raises(InputError, match=r"g\.tsv, line 2: the line has 2 columns and the header has 3"):
        count_contrastive_pairs(experiment)


def test_only_training_text_is_ambiguous(build_corpus_plan):
    corpus = build_corpus_plan(corpora={"generator": {"ambiguous": 0.1}})
    assert [corpus.build_generate_job(split).settings["ambiguous"] for split in ("train", "dev", "mixed")] == [
        0.1,
        0,
        0,
    ]
    assert build_corpus_plan().build_generate_job("train").settings["ambiguous"] == 0.3


def test_generated_contrastive_sets_have_a_separate_language_share(build_corpus_plan):
    generated_set = {"name": "made", "generate": {"sentences": 30, "kinds": ["case"], "seed": 5}}
    corpus = build_corpus_plan(
        corpora={"contrast": [generated_set], "generator": {"lexicon": "compact", "ambiguous": 0.1}}, **MEASURED
    )
    settings = corpus.build_generate_contrastive_pairs_job("made").settings
    assert (settings["kinds"], settings["seed"], settings["lexicon"]) == (["case"], 5, "compact")
    start, end = settings["share_from"], settings["share_to"]
    shares = [compute_split_share(place) for place in range(10)] + [compute_treebank_share(part) for part in range(3)]
    assert start < end and all(end <= first or last <= start for first, last in shares)
    generated = "<results>/corpus/contrastive/made.generated.tsv"
    assert corpus.build_split_contrastive_pairs_job("made").files == {"input": [generated]}
    assert corpus.get_gold_tree_path("made", "ptb") == "<results>/corpus/contrastive/made.ptb"
    assert corpus.get_gold_tree_path("dev", "ptb") == "<results>/corpus/generated/dev.ptb"
    assert corpus.get_overlapping_set_paths() == [] and corpus.get_user_contrastive_files("made") == []
    assert count_contrastive_pairs(corpus.experiment) == {"made": 30}


def test_additional_references_are_processed_like_the_target(build_corpus_plan):
    corpus = build_corpus_plan(corpora={"target": {"case": "true"}})
    assert corpus.build_truecase_job("dev", "target1").files == {
        "input": "<results>/corpus/tokenized/dev.target1",
        "model": "<results>/corpus/truecaser.target",
    }
    assert corpus.build_learn_truecaser_job("target").files == {"input": "<results>/corpus/tokenized/train.target"}
    job = corpus.build_generalise_job("3", "dev", "target1")
    assert job.settings == {"min_count": 3}
    assert job.files == {
        "input": "<results>/corpus/truecased/dev.target1",
        "train": "<results>/corpus/truecased/train.target",
    }


def test_generated_sentences_follow_those_of_files(build_corpus_plan, tmp_path):
    (tmp_path / "a.en").write_text("word\n" * 3)
    train = [{"source": "a.en", "target": "a.de"}, {"generate": {"sentences": 40, "focus": "ambiguous"}}]
    corpus = build_corpus_plan(corpora={**FILES, "train": train, "generator": {"min_count": 2}}, data=str(tmp_path))
    assert corpus.get_raw_path("train", "source") == "<results>/corpus/raw/train.source"
    assert corpus.build_fetch_job("train", "target").files == {
        "input": [f"{tmp_path}/a.de", "<results>/corpus/generated/train.target"],
        "parallel_input": [f"{tmp_path}/a.en"],
    }
    assert corpus.build_fetch_job("dev", "source").files == {"input": [f"{tmp_path}/d.en"]}
    assert corpus.count_raw_sentences("train") == 43 and corpus.count_raw_bytes("train") == 12 + 40 * 52
    job = corpus.build_generate_job("train")
    assert (job.settings["sentences"], job.settings["focus"], job.settings["min_count"]) == (40, "ambiguous", 2)
    assert job.files == {"source_texts": [f"{tmp_path}/a.en"], "target_texts": [f"{tmp_path}/a.de"]}
    assert corpus.build_generate_job("mixed").files == job.files, "all generated text has the same words"


def test_all_words_are_generated_by_default(build_corpus_plan):
    job = build_corpus_plan().build_generate_job("train")
    assert job.files == {} and "min_count" not in job.settings


def test_generated_contrastive_sets_are_removed_from_text_of_files(build_corpus_plan):
    sets = [{"name": "made", "generate": {"sentences": 30, "kinds": ["case"]}}]
    train = [{"source": "a.en", "target": "a.de"}, {"generate": {"sentences": 40}}]
    corpus = build_corpus_plan(corpora={"train": train, "contrast": sets}, parser="embedded", **MEASURED)
    assert "<results>/corpus/contrastive/made.source" in corpus.get_overlapping_set_paths()
    assert corpus.build_generate_contrastive_pairs_job("made").files == {}
