"""The environment of the peers: invalid, omitted, or impossible to install."""

import os
from pathlib import Path

import pytest

from benchmarks import peer_environment
from benchmarks.settings import BenchmarkSettings
from pipeline_py.run.errors import InputError


def test_a_python_without_the_peers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--peers: it is no Python that imports onmt and joeynmt"):
        peer_environment.find_peer_python(BenchmarkSettings(peers=tmp_path / "python"))
    assert peer_environment.find_peer_python(BenchmarkSettings(peers=Path("none"))) is None


@pytest.mark.slow
def test_where_the_peers_cannot_be_installed_ours_is_measured_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert peer_environment.find_peer_python(BenchmarkSettings(work=tmp_path)) is None
    assert "ours is measured alone" in capsys.readouterr().err
    assert "torch" in (tmp_path / "logs" / "peers.txt").read_text()
