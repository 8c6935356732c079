"""Base classes of the options of network parts, and options of Transformer layers and attention.

Options of other parts are in `encoders.py` and `decoders.py`. The module of a part is in `pipeline_py/nmt/<kind>/`.
"""

import keyword
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from pipeline_py.config.base import NUMBER_VALIDATOR, ConfigSection, Count, ListIndex, SquarablePositiveFloat32
from pipeline_py.kinds import distances, parents
from pipeline_py.kinds.syntax_kind import SyntaxKind


def expand_type_shorthand(value: Any) -> Any:
    """Expand the shorthand `TYPE` to `{type: TYPE}`."""
    return {"type": value} if isinstance(value, str) else value


def build_shorthand_validator(default_type: str) -> BeforeValidator:
    """Return a validator that expands the shorthand `TYPE` and adds a default type to mappings without one."""

    def add_default_type(value: Any) -> Any:
        value = expand_type_shorthand(value)
        return {"type": default_type, **value} if isinstance(value, dict) else value

    return BeforeValidator(add_default_type)


class PartConfig(ConfigSection):
    """Base class of the options of network parts, which declare the syntax that a part needs."""

    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = ()
    """Kinds of syntax that the part reads."""

    predicted_syntax: ClassVar[tuple[SyntaxKind, ...]] = ()
    """Kinds of syntax that the part learns to predict, needed only in training."""

    @property
    def paper_deviations(self) -> list[str]:
        """Deviations of the options from published equations; empty if there are none."""
        return []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raise TypeError unless the kinds of syntax are tuples of `SyntaxKind`."""
        super().__init_subclass__(**kwargs)
        for name in ("required_syntax", "predicted_syntax"):
            kinds = getattr(cls, name)
            if isinstance(kinds, property):
                continue
            if not isinstance(kinds, tuple) or not all(isinstance(kind, SyntaxKind) for kind in kinds):
                raise TypeError(
                    f"`{name}` of `{cls.__name__}` must be a tuple of kinds, such as `(distances.SYNTAX_KIND,)`"
                )

    def check_sizes(self, embedding_size: int, hidden_size: int) -> None:
        """Raise ValueError if the part does not support the sizes of the network."""


def get_part_module_name(part_package: str, part_type: str) -> str:
    """Return the name of a part's module below `pipeline_py`, e.g. "nmt.score.mlp".

    An underscore follows a type that is a Python keyword: "nmt.weighting.global_".
    """
    return f"nmt.{part_package}.{part_type}_" if keyword.iskeyword(part_type) else f"nmt.{part_package}.{part_type}"


class TransformerLayersConfig(PartConfig):
    """Transformer layers (Vaswani et al. 2017); embedding size and hidden size are equal."""

    layers: Annotated[int, NUMBER_VALIDATOR] = Field(6, gt=0, le=1000)
    """Number of layers."""
    heads: Annotated[int, NUMBER_VALIDATOR] = Field(
        8, gt=0, le=1024, description="Number of attention heads, a divisor of the hidden size."
    )
    feed_forward: Annotated[float, NUMBER_VALIDATOR] = Field(
        4.0, gt=0, le=64, description="Size of the inner feed-forward layer, in hidden sizes."
    )
    norm: Literal["post", "pre"] = Field(
        "post",
        description="post: layer normalization after each residual connection, as published; pre: before each "
        "sublayer and after the last layer.",
    )

    def check_sizes(self, embedding_size: int, hidden_size: int) -> None:
        """Raise ValueError if the layers do not support the sizes of the network."""
        if embedding_size != hidden_size:
            raise ValueError(
                f"a transformer has an embedding of the hidden size, but {embedding_size} is not {hidden_size}"
            )
        if hidden_size % self.heads:
            raise ValueError(f"{self.heads} heads share out the hidden size of a transformer, but it is {hidden_size}")
        if hidden_size % 2:
            raise ValueError(f"a transformer's positions need an even hidden size, but it is {hidden_size}")


HeadIndex = Annotated[int, NUMBER_VALIDATOR, Field(ge=-1024, lt=1024)]
"""The index of an attention head, counted from 0, or backwards from −1."""


class BaseAttentionChangeConfig(PartConfig):
    """Base class of changes of attention scores before the softmax, in some heads of some layers."""

    layers: list[ListIndex] | None = Field(None, min_length=1, description="Layers, counted from 0; null: all.")
    heads: list[HeadIndex] | None = Field(
        None, min_length=1, description="Heads of each layer, counted from 0, or backwards from −1; null: all."
    )

    def is_layer_changed(self, layer: int) -> bool:
        """Return whether the scores of a layer are changed."""
        return self.layers is None or layer in self.layers

    def select_heads(self, head_count: int) -> list[int]:
        """Return the indices of changed heads in ascending order."""
        return sorted({*range(head_count)} if self.heads is None else {head % head_count for head in self.heads})

    def check_layers_and_heads(self, stack: TransformerLayersConfig) -> None:
        """Raise ValueError if an index of a layer or head is out of range."""
        for name, indices, count in (("layer", self.layers, stack.layers), ("head", self.heads, stack.heads)):
            for index in indices or []:
                if not -count <= index < count:
                    raise ValueError(f"{self.type} changes {name} {index}, but there are {count}, counted from 0")  # type: ignore[attr-defined]


class BaseSelfAttentionChangeConfig(BaseAttentionChangeConfig):
    """Base class of changes of scores in an encoder's self-attention."""


class DepsSANConfig(BaseSelfAttentionChangeConfig):
    """A Gaussian of the distance in the dependency tree (Peng et al. 2021; there in layers 0 to 2)."""

    type: Literal["deps_san"] = "deps_san"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (distances.SYNTAX_KIND,)
    sigma: SquarablePositiveFloat32 = Field(1.0, description="Standard deviation, in edges of the tree.")
    gaussian: Literal["score", "log"] = Field(
        "score", description="score: the Gaussian scales the score; log: its logarithm is added to the score."
    )

    @property
    def paper_deviations(self) -> list[str]:
        """The use of the Gaussian, if it differs from the paper."""
        return ["the logarithm of the Gaussian is added, not its density"] if self.gaussian == "log" else []


class PASCALConfig(BaseSelfAttentionChangeConfig):
    """A Gaussian around the head word (Bugliarello and Okazaki 2020; there in the last 2 of 8 heads of layer 0)."""

    type: Literal["pascal"] = "pascal"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (parents.SYNTAX_KIND,)
    layers: list[ListIndex] | None = Field([0], min_length=1, description="Layers, counted from 0; null: all.")
    heads: list[HeadIndex] | None = Field([-2, -1], min_length=1, description="Heads of each layer; null: all.")
    sigma: SquarablePositiveFloat32 = Field(1.0, description="Standard deviation, in positions.")
    parent_ignoring: Annotated[float, NUMBER_VALIDATOR] = Field(
        0.4, ge=0, lt=1, description="Probability in training that a row of scores is not changed."
    )


class LISAConfig(BaseSelfAttentionChangeConfig):
    """A head that learns to attend to the head word (Strubell et al. 2018, as in Bugliarello and Okazaki 2020)."""

    type: Literal["lisa"] = "lisa"
    predicted_syntax: ClassVar[tuple[SyntaxKind, ...]] = (parents.SYNTAX_KIND,)
    layers: list[ListIndex] | None = Field([0], min_length=1, description="Layers, counted from 0; null: all.")
    heads: list[HeadIndex] | None = Field([0], min_length=1, description="Heads of each layer; null: all.")
    weight: SquarablePositiveFloat32 = Field(1.0, description="Weight of −log p of the head words in the loss.")


AnySelfAttentionConfig = Annotated[DepsSANConfig | LISAConfig | PASCALConfig, Field(discriminator="type")]


class BaseCrossAttentionChangeConfig(BaseAttentionChangeConfig):
    """Base class of changes of scores in a decoder's cross-attention."""


class SyntaxCrossAttentionConfig(BaseCrossAttentionChangeConfig):
    """A Gaussian over the syntax distance from the attended position (SDAtt eq. 9–11, as contexts of type `syntax`)."""

    type: Literal["syntax"] = "syntax"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (distances.SYNTAX_KIND,)
    window: Count = Field(4, description="n; words at syntax distance > n get no weight, and σ = n/2.")
    gaussian: Literal["log", "score"] = Field(
        "log", description="log: the logarithm of the Gaussian is added to the score; score: it scales the score."
    )

    @property
    def paper_deviations(self) -> list[str]:
        """Deviations of position and Gaussian from eq. 5 and 10 of SDAtt."""
        position = "distances are those that each head expects, without the predicted position of eq. 5"
        gaussian = "the logarithm of the Gaussian is added to the score, where eq. 10 multiplies them"
        return [position, *([gaussian] if self.gaussian == "log" else [])]


AnyCrossAttentionConfig = SyntaxCrossAttentionConfig
