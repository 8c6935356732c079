import json

import pytest

from pipeline_py.application.workflow_steps import command, steps
from pipeline_py.input_error import InputError


def test_the_command_of_a_rule():
    shell = """
        python -m pipeline_py.nmt.translate \\
            '--syntax=distances=results/a b.arrow' \\
            --decoding '{"beam": 2}' \\
             \\
            --threads 1 \\
            2> >(tee logs/'a b'.log | grep "^warning: " >&2)
        """
    assert command(shell) == {
        "stage": "nmt.translate",
        "arguments": [
            "--syntax=distances=results/a b.arrow",
            "--decoding",
            '{"beam": 2}',
            "--threads",
            "1",
        ],
    }
    assert command("python -m pipeline_py.corpus.clean --mode held-out 2>logs/x.log")["arguments"] == [
        "--mode",
        "held-out",
    ]


def test_a_system_from_elsewhere_translates_nothing_new(tmp_path):
    (tmp_path / "theirs.txt").write_text("x\n")
    systems = {"Theirs": {"type": "translations", "files": {"mixed": [str(tmp_path / "theirs.txt")]}}}
    with pytest.raises(InputError, match="Theirs is of `type: translations`: it has no model"):
        steps("Theirs", None, [], [f"systems={json.dumps(systems)}"])
