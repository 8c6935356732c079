"""What loading a pipeline leaves alone."""

import subprocess
import sys

CODE = """
import sys
import torch
from pipeline_py.syntax.stanza_pipeline import optimizers_not_compiled

before = torch.optim.Optimizer.add_param_group
with optimizers_not_compiled():
    optimizer = torch.optim.Adam([torch.zeros(2)])
print(len(optimizer.param_groups), "torch._dynamo" in sys.modules, torch.optim.Optimizer.add_param_group is before)
"""


def test_optimizers_are_made_without_the_compiler():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.stdout == "1 False True\n", done.stderr
