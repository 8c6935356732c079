import json

import pytest

from pipeline_py.application.chain import plan
from pipeline_py.application.workflow_steps import command, steps
from pipeline_py.input_error import InputError
from tests.workplace import ROOT, Workplace


def test_the_command_of_a_rule():
    shell = """
        python -m pipeline_py.nmt.translate \\
            '--syntax=distances=results/a b.arrow' \\
            --decoding '{"beam": 2}' \\
             \\
            --threads 1 \\
            2> >(tee logs/'a b'.log | grep "^warning: " >&2)
        """
    assert command(shell, "dev", "dev") == {
        "stage": "nmt.translate",
        "arguments": [
            "--syntax=distances=results/a b.arrow",
            "--decoding",
            '{"beam": 2}',
            "--threads",
            "1",
        ],
    }
    clean = "python -m pipeline_py.corpus.clean --mode held-out 2>logs/x.log"
    assert command(clean, "dev", "dev")["arguments"] == ["--mode", "held-out"]
    assert command(clean, "dev", "test") == {}


def test_of_a_command_for_several_sets_the_one_of_a_set():
    shell = "python -m pipeline_py.each_set nmt.translate --beam 2 --set=dev --source a --set=test --source b 2>x.log"
    assert command(shell, "", "test") == {"stage": "nmt.translate", "arguments": ["--beam", "2", "--source", "b"]}
    assert command(shell, "", "other") == {}


def test_a_system_from_elsewhere_translates_nothing_new(tmp_path):
    (tmp_path / "theirs.txt").write_text("x\n")
    systems = {"Theirs": {"type": "translations", "files": {"mixed": [str(tmp_path / "theirs.txt")]}}}
    with pytest.raises(InputError, match="Theirs is of `type: translations`: it has no model"):
        steps("Theirs", None, [], [f"systems={json.dumps(systems)}"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("further", "split"), [([{"name": "mixed", "generate": {"sentences": 9}}], "mixed"), ([], "dev")]
)
def test_steps_are_those_of_a_set_with_references(tmp_path, further, split):
    """New text has translations in their place, where these are scored."""
    (tmp_path / "news.en").write_text("a b .\n")
    tests = [{"name": "news", "source": str(tmp_path / "news.en")}, *further]
    overrides = [f"corpora={json.dumps({'tests': tests})}", 'targets=["hierarchical/table2"]']
    planned = plan(ROOT, "GlobalAtt", None, [], overrides)
    assert planned.files["text"] == f"results/evaluation/GlobalAtt/seed1/{split}.txt"
    (clean,) = [step for step in planned.steps if step.stage == "corpus.clean"]
    assert "--target-input" in " ".join(clean.arguments)


@pytest.mark.slow
def test_a_system_of_another_clone_is_opened_if_its_stages_have_the_same_code(tmp_path):
    folder = Workplace(tmp_path / "clone").folder
    assert plan(folder, "GlobalAtt", None, [], []).system == "GlobalAtt"
    stage = folder / "pipeline_py/corpus/tokenize.py"
    stage.write_text(stage.read_text(encoding="utf-8") + "\nCHANGED = True\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"`corpus.tokenize` there has other code than in {ROOT}, "):
        plan(folder, "GlobalAtt", None, [], [])
