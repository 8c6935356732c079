"""`model`, `training` and `decoding`: network sizes, training, and beam search."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from pipeline_py.config.base import (
    NUMBER_VALIDATOR,
    BatchSize,
    ConfigSection,
    Count,
    CountOrZero,
    IgnoringStage,
    LayerSize,
    OmittedNull,
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
    """Dropout rates by place."""

    embeddings: DropoutRate = Field(0.0, description="Inputs of encoders and decoder for each word.")
    states: DropoutRate = Field(
        0.0,
        description="States before recurrent products, scores and the readout; outputs of Transformer sublayers; "
        "inputs of graph convolutions.",
    )
    contexts: DropoutRate = Field(
        0.0,
        description="Annotations and their summary as read by the decoder, and contexts before its recurrence and "
        "readout.",
    )
    readout: DropoutRate = Field(0.0, description="Input of the output layer.")


def _get_dropout_tag(value: Any) -> str:
    return "by_place" if isinstance(value, dict | DropoutConfig) else "everywhere"


class ModelConfig(ConfigSection):
    """Sizes and initialization of a network."""

    embedding: LayerSize = 620
    """Size of word embeddings."""
    hidden: LayerSize = 1000
    """Size of hidden states."""
    dropout: Annotated[
        Annotated[DropoutRate, Tag("everywhere")] | Annotated[DropoutConfig, Tag("by_place")],
        Discriminator(_get_dropout_tag),
    ] = Field(
        0.2, description="One rate for all places, or a mapping of places to rates; other places have no dropout."
    )
    initialization: InitializationName = Field(
        "nematus",
        description="Initial weights; biases are 0, an LSTM's forget biases 1. nematus: N(0, 0.01²), recurrent "
        "matrices orthogonal, as in the toolkit of SDAtt and SDRNMT; needs large networks and many updates. uniform: "
        "U(−0.1, 0.1), softmax 0 (tree2seq). lecun: matrices N(0, 1/fan-in), recurrent ones orthogonal, embeddings "
        "N(0, 1), tied ones N(0, 1/embedding), vectors as in uniform; for small networks and short training. "
        "lecun_small: as lecun with embeddings N(0, 0.25²), which Adam changes sooner; for even shorter training. "
        "glorot: matrices U(±√(6/(fan-in + fan-out))), embeddings and softmax N(0, 1/embedding), vectors as in "
        "uniform; for Transformers.",
    )
    softmax_bias: Literal["zero", "unigram"] = Field(
        "zero",
        description="Initial bias of the softmax. unigram: the log frequency of each target word in the training data.",
    )
    tied_embeddings: Literal["none", "target", "all"] = Field(
        "none",
        description="target: the embedding of target words is also the matrix of the softmax; all: and the embedding "
        "of source words, which needs `subword.joint_vocabulary` (Press and Wolf 2017).",
    )

    @property
    def dropout_rates(self) -> DropoutConfig:
        """Dropout rates at all places."""
        if isinstance(self.dropout, DropoutConfig):
            return self.dropout
        return DropoutConfig(**dict.fromkeys(DropoutConfig.model_fields, self.dropout))


DecayRate = Annotated[float, NUMBER_VALIDATOR, Field(ge=0, lt=1)]
"""The decay rate of a moving average over updates."""


DEFAULT_LEARNING_RATES = {"adadelta": 1.0, "adam": 0.0005, "sgd": 1.0}
"""Default learning rates by optimizer."""

DEFAULT_EPSILONS = {"adadelta": 1e-6, "adam": 1e-8}
"""Default values of ε by optimizer."""


class OptimizerConfig(ConfigSection):
    """Optimizer; the defaults are those of the papers' toolkit (ADADELTA with Nematus' constants)."""

    name: Literal["adadelta", "adam", "sgd"] = "adadelta"
    """The algorithm."""
    learning_rate: PositiveFloat32 | None = Field(None, description="null: 1.0 for adadelta and sgd, 0.0005 for adam.")
    rho: Annotated[float, NUMBER_VALIDATOR] = Field(0.95, gt=0, lt=1, description="Decay rate of ADADELTA.")
    betas: tuple[DecayRate, DecayRate] = Field((0.9, 0.999), description="Decay rates of Adam's two moments.")
    epsilon: Annotated[float, NUMBER_VALIDATOR] | None = Field(
        None, gt=0, ge=1e-30, le=1, description="Epsilon of adadelta and adam; null: 1e-6 for adadelta, 1e-8 for adam."
    )
    l2: Annotated[float, NUMBER_VALIDATOR] = Field(
        0.0,
        ge=0,
        le=1,
        description="L2 regularization: add this times half the sum of squares of all parameters to the loss, after "
        "gradient clipping.",
    )
    decay: Annotated[float, NUMBER_VALIDATOR] | None = Field(
        None,
        gt=0,
        lt=1,
        description="Multiply the learning rate by this after each validation whose loss is worse than the previous "
        "one (tree2seq section 4.2: sgd from 1.0, halved); null: no decay.",
    )
    decay_patience: Count | None = Field(
        None,
        description="With `decay`: instead, multiply the learning rate after every so many successive validations "
        "without a better score.",
    )
    schedule: Literal["constant", "linear", "inverse_square_root"] = Field(
        "constant",
        description="Learning rate schedule. linear: decay to 0 at the last update, given by `epochs` or `updates`. "
        "inverse_square_root: decay with the inverse square root of the number of updates after warm-up (Vaswani et "
        "al. 2017).",
    )
    warmup: CountOrZero = Field(0, description="Number of updates of linear warm-up of the learning rate.")

    @model_validator(mode="after")
    def _check_and_complete(self) -> Self:
        if self.decay is not None and self.schedule != "constant":
            raise ValueError("the learning rate follows either `decay` or a `schedule`, not both")
        if self.decay_patience is not None and self.decay is None:
            raise ValueError("`decay_patience` needs `decay`, the factor of the learning rate; add e.g. `decay: 0.5`")
        return self.replace_defaults_by_null(
            {"learning_rate": DEFAULT_LEARNING_RATES[self.name], "epsilon": DEFAULT_EPSILONS.get(self.name)}
        )


IGNORED_IN_PRETRAINING = IgnoringStage("nmt.pretrain")
"""Marks settings that pretraining ignores; the encoder's options set its length."""


class TrainingConfig(ConfigSection):
    """Training of a system, with one run for each seed."""

    seeds: Annotated[list[Seed], SettingEffect.NO_EFFECT] = Field(
        [1], min_length=1, description="Random seeds, one run each; cells of tables are means over all runs."
    )
    optimizer: OptimizerConfig = OptimizerConfig()
    batch_size: BatchSize = 80
    """Size of a batch, in `batch_unit`."""
    batch_unit: Literal["sentences", "tokens"] = Field(
        "sentences", description="Unit of batch_size; tokens are target tokens, including padding."
    )
    accumulate: Annotated[Count, SettingEffect.EXECUTION] = Field(
        1, description="Gradient accumulation: compute a batch in so many successive parts to save memory."
    )
    loss_per: Annotated[Literal["sentence", "word"], IGNORED_IN_PRETRAINING] = Field(
        "sentence",
        description="Average the loss of a batch over sentences, as in Nematus, or over target words, including end "
        "of sentence.",
    )
    max_length: Count = Field(
        80, description="Skip training pairs with more pieces on either side, not counting end of sentence."
    )
    epochs: Annotated[Count | None, IGNORED_IN_PRETRAINING] = Field(None, description="Stop after this many epochs.")
    updates: Annotated[Count | None, IGNORED_IN_PRETRAINING] = Field(None, description="Stop after this many updates.")
    clip: PositiveFloat32 | None = Field(1.0, description="Clip the gradient norm to this; null: no clipping.")
    validate_every: Annotated[Count | None, IGNORED_IN_PRETRAINING] = Field(
        None, description="Number of updates between validations; null: one epoch."
    )
    early_stopping: Annotated[Literal["loss", "bleu"], IGNORED_IN_PRETRAINING] = Field(
        "loss", description="The score on the development set that selects the model."
    )
    patience: Annotated[Count, IGNORED_IN_PRETRAINING] = Field(
        10, description="Stop after this many validations without a better score."
    )
    average: Annotated[int, NUMBER_VALIDATOR, IGNORED_IN_PRETRAINING] = Field(
        1, gt=0, le=100, description="Average the weights of so many last validations; 1: the best weights instead."
    )
    moving_average: Annotated[DecayRate, IGNORED_IN_PRETRAINING] = Field(
        0.0,
        description="Validate and save an exponential moving average of the weights over updates, with this decay, or "
        "(1 + t) / (10 + t) in update t > 0 if that is smaller; update 0 copies them. 0: the weights themselves.",
    )
    tensorboard: Annotated[bool, SettingEffect.NO_EFFECT] = Field(
        False, description="Also write learning curves for TensorBoard, into the folder `tensorboard` of a run."
    )
    checkpoint_minutes: Annotated[SquarablePositiveFloat32, SettingEffect.NO_EFFECT] = Field(
        5.0, description="Minutes between checkpoints for resuming."
    )
    device: Annotated[Literal["auto", "cpu", "cuda"], SettingEffect.EXECUTION] = "auto"
    """auto: the GPU if there is one."""
    precision: Literal["auto", "float32", "tf32", "bfloat16"] = Field(
        "auto",
        description="Precision of matrix products. auto: bfloat16 if the hidden size is at least 256 and the CPU or "
        "GPU computes it fast, else float32; the facts report it. tf32 requires a GPU, and is float32 on a CPU.",
    )
    graphs: Annotated[bool, SettingEffect.ROUNDING] = Field(
        True,
        description="On a GPU, record and replay the gradient computation, and the searches of validations by BLEU, as "
        "CUDA graphs, one for each batch shape; not with `accumulate` or `loss_per: word`.",
    )
    threads: Annotated[ProcessorCount, SettingEffect.ROUNDING] = Field(1, description="CPU threads of each process.")
    processes: Annotated[ProcessorCount, SettingEffect.EXECUTION] = Field(
        1, description="Data-parallel processes of one training run, each with its share of a batch; one GPU each."
    )

    @model_validator(mode="after")
    def _check_seeds_and_schedule(self) -> Self:
        if len({*self.seeds}) < len(self.seeds):
            raise ValueError("give every seed once; a repeated seed repeats the same run")
        if self.optimizer.schedule == "linear" and self.epochs is None and self.updates is None:
            raise ValueError("`optimizer.schedule: linear` needs `epochs` or `updates`; give one of them")
        return self


IGNORED_IN_BEAM_CHOICE = IgnoringStage("nmt.choose_beam")
"""Marks settings that do not affect the choice of a beam width."""

BeamWidth = Annotated[int, NUMBER_VALIDATOR, Field(gt=0, le=1000)]
"""Number of hypotheses that a search keeps."""


def _get_beam_tag(value: Any) -> str:
    return "list" if isinstance(value, list | tuple) else "width"


def _convert_length_text(value: Any) -> Any:
    """Convert the name of the training data, and booleans that Snakemake's option --config reads as text."""
    return {"train": True, "true": True, "false": False}.get(value, value) if isinstance(value, str) else value


LengthTextName = Annotated[bool | str, BeforeValidator(_convert_length_text, json_schema_input_type=bool | str)]
"""The name of a text; true for the training data, false for none."""


class DecodingConfig(ConfigSection):
    """Beam search."""

    beam: Annotated[
        Annotated[BeamWidth, Tag("width")] | Annotated[tuple[BeamWidth, ...], Field(min_length=2), Tag("list")],
        Discriminator(_get_beam_tag),
    ] = Field(
        12,
        description="Number of hypotheses that the search keeps; 1 is greedy search. A list: the width of it with the "
        "highest BLEU on the development set, computed as for `early_stopping: bleu`; the narrowest of equals.",
    )
    retry_beam: Annotated[BeamWidth | None, OmittedNull()] = Field(
        None,
        description="Prefer translations that end to those cut at the limit of length, and search a sentence in which "
        "no hypothesis ends again with this wider beam (tree2seq section 6.1: 1,000); null: neither.",
    )
    batch_size: Annotated[BatchSize, SettingEffect.ROUNDING] = Field(
        64, description="Number of sentences per batch; changes only rounding."
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="Precision of inputs of matrix products on a CPU; they sum in float32. auto: bfloat16 if the "
        "hidden size is at least 256, `beam` times the number of sentences is at least 32, and the CPU computes it "
        "fast, else float32; the counts of a translation report it. A GPU uses float32.",
    )
    length_normalization: Annotated[float, NUMBER_VALIDATOR] = Field(
        0.0,
        ge=0,
        le=10,
        description="Divide log-probabilities by the length to this power; 0: no normalization (plain sum).",
    )
    max_length_ratio: SquarablePositiveFloat32 | None = Field(
        3.0,
        description="Limit of a translation's length, relative to the number of source pieces, plus 10 pieces; null: "
        "only `max_length`.",
    )
    max_length: Count | None = Field(
        None, description="Limit of a translation's length in pieces; null: only `max_length_ratio`."
    )
    length_model: LengthTextName = Field(
        False,
        description="Add log p(length | source length) at the end of a translation (tree2seq eq. 27), estimated from "
        "the training data (true or `train`), `dev`, or a text in `corpora.length_texts`.",
    )
    length_floor: Annotated[float, NUMBER_VALIDATOR, RequiredSetting("length_model", True)] = Field(
        1e-6, gt=0, le=1, description="Smallest probability of the length model."
    )
    replace_unknown: Annotated[bool, IgnoringStage("nmt.translate"), IGNORED_IN_BEAM_CHOICE] = Field(
        False, description="Replace <unk> in outputs by the source word with the highest attention weight."
    )
    n_best: Annotated[CountOrZero, SettingEffect.EXECUTION, IGNORED_IN_BEAM_CHOICE] = Field(
        0, description="Also write this many translations per sentence; 0: none."
    )
    attention: Annotated[bool, SettingEffect.EXECUTION, IgnoringStage("nmt.translate"), IGNORED_IN_BEAM_CHOICE] = Field(
        False, description="Also write the attention weights of the best translation."
    )

    @model_validator(mode="after")
    def _check_beams_and_lengths(self) -> Self:
        widths = self.beam_widths
        if [*widths] != sorted({*widths}):
            raise ValueError("list the widths of `beam` in ascending order, each once")
        if self.n_best > min(widths):
            raise ValueError(f"n_best {self.n_best} exceeds beam {min(widths)}; widen the beam or ask for fewer")
        if self.max_length_ratio is None and self.max_length is None:
            raise ValueError("a translation needs a limit of length; give `max_length`, `max_length_ratio` or both")
        return self

    @property
    def beam_widths(self) -> tuple[int, ...]:
        """Widths to choose from, in ascending order; a single one if there is no choice."""
        return (self.beam,) if isinstance(self.beam, int) else self.beam

    @property
    def is_beam_chosen(self) -> bool:
        """True if the width is chosen on the development set."""
        return not isinstance(self.beam, int)

    @property
    def beam_text(self) -> str:
        """The width for readers, or those to choose from."""
        *widths, widest = map(str, self.beam_widths)
        return f"{', '.join(widths)} or {widest}" if widths else widest

    @property
    def length_text(self) -> str | None:
        """The split or text that the length model is estimated from; None without a length model."""
        return "train" if self.length_model is True else self.length_model or None
