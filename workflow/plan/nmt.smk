"""What the rules of `nmt` are given: what a network reads, is trained with and is searched with."""

from collections.abc import Iterable


def syntax_inputs(system: str, *splits: str) -> dict[str, list[str]]:
    return {f"{split}_syntax": [*syntax_of_system(system, split).values()] for split in splits}


def syntax_options(option: str, kinds: Iterable[str], files: list[str]) -> list[str]:
    """--OPTION=KIND=FILE for each kind of syntax."""
    return [f"--{option}={kind}={file}" for kind, file in zip(kinds, files, strict=True)]


def training_inputs_of(system: str) -> dict[str, str]:
    """Sentences, syntax and vocabularies that a network is trained with."""
    units = EXPERIMENT.units_of(system)
    return {
        **{
            f"{split}_{side}": packed(units, split, side) for split in ("train", "dev") for side in ("source", "target")
        },
        **{f"{side}_vocabulary": f"<results>/subword/{units}/vocabulary.{side}" for side in ("source", "target")},
        **syntax_inputs(system, "train", "dev"),
        "syntax_vocabularies": [*vocabularies_of_syntax(system).values()],
    }


def initial_weights(system: str, run: str) -> dict[str, str]:
    """What a training starts from, where the system is trained on parsing before."""
    pretrained = EXPERIMENT.systems[system].pretrained_on
    return {"initial": f"<results>/nmt/{system}/{run}/pretrained.safetensors"} if pretrained else {}


def kinds_of_pretraining(system: str) -> list[str]:
    """Syntax that a network reads or predicts."""
    composition = EXPERIMENT.systems[system]
    return sorted({*composition.syntax, *composition.pretrained_on})


def pretraining_inputs_of(system: str) -> dict[str, list[str] | str]:
    """Sentences, syntax and vocabularies that a network is trained on parsing with."""
    units, kinds = EXPERIMENT.units_of(system), kinds_of_pretraining(system)
    return {
        **{f"{split}_source": packed(units, split, "source") for split in ("train", "dev")},
        **{f"{split}_syntax": [*syntax_of_kinds(system, split, kinds).values()] for split in ("train", "dev")},
        "source_vocabulary": f"<results>/subword/{units}/vocabulary.source",
        "syntax_vocabularies": [*vocabularies_of_syntax(system).values()],
    }


def training_of_system(system: str, threads: int | None = None) -> str:
    """`training` as JSON: what decides the result or, told the threads of the job, all of it."""
    training = EXPERIMENT.systems[system].training
    if threads is None:
        return training.model_dump_json(exclude={"threads", "checkpoint_minutes", "seeds", "tensorboard"})
    return training.model_copy(update={"threads": max(1, threads // training.processes)}).model_dump_json()


def board_of(system: str, model: str) -> list[str]:
    """Where the learning curve of a run is written for TensorBoard, if it is, given where its weights are."""
    shown = EXPERIMENT.systems[system].training.tensorboard
    return [f"--tensorboard={os.path.dirname(model)}/tensorboard"] if shown else []


def training_on_parsing(system: str) -> str:
    """`training` as JSON, of it what decides the result of `pretrain`: the encoder says itself how long it learns."""
    until = {"epochs", "updates", "validate_every", "early_stopping", "patience"}
    excluded = {"threads", "checkpoint_minutes", "seeds", "tensorboard", *until}
    return EXPERIMENT.systems[system].training.model_dump_json(exclude=excluded)


def capacity_options(system: str) -> list[str]:
    """The composition that a network is to have as many parameters as, where it names one."""
    like = EXPERIMENT.systems[system].like
    return [] if like is None else [f"--like={EXPERIMENT.systems[like].composition()}"]


def name_of_run(system: str, run: str) -> str:
    """What messages call a run: the system, and where it has several, which."""
    return system if len(EXPERIMENT.runs(system)) == 1 else f"{system} ({run})"


def sizes_of_inputs(system: str) -> list[list[int]]:
    """Dimensions of each input of each encoder, shares worked out."""
    composition = EXPERIMENT.systems[system]
    return [encoder.sizes(composition.model.embedding) for encoder in composition.encoders]


def network_inputs(system: str, run: str, split: str) -> dict[str, list[str] | str]:
    """What a system's networks read a split with: of each weights, source and syntax."""
    networks = EXPERIMENT.networks(system)
    return {
        "model": [f"<results>/nmt/{network}/{run}/model.safetensors" for network in networks],
        "config": [f"<results>/nmt/{network}/{run}/config.json" for network in networks],
        "source": [packed(EXPERIMENT.units_of(network), split, "source") for network in networks],
        "syntax": [file for network in networks for file in syntax_of_system(network, split).values()],
        "target_vocabulary": f"<results>/subword/{EXPERIMENT.units_of(system)}/vocabulary.target",
    }


def length_model_of(system: str) -> dict[str, str]:
    """The counts of lengths that a system's search looks at, if it does."""
    asked = EXPERIMENT.systems[system].decoding.length_model
    return {"length_model": f"<results>/nmt/length_model/{EXPERIMENT.units_of(system)}.tsv"} if asked else {}


def search_of(system: str) -> str:
    """`decoding` as JSON: of it what decides a system's translations."""
    decoding = EXPERIMENT.systems[system].decoding
    unread = set() if decoding.length_model else {"length_floor"}
    return decoding.model_dump_json(exclude={"replace_unknown", "batch_size", *unread})


def member_options(system: str, input) -> list[str]:
    """Options of `translate` for each of a system's networks, and for the length model."""
    networks = EXPERIMENT.networks(system)
    kinds = [
        kind if len(networks) == 1 else f"{number}:{kind}"
        for number, network in enumerate(networks, start=1)
        for kind in EXPERIMENT.systems[network].syntax
    ]
    return [
        *(f"--{option}={file}" for option in ("model", "config", "source") for file in input[option]),
        *syntax_options("syntax", kinds, input.get("syntax", [])),
        *([f"--length-model={input.length_model}"] if "length_model" in input.keys() else []),
    ]


def modules_of(system: str) -> list[str]:
    """Modules of the parts of a system's networks, and of what these are to have as many parameters as."""
    networks = EXPERIMENT.networks(system)
    counted = [*networks, *filter(None, (EXPERIMENT.systems[network].like for network in networks))]
    return sorted({module for network in counted for module in EXPERIMENT.systems[network].modules})
