"""Options that parts of a network share, and those of layers of a Transformer.

A part's options stand in `encoders.py` or `decoders.py`, its module in `pipeline_py/nmt/<kind>/`.
"""

import keyword
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from pipeline_py.config.base import NUMBER_VALIDATOR, ConfigSection, Count, ListIndex, SquarablePositiveFloat32
from pipeline_py.kinds import distances, parents
from pipeline_py.kinds.syntax_kind import SyntaxKind


def expand_type_shorthand(value: Any) -> Any:
    """Let `global` stand for `{type: global}`."""
    return {"type": value} if isinstance(value, str) else value


def parse_part_shorthand(default_type: str) -> BeforeValidator:
    """Let the type alone stand for a part, and a part without a type be of the usual one."""

    def complete(value: Any) -> Any:
        value = expand_type_shorthand(value)
        return {"type": default_type, **value} if isinstance(value, dict) else value

    return BeforeValidator(complete)


class PartConfig(ConfigSection):
    """Options of a part, which says what it needs."""

    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = ()
    """The kinds of syntax that the part reads."""

    predicted_syntax: ClassVar[tuple[SyntaxKind, ...]] = ()
    """The kinds of syntax that the part learns to predict beside translation, and needs in training alone."""

    @property
    def paper_deviations(self) -> list[str]:
        """Departures of the options from equations as papers print them; empty if there are none."""
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
        """Raise ValueError where the sizes of the network do not suit the part; most suit all."""


def get_part_module_name(part_package: str, part_type: str) -> str:
    """The module below `pipeline_py` that holds a part, e.g. "nmt.weighting.global_" (Python keeps `global`)."""
    return f"nmt.{part_package}.{part_type}_" if keyword.iskeyword(part_type) else f"nmt.{part_package}.{part_type}"


class TransformerLayersConfig(PartConfig):
    """A stack of layers (Vaswani et al. 2017); states are of the hidden size, which is the embedding's."""

    layers: Annotated[int, NUMBER_VALIDATOR] = Field(6, gt=0, le=1000)
    heads: Annotated[int, NUMBER_VALIDATOR] = Field(8, gt=0, le=1024, description="They share out the hidden size.")
    feed_forward: Annotated[float, NUMBER_VALIDATOR] = Field(
        4.0, gt=0, le=64, description="Size of the inner feed-forward layer, in hidden sizes."
    )
    norm: Literal["post", "pre"] = Field(
        "post",
        description="Layer normalization behind each residual connection, as published, or before each sublayer and "
        "once behind the last.",
    )

    def check_sizes(self, embedding_size: int, hidden_size: int) -> None:
        """Raise ValueError where the sizes of the network do not suit the layers."""
        if embedding_size != hidden_size:
            raise ValueError(
                f"a transformer has an embedding of the hidden size, but {embedding_size} is not {hidden_size}"
            )
        if hidden_size % self.heads:
            raise ValueError(f"{self.heads} heads share out the hidden size of a transformer, but it is {hidden_size}")
        if hidden_size % 2:
            raise ValueError(f"a transformer's positions need an even hidden size, but it is {hidden_size}")


HeadIndex = Annotated[int, NUMBER_VALIDATOR, Field(ge=-1024, lt=1024)]
"""Of attention, counted from 0, or backwards from −1, the last one."""


class AttentionChangeConfig(PartConfig):
    """Changes the scores of some heads of some layers before their softmax."""

    layers: list[ListIndex] | None = Field(None, min_length=1, description="Which layers, counted from 0; null: all.")
    heads: list[HeadIndex] | None = Field(
        None, min_length=1, description="Which heads of each, from 0, or with −1 the last one; null: all."
    )

    def is_layer_changed(self, layer: int) -> bool:
        """Whether scores of a layer are changed."""
        return self.layers is None or layer in self.layers

    def select_heads(self, head_count: int) -> list[int]:
        """Which of so many heads are changed, in ascending order."""
        return sorted({*range(head_count)} if self.heads is None else {head % head_count for head in self.heads})

    def check_layers_and_heads(self, stack: TransformerLayersConfig) -> None:
        """Raise ValueError where a layer or head is chosen that is not there."""
        for name, chosen, there in (("layer", self.layers, stack.layers), ("head", self.heads, stack.heads)):
            for place in chosen or []:
                if not -there <= place < there:
                    raise ValueError(f"{self.type} changes {name} {place}, but there are {there}, counted from 0")  # type: ignore[attr-defined]


class SelfAttentionChangeConfig(AttentionChangeConfig):
    """In an encoder's self-attention."""


class DepsSANConfig(SelfAttentionChangeConfig):
    """A Gaussian of the distance in the dependency tree (Peng et al. 2021; there in layers 0 to 2)."""

    type: Literal["deps_san"] = "deps_san"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (distances.SYNTAX_KIND,)
    sigma: SquarablePositiveFloat32 = Field(1.0, description="Standard deviation, in edges of the tree.")
    gaussian: Literal["score", "log"] = Field(
        "score", description="The Gaussian scales the score, or its logarithm is added to the score."
    )

    @property
    def paper_deviations(self) -> list[str]:
        """The Gaussian, if it is not that of the paper."""
        return ["the logarithm of the Gaussian is added, not its density"] if self.gaussian == "log" else []


class PASCALConfig(SelfAttentionChangeConfig):
    """A Gaussian around the head word (Bugliarello and Okazaki 2020; there in the last 2 of 8 heads of layer 0)."""

    type: Literal["pascal"] = "pascal"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (parents.SYNTAX_KIND,)
    layers: list[ListIndex] | None = Field([0], min_length=1, description="Which layers, counted from 0; null: all.")
    heads: list[HeadIndex] | None = Field([-2, -1], min_length=1, description="Which heads of each; null: all.")
    sigma: SquarablePositiveFloat32 = Field(1.0, description="Standard deviation, in positions.")
    parent_ignoring: Annotated[float, NUMBER_VALIDATOR] = Field(
        0.4, ge=0, lt=1, description="Probability with which a row of scores stays as it is, in training."
    )


class LISAConfig(SelfAttentionChangeConfig):
    """A head that learns to look at the head word (Strubell et al. 2018, as in Bugliarello and Okazaki 2020)."""

    type: Literal["lisa"] = "lisa"
    predicted_syntax: ClassVar[tuple[SyntaxKind, ...]] = (parents.SYNTAX_KIND,)
    layers: list[ListIndex] | None = Field([0], min_length=1, description="Which layers, counted from 0; null: all.")
    heads: list[HeadIndex] | None = Field([0], min_length=1, description="Which heads of each; null: all.")
    weight: SquarablePositiveFloat32 = Field(1.0, description="Of −log p of the head words in the loss of training.")


AnySelfAttentionConfig = Annotated[DepsSANConfig | LISAConfig | PASCALConfig, Field(discriminator="type")]


class CrossAttentionChangeConfig(AttentionChangeConfig):
    """In a decoder's attention to the annotations."""


class SyntaxCrossAttentionConfig(CrossAttentionChangeConfig):
    """A Gaussian over the syntax distance from where a head looks (SDAtt eq. 9–11, as contexts of type `syntax`)."""

    type: Literal["syntax"] = "syntax"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (distances.SYNTAX_KIND,)
    window: Count = Field(4, description="n; words at syntax distance > n get no weight, and σ = n/2.")
    gaussian: Literal["log", "score"] = Field(
        "log", description="The logarithm of the Gaussian is added to the score, or the Gaussian scales the score."
    )

    @property
    def paper_deviations(self) -> list[str]:
        """Position and Gaussian, which are not those of eq. 5 and 10 of SDAtt."""
        position = "distances are those that each head expects, without the predicted position of eq. 5"
        gaussian = "the logarithm of the Gaussian is added to the score, where eq. 10 multiplies them"
        return [position, *([gaussian] if self.gaussian == "log" else [])]


AnyCrossAttentionConfig = SyntaxCrossAttentionConfig
