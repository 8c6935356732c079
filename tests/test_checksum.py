"""A file that was damaged at any place is told from a whole one, whatever its format."""

import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from safetensors.torch import save_file

from pipeline_py import checksum
from pipeline_py.artifact import temporary_of
from pipeline_py.input_error import InputError
from pipeline_py.nmt.model import Model
from pipeline_py.nmt.saved import load_weights, save_weights, start_from
from pipeline_py.nmt.training.checkpoint import Checkpoint, Checkpoints
from pipeline_py.ragged import Ragged, read_rows, write_rows

ROOT = Path(__file__).parent.parent
TRIALS = 400

Damage = Callable[[bytes, np.random.Generator], bytes]


def flipped(content: bytes, random: np.random.Generator) -> bytes:
    place = int(random.integers(len(content)))
    return content[:place] + bytes([content[place] ^ 1 << int(random.integers(8))]) + content[place + 1 :]


def flipped_in_front(content: bytes, random: np.random.Generator) -> bytes:
    return flipped(content[:300], random) + content[300:]


def cut(content: bytes, random: np.random.Generator) -> bytes:
    return content[: int(random.integers(len(content)))]


def overwritten(content: bytes, random: np.random.Generator) -> bytes:
    place, length = int(random.integers(len(content))), int(random.integers(1, 600))
    return content[:place] + bytes(length) + content[place + length :]


def lengthened(content: bytes, random: np.random.Generator) -> bytes:
    return content + random.bytes(int(random.integers(1, 9)))


DAMAGES = (flipped, flipped_in_front, cut, overwritten, lengthened)


def damaged(content: bytes, seed: int) -> bytes:
    """Content with one of the kinds of damage; never the content itself."""
    random = np.random.default_rng(seed)
    while (other := DAMAGES[seed % len(DAMAGES)](content, random)) == content:
        pass
    return other


def test_no_damage_of_rows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrow"
    rows = [np.arange(length % 23, dtype=np.int32) for length in range(200)]
    write_rows(path, rows, "int32")
    content = path.read_bytes()
    for seed in range(TRIALS):
        path.write_bytes(damaged(content, seed))
        for reader in (Ragged, lambda path: list(read_rows(path))):
            with pytest.raises(InputError, match=r"rows\.arrow: damaged: .*; remove it and run again"):
                reader(path)
    path.write_bytes(content)
    assert [row.tolist() for row in read_rows(path)] == [row.tolist() for row in rows]


def test_no_damage_of_weights_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    weights = {name: torch.randn(5, 7) for name in ("first", "second", "third")}
    save_weights(path, weights)
    content = path.read_bytes()
    for seed in range(TRIALS):
        path.write_bytes(damaged(content, seed))
        with pytest.raises(InputError, match=r"model\.safetensors: damaged: .*; remove it and run again"):
            load_weights(path)
    path.write_bytes(content)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in load_weights(path).items())


def test_no_damage_of_a_checkpoint_is_resumed(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    checkpoints = Checkpoints(tmp_path, "of this run")
    state = {"update": 7, "curve": [{"update": number, "dev_loss": 0.5} for number in range(300)]}
    checkpoints.save(
        Checkpoint({"model": {"weight": torch.randn(40)}, "random": {"cpu": torch.get_rng_state()}}, state)
    )
    content = checkpoints.path.read_bytes()
    for seed in range(TRIALS):
        checkpoints.path.write_bytes(damaged(content, seed))
        assert checkpoints.load() is None
        assert "is not resumed: it is damaged, so the training starts from the beginning" in capsys.readouterr().err
        assert [file.name for file in tmp_path.iterdir()] == ["rolling.damaged.safetensors"]
    checkpoints.path.write_bytes(content)
    found = checkpoints.load()
    assert found is not None and found.state == state


def test_a_file_without_a_checksum_is_not_read(tmp_path: Path) -> None:
    """As the versions before wrote them."""
    column = pa.list_(pa.int32())
    with pa.OSFile(str(tmp_path / "rows.arrow"), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("values", column)])):
        pass
    with pytest.raises(InputError, match="damaged"):
        Ragged(tmp_path / "rows.arrow")
    save_file({"weight": torch.ones(3)}, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="damaged"):
        start_from(Model.__new__(Model), tmp_path / "model.safetensors")


def test_the_checksum_is_of_all_bytes_but_its_own(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrow"
    write_rows(path, [np.arange(9)], "int32")
    content = path.read_bytes()
    place = content.index(b"crc32=") + len("crc32=")
    zeros = content[:place] + b"0" * 8 + content[place + 8 :]
    assert content[place : place + 8].decode() == f"{zlib.crc32(zeros):08x}"


STAGE = """
from pathlib import Path
from pipeline_py import stage

def copy(
    *, input: list[Path], named: list[str] | None = None, output: Path, more_output: list[Path] | None = None
) -> None:
    for path in (output, *(more_output or [])):
        path.write_bytes(b"".join(file.read_bytes() for file in input if file.is_file()))

stage.run(copy, checksums={checksums})
"""


def copy(folder: Path, *arguments: str, checksums: bool = True) -> subprocess.CompletedProcess:
    code = STAGE.replace("{checksums}", str(checksums))
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=folder)


def test_an_output_has_its_checksum_beside_it(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("text\n")
    done = copy(tmp_path, "--input=given", "--output=made", "--more-output=one", "--more-output=two")
    assert done.returncode == 0, done.stderr
    made = {".made.crc32", ".one.crc32", ".two.crc32"}
    assert {path.name for path in tmp_path.iterdir()} == {"given", "made", "one", "two", *made}
    copy(tmp_path, "--input=given", "--output=unchecked", checksums=False)
    assert not (tmp_path / ".unchecked.crc32").exists()


@pytest.mark.parametrize("name", ["plain", "SDAtt (n=2)"])
@pytest.mark.parametrize("form", ["--input={}", "--named=NAME={}", "--named=SDAtt (n=2)={}", "--named=1:kind={}"])
def test_an_input_that_has_changed_is_refused(tmp_path: Path, name: str, form: str) -> None:
    (tmp_path / "given").write_text("text\n" * 50)
    copy(tmp_path, "--input=given", f"--output={name}")
    content = (tmp_path / name).read_bytes()
    options = ("--input=given", form.format(name), "--output=copied")
    assert copy(tmp_path, *options).returncode == 0
    copied = (tmp_path / "copied").read_bytes()
    for seed in range(3):
        (tmp_path / name).write_bytes(damaged(content, seed))
        done = copy(tmp_path, *options)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"error: {name}: {checksum.DAMAGED}\n"
        assert (tmp_path / "copied").read_bytes() == copied
    (tmp_path / name).write_bytes(content)
    (tmp_path / f".{name}.crc32").write_bytes(b"")
    assert copy(tmp_path, *options).stderr == f"error: {name}: {checksum.DAMAGED}\n"


def test_an_output_is_made_anew_over_a_damaged_one(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("text\n")
    copy(tmp_path, "--input=given", "--output=made")
    (tmp_path / "made").write_text("tent\n")
    assert copy(tmp_path, "--input=made", "--output=copied").returncode == 1
    assert copy(tmp_path, "--input=given", "--output=made").returncode == 0
    assert copy(tmp_path, "--input=made", "--output=copied").returncode == 0


def test_a_stage_that_fails_leaves_no_checksum_of_what_was_there_before(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("text\n")
    copy(tmp_path, "--input=given", "--output=made")
    assert copy(tmp_path, "--input=given", "--input=given", "--output=made", "--more-output=.").returncode == 1
    assert (tmp_path / "made").read_text() == "text\ntext\n"
    assert not (tmp_path / ".made.crc32").exists()


def test_a_file_that_carries_its_checksum_is_compared_before_the_stage_begins(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.arrow", [np.arange(9)], "int32")
    copy(tmp_path, "--input=rows.arrow", "--output=made")
    content = (tmp_path / "rows.arrow").read_bytes()
    (tmp_path / "rows.arrow").write_bytes(damaged(content, 1))
    for option in ("--input=rows.arrow", "--named=a=rows.arrow"):
        done = copy(tmp_path, "--input=made", option, "--output=made")
        assert (done.returncode, done.stderr) == (1, f"error: rows.arrow: {checksum.DAMAGED}\n")
    assert (tmp_path / "made").read_bytes() == content and checksum.is_whole(tmp_path / "made")
    assert (tmp_path / ".made.crc32").exists() and not (tmp_path / ".rows.arrow.crc32").exists()


def test_what_a_kill_left_of_a_checksum_goes_with_the_next(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    temporary_of(tmp_path / ".a.txt.crc32", ended.pid).write_text("0")
    checksum.record(tmp_path / "a.txt")
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", ".a.txt.crc32"}


def test_a_checksum_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "a.txt").write_text("a")
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match="the disk is full"):
        checksum.record(tmp_path / "a.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_the_checksum_of_a_folder_is_of_all_files_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "inner").mkdir(parents=True)
    for name in ("one", "two", "inner/one"):
        (folder / name).write_text(name)
    checksum.record(folder)
    (folder / ".snakemake_timestamp").touch()  # as Snakemake does when the job has ended
    assert checksum.is_whole(folder)
    for change in (
        lambda: (folder / "one").write_text("One"),
        lambda: (folder / "inner" / "one").unlink(),
        lambda: (folder / "three").write_text(""),
        lambda: (folder / "one").rename(folder / "eno"),
    ):
        change()
        assert not checksum.is_whole(folder)
        checksum.record(folder)
        assert checksum.is_whole(folder)


def test_a_user_s_file_and_one_that_is_not_there_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("text\n")
    assert checksum.is_whole(tmp_path / "mine")
    checksum.record(tmp_path / "mine")
    (tmp_path / "mine").unlink()
    assert checksum.is_whole(tmp_path / "mine"), "whoever reads it says that it is not there"
    assert checksum.is_whole(tmp_path / "file" / "below")


def test_the_documentation_says_what_a_damaged_file_says() -> None:
    assert checksum.DAMAGED in (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
