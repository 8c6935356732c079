"""Optimizers without torch's compiler."""

import subprocess
import sys

CODE = """
import sys
import torch
from pipeline_py.run.torch_compile_hooks import disable_torch_compile_hooks

disable_torch_compile_hooks()
disable_torch_compile_hooks()
weight = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([weight], lr=0.5)
weight.sum().backward()
optimizer.step()
optimizer.zero_grad()
optimizer.load_state_dict(optimizer.state_dict())
torch.optim.Adam([weight], fused=True).step()
print(weight.tolist(), weight.grad, len(optimizer.param_groups), "torch._dynamo" in sys.modules)
"""


def test_optimizers_work_without_the_compiler():
    result = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert result.stdout == "[0.5, 0.5] None 1 False\n", result.stderr
