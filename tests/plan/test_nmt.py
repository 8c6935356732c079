"""Plan of networks: inputs of their jobs, and settings that run them again."""

import json
import re

import pytest

from pipeline_py.config.systems.training import DecodingConfig, TrainingConfig
from pipeline_py.plan import nmt
from pipeline_py.run.errors import InputError


def test_a_network_is_trained_on_the_syntax_it_reads(build_plan):
    plan = build_plan()
    job = plan.build_job("nmt.train", {"system": "SDAtt", "run": "seed1"})
    assert job.files["train_syntax"] == {"distances": "<results>/syntax/embedded/train.distances.arrow"}
    assert job.files["dev_target"] == "<results>/subword/default/packed/dev.target.arrow"
    assert job.files["syntax_vocabularies"] == {} and "initial" not in job.files
    assert "syntax_vocabularies" not in job.rule_inputs
    assert job.settings["seed"] == 1 and job.settings["like"] is None
    assert job.execution_settings["training"] == plan.nmt.experiment.get_network("SDAtt").training.model_dump(
        mode="json"
    )
    calls = build_call(plan, "nmt.train", {"model": "stored/model.safetensors"}, system="SDAtt", run="seed1")["calls"]
    assert calls == [{"model_output": "stored/model.safetensors", "checkpoints": "stored/checkpoints"}]
    assert plan.nmt.build_train_job("GlobalAtt", "seed1").files["train_syntax"] == {}
    labelled = plan.nmt.build_train_job("Sennrich-deponly", "seed1").files
    assert labelled["syntax_vocabularies"] == {"labels": "<results>/subword/default/vocabulary.labels.embedded"}


def test_an_encoder_is_pretrained_on_the_syntax_it_predicts(build_plan):
    nmt = build_plan().nmt
    assert (
        nmt.build_train_job("Dep2Seq", "seed2").files["initial"] == "<results>/nmt/Dep2Seq/seed2/pretrained.safetensors"
    )
    job = nmt.build_pretrain_job("Dep2Seq", "seed2")
    assert [*job.files["train_syntax"]] == [*job.files["dev_syntax"]] == ["heads", "labels"]
    assert "train_target" not in job.files and "target_vocabulary" not in job.files
    assert not {"epochs", "patience"} & job.settings["training"].keys()


def test_a_network_may_have_the_size_of_another(build_plan):
    job = build_plan(systems={"Like": {"like": "SDRNMT-1"}}).nmt.build_train_job("Like", "seed1")
    assert job.settings["like"]["encoders"] != job.execution_settings["system"]["encoders"]
    assert [*job.files["syntax_vocabularies"]] == ["units"]
    assert {*get_nmt_modules(job)} > {"nmt.input.units"}


def get_nmt_modules(job):
    return [module for module in job.modules if module.startswith("nmt.")]


def test_curves_are_written_for_tensorboard_on_request(build_plan):
    plan = build_plan(training={"tensorboard": True})
    (arguments,) = build_call(plan, "nmt.train", {"model": "stored/model.safetensors"}, system="SDAtt", run="seed1")[
        "calls"
    ]
    assert arguments["tensorboard"] == "stored/tensorboard"


def test_every_run_has_its_seed(build_plan):
    nmt = build_plan(training={"seeds": [1, 7]}).nmt
    assert [nmt.build_train_job("Dep2Seq", f"seed{seed}").settings["seed"] for seed in (1, 7)] == [1, 7]
    assert [nmt.build_pretrain_job("Dep2Seq", f"seed{seed}").settings["seed"] for seed in (1, 7)] == [1, 7]


def test_messages_name_the_run_if_there_are_several(build_plan):
    assert build_plan().nmt.build_train_job("SDAtt", "seed1").execution_settings["name"] == "SDAtt"
    assert (
        build_plan(training={"seeds": [1, 2]}).nmt.build_train_job("SDAtt", "seed2").execution_settings["name"]
        == "SDAtt (seed2)"
    )


def test_an_ensemble_reads_files_of_its_members(build_plan):
    systems = {
        "Both": {"type": "ensemble", "members": ["SDAtt", "Sennrich-deponly"], "decoding": {"length_model": True}}
    }
    tests = [{"name": "mixed", "generate": {"sentences": 9}}]
    nmt = build_plan(systems=systems, corpora={"tests": tests}).nmt
    assert re.fullmatch(nmt.system_pattern, "Both") and not re.fullmatch(nmt.network_pattern, "Both")
    assert not re.fullmatch(nmt.system_pattern, "PBSMT")
    job = nmt.build_translate_job("Both", "seed1")
    assert job.files["model"][1] == "<results>/nmt/Sennrich-deponly/seed1/model.safetensors"
    assert job.files["length_model"] == "<results>/nmt/length_model/default.tsv"
    assert [*job.files_by_set] == ["dev", "mixed"]
    assert job.files_by_set["mixed"] == {
        "source": ["<results>/subword/default/packed/mixed.source.arrow"] * 2,
        "syntax": [
            {"distances": "<results>/syntax/embedded/mixed.distances.arrow"},
            {"labels": "<results>/subword/default/packed/embedded/mixed.labels.arrow"},
        ],
    }
    assert "length_model" not in nmt.build_translate_job("SDAtt", "seed1").files
    modules = [nmt.build_translate_job(system, "seed1").modules for system in ("SDAtt", "Sennrich-deponly")]
    assert job.modules == sorted({*modules[0], *modules[1]})


def test_the_beam_of_a_network_or_an_ensemble_is_chosen_on_dev(build_plan):
    systems = {"Both": {"type": "ensemble", "members": ["SDAtt", "Sennrich-deponly"], "decoding": {"beam": [5, 10]}}}
    corpora = {"dev": {"name": "dev", "source": "d.en", "references": ["d.de", "d2.de"]}}
    plan = build_plan(systems=systems, corpora=corpora, targets=["table1"])
    translate, choose = (
        plan.build_job(f"nmt.{name}", {"system": "Both", "run": "seed1"}) for name in ("translate", "choose_beam")
    )
    path = "<results>/nmt/Both/seed1/dev.beam.json"
    assert translate.files == {**translate.files, "beam_choice": path}
    assert "beam_choice" not in plan.nmt.build_translate_job("SDAtt", "seed1").files
    assert choose.files == {
        **{name: files for name, files in translate.files.items() if name != "beam_choice"},
        **translate.files_by_set["dev"],
        "references": ["<results>/corpus/tokenized/dev.target", "<results>/corpus/tokenized/dev.target1"],
    }
    assert choose.settings["decoding"].keys() == translate.settings["decoding"].keys() - {"n_best"}
    assert choose.is_cached and choose.modules == translate.modules


def test_length_models_read_the_text_they_name(build_plan):
    texts = [{"name": "more", "source": "more.en", "target": "more.de"}]
    for value, text, path in (
        (True, "train", "default.tsv"),
        ("train", "train", "default.tsv"),
        ("dev", "dev", "default.dev.tsv"),
        ("more", "more", "default.more.tsv"),
    ):
        nmt = build_plan(decoding={"length_model": value}, corpora={"length_texts": texts}).nmt
        job = nmt.build_translate_job("SDAtt", "seed1")
        assert job.files["length_model"] == f"<results>/nmt/length_model/{path}"
        assert "length_floor" in job.settings["decoding"]
        counts = nmt.build_length_model_of_text_job("default", text)
        assert counts.files["target"] == f"<results>/subword/default/packed/{text}.target.arrow"
    assert nmt.build_length_model_job("default") == nmt.build_length_model_of_text_job("default", "train")


def test_settings_that_are_null_are_no_part_of_the_identity(build_plan):
    plan = build_plan()
    for job in (plan.nmt.build_translate_job("SDAtt", "seed1"), plan.nmt.build_choose_beam_job("SDAtt", "seed1")):
        assert "retry_beam" not in job.settings["decoding"] and "max_length" in job.settings["decoding"]
        assert job.execution_settings["decoding"]["retry_beam"] is None
    bundle = plan.bundles.build_bundle_system_job("nmt", "SDAtt", "seed1")
    assert "retry_beam" not in bundle.settings["config"]["decoding"]


def build_call(plan, name, outputs, threads=1, **wildcards):
    """Return the call of a job with the planned paths of its inputs."""
    job = plan.build_job(name, wildcards)
    return json.loads(plan.serialize_call(name, wildcards, job.rule_inputs, outputs, threads))


def test_side_outputs_are_next_to_the_pieces_of_each_set(build_plan):
    corpora = {"tests": [{"name": "mixed", "generate": {"sentences": 9}}]}
    outputs = {name: [f"dev/{name}", f"mixed/{name}"] for name in ("pieces", "alignment", "counts")}
    wildcards = {"system": "SDAtt", "run": "seed1"}
    plan = build_plan(corpora=corpora)
    plain = build_call(plan, "nmt.translate", outputs, **wildcards)
    assert plain["is_cached"] and len(plain["calls"]) == 2
    assert plain["calls"][1] == {
        "source": ["<results>/subword/default/packed/mixed.source.arrow"],
        "syntax": [{"distances": "<results>/syntax/embedded/mixed.distances.arrow"}],
        "pieces_output": "mixed/pieces",
        "alignment_output": "mixed/alignment",
        "counts_output": "mixed/counts",
    }
    for decoding, output in (({"n_best": 2}, "n_best"), ({"attention": True}, "attention")):
        extended_plan = build_plan(corpora=corpora, decoding=decoding)
        ending = {"n_best": "n-best", "attention": "attention.arrow"}[output]
        expected = {**plain["calls"][1], f"{output}_output": f"mixed/pieces.{ending}"}
        assert build_call(extended_plan, "nmt.translate", outputs, **wildcards)["calls"][1] == expected
        jobs = [experiment_plan.build_job("nmt.translate", wildcards) for experiment_plan in (plan, extended_plan)]
        assert plan.compute_identity(jobs[0]) != extended_plan.compute_identity(jobs[1]), "the file is to be made"


def test_both_translations_of_a_contrastive_set_are_scored(build_plan, tmp_path):
    (tmp_path / "g.tsv").write_text("source\tcorrect\tcontrastive\na\tb\tc\n")
    over = {"corpora": {"contrast": [{"name": "gender", "file": "g.tsv"}]}, "data": str(tmp_path)}
    subword = {"scheme": "bpe", "merges": 9, "generalise": 2}
    tables = {"m": {"type": "measures", "title": "M", "systems": ["SDAtt", "PBSMT"], "columns": ["contrast"]}}
    plan = build_plan(**over, subwords={"cut": subword}, systems={"Cut": {"subword": "cut"}}, tables=tables, targets=[])
    words = [f"<results>/corpus/tokenized/gender.{side}" for side in ("target", "target1")]
    assert plan.nmt.build_force_decode_job("SDAtt", "seed1").files_by_set["gender"]["translation"] == words
    pieces = [f"<results>/subword/cut/pieces/gender.{side}" for side in ("target", "target1")]
    assert plan.nmt.build_force_decode_job("Cut", "seed1").files_by_set["gender"]["translation"] == pieces
    outputs = {"output": ["correct", "contrastive"]}
    (scored,) = build_call(plan, "nmt.force_decode", outputs, system="SDAtt", run="seed1")["calls"]
    assert scored["output"] == ["correct", "contrastive"] and scored["translation"] == words
    assert plan.subword.get_codes_path("cut", "target1") == "<results>/subword/cut/codes.target"


def test_a_network_attends_over_its_own_translation(build_plan):
    job = build_plan().nmt.build_attend_job("SDAtt", "seed1", "dev")
    assert job.files["translation"] == "<results>/nmt/SDAtt/seed1/dev.pieces"
    assert job.files["model"] == "<results>/nmt/SDAtt/seed1/model.safetensors"
    assert job.files["syntax"] == {"distances": "<results>/syntax/embedded/dev.distances.arrow"}


def test_tags_count_as_words_of_the_source(build_plan):
    nmt = build_plan(systems={"Task": {"auxiliary_task": "parsing"}}).nmt
    task = nmt.build_length_model_job("default.parsing.embedded")
    plain = nmt.build_length_model_job("default")
    assert task.files == plain.files and (task.settings["added"], plain.settings["added"]) == (2, 0)


# What makes a job run again, and what keeps cached outputs from being reused.

OTHER_TRAINING = {
    "seeds": [1, 2],
    "optimizer": {"name": "adam", "learning_rate": 0.02},
    "batch_size": 9,
    "batch_unit": "tokens",
    "accumulate": 2,
    "loss_per": "word",
    "max_length": 79,
    "epochs": 3,
    "updates": 1000,
    "clip": 2.0,
    "validate_every": 7,
    "early_stopping": "bleu",
    "patience": 9,
    "average": 2,
    "moving_average": 0.5,
    "tensorboard": True,
    "checkpoint_minutes": 7,
    "device": "cpu",
    "precision": "bfloat16",
    "graphs": False,
    "threads": 2,
    "processes": 2,
}
OF_NOTHING, OF_ROUNDING = {"seeds", "tensorboard", "checkpoint_minutes"}, {"graphs", "threads"}
UNREAD_BY_PRETRAINING = {
    *("loss_per", "epochs", "updates", "validate_every", "early_stopping", "patience", "average", "moving_average"),
}
OTHER_DECODING = {
    "beam": 6,
    "retry_beam": 99,
    "batch_size": 4,
    "precision": "bfloat16",
    "length_normalization": 1.0,
    "max_length_ratio": 1.0,
    "max_length": 99,
    "length_model": True,
    "length_floor": 1e-5,
    "replace_unknown": True,
    "n_best": 3,
    "attention": True,
}


def compare_plans(before, after, name, outputs):
    """Compare identity (decides reruns) and process (decides cache hits) of a job in two plans."""
    wildcards = {"system": "Dep2Seq", "run": "seed1"}
    jobs = [plan.build_job(name, wildcards) for plan in (before, after)]
    identities = [plan.compute_identity(job) for plan, job in zip((before, after), jobs, strict=True)]
    calls = [build_call(plan, name, outputs, **wildcards) for plan in (before, after)]
    return identities[0] != identities[1], calls[0]["process"] != calls[1]["process"]


def test_every_training_and_decoding_key_has_a_test_value():
    assert OTHER_TRAINING.keys() == TrainingConfig.model_fields.keys()
    assert OTHER_DECODING.keys() == DecodingConfig.model_fields.keys()


@pytest.mark.parametrize("key", OTHER_TRAINING)
@pytest.mark.parametrize("name", ["nmt.train", "nmt.pretrain"])
def test_training_settings_change_the_identity(build_plan, name, key):
    outputs = {"nmt.train": {"model": "m"}, "nmt.pretrain": {"weights": "w"}}[name]
    changes = compare_plans(build_plan(), build_plan(training={key: OTHER_TRAINING[key]}), name, outputs)
    ignored = OF_NOTHING | (UNREAD_BY_PRETRAINING if name == "nmt.pretrain" else set())
    expected = {"identity": key not in ignored | OF_ROUNDING, "process": key not in ignored}
    assert changes == tuple(expected.values())


@pytest.mark.parametrize("key", OTHER_DECODING)
def test_decoding_settings_change_the_identity(build_plan, key):
    outputs = {"pieces": ["p"] * 20, "alignment": ["a"] * 20, "counts": ["c"] * 20}
    sets = len(build_plan().nmt.experiment.corpora.held_out_sets)
    outputs = {name: paths[:sets] for name, paths in outputs.items()}
    changes = compare_plans(build_plan(), build_plan(decoding={key: OTHER_DECODING[key]}), "nmt.translate", outputs)
    of_files = key == "attention"  # a further output, of which the cache asks the stage's parameters
    expected = {
        "identity": key not in {"batch_size", "length_floor", "replace_unknown"},
        "process": key not in {"length_floor", "replace_unknown"} and not of_files,
    }
    assert changes == tuple(expected.values())


def test_other_threads_or_devices_are_not_reused(build_plan):
    sets = len(build_plan().nmt.experiment.corpora.held_out_sets)
    outputs = {name: [name] * sets for name in ("pieces", "alignment", "counts")}
    for training, expected in (({"threads": 2}, (False, True)), ({"device": "cpu"}, (True, True))):
        assert compare_plans(build_plan(), build_plan(training=training), "nmt.translate", outputs) == expected


def test_composition_and_input_sizes_change_the_identity(build_plan):
    before = build_plan().nmt.build_train_job("SDAtt", "seed1")
    systems = {"SDAtt": {"contexts": ["syntax", "global"]}}
    assert build_plan(systems=systems).nmt.build_train_job("SDAtt", "seed1").settings != before.settings
    assert build_plan(model={"dropout": 0.3}).nmt.build_train_job("SDAtt", "seed1").settings != before.settings
    assert before.settings["system"]["composition"] == before.execution_settings["system"]
    assert before.settings["system"]["input_sizes"] == [[before.execution_settings["system"]["model"]["embedding"]]]
    libraries = {*before.software}
    assert libraries == {"torch", "numpy", "safetensors", "sacrebleu"}


def test_a_part_without_a_module_is_rejected_by_the_plan(build_plan, monkeypatch):
    find_file = nmt.find_module_file
    monkeypatch.setattr(
        nmt, "find_module_file", lambda name: None if name.endswith("weighting.syntax") else find_file(name)
    )
    with pytest.raises(
        InputError, match=r"systems\.SDAtt: unknown part; there is no module pipeline_py/nmt/.*/syntax\.py"
    ):
        build_plan()
