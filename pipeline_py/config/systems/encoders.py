"""Options of encoders and of their inputs."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from pipeline_py.config.base import NUMBER_VALIDATOR, Count, LayerSize
from pipeline_py.config.systems.network_parts import (
    AnySelfAttentionConfig,
    PartConfig,
    TransformerLayersConfig,
    expand_type_shorthand,
)
from pipeline_py.kinds import heads, labels, lexical_trees, trees, units
from pipeline_py.kinds.syntax_kind import SyntaxKind


class InputConfig(PartConfig):
    """A vector for each source position; an encoder reads the concatenation of its inputs."""

    size: LayerSize | None = Field(
        None, description="Size of the vector; null, without `share`: the embedding size minus that of other inputs."
    )
    share: Annotated[float, NUMBER_VALIDATOR] | None = Field(
        None, gt=0, lt=1, description="Instead of `size`: a fraction of the embedding size, rounded."
    )

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        if self.size is not None and self.share is not None:
            raise ValueError("an input has either a `size` or a `share` of the embedding; give one of the two")
        return self

    def compute_size(self, embedding_size: int) -> int | None:
        """Return the size of the input; None for the rest of the embedding size."""
        return self.size if self.share is None else max(1, round(self.share * embedding_size))


class WordInputConfig(InputConfig):
    """The embedding of the word or piece."""

    type: Literal["words"] = "words"


class LabelInputConfig(InputConfig):
    """The embedding of the word's dependency label (Sennrich and Haddow 2016)."""

    type: Literal["labels"] = "labels"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (labels.SYNTAX_KIND,)


class UnitInputConfig(InputConfig):
    """The dependency unit of the word through a convolutional network (SDRNMT eq. 7, Figure 1)."""

    type: Literal["units"] = "units"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (units.SYNTAX_KIND,)
    order: Literal["stacked", "alternate"] = Field(
        "stacked",
        description="stacked: both convolutions, then both poolings; alternate: convolution, pooling, convolution, "
        "pooling.",
    )


AnyInputConfig = Annotated[WordInputConfig | LabelInputConfig | UnitInputConfig, Field(discriminator="type")]


class GCNConfig(PartConfig):
    """Layers of graph convolution over the dependency tree (Bastings et al. 2017)."""

    type: Literal["gcn"] = "gcn"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (heads.SYNTAX_KIND, labels.SYNTAX_KIND)
    layers: Annotated[int, NUMBER_VALIDATOR] = Field(1, gt=0, le=100)
    """Number of layers."""


class EncoderConfig(PartConfig):
    """Base class of encoders, which compute an annotation for each source position."""

    has_phrases: ClassVar[bool] = False
    """True if phrases are annotated in addition to words."""

    has_cell_state: ClassVar[bool] = False
    """True if the final state is that of an LSTM, [h; c], each of the hidden size."""

    annotation_size_factor: ClassVar[Literal[1, 2]] = 1
    """Size of an annotation, in hidden sizes."""

    pretraining_syntax: ClassVar[tuple[SyntaxKind, ...]] = ()
    """Kinds of syntax that the encoder learns to predict in pretraining."""

    inputs: list[Annotated[AnyInputConfig, BeforeValidator(expand_type_shorthand)]] = Field(
        [WordInputConfig()], min_length=1
    )
    """Embedded inputs of each position: words, labels or dependency units; several vectors are concatenated."""
    graph: Annotated[GCNConfig, BeforeValidator(expand_type_shorthand)] | None = Field(
        None, description="Graph convolution over the annotations along the edges of the tree; null: none."
    )

    @property
    def has_half_size_directions(self) -> bool:
        """True if each of two directions has half the hidden size."""
        return False

    @property
    def has_embedding_annotations(self) -> bool:
        """True if annotations of words are their embeddings, which then have the hidden size."""
        return False

    @property
    def self_attention_changes(self) -> Sequence[AnySelfAttentionConfig]:
        """Changes of the scores of self-attention."""
        return ()

    @property
    def pretraining_passes(self) -> int | None:
        """Epochs of pretraining; None: no pretraining."""
        return None

    @model_validator(mode="after")
    def _check_input_sizes(self) -> Self:
        if sum(part.size is None and part.share is None for part in self.inputs) > 1:
            raise ValueError("at most one of an encoder's inputs may leave its `size` open; give the others theirs")
        return self

    def compute_input_sizes(self, embedding_size: int) -> list[int]:
        """Return the sizes of the inputs, which add up to the embedding size.

        Raises:
            ValueError: the configured sizes do not add up.
        """
        configured_sizes = [part.compute_size(embedding_size) for part in self.inputs]
        rest = embedding_size - sum(size or 0 for size in configured_sizes)
        sizes = [rest if size is None else size for size in configured_sizes]
        if min(sizes) < 1 or sum(sizes) != embedding_size:
            raise ValueError(f"the sizes of an encoder's inputs must add up to the embedding of {embedding_size}")
        return sizes


class BidirectionalGRUEncoderConfig(EncoderConfig):
    """One bidirectional GRU layer; annotation h_j = [→; ←], each direction of the hidden size."""

    type: Literal["bidirectional_gru"] = "bidirectional_gru"
    annotation_size_factor: ClassVar[Literal[1, 2]] = 2


class GRUEncoderConfig(EncoderConfig):
    """One GRU layer, reset gate before the product (hierarchical section 2.1); annotations of the hidden size."""

    type: Literal["gru"] = "gru"
    direction: Literal["forward", "bidirectional"] = Field(
        "bidirectional", description="bidirectional: [→; ←], each of half the hidden size."
    )

    @property
    def has_half_size_directions(self) -> bool:
        """True if each of two directions has half the hidden size."""
        return self.direction == "bidirectional"


class LSTMEncoderConfig(EncoderConfig):
    """One LSTM layer (tree2seq eq. 1–2); annotations of the hidden size."""

    type: Literal["lstm"] = "lstm"
    has_cell_state: ClassVar[bool] = True
    direction: Literal["forward", "reversed", "bidirectional"] = Field(
        "forward", description="reversed: the words from last to first, then the end of sentence."
    )


class TreeLSTMEncoderConfig(EncoderConfig):
    """A binary Tree-LSTM over the words of a forward LSTM (tree2seq eq. 11–18)."""

    type: Literal["tree_lstm"] = "tree_lstm"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (trees.SYNTAX_KIND,)
    has_phrases: ClassVar[bool] = True
    has_cell_state: ClassVar[bool] = True
    leaves: Literal["lstm", "bidirectional_lstm", "embeddings"] = Field(
        "lstm",
        description="lstm: a forward LSTM, as in the paper; bidirectional_lstm: `lstm` with both directions; "
        "embeddings: no sequential LSTM; the decoder starts from the root (tree2seq Table 6).",
    )

    @property
    def has_embedding_annotations(self) -> bool:
        """True if leaves are embeddings."""
        return self.leaves == "embeddings"


class TreeGRUEncoderConfig(EncoderConfig):
    """A binary Tree-GRU over the words of a GRU (hierarchical sections 2.1 and 3)."""

    type: Literal["tree_gru"] = "tree_gru"
    has_phrases: ClassVar[bool] = True
    leaves: Literal["forward", "bidirectional"] = "forward"
    """Direction of the GRU whose states are the leaves."""
    top_down: bool = Field(
        False, description="Add a top-down pass with separate GRUs for left and right children (eq. 3)."
    )
    trees: Literal["parse", "lexical"] = Field(
        "parse", description="lexical: only left-branching trees over the pieces of each word, no parse."
    )

    @property
    def has_half_size_directions(self) -> bool:
        """True if each of two directions has half the hidden size."""
        return self.leaves == "bidirectional"

    @property
    def required_syntax(self) -> tuple[SyntaxKind, ...]:  # type: ignore[override]
        """The kind of trees that the encoder reads."""
        return (trees.SYNTAX_KIND if self.trees == "parse" else lexical_trees.SYNTAX_KIND,)


class LatentGraphEncoderConfig(EncoderConfig):
    """A bidirectional LSTM that predicts heads, and a graph convolution over them (Hashimoto and Tsuruoka 2017)."""

    type: Literal["latent_graph"] = "latent_graph"
    has_cell_state: ClassVar[bool] = True
    pretraining_syntax: ClassVar[tuple[SyntaxKind, ...]] = (heads.SYNTAX_KIND, labels.SYNTAX_KIND)
    pretraining_epochs: Count = Field(
        3, description="Epochs of pretraining on heads and labels of the parsed training text."
    )

    @property
    def pretraining_passes(self) -> int:
        """Epochs of pretraining."""
        return self.pretraining_epochs


class TransformerEncoderConfig(EncoderConfig, TransformerLayersConfig):
    """Layers of self-attention and feed-forward networks (Vaswani et al. 2017); annotations of the hidden size."""

    type: Literal["transformer"] = "transformer"
    attention: list[Annotated[AnySelfAttentionConfig, BeforeValidator(expand_type_shorthand)]] = Field(
        [], description="Changes of the scores of self-attention, applied in order."
    )

    @property
    def self_attention_changes(self) -> Sequence[AnySelfAttentionConfig]:
        """Changes of the scores of self-attention."""
        return self.attention

    @model_validator(mode="after")
    def _check_attention(self) -> Self:
        for part in self.attention:
            part.check_layers_and_heads(self)
        return self


AnyEncoderConfig = Annotated[
    BidirectionalGRUEncoderConfig
    | GRUEncoderConfig
    | LSTMEncoderConfig
    | TreeLSTMEncoderConfig
    | TreeGRUEncoderConfig
    | LatentGraphEncoderConfig
    | TransformerEncoderConfig,
    Field(discriminator="type"),
]
