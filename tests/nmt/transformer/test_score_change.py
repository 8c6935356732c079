"""Changes of scores are of the heads that options name, one after the other, and of the shape of the scores."""

import pytest
import torch
from torch import nn

from pipeline_py.config.systems.network_parts import DepsSANConfig
from pipeline_py.nmt.transformer import multi_head_attention
from pipeline_py.nmt.transformer.multi_head_attention import (
    SelfAttentionChange,
    build_attention_change,
    combine_score_transforms,
)

SCORES = torch.arange(2 * 3 * 4 * 4.0).reshape(2, 3, 4, 4)


def test_changes_follow_each_other_in_the_heads_of_each() -> None:
    first, all_heads = DepsSANConfig(heads=[-1, 0]), DepsSANConfig()
    change = combine_score_transforms([(first, lambda scores: scores + 1), (all_heads, lambda scores: scores * 2)])
    expected = SCORES.clone()
    expected[:, [0, 2]] += 1
    assert torch.equal(change(SCORES), 2 * expected)
    assert combine_score_transforms([]) is None


@pytest.mark.parametrize("heads", [None, [0], [0, 1]])
def test_scores_of_another_shape_are_told(heads: list[int] | None) -> None:
    change = combine_score_transforms([(DepsSANConfig(heads=heads), lambda scores: scores.sum(dim=3, keepdim=True))])
    with pytest.raises(TypeError, match=r"^DepsSAN made scores \(2, \d, 4, 1\) of scores \(2, \d, 4, 4\); return"):
        change(SCORES)


def test_who_forgets_to_return_scores_is_told() -> None:
    change = combine_score_transforms([(DepsSANConfig(), lambda scores: None)])
    with pytest.raises(TypeError, match=r"^DepsSAN made None of scores \(2, 3, 4, 4\); return scores of"):
        change(SCORES)


def test_a_part_is_of_the_kind_of_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(nn.Module):
        pass

    monkeypatch.setattr(multi_head_attention, "find_part_class", lambda kind, name: Other)
    with pytest.raises(
        TypeError, match=r"^`Other` in tests\.\S+ is no `SelfAttentionChange`; derive it from that class"
    ):
        build_attention_change(SelfAttentionChange, "self_attention", DepsSANConfig(), 8, 2, {})
