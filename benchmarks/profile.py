"""Measure the time of training by kind of operation, and the time that the arithmetic alone would take.

    python -m benchmarks.profile
    python -m benchmarks.profile --embedding 128 --hidden 256 --threads 1
    python -m benchmarks.profile --architecture transformer --embedding 128 --hidden 128

The processor's rate is measured in the same process, with a large matrix product in the same precision.
"""

import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks import chosen
from benchmarks.material import Material, prepared
from benchmarks.setting import Setting, Shape, command
from benchmarks.sides import OURS, Side, job
from benchmarks.training import SYSTEMS
from pipeline_py import stage

KINDS = {
    "matrix products": {"mm", "addmm", "addmm_", "bmm", "baddbmm", "baddbmm_", "addmv", "addmv_", "_linear_pointwise"},
    "exponents": {"tanh", "tanh_", "sigmoid", "sigmoid_", "exp", "exp_", "log", "_softmax", "_log_softmax"},
    "their derivatives": {"tanh_backward", "sigmoid_backward", "_softmax_backward_data"},
    "by element": {"add", "add_", "mul", "mul_", "sub", "sub_", "addcmul", "addcmul_", "lerp", "masked_fill", "pow"},
    "sums, maxima": {"sum", "amax", "logsumexp", "mean"},
    "copies": {"copy_", "cat", "index_select", "index_copy_", "gather", "scatter_", "scatter_add_", "fill_"}
    | {"_reorder_linear_weight", "embedding_dense_backward", "index_put_", "_index_put_impl_"},
    "attention": {f"_scaled_dot_product_flash_attention_for_cpu{end}" for end in ("", "_backward")},
    "layer normalization": {"native_layer_norm", "native_layer_norm_backward"},
    "dropout": {"bernoulli_"},
    "gates and scores": {"_Step", "_StepBackward", "_Scores", "_ScoresBackward"},
    "optimizer, clipping": {"_fused_adam_", "linalg_vector_norm", "_foreach_mul_", "_foreach_norm"},
}
"""Kind → operations of torch, and functions that compute in C where they can; what is none of them is `REST`."""

REST = "Python, autograd, views and all else"
SIDE = 2048
"""Rows and columns of the large product."""


def show(setting: Setting) -> None:
    """Print the time of training by kind of operation, a table for each size and precision."""
    material = prepared(setting)
    for shape in setting.shapes:
        for precision in setting.precision:
            _show(shape, precision, setting, material)


def _show(shape: Shape, precision: str, setting: Setting, material: Material) -> None:
    from benchmarks.toolkits.ours import Ours
    from benchmarks.toolkits.worker import Rounds, set_up

    system = SYSTEMS[setting.architecture]
    given = job(Side(system, OURS, shape, precision, system), setting, material, setting.threads)
    batches = setting.work / "batches" / "profile.npz"
    chosen.training_batches(material, setting, setting.batches, batches)
    rounds = Rounds(Ours(given), set_up(given))
    needed = rounds.answer("multiply_adds", batches=str(batches), count=setting.batches)["multiply_adds"]
    turns = [_turn(rounds, batches, setting) for _ in range(setting.rounds + 1)][1:]
    seconds = median(turn["seconds"] / turn["words"] for turn in turns)
    with profile(activities=[ProfilerActivity.CPU]) as measured:
        _turn(rounds, batches, setting)
    shares = by_kind({event.key: event.self_cpu_time_total for event in measured.key_averages()})
    rate = _rate(precision)
    print(f"\n{system} {shape}, {precision}, {setting.threads} thread(s): {1 / seconds:,.0f} target words/s")
    print(f"{2e-6 * needed:.1f} million operations a word; at {rate / 1e9:,.0f} thousand million a second these take")
    print(f"{2 * needed / rate / seconds:.0%} of the time\n")
    for kind, share in sorted(shares.items(), key=lambda item: -item[1]):
        print(f"{kind:<40}{share:>8.1%}")


def by_kind(times: dict[str, float]) -> dict[str, float]:
    """Add up times of operations, by their names, and give the share of each kind."""
    kinds = {name: kind for kind, names in KINDS.items() for name in names}
    sums: dict[str, float] = defaultdict(float)
    for key, spent in times.items():
        sums[kinds.get(key.rpartition("::")[2], REST)] += spent
    return {kind: spent / sum(sums.values()) for kind, spent in sums.items()}


def _turn(rounds: Any, batches: Path, setting: Setting) -> dict[str, float]:
    answer: dict[str, float] = rounds.answer("train", batches=str(batches), first=0, count=setting.batches)
    return answer


def _rate(precision: str) -> float:
    """Measure floating-point operations a second."""
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
    one, other = torch.randn(2, SIDE, SIDE).to(dtype).unbind()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        one @ other
        times.append(time.perf_counter() - start)
    return 2 * SIDE**3 / median(times)


if __name__ == "__main__":
    stage.run(command(show))
