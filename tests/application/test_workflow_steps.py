from pipeline_py.application.workflow_steps import command


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
