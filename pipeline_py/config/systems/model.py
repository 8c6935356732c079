"""`model`: sizes of a network, its dropout, and how it begins."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from pipeline_py.config.base import Section
from pipeline_py.config.numbers import NUMBER, Size

Initialization = Literal["nematus", "uniform", "lecun", "lecun_small", "glorot"]

Rate: TypeAlias = Annotated[float, NUMBER, Field(ge=0, lt=1)]


class Dropout(Section):
    """Rates of dropout by place."""

    embeddings: Rate = Field(0.0, description="What encoders and the decoder read of each word.")
    states: Rate = Field(
        0.0,
        description="States on their way into recurrent products, scores and the readout; in a Transformer what its "
        "sublayers add; what a graph convolution reads.",
    )
    contexts: Rate = Field(
        0.0,
        description="Annotations and their summary as the decoder reads them, and contexts on their way into its "
        "recurrence and readout.",
    )
    readout: Rate = Field(0.0, description="What the output layer reads.")


def _kind_of_dropout(value: Any) -> str:
    return "by_place" if isinstance(value, dict | Dropout) else "everywhere"


class Model(Section):
    """Sizes of a network, and how it begins."""

    embedding: Size = 620
    hidden: Size = 1000
    dropout: Annotated[
        Annotated[Rate, Tag("everywhere")] | Annotated[Dropout, Tag("by_place")], Discriminator(_kind_of_dropout)
    ] = Field(
        0.2, description="One rate for all places, or a mapping of rates; a place that it does not name has none."
    )
    initialization: Initialization = Field(
        "nematus",
        description="Biases begin at 0, an LSTM's forget gates at 1. nematus: N(0, 0.01²), as the toolkit of SDAtt and "
        "SDRNMT, which needs many updates, and large networks; recurrent matrices orthogonal. uniform: U(−0.1, 0.1), "
        "the softmax 0 (tree2seq). lecun: matrices N(0, 1/fan-in), recurrent ones orthogonal, embeddings N(0, 1), tied "
        "ones N(0, 1/embedding), vectors as uniform, for small networks and short trainings. lecun_small: the same "
        "with embeddings N(0, 0.25²), which Adam changes sooner, for shorter ones. glorot: matrices "
        "U(±√(6/(fan-in + fan-out))), embeddings and the softmax N(0, 1/embedding), vectors as uniform, for "
        "Transformers.",
    )
    softmax_bias: Literal["zero", "unigram"] = Field(
        "zero",
        description="How the bias of the softmax begins. unigram: with the log frequency of each target word in the "
        "training data, so that they need not be learnt.",
    )
    tied_embeddings: Literal["none", "target", "all"] = Field(
        "none",
        description="target: the embedding of target words is the matrix of the softmax too; all: it is the embedding "
        "of source words as well, which needs a `subword.joint_vocabulary` (Press and Wolf 2017).",
    )

    @property
    def rates(self) -> Dropout:
        """The rate of dropout at each place."""
        if isinstance(self.dropout, Dropout):
            return self.dropout
        return Dropout(**dict.fromkeys(Dropout.model_fields, self.dropout))
