"""Safety of opening folders of results, and errors about systems and runs."""

import json
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline_py import load
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress, silence_progress
from tests.project_copy import ROOT

TRAP = "from pathlib import Path\nPath('{}').touch()\n"


@pytest.fixture
def folder(tmp_path):
    """Create a folder with a Snakefile and modules that leave a trace when they run."""
    place = tmp_path / "theirs"
    place.mkdir()
    for name in ("Snakefile", "shlex.py", "random.py", "json.py", "snakemake.py"):
        (place / name).write_text(TRAP.format(tmp_path / "trace"))
    shutil.copy(ROOT / "config.yaml", place)
    return place


def test_a_folder_of_results_runs_no_code(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="GlobalAtt is not complete here: results/"):
        load("GlobalAtt")
    assert not (tmp_path / "trace").exists()


def test_an_external_system_is_rejected(folder, tmp_path):
    (tmp_path / "theirs.txt").write_text("x\n")
    systems = {"Theirs": {"type": "translations", "files": {"long": [str(tmp_path / "theirs.txt")]}}}
    with pytest.raises(InputError, match="Theirs has `type: translations` and no model"):
        load("Theirs", config={"systems": systems}, directory=folder)


def test_an_unknown_run_is_rejected(folder):
    with pytest.raises(InputError, match="GlobalAtt has no run `seed9`, but seed1"):
        load("GlobalAtt", run="seed9", directory=folder)


def test_the_remedy_repeats_the_options(folder):
    (folder / "mine.yaml").write_text(json.dumps({"name": "mine"}))
    with pytest.raises(InputError) as error:
        load("GlobalAtt", configfile="mine.yaml", directory=folder)
    files = r"results/mine/\S+ results/mine/evaluation/GlobalAtt/seed1/\w+\.txt"
    assert re.search(f"`snakemake --cores all {files} --configfile mine.yaml` makes it$", str(error.value))
    (folder / "Snakefile").unlink()
    (folder / "experiment.yaml").touch()
    with pytest.raises(InputError, match="`arbitree run results/"):
        load("GlobalAtt", configfile="mine.yaml", directory=folder)


def test_progress_is_silent_in_one_thread_only(capsys):
    def count(number: int) -> int:
        if number:
            return sum(1 for _ in show_progress(range(3), "others"))
        with silence_progress():
            return sum(1 for _ in show_progress(range(3), "mine"))

    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(count, range(2))] == [3, 3]
    shown = capsys.readouterr().err
    assert "others" in shown and "mine" not in shown and sys.stderr is not sys.__stdout__
