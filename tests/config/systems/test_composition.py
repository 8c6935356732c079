"""Compatibility of parts depends on their capabilities, not on their types."""

from typing import Any

import pytest
from pydantic import ValidationError

from pipeline_py.config.systems.decoders import GRUDecoderConfig, LocalContextConfig
from pipeline_py.config.systems.encoders import BidirectionalGRUEncoderConfig, TreeGRUEncoderConfig
from pipeline_py.config.systems.system_types import NeuralSystemConfig

EIGHT: dict[str, Any] = {"model": {"embedding": 8, "hidden": 8}}
TREES = {"encoders": ["tree_gru"], "decoder": "gru"}


@pytest.mark.parametrize(
    ("composition", "message"),
    [
        ({"encoders": [{}, {}], "decoder": "lstm"}, "the decoder lstm has one encoder and one score; only conditional"),
        ({"encoders": ["gru"], "decoder": "lstm"}, "state of an LSTM, which the encoder gru does not have"),
        ({"scores": ["dot"]}, "the score dot needs annotations of the hidden size; bidirectional_gru has twice that"),
        ({"encoders": ["tree_gru", "gru"]}, "tree_gru annotates phrases; it cannot be combined with another"),
        ({**TREES, "contexts": ["local"]}, "tree_gru annotates phrases, which only global contexts can attend to"),
        ({"encoders": ["gru"], "model": {"hidden": 5}}, "half the hidden size, but 5 is odd"),
        (
            {"encoders": [{"type": "tree_gru", "leaves": "bidirectional"}], "model": {"hidden": 5}},
            "half the hidden size, but 5 is odd",
        ),
        ({"encoders": [{"type": "tree_lstm", "leaves": "embeddings"}]}, "need an embedding of the hidden size"),
        ({"encoders": ["transformer"]}, "an embedding of the hidden size, but 620 is not 1000"),
        ({"decoder": "transformer", "model": {"embedding": 12, "hidden": 12}}, "8 heads share out the hidden size"),
        (
            {"decoder": {"type": "transformer", "heads": 3}, "model": {"embedding": 9, "hidden": 9}},
            "positions need an even hidden size, but it is 9",
        ),
        ({**EIGHT, "decoder": "transformer", "contexts": ["local"]}, "transformer attends in its own way; leave out"),
        ({**EIGHT, "decoder": "transformer", "encoders": [{}, {}]}, "the decoder transformer has one encoder"),
        (
            {**EIGHT, "encoders": [{"type": "transformer", "attention": [{"type": "deps_san", "layers": [5, 6]}]}]},
            "deps_san changes layer 6, but there are 6, counted from 0",
        ),
        (
            {**EIGHT, "encoders": [{"type": "transformer", "attention": [{"type": "deps_san", "heads": [8]}]}]},
            "deps_san changes head 8, but there are 8, counted from 0",
        ),
        (
            {**EIGHT, "encoders": [{"type": "transformer", "attention": [{"type": "pascal", "heads": [-9]}]}]},
            "pascal changes head -9, but there are 8, counted from 0",
        ),
        (
            {**EIGHT, "decoder": {"type": "transformer", "attention": [{"type": "syntax", "layers": [6]}]}},
            "syntax changes layer 6, but there are 6, counted from 0",
        ),
        (
            {**TREES, **EIGHT, "decoder": {"type": "transformer", "attention": ["syntax"]}},
            "annotates phrases, which only global contexts can attend to",
        ),
        (
            {"encoders": ["lstm"], "decoder": "lstm", "model": {"tied_embeddings": "target"}},
            "tied embeddings of the decoder lstm need an embedding of the hidden size",
        ),
        (
            {"encoders": [{"inputs": ["words", {"type": "labels", "size": 8}]}], "model": {"tied_embeddings": "all"}},
            "tied embeddings of both sides need words alone as `inputs`",
        ),
        (
            {"encoders": [{"type": "tree_gru", "graph": "gcn"}], "decoder": "gru"},
            "annotates phrases; a graph convolution is over words alone",
        ),
        (
            {"encoders": [{"graph": "gcn"}], "auxiliary_task": "parsing"},
            "a system with `auxiliary_task` cannot read syntax",
        ),
        (
            {"encoders": ["latent_graph"], "model": {"tied_embeddings": "all"}},
            "an encoder that learns to parse first has embeddings of its own",
        ),
    ],
)
def test_incompatible_parts_are_rejected(composition: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        NeuralSystemConfig.model_validate(composition)


def test_compatibility_depends_on_capabilities_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changed capabilities make the types compatible."""
    monkeypatch.setattr(BidirectionalGRUEncoderConfig, "annotation_size_factor", 1)
    monkeypatch.setattr(GRUDecoderConfig, "can_have_multiple_encoders", True)
    monkeypatch.setattr(LocalContextConfig, "is_global", True)
    NeuralSystemConfig.model_validate({"scores": ["dot"]})
    NeuralSystemConfig.model_validate({"encoders": ["gru", "gru"], "decoder": "gru"})
    NeuralSystemConfig.model_validate({**TREES, "contexts": ["local"]})
    monkeypatch.setattr(TreeGRUEncoderConfig, "has_phrases", False)
    NeuralSystemConfig.model_validate({**TREES, "contexts": ["flexible"]})
