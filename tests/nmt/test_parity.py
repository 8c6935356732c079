"""Training and search go through the same network: the score of a translation is minus its loss."""

import numpy as np
import pytest
import torch

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.decoders import (
    ConditionalGRUDecoderConfig,
    FlexibleContextConfig,
    GlobalContextConfig,
    LocalContextConfig,
    SyntaxContextConfig,
)
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.model import TranslationModel as Network
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.subword.vocabulary import EOS
from tests.nmt.network_assertions import draw_parameters

torch.set_num_threads(1)

SYSTEMS = {
    "global": CompositionConfig(contexts=[GlobalContextConfig()]),
    "local": CompositionConfig(contexts=[LocalContextConfig(window=3)]),
    "flexible": CompositionConfig(contexts=[FlexibleContextConfig()]),
    "syntax": CompositionConfig(contexts=[SyntaxContextConfig(position="interpolate")]),
    "syntax, round": CompositionConfig(contexts=[SyntaxContextConfig(position="round", gaussian="weight")]),
    "syntax, attention": CompositionConfig(contexts=[SyntaxContextConfig(position="attention")]),
    "units beside words": CompositionConfig.model_validate(
        {"encoders": [{"inputs": ["words", {"type": "units", "size": 2}]}]}
    ),
    "two encoders": CompositionConfig.model_validate(
        {
            "encoders": [{"inputs": ["words"]}, {"inputs": ["units"]}],
            "scores": ["mlp", {"type": "mlp", "encoder": 1}],
            "contexts": [{"type": "global", "mixture": [0.6, 0.4]}],
        }
    ),
    "transformer": CompositionConfig.model_validate(
        {
            "encoders": [{"type": "transformer", "layers": 2, "heads": 2}],
            "decoder": {"type": "transformer", "layers": 2, "heads": 2, "norm": "pre"},
            "model": {"embedding": 8, "hidden": 8},
        }
    ),
    "two contexts": CompositionConfig(
        contexts=[GlobalContextConfig(), SyntaxContextConfig()], decoder=ConditionalGRUDecoderConfig(gru_context="both")
    ),
}


@pytest.mark.parametrize("name", SYSTEMS)
@torch.no_grad()
def test_score_is_negative_loss(name):
    random = np.random.default_rng(2)
    sizes = (
        ModelConfig(embedding=8, hidden=8, dropout=0.3)
        if name == "transformer"
        else ModelConfig(embedding=6, hidden=7, dropout=0.3)
    )
    system = SYSTEMS[name].model_copy(update={"model": sizes})
    model = Network(system, {"source": 12, "target": 4, "units": 9}).double().eval()
    torch.manual_seed(3)
    draw_parameters(model, std=0.7)
    model.decoder.softmax.bias[EOS] += 1  # so that enough hypotheses end
    sources = [np.array([*random.integers(1, 12, size=length), EOS]) for length in (0, 1, 4, 7, 11)]
    squares = [random.integers(1, 6, size=(len(source), len(source))) for source in sources]
    for square in squares:
        np.fill_diagonal(square, 0)
    distances = [square.ravel().astype(np.uint8) for square in squares]
    units = [random.integers(0, 9, size=10 * len(source)).astype(np.int32) for source in sources]
    batch = collate_batch(sources, syntax={"distances": distances, "units": units})

    results = beam_search([model], [batch], beam_size=5, max_lengths=torch.full((5,), 9), n_best=5)
    pairs = [
        (number, hypothesis)
        for number, hypotheses in enumerate(results)
        for hypothesis in hypotheses
        if not hypothesis.is_cut
    ]
    assert len(pairs) >= 10
    again = collate_batch(
        [sources[number] for number, _ in pairs],
        [np.array([*hypothesis.tokens, EOS]) for _, hypothesis in pairs],
        {
            "distances": [distances[number] for number, _ in pairs],
            "units": [units[number] for number, _ in pairs],
        },
    )
    np.testing.assert_allclose(
        [hypothesis.log_probability for _, hypothesis in pairs], -model.compute_loss(again), rtol=1e-12
    )
