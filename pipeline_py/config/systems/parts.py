"""Options that parts of a network share, and those of layers of a Transformer.

A part's options stand in `encoders.py` or `decoders.py`, its module in `pipeline_py/nmt/<kind>/`.
"""

import keyword
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from pipeline_py.config.base import NUMBER, Count, Place, Ratio, Section
from pipeline_py.kinds import distances, parents
from pipeline_py.kinds.kind import Kind


def type_alone(value: Any) -> Any:
    """Let `global` stand for `{type: global}`."""
    return {"type": value} if isinstance(value, str) else value


def or_of_type(usual: str) -> BeforeValidator:
    """Let the type alone stand for a part, and a part without a type be of the usual one."""

    def complete(value: Any) -> Any:
        value = type_alone(value)
        return {"type": usual, **value} if isinstance(value, dict) else value

    return BeforeValidator(complete)


class PartOptions(Section):
    """Options of a part, which says what it needs."""

    reads: ClassVar[tuple[Kind, ...]] = ()
    """The kinds of syntax that the part reads."""

    learns: ClassVar[tuple[Kind, ...]] = ()
    """The kinds of syntax that the part learns to predict beside translation, and needs in training alone."""

    @property
    def departures(self) -> list[str]:
        """Departures of the options from equations as papers print them; empty if there are none."""
        return []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raise TypeError where something else stands for a tuple of kinds."""
        super().__init_subclass__(**kwargs)
        for name in ("reads", "learns"):
            kinds = getattr(cls, name)
            if isinstance(kinds, property):
                continue
            if not isinstance(kinds, tuple) or not all(isinstance(kind, Kind) for kind in kinds):
                raise TypeError(f"`{name}` of `{cls.__name__}` is a tuple of kinds, as `(distances.KIND,)`")

    def check_sizes(self, embedding: int, hidden: int) -> None:
        """Raise ValueError where the sizes of the network do not suit the part; most suit all."""


def module_of(kind: str, name: str) -> str:
    """The module below `pipeline_py` that holds a part, e.g. "nmt.weighting.global_" (Python keeps `global`)."""
    return f"nmt.{kind}.{name}_" if keyword.iskeyword(name) else f"nmt.{kind}.{name}"


class Layers(PartOptions):
    """A stack of layers (Vaswani et al. 2017); states are of the hidden size, which is the embedding's."""

    layers: Annotated[int, NUMBER] = Field(6, gt=0, le=1000)
    heads: Annotated[int, NUMBER] = Field(8, gt=0, le=1024, description="They share out the hidden size.")
    feed_forward: Annotated[float, NUMBER] = Field(
        4.0, gt=0, le=64, description="Size of the inner feed-forward layer, in hidden sizes."
    )
    norm: Literal["post", "pre"] = Field(
        "post",
        description="Layer normalization behind each residual connection, as published, or before each sublayer and "
        "once behind the last.",
    )

    def check_sizes(self, embedding: int, hidden: int) -> None:
        """Raise ValueError where the sizes of the network do not suit the layers."""
        if embedding != hidden:
            raise ValueError(f"a transformer has an embedding of the hidden size, but {embedding} is not {hidden}")
        if hidden % self.heads:
            raise ValueError(f"{self.heads} heads share out the hidden size of a transformer, but it is {hidden}")
        if hidden % 2:
            raise ValueError(f"a transformer's positions need an even hidden size, but it is {hidden}")


Head = Annotated[int, NUMBER, Field(ge=-1024, lt=1024)]
"""Of attention, counted from 0, or backwards from −1, the last one."""


class Heads(PartOptions):
    """Changes the scores of some heads of some layers before their softmax."""

    layers: list[Place] | None = Field(None, min_length=1, description="Which layers, counted from 0; null: all.")
    heads: list[Head] | None = Field(
        None, min_length=1, description="Which heads of each, from 0, or with −1 the last one; null: all."
    )

    def is_of(self, layer: int) -> bool:
        """Whether scores of a layer are changed."""
        return self.layers is None or layer in self.layers

    def chosen(self, heads: int) -> list[int]:
        """Which of so many heads are changed, in ascending order."""
        return sorted({*range(heads)} if self.heads is None else {head % heads for head in self.heads})

    def check_there(self, stack: Layers) -> None:
        """Raise ValueError where a layer or head is chosen that is not there."""
        for name, chosen, there in (("layer", self.layers, stack.layers), ("head", self.heads, stack.heads)):
            for place in chosen or []:
                if not -there <= place < there:
                    raise ValueError(f"{self.type} changes {name} {place}, but there are {there}, counted from 0")  # type: ignore[attr-defined]


class SelfAttention(Heads):
    """In an encoder's self-attention."""


class DepsSAN(SelfAttention):
    """A Gaussian of the distance in the dependency tree (Peng et al. 2021; there in layers 0 to 2)."""

    type: Literal["deps_san"] = "deps_san"
    reads: ClassVar[tuple[Kind, ...]] = (distances.KIND,)
    sigma: Ratio = Field(1.0, description="Standard deviation, in edges of the tree.")
    gaussian: Literal["score", "log"] = Field(
        "score", description="The Gaussian scales the score, or its logarithm is added to the score."
    )

    @property
    def departures(self) -> list[str]:
        """The Gaussian, if it is not that of the paper."""
        return ["the logarithm of the Gaussian is added, not its density"] if self.gaussian == "log" else []


class PASCAL(SelfAttention):
    """A Gaussian around the head word (Bugliarello and Okazaki 2020; there in the last 2 of 8 heads of layer 0)."""

    type: Literal["pascal"] = "pascal"
    reads: ClassVar[tuple[Kind, ...]] = (parents.KIND,)
    layers: list[Place] | None = Field([0], min_length=1, description="Which layers, counted from 0; null: all.")
    heads: list[Head] | None = Field([-2, -1], min_length=1, description="Which heads of each; null: all.")
    sigma: Ratio = Field(1.0, description="Standard deviation, in positions.")
    parent_ignoring: Annotated[float, NUMBER] = Field(
        0.4, ge=0, lt=1, description="Probability with which a row of scores stays as it is, in training."
    )


class LISA(SelfAttention):
    """A head that learns to look at the head word (Strubell et al. 2018, as in Bugliarello and Okazaki 2020)."""

    type: Literal["lisa"] = "lisa"
    learns: ClassVar[tuple[Kind, ...]] = (parents.KIND,)
    layers: list[Place] | None = Field([0], min_length=1, description="Which layers, counted from 0; null: all.")
    heads: list[Head] | None = Field([0], min_length=1, description="Which heads of each; null: all.")
    weight: Ratio = Field(1.0, description="Of −log p of the head words in the loss of training.")


AnySelfAttention = Annotated[DepsSAN | LISA | PASCAL, Field(discriminator="type")]


class CrossAttention(Heads):
    """In a decoder's attention to the annotations."""


class SyntaxHeads(CrossAttention):
    """A Gaussian over the syntax distance from where a head looks (SDAtt eq. 9–11, as contexts of type `syntax`)."""

    type: Literal["syntax"] = "syntax"
    reads: ClassVar[tuple[Kind, ...]] = (distances.KIND,)
    window: Count = Field(4, description="n; words at syntax distance > n get no weight, and σ = n/2.")
    gaussian: Literal["log", "score"] = Field(
        "log", description="The logarithm of the Gaussian is added to the score, or the Gaussian scales the score."
    )

    @property
    def departures(self) -> list[str]:
        """Position and Gaussian, which are not those of eq. 5 and 10 of SDAtt."""
        position = "distances are those that each head expects, without the predicted position of eq. 5"
        gaussian = "the logarithm of the Gaussian is added to the score, where eq. 10 multiplies them"
        return [position, *([gaussian] if self.gaussian == "log" else [])]


AnyCrossAttention = SyntaxHeads
