"""The campaign of attacks: how it judges outcomes, and a short run of it that finds no fault."""

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from benchmarks.faults import campaign, damage, mutations, result_comparison, stage_processes
from benchmarks.faults.cases import AttackCase, AttackOutcome, AttackResult, classify_stage_failure
from benchmarks.faults.concurrency_attack import is_refused_run
from benchmarks.faults.configuration_attack import classify_plan_failure
from benchmarks.faults.experiment import FaultExperiment
from benchmarks.faults.planned_jobs import parse_planned_jobs, select_downstream_jobs
from benchmarks.faults.stage_processes import ProcessResult
from benchmarks.faults.wrong_input_attack import count_sentences
from pipeline_py.run.output_cache import OutputCache

ROOT = Path(__file__).parents[2]
TRACE = "Traceback (most recent call last):\n  File\nValueError: x\n"


@pytest.mark.parametrize(
    ("exit_code", "output", "outcome"),
    [
        (0, "", None),
        (0, TRACE, AttackOutcome.TRACEBACK),
        (1, "clean: 5/9\rerror: given/a.txt, line 3: x; mend it\n", AttackOutcome.CLEAR_ERROR),
        (1, "error: something; mend it\n", AttackOutcome.VAGUE_ERROR),
        (1, "error: given/a.txt: x\nerror: given/a.txt: y\n", AttackOutcome.VAGUE_ERROR),
        (2, "error: given/a.txt: x\n", AttackOutcome.VAGUE_ERROR),
        (1, f"{TRACE}error: given/a.txt: x\n", AttackOutcome.TRACEBACK),
        (-11, "", AttackOutcome.TRACEBACK),
        (None, "", AttackOutcome.HANG),
    ],
)
def test_an_error_is_clear_if_it_is_one_sentence_that_names_the_file(exit_code, output, outcome):
    assert classify_stage_failure(ProcessResult(exit_code, output, 1.0), ["given/a.txt"]) == outcome


@pytest.mark.parametrize(
    ("output", "is_refused"),
    [
        ("LockException:\nError: Directory cannot be locked. Please make sure\n", True),
        ("Unable to obtain modification time of file a.txt although it existed before. It could be that "
         "a concurrent process has deleted it while Snakemake was running.\n", True),
        ("MissingInputException in rule score\n", False),
    ],
)  # fmt: skip
def test_a_second_snakemake_in_a_directory_may_be_refused(output, is_refused):
    assert is_refused_run(ProcessResult(1, output, 1.0)) == is_refused


def test_a_dry_run_that_fails_names_the_configuration():
    assert classify_plan_failure(ProcessResult(1, "configuration: unknown key `x`\n", 1.0)) is AttackOutcome.CLEAR_ERROR
    assert classify_plan_failure(ProcessResult(1, "Config file is not valid\n", 1.0)) is AttackOutcome.VAGUE_ERROR
    assert classify_plan_failure(ProcessResult(1, TRACE, 1.0)) is AttackOutcome.TRACEBACK
    snakemake_message = 'AttributeError in file "/x/Snakefile", line 38:\n  File "/x/pipeline_py/a.py", line 2, in f\n'
    assert classify_plan_failure(ProcessResult(1, snakemake_message, 1.0)) is AttackOutcome.TRACEBACK
    assert classify_plan_failure(ProcessResult(0, "", 1.0)) is None


@pytest.mark.parametrize(
    ("name", "first", "second", "is_equal"),
    [
        ("a.json", {"seconds": 1, "bleu": 2}, {"seconds": 3, "bleu": 2}, True),
        ("a.json", {"seconds": 1, "bleu": 2}, {"seconds": 1, "bleu": 3}, False),
        ("a.json", {"of": [{"cpu_seconds": 1}]}, {"of": [{"cpu_seconds": 2}]}, True),
        ("a.json", {"words_per_cpu_second": 1, "core_share": 2}, {"words_per_cpu_second": 2, "core_share": 1}, True),
        ("a.tsv", "update\tseconds\n1\t5\n", "update\tseconds\n1\t6\n", True),
        ("a.tsv", "update\tseconds\n1\t5\n", "update\tseconds\n2\t5\n", False),
        ("a.tsv", "update\tseconds\n1\t5\n", "update\tseconds\n1\t5\n1\t5\n", False),
        ("a.txt", "seconds 1\n", "seconds 2\n", False),
        ("a.json", {"seconds": 1}, "{", False),
        ("report.html", "<p>1 s", "<p>2 s", True),
        ("report.html", "<p>1 s", "", False),
    ],
)
def test_results_are_compared_without_times(tmp_path, name, first, second, is_equal):
    for folder, content in (("first", first), ("second", second)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    assert result_comparison.list_differing_files(tmp_path / "first", tmp_path / "second", [name]) == (
        [] if is_equal else [name]
    )
    assert result_comparison.list_differing_files(tmp_path / "first", tmp_path / "second", ["gone"]) == []
    assert result_comparison.list_differing_files(tmp_path / "first", tmp_path, [name]) == [name]


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 40, b"one\ntwo\n" * 9])
def test_damage_always_changes_a_file(content):
    for number in range(200):
        changed, way = damage.damage_content(content, Random(number))
        assert changed != content and way
        assert (changed, way) == damage.damage_content(content, Random(number))


def test_mutations_are_decided_by_the_seed():
    content = "1\tein Wort\t0.5\n2\tzwei (Wörter)\t0.25\n".encode()
    mutated_contents = [mutations.mutate_content(content, Random(number)) for number in range(400)]
    assert mutated_contents == [mutations.mutate_content(content, Random(number)) for number in range(400)]
    assert {name for _, names in mutated_contents for name in names.split()} >= {
        way.__name__ for way in mutations.MUTATION_FUNCTIONS
    }
    assert len({changed for changed, _ in mutated_contents}) > 200


DRY_RUN_OUTPUT = """
[Mon Jan 1 00:00:00 2024]
rule pack:
    input: b.txt, v
    output: b.arrow
    jobid: 2
Shell command: python -m pipeline_py.run '{"stage":"subword.pack","arguments":{"input":"b.txt"},"calls":[{}]}'


[Mon Jan 1 00:00:00 2024]
rule tokenize:
    input: a.txt
    output: b.txt
    jobid: 1
Shell command: python -m pipeline_py.run '{"stage":"corpus.tokenize","arguments":{"name":"two words"},"calls":[]}' 2>l


localrule all:
    input: b.arrow
    jobid: 0
Shell command: None
"""


def test_jobs_are_read_from_a_dry_run_in_an_order_in_which_they_can_run():
    tokenize, pack = parse_planned_jobs(DRY_RUN_OUTPUT)
    assert (tokenize.rule, tokenize.stage_module) == ("tokenize", "pipeline_py.corpus.tokenize")
    assert tokenize.job_content["arguments"] == {"name": "two words"} and tokenize.module_and_argument == (
        "pipeline_py.run",
        tokenize.job_json,
    )
    assert (
        pack.is_reader_of("v")
        and pack.is_reader_of("b.txt")
        and not pack.is_reader_of("b.arrow")
        and not pack.is_reader_of("a.txt")
    )
    assert select_downstream_jobs([tokenize, pack], ["a.txt"]) == [tokenize, pack]
    assert select_downstream_jobs([tokenize, pack], ["v"]) == [pack]


TRAIN_RULE_OUTPUT = """
rule train:
    input: b.arrow, v
    output: nmt/model, nmt/facts.json
    jobid: 4
Shell command:
        python -m pipeline_py.run '{"stage":"nmt.train","arguments":{"source":"b.arrow","syntax":{"tags":"t"}},"calls":[{"model_output":"nmt/model","checkpoints":"nmt/checkpoints"}]}' 2> >(tee x >&2)
"""  # noqa: E501


def test_a_job_reads_nested_files_and_reuses_folders_next_to_its_outputs():
    (train,) = parse_planned_jobs(TRAIN_RULE_OUTPUT)
    assert train.stage_module == "pipeline_py.nmt.train" and train.module_and_argument[0] == "pipeline_py.run"
    assert train.is_reader_of("b.arrow") and train.is_reader_of("t") and not train.is_reader_of("nmt/model")
    assert train.reusable_folders == ["nmt/cache/model", "nmt/cache/facts.json", "nmt/checkpoints"]


@pytest.mark.parametrize(
    ("name", "content", "number"),
    [
        ("a.source", b"a\nb", 2),
        ("a.source", b"", 0),
        ("a.conllu", b"# x\n1\ta\n\n1\tb\n\n", 2),
        ("a.conllu", b"1\ta\r\n\r\n1\tb\r\n", 2),
        ("a.json", b"{}\n", None),
    ],
)
def test_sentences_are_counted(tmp_path, name, content, number):
    (tmp_path / name).write_bytes(content)
    assert count_sentences(tmp_path / name) == number
    assert count_sentences(tmp_path / "gone") is None


def run_in_process(work, folder, **options):
    return stage_processes.ForkedProcess(work, folder).wait_for_result(**{"time_limit": 20, **options})


def test_work_runs_in_a_separate_process(tmp_path):
    def work():
        print("said", Path.cwd() == tmp_path)
        sys.exit(3)

    result = run_in_process(work, tmp_path)
    assert (result.exit_code, result.output) == (3, "said True\n") and Path.cwd() != tmp_path


def test_a_time_limit_ends_a_process_and_its_children(tmp_path):
    def work():
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print("x" * 200_000, flush=True)  # more than a pipe holds
        time.sleep(60)

    result = run_in_process(work, tmp_path, time_limit=2)
    assert result.exit_code is None and len(result.output) == 200_001 and result.seconds < 20
    assert run_in_process(work, tmp_path, kill_seconds=0.2).exit_code == -9


def test_a_process_is_killed_as_soon_as_a_file_exists(tmp_path):
    def work():
        (tmp_path / "made").touch()
        time.sleep(60)

    result = run_in_process(work, tmp_path, kill_condition=(tmp_path / "made").exists)
    assert result.exit_code == -9 and result.seconds < 20


def test_a_process_that_cannot_report_its_error_ends(tmp_path):
    def work():
        sys.stderr.close()
        raise ValueError

    assert run_in_process(work, tmp_path).exit_code == 1


def throw(case: AttackCase) -> AttackResult:
    """An attack for tests."""
    if case.case_number == 2:
        raise KeyError("unforeseen")
    return AttackResult("dice", AttackOutcome.RIGHT_RESULT, str(case.random.random()))


def test_a_case_is_determined_by_seed_and_number(tmp_path):
    def run_campaign(seed: int, cases: list[tuple[str, int]]) -> list[tuple[str, int, AttackResult]]:
        end = time.monotonic() + 60
        return [*campaign.FaultCampaign(None, {"throw": throw}, seed, tmp_path, end).run_cases(cases, 2)]

    cases = campaign.interleave_cases({"throw": 3})
    results = run_campaign(1, cases)
    assert cases == [("throw", 0), ("throw", 1), ("throw", 2)]
    assert run_campaign(1, [("throw", 1)]) == results[1:2] != run_campaign(2, [("throw", 1)])
    assert results[2][2].outcome is AttackOutcome.TRACEBACK and "unforeseen" in results[2][2].message
    table = campaign.count_outcomes(results)
    assert [(row["on"], row["cases"], row["right result"]) for row in table] == [
        ("dice", 2, 2),
        ("throw", 1, 0),
        ("", 3, 2),
    ]
    assert campaign.render_markdown_table(table).count("\n") == 5
    assert campaign.write_bad_cases(tmp_path / "bad", results, ["python", "-m", "x"]) == 1
    assert "python -m x --only throw:2" in (tmp_path / "bad").read_text()


def test_restoring_in_a_copy_keeps_the_times_of_the_experiment(tmp_path):
    """Otherwise Snakemake would run more jobs again in a copy that another attack uses at the same time."""
    output = tmp_path / "experiment" / "results" / "out.pieces"
    output.parent.mkdir(parents=True)
    output.write_text("made")
    OutputCache(output.parent / "cache", "same").store(output)
    os.utime(output, (1, 1))
    FaultExperiment(tmp_path / "experiment", "", (), {}, {}).copy_to(tmp_path / "copy")
    copy = tmp_path / "copy" / "results"
    assert (copy / "out.pieces").samefile(output), "what takes space is linked"
    assert OutputCache(copy / "cache", "same").restore(copy / "out.pieces")
    assert (copy / "out.pieces").stat().st_mtime > 1 and output.stat().st_mtime == 1


@pytest.mark.slow
def test_a_short_campaign_finds_no_fault(tmp_path):
    """In a few cases of each attack, no result is silently wrong, nothing prints a traceback, and nothing hangs."""
    counts = {"files": 18, "inputs": 20, "configurations": 6, "kills": 5, "disks": 6, "pairs": 5}
    options = [word for name, count in counts.items() for word in (f"--{name}", str(count))]
    command = [sys.executable, "-m", "benchmarks.faults", *options, "--processes", "2"]
    folders = ["--work", tmp_path / "work", "--results", tmp_path / "results"]
    result = subprocess.run([*command, *folders], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr[-5000:]
    with (tmp_path / "results" / "faults.tsv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    case_counts = {name: sum(int(row["cases"]) for row in table if row["attack"] == name) for name in counts}
    assert case_counts == counts
    assert {row["on"] for row in table} >= {".arrow", ".safetensors", "checkpoint", "cached copy", "compiled kernels"}
    bad_cases = (tmp_path / "results" / "faults.txt").read_text(encoding="utf-8")
    assert not bad_cases, bad_cases
    assert int(table[-1]["right result"]) > 10 and int(table[-1]["clear error"]) > 10
