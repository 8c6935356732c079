"""Detection of damage anywhere in files with checksums, in every format."""

import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from safetensors.torch import save_file

from pipeline_py.files import artifacts
from pipeline_py.files.ragged_arrays import RaggedArrayFile, read_ragged_rows, write_ragged_rows
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.saved_model import load_initial_weights, load_weights, save_weights
from pipeline_py.nmt.training.checkpoint import Checkpoint, CheckpointStore
from pipeline_py.run import job_record
from pipeline_py.run.errors import InputError

ROOT = Path(__file__).parents[2]
TRIALS = 400

Damage = Callable[[bytes, np.random.Generator], bytes]


def flip_bit(content: bytes, random: np.random.Generator) -> bytes:
    place = int(random.integers(len(content)))
    return content[:place] + bytes([content[place] ^ 1 << int(random.integers(8))]) + content[place + 1 :]


def flip_early_bit(content: bytes, random: np.random.Generator) -> bytes:
    return flip_bit(content[:300], random) + content[300:]


def truncate(content: bytes, random: np.random.Generator) -> bytes:
    return content[: int(random.integers(len(content)))]


def overwrite(content: bytes, random: np.random.Generator) -> bytes:
    place, length = int(random.integers(len(content))), int(random.integers(1, 600))
    return content[:place] + bytes(length) + content[place + length :]


def append_bytes(content: bytes, random: np.random.Generator) -> bytes:
    return content + random.bytes(int(random.integers(1, 9)))


DAMAGES = (flip_bit, flip_early_bit, truncate, overwrite, append_bytes)


def damage_content(content: bytes, seed: int) -> bytes:
    """Return damaged content, which always differs from the original."""
    random = np.random.default_rng(seed)
    while (result := DAMAGES[seed % len(DAMAGES)](content, random)) == content:
        pass
    return result


def test_damaged_rows_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrow"
    rows = [np.arange(length % 23, dtype=np.int32) for length in range(200)]
    write_ragged_rows(path, rows, "int32")
    content = path.read_bytes()
    for seed in range(TRIALS):
        path.write_bytes(damage_content(content, seed))
        for reader in (RaggedArrayFile, lambda path: list(read_ragged_rows(path))):
            with pytest.raises(InputError, match=r"rows\.arrow: damaged: .*; remove it and run again"):
                reader(path)
    path.write_bytes(content)
    assert [row.tolist() for row in read_ragged_rows(path)] == [row.tolist() for row in rows]


def test_damaged_weights_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    weights = {name: torch.randn(5, 7) for name in ("first", "second", "third")}
    save_weights(path, weights)
    content = path.read_bytes()
    for seed in range(TRIALS):
        path.write_bytes(damage_content(content, seed))
        with pytest.raises(InputError, match=r"model\.safetensors: damaged: .*; remove it and run again"):
            load_weights(path)
    path.write_bytes(content)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in load_weights(path).items())


def test_a_damaged_checkpoint_is_not_resumed(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    checkpoints = CheckpointStore(tmp_path, "of this run")
    state = {"update": 7, "curve": [{"update": number, "dev_loss": 0.5} for number in range(300)]}
    checkpoints.save(
        Checkpoint({"model": {"weight": torch.randn(40)}, "random": {"cpu": torch.get_rng_state()}}, state)
    )
    content = checkpoints.path.read_bytes()
    for seed in range(TRIALS):
        checkpoints.path.write_bytes(damage_content(content, seed))
        assert checkpoints.load() is None
        assert "is not resumed: it is damaged, so the training starts from the beginning" in capsys.readouterr().err
        assert [file.name for file in tmp_path.iterdir()] == ["rolling.damaged.safetensors"]
    checkpoints.path.write_bytes(content)
    checkpoint = checkpoints.load()
    assert checkpoint is not None and checkpoint.state == state


def test_a_file_without_a_checksum_is_rejected(tmp_path: Path) -> None:
    """Earlier versions wrote files without checksums."""
    column = pa.list_(pa.int32())
    with pa.OSFile(str(tmp_path / "rows.arrow"), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("values", column)])):
        pass
    with pytest.raises(InputError, match="damaged"):
        RaggedArrayFile(tmp_path / "rows.arrow")
    save_file({"weight": torch.ones(3)}, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="damaged"):
        load_initial_weights(TranslationModel.__new__(TranslationModel), tmp_path / "model.safetensors")


def test_the_checksum_covers_all_other_bytes(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrow"
    write_ragged_rows(path, [np.arange(9)], "int32")
    content = path.read_bytes()
    place = content.index(b"crc32=") + len("crc32=")
    zeros = content[:place] + b"0" * 8 + content[place + 8 :]
    assert content[place : place + 8].decode() == f"{zlib.crc32(zeros):08x}"


def test_the_documentation_quotes_the_error_for_damaged_files() -> None:
    page = (ROOT / "docs" / "explanation" / "reliability.md").read_text(encoding="utf-8")
    assert artifacts.CHECKSUM_MISMATCH_ERROR in page and job_record.RECORD_MISMATCH_ERROR in page
