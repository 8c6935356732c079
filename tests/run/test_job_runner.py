"""Execution of jobs: arguments, records, the cache, shared values and killed jobs."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
from pydantic import PositiveInt

from pipeline_py.config.systems.training import DecodingConfig
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_record import get_record_path, hash_content, read_record
from pipeline_py.run.job_runner import LoadedParameter, StageFunction, rerun_job, run_job

MakeStage = Callable[..., None]


@pytest.fixture
def make_stage(monkeypatch: pytest.MonkeyPatch) -> MakeStage:
    """Return a function that registers a stage's module with the given functions."""

    def make(stage: Callable[..., None], **definitions: Any) -> None:
        module = ModuleType(f"pipeline_py.{stage.__name__}")
        for name, value in {stage.__name__: stage, **definitions}.items():
            setattr(module, name, value)
        monkeypatch.setitem(sys.modules, module.__name__, module)

    return make


def build_job(
    folder: Path, stage: str, arguments: dict[str, Any], *calls: dict[str, Any], **changes: Any
) -> dict[str, Any]:
    """Build a job like `ExperimentPlan.serialize_call`; the arguments contain the outputs of a single call."""
    described = {
        "stage": stage,
        "plan": "package.rule",
        "wildcards": {},
        "results": folder,
        "is_cached": False,
        "threads": 2,
        "identity": "i",
        "process": "p",
        "software": {},
        "arguments": arguments,
        "calls": [*calls] or [{}],
        **changes,
    }
    return json.loads(json.dumps(described, default=str))


@pytest.fixture
def join_calls(make_stage: MakeStage) -> list[dict[str, Any]]:
    """Register the stage `join_texts`, which joins files, and return the arguments of its calls."""
    calls: list[dict[str, Any]] = []

    def join_texts(*, texts: dict[str, list[Path]], output: Path, separator: str = "", times: PositiveInt = 1) -> None:
        calls.append({"texts": texts, "separator": separator, "times": times})
        parts = [path.read_text() for paths in texts.values() for path in paths]
        output.write_text(separator.join(parts * times))

    make_stage(join_texts)
    return calls


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, list[Path]]:
    for name in "abc":
        (tmp_path / name).write_text(name)
    return {"one": [tmp_path / "a", tmp_path / "b"], "two": [tmp_path / "c"]}


def test_arguments_have_the_types_of_the_parameters(tmp_path, join_calls, texts):
    run_job(
        build_job(tmp_path, "join_texts", {"texts": texts, "output": tmp_path / "out", "separator": "-", "times": 2})
    )
    assert (tmp_path / "out").read_text() == "a-b-c-a-b-c"
    assert join_calls == [{"texts": texts, "separator": "-", "times": 2}]


def test_models_of_the_configuration_are_parameters(make_stage, tmp_path):
    read = []

    def search(*, decoding: DecodingConfig, pair: tuple[str, int], output: Path) -> None:
        read.append((decoding, pair))
        output.touch()

    make_stage(search)
    run_job(build_job(tmp_path, "search", {"decoding": {"beam": 7}, "pair": ["a", 1], "output": tmp_path / "out"}))
    assert read == [(DecodingConfig(beam=7), ("a", 1))]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"times": 0}, "join_texts: times: Input should be greater than 0; correct the configuration"),
        ({"times": "many"}, "join_texts: times: Input should be a valid integer, unable to parse .*; correct"),
        ({"texts": {"one": "a"}}, r"join_texts: texts\.one: Input should be a valid list; correct the"),
        ({"separater": "-"}, "join_texts: separater: Extra inputs are not permitted; correct"),
        ({"texts": ...}, "join_texts: texts: Field required; correct"),
    ],
)
def test_an_invalid_argument_is_reported_in_one_sentence(tmp_path, join_calls, texts, changes, message):
    arguments = {"texts": texts, "output": tmp_path / "out", **changes}
    arguments = {name: value for name, value in arguments.items() if value is not ...}
    with pytest.raises(InputError, match=message) as error:
        run_job(build_job(tmp_path, "join_texts", arguments))
    assert "\n" not in str(error.value) and join_calls == [] and not (tmp_path / "out").exists()


def test_a_position_counts_from_1():
    """The type of the parameter of `report.draw_attention` defines the limit."""
    outputs = {"svg_output": "a.svg", "pdf_output": "a.pdf"}
    files = dict.fromkeys(("source_pieces", "translation", "attention"), "x")
    with pytest.raises(InputError, match=r"report\.draw_attention: sentence: Input should be greater than 0"):
        StageFunction("report.draw_attention").validate_arguments({"sentence": 0, **files, **outputs})


def test_the_record_has_the_job_and_what_was_read(tmp_path, join_calls, texts):
    arguments = {"texts": texts, "output": tmp_path / "out"}
    described = build_job(tmp_path, "join_texts", arguments, wildcards={"split": "dev"})
    run_job(described)
    record = read_record(get_record_path(tmp_path / "out"))
    same = ("stage", "plan", "wildcards", "identity", "process", "software", "is_cached", "results", "arguments")
    assert {name: record[name] for name in same} == {name: described[name] for name in same}
    assert [*record["inputs"]] == [str(tmp_path / name) for name in "abc"] and [*record["outputs"]] == ["out"]
    assert record["seconds"] >= 0 and record["peak_memory_mb"] > 10 and "threads" not in record["arguments"]


def test_threads_are_those_of_the_job(make_stage, tmp_path):
    def count_threads(*, output: Path, threads: int = 1) -> None:
        output.write_text(str(threads))

    make_stage(count_threads)
    run_job(build_job(tmp_path, "count_threads", {"output": tmp_path / "out"}, threads=3))
    assert (tmp_path / "out").read_text() == "3"


def test_a_damaged_input_is_rejected_before_the_stage_starts(tmp_path, join_calls, texts):
    run_job(build_job(tmp_path, "join_texts", {"texts": texts, "output": tmp_path / "first"}))
    (tmp_path / "first").write_text("abd")
    with pytest.raises(InputError, match="first: damaged: its content is not that of its record"):
        run_job(build_job(tmp_path, "join_texts", {"texts": {"x": [tmp_path / "first"]}, "output": tmp_path / "out"}))
    assert len(join_calls) == 1 and not (tmp_path / "out").exists()


def read_record_without_measures(output: Path) -> dict[str, Any]:
    """Return the record of an output without seconds and memory, which differ between runs."""
    record = read_record(get_record_path(output))
    return {name: value for name, value in record.items() if name not in ("seconds", "peak_memory_mb")}


def test_an_output_is_made_again_from_its_record(tmp_path, join_calls, texts):
    run_job(build_job(tmp_path, "join_texts", {"texts": texts, "separator": "+"}, {"output": tmp_path / "out"}))
    (tmp_path / "out").unlink()
    rerun_job(get_record_path(tmp_path / "out"))
    assert (tmp_path / "out").read_text() == "a+b+c" and join_calls[0] == join_calls[1]
    first = read_record_without_measures(tmp_path / "out")
    rerun_job(get_record_path(tmp_path / "out"))
    assert read_record_without_measures(tmp_path / "out") == first


@pytest.mark.parametrize("content", [None, "{}", "text"])
def test_a_file_that_is_not_a_record_is_rejected(tmp_path, content):
    if content is not None:
        (tmp_path / "x").write_text(content)
    with pytest.raises(InputError, match=r"x: not the record of a job; give a file NAME\.job\.json"):
        rerun_job(tmp_path / "x")


def test_a_job_is_run_by_a_command(tmp_path):
    (tmp_path / "text").write_text("b a B\n")
    arguments = {"text": tmp_path / "text", "output": tmp_path / "counts"}
    command = [sys.executable, "-m", "pipeline_py.run"]
    described = json.dumps(build_job(tmp_path, "evaluation.count_word_frequencies", arguments))
    subprocess.run([*command, described], check=True, capture_output=True)
    assert (tmp_path / "counts").read_text() == "b 2\na 1\n"
    (tmp_path / "counts").unlink()
    subprocess.run([*command, get_record_path(tmp_path / "counts")], check=True, capture_output=True)
    assert (tmp_path / "counts").read_text() == "b 2\na 1\n"
    (tmp_path / "text").unlink()
    failed = subprocess.run(
        [*command, get_record_path(tmp_path / "counts")], capture_output=True, text=True, check=False
    )
    assert failed.returncode == 1 and failed.stderr.splitlines()[-1].startswith(f"error: {tmp_path / 'text'}: ")
    assert "Traceback" not in failed.stderr
    usage = subprocess.run(command, capture_output=True, text=True, check=False)
    assert usage.returncode == 1 and usage.stderr.startswith("usage: python -m pipeline_py.run JOB")


class TestCache:
    """Outputs of a cached job are restored if nothing that affects them has changed."""

    @pytest.fixture
    def run(self, tmp_path, join_calls, texts):
        def run(changed_arguments: dict[str, Any] | None = None, **changes: Any) -> int:
            arguments = {"texts": texts, "output": tmp_path / "out", **(changed_arguments or {})}
            (tmp_path / "out").unlink(missing_ok=True)
            run_job(build_job(tmp_path, "join_texts", arguments, **{"is_cached": True, **changes}))
            assert (tmp_path / "out").exists() and get_record_path(tmp_path / "out").exists()
            return len(join_calls)

        return run

    def test_the_same_is_restored(self, run, tmp_path):
        assert (run(), run()) == (1, 1)
        assert (tmp_path / "out").read_text() == "abc"
        assert read_record(get_record_path(tmp_path / "out"))["is_cached"] is True

    def test_what_does_not_decide_the_result_does_not_count(self, run, tmp_path, texts):
        assert run() == 1
        (tmp_path / "moved").mkdir()
        moved = {name: [path.rename(tmp_path / "moved" / path.name) for path in paths] for name, paths in texts.items()}
        # `separator` stands for an argument of `execution`: settings are in the hash `process`.
        assert run({"texts": moved, "separator": "?"}, identity="other", threads=9) == 1

    def test_what_decides_the_result_counts(self, run, tmp_path, texts):
        assert run() == 1
        assert run(process="other code") == 2
        assert run() == 3, "the cache has the last outputs alone"
        assert run({"texts": {"renamed": texts["one"], "two": texts["two"]}}) == 4
        (tmp_path / "c").write_text("d")
        assert run() == 5 and (tmp_path / "out").read_text() == "abd"

    def test_a_damaged_cache_is_not_used(self, run, tmp_path):
        assert run() == 1
        (cached,) = (tmp_path / "cache" / "out" / "last").glob("*.out")
        cached.write_text("abX")
        assert run() == 2 and (tmp_path / "out").read_text() == "abc"

    def test_nothing_is_kept_of_a_job_that_is_not_cached(self, run, tmp_path):
        assert (run(is_cached=False), run(is_cached=False)) == (1, 2)
        assert not (tmp_path / "cache").exists()

    def test_nothing_is_kept_of_a_stage_that_returns_false(self, make_stage, tmp_path):
        calls = []

        def join_partly(*, is_complete: bool, output: Path) -> bool:
            calls.append(is_complete)
            output.write_text("all" if is_complete else "a part")
            return is_complete

        make_stage(join_partly)
        for is_complete in (False, False, True, False):
            output = tmp_path / "out"
            run_job(build_job(tmp_path, "join_partly", {"is_complete": is_complete, "output": output}, is_cached=True))
            assert get_record_path(output).exists()
        assert calls == [False, False, True] and output.read_text() == "all"

    def test_a_stage_says_what_of_an_input_it_reads(self, make_stage, tmp_path):
        calls = []

        def read_line(*, text: Path, line: int, output: Path) -> None:
            calls.append(line)
            output.write_text(text.read_text().splitlines()[line])

        make_stage(read_line, hash_inputs=lambda *, text, line: {text: text.read_text().splitlines()[line]})
        output = tmp_path / "out"
        for content in ("a\nb\n", "c\nb\nd\n", "a\nc\n"):
            (tmp_path / "text").write_text(content)
            arguments = {"text": tmp_path / "text", "line": 1, "output": output}
            run_job(build_job(tmp_path, "read_line", arguments, is_cached=True))
            recorded = read_record(get_record_path(output))["inputs"]
            assert recorded == {str(tmp_path / "text"): hash_content(tmp_path / "text")}
        assert len(calls) == 2 and output.read_text() == "c"

    def test_a_job_that_is_run_again_works_again(self, run, tmp_path, join_calls):
        assert run() == 1
        first = read_record_without_measures(tmp_path / "out")
        rerun_job(get_record_path(tmp_path / "out"))
        assert read_record_without_measures(tmp_path / "out") == first
        assert len(join_calls) == 2 and (tmp_path / "out").read_text() == "abc"


class TestSets:
    """A stage that loads a value once for several sets."""

    @pytest.fixture
    def loads(self, make_stage):
        loads: list[Path] = []

        def load(*, model: Path, scale: int = 1) -> str:
            loads.append(model)
            return model.read_text() * scale

        def translate_set(
            *, network: Annotated[str, LoadedParameter()], model: Path, source: Path, output: Path, scale: int = 1
        ) -> None:
            output.write_text(f"{network}({source.read_text()})")

        make_stage(translate_set, load=load)
        return loads

    @pytest.fixture
    def run(self, tmp_path):
        for name, content in (("model", "M"), ("dev", "1"), ("test", "2")):
            (tmp_path / name).write_text(content)
        sets = [{"source": tmp_path / name, "output": tmp_path / f"{name}.out"} for name in ("dev", "test")]

        def run(**changes: Any) -> list[str]:
            for of_set in sets:
                of_set["output"].unlink(missing_ok=True)
            run_job(build_job(tmp_path, "translate_set", {"model": tmp_path / "model", "scale": 2}, *sets, **changes))
            return [of_set["output"].read_text() for of_set in sets]

        return run

    def test_it_is_loaded_once(self, run, loads, tmp_path):
        assert run() == ["MM(1)", "MM(2)"] and loads == [tmp_path / "model"]

    def test_it_is_not_loaded_if_all_sets_are_restored(self, run, loads, tmp_path):
        assert run(is_cached=True) == run(is_cached=True) == ["MM(1)", "MM(2)"]
        assert len(loads) == 1
        (tmp_path / "test").write_text("3")
        assert run(is_cached=True) == ["MM(1)", "MM(3)"] and len(loads) == 2

    def test_each_set_has_a_record_of_its_own(self, run, loads, tmp_path):
        run()
        record = read_record(get_record_path(tmp_path / "test.out"))
        assert [*record["outputs"]] == ["test.out"] and str(tmp_path / "dev") not in record["inputs"]
        (tmp_path / "test.out").unlink()
        rerun_job(get_record_path(tmp_path / "test.out"))
        assert (tmp_path / "test.out").read_text() == "MM(2)" and len(loads) == 2

    def test_what_is_loaded_is_no_argument(self, tmp_path, loads):
        arguments = {name: tmp_path / name for name in ("model", "source", "output")}
        with pytest.raises(InputError, match="translate_set: network: Extra inputs are not permitted"):
            run_job(build_job(tmp_path, "translate_set", {**arguments, "network": "N"}))


def test_checkpoints_of_another_identity_have_another_folder(make_stage, tmp_path):
    folders = []

    def train_model(*, text: Path, output: Path, checkpoints: Path | None = None) -> None:
        folders.append(checkpoints)
        output.touch()

    make_stage(train_model)
    (tmp_path / "text").write_text("a")

    def run(**changes: Any) -> None:
        arguments = {"text": tmp_path / "text", "output": tmp_path / "out", "checkpoints": tmp_path / "checkpoints"}
        run_job(build_job(tmp_path, "train_model", {**arguments, **changes.pop("arguments", {})}, **changes))

    run()
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "state").write_text("1")
    run()
    rerun_job(get_record_path(tmp_path / "out"))
    assert len({*folders}) == 1 and folders[0].parent == tmp_path / "checkpoints"
    run(process="other settings")
    (tmp_path / "text").write_text("b")
    run()
    assert len({*folders}) == 3
    run(arguments={"checkpoints": None})
    assert folders[-1] is None


def test_a_failed_job_leaves_no_record(make_stage, tmp_path):
    def fail_late(*, output: Path, fails: bool) -> None:
        output.write_text("half")
        if fails:
            raise InputError("the text is empty")

    make_stage(fail_late)
    run_job(build_job(tmp_path, "fail_late", {"output": tmp_path / "out", "fails": False}))
    assert get_record_path(tmp_path / "out").exists()
    with pytest.raises(InputError, match="the text is empty"):
        run_job(build_job(tmp_path, "fail_late", {"output": tmp_path / "out", "fails": True}))
    assert not get_record_path(tmp_path / "out").exists()


def test_a_killed_job_leaves_no_record(make_stage, tmp_path):
    def die_late(*, output: Path, dies: bool) -> None:
        output.write_text("half")
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)

    make_stage(die_late)
    run_job(build_job(tmp_path, "die_late", {"output": tmp_path / "out", "dies": False}))
    if (child := os.fork()) == 0:
        run_job(build_job(tmp_path, "die_late", {"output": tmp_path / "out", "dies": True}))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert (tmp_path / "out").exists() and not get_record_path(tmp_path / "out").exists()


def test_an_optional_output_that_is_not_written_has_no_record(make_stage, tmp_path):
    def write_some(*, output: Path, gates_output: Path | None = None, lists_output: list[Path] | None = None) -> None:
        output.touch()
        for path in lists_output or []:
            path.touch()

    make_stage(write_some)
    outputs = {"gates_output": tmp_path / "gates", "lists_output": [tmp_path / "one", tmp_path / "two"]}
    run_job(build_job(tmp_path, "write_some", {"output": tmp_path / "out", **outputs}))
    record = read_record(get_record_path(tmp_path / "two"))
    assert [*record["outputs"]] == ["out", "one", "two"] and not get_record_path(tmp_path / "gates").exists()
    run_job(build_job(tmp_path, "write_some", {"output": tmp_path / "out", "gates_output": None}))
    assert [*read_record(get_record_path(tmp_path / "out"))["outputs"]] == ["out"]
