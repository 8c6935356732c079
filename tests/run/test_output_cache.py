"""Output cache: entries are restored completely or not at all, even after damage or a kill."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline_py.files.artifacts import get_temporary_path
from pipeline_py.run.output_cache import OutputCache, hash_files_and_settings

CONTENT = {"model": b"weights\x00\xff", "facts.json": '{"Größe": 1}\n'.encode()}
YESTERDAY = 1_700_000_000


@pytest.fixture
def outputs(tmp_path: Path) -> list[Path]:
    return [tmp_path / "results" / name for name in CONTENT]


def write_outputs(outputs: list[Path], times: int = 1) -> None:
    """Write outputs like a stage."""
    for output, content in zip(outputs, CONTENT.values(), strict=True):
        output.parent.mkdir(exist_ok=True)
        output.unlink(missing_ok=True)
        output.write_bytes(content * times)
        os.utime(output, (YESTERDAY, YESTERDAY))


def delete_outputs(outputs: list[Path]) -> None:
    for output in outputs:
        output.unlink(missing_ok=True)


def read_contents(outputs: list[Path]) -> list[bytes]:
    return [output.read_bytes() for output in outputs]


def get_expected_contents(times: int = 1) -> list[bytes]:
    return [content * times for content in CONTENT.values()]


def list_cached_files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


def disable_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*paths: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)


@pytest.fixture(params=["links", "copies"])
def directory(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache folder on a file system with or without hard links."""
    if request.param == "copies":
        disable_links(monkeypatch)
    return tmp_path / "cache" / "job"


def test_deleted_outputs_are_restored(directory: Path, outputs: list[Path], capfd: pytest.CaptureFixture) -> None:
    write_outputs(outputs)
    OutputCache(directory, "a").store(*outputs)
    assert capfd.readouterr().err == ""
    assert read_contents(outputs) == get_expected_contents()
    delete_outputs(outputs)
    outputs[0].parent.rmdir()
    input_file = directory.parent / "input"
    input_file.write_text("parsed a moment ago")
    assert OutputCache(directory, "a").restore(*outputs)
    assert read_contents(outputs) == get_expected_contents()
    assert all(output.stat().st_mtime >= input_file.stat().st_mtime for output in outputs)
    assert {*outputs[0].parent.iterdir()} == {*outputs}
    assert capfd.readouterr().err == (
        f"{outputs[0]}: reused from the cache, since inputs, settings and code are the same; "
        f"to make it again, delete {directory}\n"
    )


def test_links_take_no_space(tmp_path: Path, outputs: list[Path]) -> None:
    write_outputs(outputs)
    OutputCache(tmp_path / "cache", "a").store(*outputs)
    entry = {file.stat().st_ino for file in list_cached_files(tmp_path / "cache")}
    assert {output.stat().st_ino for output in outputs} < entry
    delete_outputs(outputs)
    assert OutputCache(tmp_path / "cache", "a").restore(*outputs)
    assert {output.stat().st_ino for output in outputs} < entry


def test_outputs_are_copied_without_hard_links(
    tmp_path: Path, outputs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    disable_links(monkeypatch)
    write_outputs(outputs)
    OutputCache(tmp_path / "cache", "a").store(*outputs)
    delete_outputs(outputs)
    assert OutputCache(tmp_path / "cache", "a").restore(*outputs)
    assert {file.stat().st_nlink for file in [*outputs, *list_cached_files(tmp_path / "cache")]} == {1}
    outputs[0].write_bytes(b"edited")
    assert OutputCache(tmp_path / "cache", "a").restore(*outputs)
    assert read_contents(outputs) == get_expected_contents()


@pytest.mark.parametrize("present", ["the same file", "another file"])
def test_existing_outputs_are_replaced(directory: Path, outputs: list[Path], present: str) -> None:
    write_outputs(outputs)
    OutputCache(directory, "a").store(*outputs)
    if present == "another file":
        write_outputs(outputs, times=2)
    assert OutputCache(directory, "a").restore(*outputs)
    assert read_contents(outputs) == get_expected_contents()
    assert {path.name for path in outputs[0].parent.iterdir()} == {*CONTENT}
    assert all(output.stat().st_mtime > YESTERDAY for output in outputs)


def test_outputs_of_another_identity_are_not_restored(directory: Path, outputs: list[Path]) -> None:
    assert not OutputCache(directory, "a").restore(*outputs)
    write_outputs(outputs)
    OutputCache(directory, "a").store(*outputs)
    delete_outputs(outputs)
    assert not OutputCache(directory, "b").restore(*outputs)
    assert not any(output.exists() for output in outputs)


def test_outputs_with_other_names_are_not_restored(directory: Path, outputs: list[Path]) -> None:
    write_outputs(outputs)
    OutputCache(directory, "a").store(*outputs)
    first, second = outputs
    for other_outputs in ([first], [second, first], [first, second.with_name("n-best")], [*outputs, second]):
        assert not OutputCache(directory, "a").restore(*other_outputs)
    assert OutputCache(directory, "a").restore(*outputs)


def test_outputs_in_several_folders_may_share_a_name(directory: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / folder / "identity.json" for folder in ("one", "two")]
    write_outputs(outputs)
    OutputCache(directory, "a").store(*outputs)
    assert read_contents(outputs) == get_expected_contents()
    delete_outputs(outputs)
    assert OutputCache(directory, "a").restore(*outputs)
    assert read_contents(outputs) == get_expected_contents()


def test_without_a_directory_nothing_is_cached(tmp_path: Path, outputs: list[Path]) -> None:
    write_outputs(outputs)
    OutputCache(None, "a").store(*outputs)
    assert not OutputCache(None, "a").restore(*outputs)
    assert {path.name for path in tmp_path.iterdir()} == {"results"}


def test_only_the_last_run_is_cached(directory: Path, outputs: list[Path]) -> None:
    for times, name in ((1, "a"), (2, "b")):
        write_outputs(outputs, times)
        OutputCache(directory, name).store(*outputs)
    delete_outputs(outputs)
    assert not OutputCache(directory, "a").restore(*outputs)
    assert OutputCache(directory, "b").restore(*outputs)
    assert read_contents(outputs) == get_expected_contents(2)
    assert len(list_cached_files(directory)) == len(outputs) + 1


def test_an_output_edited_in_place_is_not_restored(tmp_path: Path, outputs: list[Path]) -> None:
    write_outputs(outputs)
    OutputCache(tmp_path / "cache", "a").store(*outputs)
    with outputs[0].open("r+b") as file:
        file.write(b"W")
    delete_outputs(outputs)
    assert not OutputCache(tmp_path / "cache", "a").restore(*outputs)


def remove_output_hash(entry: Path) -> None:
    identity = json.loads((entry / "identity.json").read_text())
    del identity["outputs"]["2.facts.json"]
    (entry / "identity.json").write_text(json.dumps(identity))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "edited file": lambda entry: (entry / "1.model").write_bytes(b"weights\x00\xfe"),
    "truncated file": lambda entry: os.truncate(entry / "2.facts.json", 3),
    "missing file": lambda entry: (entry / "2.facts.json").unlink(),
    "folder in place of a file": lambda entry: ((entry / "2.facts.json").unlink(), (entry / "2.facts.json").mkdir()),
    "no identity": lambda entry: (entry / "identity.json").unlink(),
    "invalid JSON": lambda entry: (entry / "identity.json").write_text('{"identity": "a"'),
    "invalid UTF-8": lambda entry: (entry / "identity.json").write_bytes(b"\xff"),
    "no mapping": lambda entry: (entry / "identity.json").write_text('["a"]'),
    "no hashes": lambda entry: (entry / "identity.json").write_text('{"identity": "a"}'),
    "missing hash": remove_output_hash,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_broken_entry_is_not_restored_and_can_be_replaced(directory: Path, outputs: list[Path], damage: str) -> None:
    write_outputs(outputs)
    OutputCache(directory, "a").store(*outputs)
    delete_outputs(outputs)
    (entry,) = directory.iterdir()
    DAMAGES[damage](entry)
    assert not OutputCache(directory, "a").restore(*outputs)
    assert not any(output.exists() for output in outputs)
    write_outputs(outputs)
    OutputCache(directory, "a").store(*outputs)
    delete_outputs(outputs)
    assert OutputCache(directory, "a").restore(*outputs)
    assert read_contents(outputs) == get_expected_contents()


def test_outputs_that_cannot_be_cached_are_still_outputs(
    tmp_path: Path, outputs: list[Path], capfd: pytest.CaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    write_outputs(outputs)
    for directory in (tmp_path / "file", tmp_path / "file" / "job"):
        OutputCache(directory, "a").store(*outputs)
        assert capfd.readouterr().err.startswith(f"{outputs[0]}: not stored in the cache: ")
        assert not OutputCache(directory, "a").restore(*outputs)
    assert read_contents(outputs) == get_expected_contents()


def test_leftovers_of_a_process_with_the_same_id_are_not_overwritten(
    directory: Path, outputs: list[Path], tmp_path: Path
) -> None:
    write_outputs(outputs)
    OutputCache(directory, "a").store(*outputs)
    (tmp_path / "precious").write_bytes(b"of another")
    remains = get_temporary_path(outputs[0], os.getpid())
    try:
        os.link(tmp_path / "precious", remains)
    except PermissionError:
        remains.symlink_to(tmp_path / "precious")
    assert OutputCache(directory, "a").restore(*outputs)
    assert read_contents(outputs) == get_expected_contents()
    assert not outputs[0].is_symlink()
    assert (tmp_path / "precious").read_bytes() == b"of another"

    get_temporary_path(directory / "last", os.getpid()).mkdir()
    write_outputs(outputs, times=2)
    OutputCache(directory, "b").store(*outputs)
    assert OutputCache(directory, "b").restore(*outputs)


def run_until_killed(step: int, job: Callable[[], object]) -> bool:
    """Run a job in a process that is killed before its n-th file operation; return whether it got that far.

    Steps are what Python's audit events tell of: files opened, linked, renamed and deleted, folders made and deleted.
    """
    process = os.fork()
    if process == 0:
        left = step

        def watch(event: str, arguments: tuple) -> None:
            nonlocal left
            left -= event == "open" or event.startswith(("os.", "shutil."))
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(watch)
            job()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def test_a_kill_while_storing_loses_at_most_the_cache(directory: Path, outputs: list[Path]) -> None:
    def keep_the_second() -> None:
        OutputCache(directory, "second").store(*outputs)

    counts = {"first": 0, "second": 0, None: 0}
    for step in range(1, 1000):
        write_outputs(outputs)
        OutputCache(directory, "first").store(*outputs)
        write_outputs(outputs, times=2)
        died = run_until_killed(step, keep_the_second)
        assert read_contents(outputs) == get_expected_contents(2)
        delete_outputs(outputs)
        back = None
        for times, name in ((1, "first"), (2, "second")):
            if OutputCache(directory, name).restore(*outputs):
                assert back is None and read_contents(outputs) == get_expected_contents(times)
                back = name
        counts[back] += 1
        if not died:
            break
    assert step > 10 and back == "second"
    assert counts["first"] > 3, "before the exchange nothing is lost"
    assert counts[None] > 0, "the test sees the moment in which there is nothing"
    assert [path.name for path in directory.iterdir()] == ["last"], "nothing of killed processes remains"


def test_a_kill_while_restoring_leaves_complete_outputs_only(directory: Path, outputs: list[Path]) -> None:
    write_outputs(outputs)
    OutputCache(directory, "a").store(*outputs)
    states = set()
    for step in range(1, 1000):
        delete_outputs(outputs)
        died = run_until_killed(step, lambda: OutputCache(directory, "a").restore(*outputs))
        existing = [output.exists() for output in outputs]
        states.add(tuple(existing))
        for output, content, exists in zip(outputs, get_expected_contents(), existing, strict=True):
            assert not exists or output.read_bytes() == content
        assert OutputCache(directory, "a").restore(*outputs)
        assert read_contents(outputs) == get_expected_contents()
        if not died:
            break
    assert states == {(False, False), (True, False), (True, True)}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((["ab", "c"], ()), (["a", "bc"], ())),
        ((["a", "b"], ()), (["b", "a"], ())),
        ((["a"], ()), (["a", ""], ())),
        ((["a"], ("x", "y")), (["a"], ("xy",))),
        ((["a"], ("x", "y")), (["a"], ("y", "x"))),
        ((["a"], ("x",)), (["a"], ("x", ""))),
        ((["a"], ('", "',)), (["a"], ("", ""))),
    ],
)
def test_the_cache_key_depends_on_files_and_settings_in_order(tmp_path: Path, first: tuple, second: tuple) -> None:
    def identity_of(contents: list[str], settings: tuple[str, ...], folder: str) -> str:
        (tmp_path / folder).mkdir(exist_ok=True)
        files = [tmp_path / folder / str(number) for number in range(len(contents))]
        for file, content in zip(files, contents, strict=True):
            file.write_text(content)
        return hash_files_and_settings(files, *settings)

    assert identity_of(*first, "here") != identity_of(*second, "here")
    assert identity_of(*first, "here") == identity_of(*first, "there"), "the place of a file does not matter"
