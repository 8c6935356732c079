"""Steps of a plan that is made by hand: their order, their files, and what they leave as it was."""

import sys
from pathlib import Path

import pytest
import torch

from pipeline_py import checksum
from pipeline_py.application.chain import Chain, Plan, Step
from pipeline_py.checksum import DAMAGED
from pipeline_py.corpus import tokenize
from pipeline_py.input_error import InputError
from pipeline_py.one_process import OneProcess, warnings_alone

RAW, CLEAN, TOKENS, TEXT = "raw/one.source", "clean/one.source", "tokens/one.source", "text/one.txt"

STEPS = [
    Step("evaluation.postprocess", ["--pieces", TOKENS, "--detokenizer", "none", "--output", TEXT], [TOKENS], [TEXT]),
    Step(
        "corpus.tokenize",
        ["--input", CLEAN, "--language", "en", "--tokenizer", "moses", "--output", TOKENS],
        [CLEAN, "trained/model"],
        [TOKENS],
    ),
    Step(
        "corpus.clean",
        [
            *("--mode", "held-out", "--source-input", RAW, "--target-input=raw/one.target", "--source-output", CLEAN),
            *("--target-output=clean/one.target", "--lines-output", "clean/one.lines"),
            *("--counts-output", "clean/one.json", f"--called={RAW}=mine.txt"),
        ],
        [RAW, "raw/one.target"],
        [CLEAN, "clean/one.target"],
    ),
    Step("corpus.tokenize", ["--input", "clean/one.target"], ["clean/one.target"], ["tokens/one.target"]),
]


def chain(folder: Path, steps: list[Step] = STEPS) -> Chain:
    (folder / "trained").mkdir(exist_ok=True)
    (folder / "trained/model").touch()
    return Chain(Plan("S", "seed1", "results", {"text": TEXT}, steps), folder, "snakemake it")


def test_steps_run_in_their_order_on_files_of_their_own(tmp_path):
    folder, work = tmp_path / "experiment", tmp_path / "work"
    folder.mkdir()
    (folder / "clean").mkdir()
    (folder / CLEAN).write_text("the set's own\n")
    before = Path.cwd()
    chain(folder).make(work, [TEXT], ["Mind,\nthe   gap.", "", "\ud800"])
    assert (work / TEXT).read_text() == "Mind , the gap .\n\n?\n"
    assert (folder / CLEAN).read_text() == "the set's own\n"
    assert not (work / "tokens/one.target").exists(), "nothing is made of it"
    assert Path.cwd() == before


def test_arguments_may_be_others_than_planned(tmp_path):
    made = chain(tmp_path)
    made.make(tmp_path / "work", [TEXT], ["A b."], changes={"corpus.tokenize": {"lowercase": True}})
    assert (tmp_path / "work" / TEXT).read_text() == "a b .\n"
    assert made.arguments("corpus.clean", Path("/w"))["called"] == [f"{RAW}=mine.txt"]
    assert made.arguments("corpus.clean", Path("/w"))["source_input"] == Path("/w") / RAW


def test_what_is_not_trained(tmp_path):
    chain(tmp_path)
    (tmp_path / "trained/model").unlink()
    with pytest.raises(InputError, match=r"^S is not trained.*: trained/model is not there; `snakemake it`"):
        Chain(Plan("S", "seed1", "results", {"text": TEXT}, STEPS), tmp_path, "snakemake it")
    given = [
        *STEPS[1:],
        Step("syntax.import_trees", [], [], ["trees"]),
        Step("evaluation.postprocess", [], ["trees"], [TEXT]),
    ]
    with pytest.raises(InputError, match="S reads trees that are given"):
        chain(tmp_path, given)


def test_damage_of_what_is_trained(tmp_path):
    model = tmp_path / "codes"
    model.write_text("#version: 0.2\n")
    checksum.record(model)
    model.write_text("#version: 0.3\n")
    arguments = {"input": model, "output": tmp_path / "out", "language": "en"}
    with pytest.raises(InputError, match=DAMAGED):
        chain(tmp_path).run("corpus.tokenize", tmp_path / "work", arguments)


def test_what_takes_long_to_load_is_loaded_once(monkeypatch):
    loaded = []
    monkeypatch.setattr(tokenize, "_segmenter", lambda *given: loaded.append(given) or given)
    original = tokenize._segmenter
    process = OneProcess()
    for language in ("en", "en", "de"):
        with process.stage("corpus.tokenize"):
            assert tokenize._segmenter("moses", language, None, None)[1] == language
        assert tokenize._segmenter is original
    assert [given[1] for given in loaded] == ["en", "de"]


def test_a_stage_tells_warnings_alone_and_leaves_torch_as_it_was(capsys):
    with pytest.raises(InputError), warnings_alone(), OneProcess().stage("nmt.translate"):
        torch.set_deterministic_debug_mode("error")
        torch.set_flush_denormal(True)
        print("progress 3/4\nwarning: mind", file=sys.stderr)
        print(" the gap\nloaded", file=sys.stderr)
        raise InputError("no")
    assert capsys.readouterr().err == "warning: mind\n"
    assert torch.get_deterministic_debug_mode() == 0
    assert torch.tensor(1e-310, dtype=torch.float64) / 2 != 0
