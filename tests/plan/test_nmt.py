"""What networks are trained, fed and searched with."""

import json
import re

import pytest

from pipeline_py.input_error import InputError
from pipeline_py.plan import nmt


def test_a_network_is_trained_with_what_it_reads(planned):
    nmt = planned().nmt
    inputs = nmt.training_inputs("SDAtt", "seed1")
    assert inputs["train_syntax"] == ["<results>/syntax/embedded/train.distances.arrow"]
    assert inputs["dev_target"] == "<results>/subword/default/packed/dev.target.arrow"
    assert inputs["syntax_vocabularies"] == [] and "initial" not in inputs
    assert nmt.training_inputs("GlobalAtt", "seed1")["train_syntax"] == []
    pretrained = nmt.training_inputs("Dep2Seq", "seed2")["initial"]
    assert pretrained == "<results>/nmt/Dep2Seq/seed2/pretrained.safetensors"
    assert nmt.kinds_of_pretraining("Dep2Seq") == ["heads", "labels"]
    assert len(nmt.pretraining_inputs("Dep2Seq")["train_syntax"]) == 2


def test_syntax_becomes_options(planned):
    inputs = {"train_syntax": ["t"], "dev_syntax": ["d"], "syntax_vocabularies": ["v"]}
    options = planned().nmt.syntax_options("Sennrich-deponly", ["labels"], inputs)
    assert options == ["--train-syntax=labels=t", "--dev-syntax=labels=d", "--syntax-vocabulary=labels=v"]


def test_threads_are_shared_by_processes(planned):
    nmt = planned(training={"processes": 2, "threads": 3, "tensorboard": True}).nmt
    assert json.loads(nmt.training("SDAtt", threads=6))["threads"] == 3
    assert json.loads(nmt.training("SDAtt", threads=1))["threads"] == 1
    assert nmt.board("SDAtt", "a/model.safetensors") == ["--tensorboard=a/tensorboard"]


def test_a_run_is_called_by_its_system_where_there_is_one(planned):
    assert planned().nmt.name_of_run("SDAtt", "seed1") == "SDAtt"
    assert planned(training={"seeds": [1, 2]}).nmt.name_of_run("SDAtt", "seed2") == "SDAtt (seed2)"


def test_an_ensemble_is_fed_by_its_members(planned):
    systems = {
        "Both": {"type": "ensemble", "members": ["SDAtt", "Sennrich-deponly"], "decoding": {"length_model": True}}
    }
    nmt = planned(systems=systems).nmt
    assert re.fullmatch(nmt.systems, "Both") and not re.fullmatch(nmt.networks, "Both")
    assert not re.fullmatch(nmt.systems, "PBSMT")
    inputs = nmt.inputs("Both", "seed1", "dev")
    assert inputs["model"][1] == "<results>/nmt/Sennrich-deponly/seed1/model.safetensors"
    assert len(inputs["syntax"]) == 2
    given = {"model": ["a", "b"], "config": ["c", "d"], "source": ["e", "f"], "syntax": ["g", "h"], "length_model": "l"}
    options = nmt.member_options("Both", given)
    assert options[-3:] == ["--syntax=1:distances=g", "--syntax=2:labels=h", "--length-model=l"]
    assert nmt.length_model("Both") == {"length_model": "<results>/nmt/length_model/default.tsv"}
    assert nmt.length_model("SDAtt") == {}
    assert nmt.modules("Both") == sorted({*nmt.modules("SDAtt"), *nmt.modules("Sennrich-deponly")})


def test_what_is_asked_for_is_written_beside_the_pieces(planned):
    assert planned().nmt.further_outputs("SDAtt", "p") == []
    nmt = planned(decoding={"n_best": 2, "attention": True}).nmt
    assert nmt.further_outputs("SDAtt", "p") == ["--n-best-output=p.n-best", "--attention-output=p.attention.arrow"]


def test_both_translations_of_a_contrastive_set_are_given(planned, tmp_path):
    (tmp_path / "g.tsv").write_text("source\tcorrect\tcontrastive\na\tb\tc\n")
    over = {"corpora": {"contrast": [{"name": "gender", "file": "g.tsv"}]}, "data": str(tmp_path)}
    subword = {"scheme": "bpe", "merges": 9, "generalise": 2}
    tables = {"m": {"type": "measures", "title": "M", "systems": ["SDAtt", "PBSMT"], "columns": ["contrast"]}}
    plan = planned(**over, subwords={"cut": subword}, systems={"Cut": {"subword": "cut"}}, tables=tables, targets=[])
    words = [f"<results>/corpus/tokenized/gender.{side}" for side in ("target", "target1")]
    assert plan.nmt.translations("SDAtt", "gender") == words
    pieces = [f"<results>/subword/cut/pieces/gender.{side}" for side in ("target", "target1")]
    assert plan.nmt.translations("Cut", "gender") == pieces
    assert plan.subword.codes("cut", "target1") == "<results>/subword/cut/codes.target"


def test_a_part_without_a_module_is_told_before_anything_is_made(planned, monkeypatch):
    there = nmt.file_of
    monkeypatch.setattr(nmt, "file_of", lambda name: None if name.endswith("weighting.syntax") else there(name))
    with pytest.raises(InputError, match=r"systems\.SDAtt: there is no pipeline_py/nmt/weighting/syntax\.py, where a"):
        planned()
