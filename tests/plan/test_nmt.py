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
    inputs = nmt.inputs("Both", "seed1", ["dev", "mixed"])
    assert inputs["model"][1] == "<results>/nmt/Sennrich-deponly/seed1/model.safetensors"
    assert [file.rpartition("/")[2].partition(".")[0] for file in inputs["source"]] == ["dev", "dev", "mixed", "mixed"]
    assert len(inputs["syntax"]) == 4
    given = {"model": ["a", "b"], "config": ["c", "d"], "length_model": "l"}
    assert nmt.member_options(given) == ["--model=a", "--model=b", "--config=c", "--config=d", "--length-model=l"]
    given = {"source": ["e", "f", "g", "h"], "syntax": ["i", "j", "k", "l"]}
    assert nmt.set_options("Both", ["dev", "mixed"], given) == {
        "dev": ["--set=dev", "--source=e", "--source=f", "--syntax=1:distances=i", "--syntax=2:labels=j"],
        "mixed": ["--set=mixed", "--source=g", "--source=h", "--syntax=1:distances=k", "--syntax=2:labels=l"],
    }
    assert nmt.length_model("Both") == {"length_model": "<results>/nmt/length_model/default.tsv"}
    assert nmt.length_model("SDAtt") == {}
    assert nmt.modules("Both") == sorted({*nmt.modules("SDAtt"), *nmt.modules("Sennrich-deponly")})


def test_what_is_asked_for_is_written_beside_the_pieces_of_each_set(planned):
    corpora = {"tests": [{"name": "mixed", "generate": {"sentences": 9}}]}
    given = {"source": ["s", "t"], "syntax": ["d", "e"]}
    made = {name: [f"dev/{name}", f"mixed/{name}"] for name in ("pieces", "alignment", "counts")}
    plain = planned(corpora=corpora).nmt.translation_options("SDAtt", given, made)
    assert [option for option in plain if option.startswith("--set")] == ["--set=dev", "--set=mixed"]
    assert plain[len(plain) // 2 :] == [
        *("--set=mixed", "--source=t", "--syntax=distances=e", "--cache=mixed/cache/pieces", "--output=mixed/pieces"),
        *("--alignment-output=mixed/alignment", "--counts-output=mixed/counts"),
    ]
    further = planned(corpora=corpora, decoding={"n_best": 2, "attention": True}).nmt
    options = further.translation_options("SDAtt", given, made)
    assert {*options} - {*plain} == {
        f"--{option}-output={name}/pieces.{ending}"
        for name in ("dev", "mixed")
        for option, ending in (("n-best", "n-best"), ("attention", "attention.arrow"))
    }


def test_both_translations_of_a_contrastive_set_are_given(planned, tmp_path):
    (tmp_path / "g.tsv").write_text("source\tcorrect\tcontrastive\na\tb\tc\n")
    over = {"corpora": {"contrast": [{"name": "gender", "file": "g.tsv"}]}, "data": str(tmp_path)}
    subword = {"scheme": "bpe", "merges": 9, "generalise": 2}
    tables = {"m": {"type": "measures", "title": "M", "systems": ["SDAtt", "PBSMT"], "columns": ["contrast"]}}
    plan = planned(**over, subwords={"cut": subword}, systems={"Cut": {"subword": "cut"}}, tables=tables, targets=[])
    words = [f"<results>/corpus/tokenized/gender.{side}" for side in ("target", "target1")]
    assert plan.nmt.translations("SDAtt") == words
    pieces = [f"<results>/subword/cut/pieces/gender.{side}" for side in ("target", "target1")]
    assert plan.nmt.translations("Cut") == pieces
    read, made = {"source": ["s"], "syntax": ["d"], "translations": words}, {"correct": ["c"], "contrastive": ["w"]}
    assert plan.nmt.scoring_options("SDAtt", read, made) == [
        *("--set=gender", "--source=s", "--syntax=distances=d"),
        *(f"--translation={file}" for file in words),
        *("--output=c", "--output=w"),
    ]
    assert plan.subword.codes("cut", "target1") == "<results>/subword/cut/codes.target"


def test_a_part_without_a_module_is_told_before_anything_is_made(planned, monkeypatch):
    there = nmt.file_of
    monkeypatch.setattr(nmt, "file_of", lambda name: None if name.endswith("weighting.syntax") else there(name))
    with pytest.raises(InputError, match=r"systems\.SDAtt: there is no pipeline_py/nmt/weighting/syntax\.py, where a"):
        planned()
