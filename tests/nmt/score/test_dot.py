"""The score of an inner product against one that is written out."""

import pytest
import torch

from pipeline_py.config.systems.decoders import DotScoreConfig
from pipeline_py.nmt.score.dot import DotProductScore


def test_scores_are_inner_products() -> None:
    torch.manual_seed(0)
    part = DotProductScore(DotScoreConfig(), 3, 3)
    states = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    query = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    scores = part(query, part.compute_keys(states))
    assert scores.tolist() == [
        [pytest.approx(sum(a * b for a, b in zip(state, of_sentence, strict=True))) for state in rows]
        for rows, of_sentence in zip(states.tolist(), query.tolist(), strict=True)
    ]
    assert torch.autograd.gradcheck(lambda states, query: part(query, part.compute_keys(states)), (states, query))
    assert not list(part.parameters())


def test_sizes_must_agree() -> None:
    with pytest.raises(ValueError, match="a query of size 3 and annotations of size 6"):
        DotProductScore(DotScoreConfig(), 3, 6)
