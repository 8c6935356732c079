"""Graph convolution over the annotations of a sentence and its dependency tree (Bastings et al. 2017)."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.encoders import GCNConfig
from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.dropout import Dropout
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.initialization import InitializationRule


class SyntacticGraphConvolution(nn.Module):
    """In each layer h'_v = ReLU(Σ_u g_uv (W_d h_u + b_l)), over the neighbours u of v in the tree and v itself.

    d is the direction of the edge: `in` from the head of v, `out` from a dependent of v, `self`; l is the direction
    and the label of the dependent. g_uv = σ(h_u · w_d + c_l) is a scalar gate. The summary of the encoder stays
    unchanged.

    The other pieces of a word are dependents of its first piece, with the label of the word. Roots, EOS, and all
    positions of a sentence without a parse have only themselves as neighbours.

    Dropout: on the input of each layer.
    """

    def __init__(
        self, options: GCNConfig, annotation_size: int, dropout_rate: float, vocabulary_sizes: Mapping[str, int]
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            _GraphConvolutionLayer(annotation_size, vocabulary_sizes["labels"]) for _ in range(options.layers)
        )
        self.dropout = Dropout(dropout_rate)

    def forward(self, memory: EncoderMemory, batch: Batch) -> EncoderMemory:
        """Replace the annotations (B, J, M) of a memory without phrases."""
        (states,) = memory.annotations
        heads, labels = (batch.get_syntax(kind).squeeze(2) for kind in ("heads", "labels"))
        positions = torch.arange(heads.shape[1], device=heads.device)
        hangs = (heads != NO_HEAD) & (heads != positions)
        for layer in self.layers:
            states = layer(self.dropout(states), torch.where(hangs, heads, positions), labels, hangs)
        return replace(memory, annotations=(states.masked_fill(~batch.source_mask.unsqueeze(2), 0),))


class _GraphConvolutionLayer(nn.Module):
    def __init__(self, annotation_size: int, label_count: int) -> None:
        super().__init__()
        self.maps = nn.ModuleDict(
            {edge: Linear(annotation_size, annotation_size, bias=False) for edge in ("in", "out", "self")}
        )
        self.gates = nn.Parameter(torch.zeros(3, annotation_size))
        self.biases = nn.ParameterDict({edge: torch.zeros(label_count, annotation_size + 1) for edge in ("in", "out")})
        self.new_word_bias = nn.Parameter(torch.zeros(annotation_size + 1))

    def initialize(self, rule: InitializationRule) -> None:
        """Initialize the edge gates; biases are 0."""
        for gate in self.gates:
            rule.fill_vector(gate)

    def forward(self, states: Tensor, heads: Tensor, labels: Tensor, has_head: Tensor) -> Tensor:
        """Map states (B, J, M) → (B, J, M), given heads and labels (B, J), and a mask of positions with a head."""
        messages = {}
        for number, (edge, part) in enumerate(self.maps.items()):
            messages[edge] = torch.cat([part(states), (states * self.gates[number]).sum(dim=2, keepdim=True)], dim=2)
        # Messages from heads to dependents and back; the last column is the gate.
        head_indices = heads.unsqueeze(2).expand_as(messages["in"])
        downwards = _apply_gate(messages["in"].gather(1, head_indices) + self.biases["in"][labels])
        upwards = _apply_gate(messages["out"] + self.biases["out"][labels])
        has_edge = has_head.unsqueeze(2)
        self_messages = _apply_gate(messages["self"] + self.new_word_bias)
        return torch.relu(
            (self_messages + downwards * has_edge).scatter_add(1, head_indices[:, :, :-1], upwards * has_edge)
        )


def _apply_gate(messages: Tensor) -> Tensor:
    """Multiply by the sigmoid of the last column: (…, M + 1) → (…, M)."""
    return messages[..., :-1] * torch.sigmoid(messages[..., -1:])
