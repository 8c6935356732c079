"""`model`, `training` and `decoding`: sizes of a network, how it is trained, and how it is searched."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Discriminator, Field, Tag, model_validator

from pipeline_py.config.base import (
    NUMBER_VALIDATOR,
    BatchSize,
    ConfigSection,
    Count,
    CountOrZero,
    IgnoringStage,
    LayerSize,
    PositiveFloat32,
    ProcessorCount,
    RequiredSetting,
    Seed,
    SettingEffect,
    SquarablePositiveFloat32,
)

InitializationName = Literal["nematus", "uniform", "lecun", "lecun_small", "glorot"]

DropoutRate: TypeAlias = Annotated[float, NUMBER_VALIDATOR, Field(ge=0, lt=1)]


class DropoutConfig(ConfigSection):
    """Rates of dropout by place."""

    embeddings: DropoutRate = Field(0.0, description="What encoders and the decoder read of each word.")
    states: DropoutRate = Field(
        0.0,
        description="States on their way into recurrent products, scores and the readout; in a Transformer what its "
        "sublayers add; what a graph convolution reads.",
    )
    contexts: DropoutRate = Field(
        0.0,
        description="Annotations and their summary as the decoder reads them, and contexts on their way into its "
        "recurrence and readout.",
    )
    readout: DropoutRate = Field(0.0, description="What the output layer reads.")


def _get_dropout_tag(value: Any) -> str:
    return "by_place" if isinstance(value, dict | DropoutConfig) else "everywhere"


class ModelConfig(ConfigSection):
    """Sizes of a network, and how it begins."""

    embedding: LayerSize = 620
    hidden: LayerSize = 1000
    dropout: Annotated[
        Annotated[DropoutRate, Tag("everywhere")] | Annotated[DropoutConfig, Tag("by_place")],
        Discriminator(_get_dropout_tag),
    ] = Field(
        0.2, description="One rate for all places, or a mapping of rates; a place that it does not name has none."
    )
    initialization: InitializationName = Field(
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
    def dropout_rates(self) -> DropoutConfig:
        """The rate of dropout at each place."""
        if isinstance(self.dropout, DropoutConfig):
            return self.dropout
        return DropoutConfig(**dict.fromkeys(DropoutConfig.model_fields, self.dropout))


DecayRate = Annotated[float, NUMBER_VALIDATOR, Field(ge=0, lt=1)]
"""Of a mean over updates."""


DEFAULT_LEARNING_RATES = {"adadelta": 1.0, "adam": 0.0005, "sgd": 1.0}
"""Default learning rates."""

DEFAULT_EPSILONS = {"adadelta": 1e-6, "adam": 1e-8}
"""Default values of ε."""


class OptimizerConfig(ConfigSection):
    """The update rule; the defaults are those of the papers' toolkit (ADADELTA with Nematus' constants)."""

    name: Literal["adadelta", "adam", "sgd"] = "adadelta"
    learning_rate: PositiveFloat32 | None = Field(None, description="null: 1.0 for adadelta and sgd, 0.0005 for adam.")
    rho: Annotated[float, NUMBER_VALIDATOR] = Field(0.95, gt=0, lt=1, description="ADADELTA's decay.")
    betas: tuple[DecayRate, DecayRate] = Field((0.9, 0.999), description="Adam's decays of the two moments.")
    epsilon: Annotated[float, NUMBER_VALIDATOR] | None = Field(
        None, gt=0, ge=1e-30, le=1, description="Epsilon of adadelta and adam; null: 1e-6 for adadelta, 1e-8 for adam."
    )
    l2: Annotated[float, NUMBER_VALIDATOR] = Field(
        0.0,
        ge=0,
        le=1,
        description="L2 regularization: this times half the squares of all parameters is added to the loss, after "
        "gradients are clipped.",
    )
    decay: Annotated[float, NUMBER_VALIDATOR] | None = Field(
        None,
        gt=0,
        lt=1,
        description="Multiply the rate by this after each validation whose loss is worse than that of the one before "
        "(tree2seq section 4.2: sgd from 1.0, halved); null: the rate stays.",
    )
    decay_patience: Count | None = Field(
        None,
        description="With `decay`: multiply the rate after so many validations in a row without a better score "
        "instead, and again after as many more.",
    )
    schedule: Literal["constant", "linear", "inverse_square_root"] = Field(
        "constant",
        description="linear: the rate falls to 0 at the last update, given by `epochs` or `updates`. "
        "inverse_square_root: after the warm-up it falls with the root of the number of updates (Vaswani et al. 2017).",
    )
    warmup: CountOrZero = Field(0, description="Updates over which the rate rises to its maximum.")

    @model_validator(mode="after")
    def _check_schedule(self) -> Self:
        if self.decay is not None and self.schedule != "constant":
            raise ValueError("the learning rate follows either `decay` or a `schedule`, not both")
        if self.decay_patience is not None and self.decay is None:
            raise ValueError("`decay_patience` says when the rate decays; say by which factor, as `decay: 0.5`")
        return self.replace_defaults_by_null(
            {"learning_rate": DEFAULT_LEARNING_RATES[self.name], "epsilon": DEFAULT_EPSILONS.get(self.name)}
        )


IGNORED_IN_PRETRAINING = IgnoringStage("nmt.pretrain")
"""Where an encoder learns to parse first, it says itself how long."""


class TrainingConfig(ConfigSection):
    """How a system is trained; one run for each seed."""

    seeds: Annotated[list[Seed], SettingEffect.NO_EFFECT] = Field(
        [1], min_length=1, description="A table's cells are means over the runs of all seeds."
    )
    optimizer: OptimizerConfig = OptimizerConfig()
    batch_size: BatchSize = 80
    batch_unit: Literal["sentences", "tokens"] = Field(
        "sentences", description="What batch_size counts; tokens are target tokens, padding included."
    )
    accumulate: Annotated[Count, SettingEffect.EXECUTION] = Field(
        1, description="Gradient accumulation: compute a batch in so many parts, one after the other, for less memory."
    )
    loss_per: Annotated[Literal["sentence", "word"], IGNORED_IN_PRETRAINING] = Field(
        "sentence",
        description="The loss of a batch is its mean over sentences, as in Nematus, or over target words, end of "
        "sentence included.",
    )
    max_length: Count = Field(
        80,
        description="Training pairs with more pieces on either side (end of sentence excluded) are skipped.",
    )
    epochs: Annotated[Count | None, IGNORED_IN_PRETRAINING] = Field(
        None, description="Stop after this many passes over the training data."
    )
    updates: Annotated[Count | None, IGNORED_IN_PRETRAINING] = Field(None, description="Stop after this many updates.")
    clip: PositiveFloat32 | None = Field(1.0, description="Largest gradient norm; null: any.")
    validate_every: Annotated[Count | None, IGNORED_IN_PRETRAINING] = Field(
        None, description="Updates between two validations; null: once an epoch."
    )
    early_stopping: Annotated[Literal["loss", "bleu"], IGNORED_IN_PRETRAINING] = Field(
        "loss", description="The score on the development set that selects the model."
    )
    patience: Annotated[Count, IGNORED_IN_PRETRAINING] = Field(
        10, description="Stop after this many validations without a better score."
    )
    average: Annotated[int, NUMBER_VALIDATOR, IGNORED_IN_PRETRAINING] = Field(
        1, gt=0, le=100, description="The weights are the mean of those at so many last validations; 1: the best ones."
    )
    moving_average: Annotated[DecayRate, IGNORED_IN_PRETRAINING] = Field(
        0.0,
        description="Score and keep an exponential moving average of the weights over updates, with this decay, or "
        "(1 + t) / (10 + t) in update t where that is less; 0: the weights themselves.",
    )
    tensorboard: Annotated[bool, SettingEffect.NO_EFFECT] = Field(
        False, description="Write learning curves for TensorBoard too, into the folder `tensorboard` of a run."
    )
    checkpoint_minutes: Annotated[SquarablePositiveFloat32, SettingEffect.NO_EFFECT] = Field(
        5.0, description="Minutes between two rolling checkpoints."
    )
    device: Annotated[Literal["auto", "cpu", "cuda"], SettingEffect.EXECUTION] = "auto"
    precision: Literal["auto", "float32", "tf32", "bfloat16"] = Field(
        "auto",
        description="Of matrix products. auto: bfloat16 where the hidden size is at least 256 and the processor or GPU "
        "is fast at it, else float32; the facts say which. tf32 is a GPU's, and on a CPU the same as float32.",
    )
    graphs: Annotated[bool, SettingEffect.ROUNDING] = Field(
        True,
        description="On a GPU, record the gradients of batches as CUDA graphs, one for each shape, and replay them: "
        "not of systems with tree encoders, nor, in training to translate, with `accumulate` or a loss per word.",
    )
    threads: Annotated[ProcessorCount, SettingEffect.ROUNDING] = Field(1, description="CPU threads of one process.")
    processes: Annotated[ProcessorCount, SettingEffect.EXECUTION] = Field(
        1, description="Processes of one training, each with its share of every batch; on GPUs each has one of its own."
    )

    @model_validator(mode="after")
    def _check_seeds_and_schedule(self) -> Self:
        if len({*self.seeds}) < len(self.seeds):
            raise ValueError("give every seed once; a repeated seed gives the same run again")
        if self.optimizer.schedule == "linear" and self.epochs is None and self.updates is None:
            raise ValueError("`optimizer.schedule: linear` needs `epochs` or `updates`, at whose end the rate is 0")
        return self


class DecodingConfig(ConfigSection):
    """Beam search."""

    beam: Annotated[int, NUMBER_VALIDATOR] = Field(12, gt=0, le=1000)
    batch_size: Annotated[BatchSize, SettingEffect.ROUNDING] = Field(
        64, description="Sentences searched at a time; does not change the result."
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="What matrix products read on a CPU; they sum in float32. auto: bfloat16 where the hidden size is "
        "at least 256, `beam` times the number of sentences at least 32 and the processor fast at it, else float32; "
        "the counts of a translation say which. A GPU searches in float32.",
    )
    length_normalization: Annotated[float, NUMBER_VALIDATOR] = Field(
        0.0,
        ge=0,
        le=10,
        description="Log-probabilities are divided by length to this power; 0: not at all (plain sum).",
    )
    max_length_ratio: SquarablePositiveFloat32 = Field(
        3.0, description="A translation has at most this times the source's pieces, plus 10."
    )
    max_length: Count | None = Field(None, description="Nor more than this; null: no such limit.")
    length_model: bool = Field(
        False,
        description="Add log p(length | length of the source), counted in training data, where a translation ends "
        "(tree2seq eq. 27).",
    )
    length_floor: Annotated[float, NUMBER_VALIDATOR, RequiredSetting("length_model", True)] = Field(
        1e-6, gt=0, le=1, description="The least that the length model gives a pair of lengths."
    )
    replace_unknown: Annotated[bool, IgnoringStage("nmt.translate")] = Field(
        False, description="An <unk> in the output becomes the source word it attended to most."
    )
    n_best: Annotated[CountOrZero, SettingEffect.EXECUTION] = Field(
        0, description="Also write this many translations a sentence; 0: none."
    )
    attention: Annotated[bool, SettingEffect.EXECUTION, IgnoringStage("nmt.translate")] = Field(
        False, description="Also write the attention weights of the best translation."
    )

    @model_validator(mode="after")
    def _check_n_best(self) -> Self:
        if self.n_best > self.beam:
            raise ValueError(f"n_best {self.n_best} exceeds beam {self.beam}; widen the beam or ask for fewer")
        return self
