"""What the rules of `nmt` are given: what a network reads, is trained with and is searched with."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pipeline_py.config.effects import Effect
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.systems.any_system import Ensemble
from pipeline_py.config.systems.decoding import Decoding
from pipeline_py.config.systems.neural import NeuralSystem
from pipeline_py.input_error import InputError
from pipeline_py.plan.corpus import CONTRASTIVE, CORRECT
from pipeline_py.plan.paths import cache_of, named_files, one_of, shared_out
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.provenance import PACKAGE, file_of

SIDES = ("source", "target")
SPLITS = ("train", "dev")
"""Of training."""


@dataclass(frozen=True)
class NmtPlan:
    """Inputs, settings and options of networks.

    Raises:
        InputError: a part of a network has no module.
    """

    experiment: Experiment
    subword: SubwordPlan

    def __post_init__(self) -> None:
        """See to it that all parts are there, before a system waits for its texts."""
        for name, system in self.experiment.systems.items():
            for module in system.modules if isinstance(system, NeuralSystem) else ():
                if file_of(f"{PACKAGE}.{module}") is None:
                    path = f"{PACKAGE}/{module.replace('.', '/')}.py"
                    raise InputError(f"systems.{name}: there is no {path}, where a part of this type should be")

    @property
    def networks(self) -> str:
        """A pattern for the systems that are trained."""
        return one_of(name for name in self.experiment.systems if self.experiment.networks(name) == [name])

    @property
    def systems(self) -> str:
        """A pattern for the systems that translate: networks and ensembles of them."""
        return one_of(filter(self.experiment.is_neural, self.experiment.systems))

    def training_inputs(self, system: str, run: str) -> dict[str, str | list[str]]:
        """Sentences, syntax and vocabularies that a network is trained with, and weights, if it was pretrained."""
        network = self.experiment.network(system)
        pretrained = {"initial": f"<results>/nmt/{system}/{run}/pretrained.safetensors"}
        return self._learnt_from(system, SIDES, network.trained_on) | (pretrained if network.pretrained_on else {})

    def pretraining_inputs(self, system: str) -> dict[str, str | list[str]]:
        """The same of the source alone, for training on parsing."""
        return self._learnt_from(system, ("source",), self.kinds_of_pretraining(system))

    def _learnt_from(self, system: str, sides: tuple[str, ...], kinds: list[str]) -> dict[str, str | list[str]]:
        units = self.experiment.units_of(system)
        return {
            **{f"{split}_{side}": self.subword.packed(units, split, side) for split in SPLITS for side in sides},
            **{f"{side}_vocabulary": self.subword.vocabulary(units, side) for side in sides},
            **{f"{split}_syntax": self.subword.syntax_of(system, split, kinds) for split in SPLITS},
            "syntax_vocabularies": [*self.subword.vocabularies_of_syntax(system).values()],
        }

    def kinds_of_pretraining(self, system: str) -> list[str]:
        """Syntax that a network reads or predicts."""
        network = self.experiment.network(system)
        return sorted({*network.trained_on, *network.pretrained_on})

    def syntax_options(self, system: str, kinds: list[str], inputs: Mapping[str, Any]) -> list[str]:
        """Syntax of both splits and its vocabularies, as options of what trains."""
        vocabularies = self.subword.vocabularies_of_syntax(system)
        return [
            *named_files("train-syntax", kinds, inputs.get("train_syntax", [])),
            *named_files("dev-syntax", kinds, inputs.get("dev_syntax", [])),
            *named_files("syntax-vocabulary", vocabularies, inputs.get("syntax_vocabularies", [])),
        ]

    def training(self, system: str, threads: int | None = None) -> str:
        """`training` as JSON: what decides the result or, told the threads of the job, all of it."""
        training = self.experiment.network(system).training
        if threads is None:
            return training.model_dump_json(exclude=training.without(Effect.MEANS))
        return training.model_copy(update={"threads": max(1, threads // training.processes)}).model_dump_json()

    def training_on_parsing(self, system: str) -> str:
        """`training` as JSON: what decides the result of `pretrain`."""
        training = self.experiment.network(system).training
        return training.model_dump_json(exclude=training.without(Effect.MEANS, "nmt.pretrain"))

    def board(self, system: str, model: str) -> list[str]:
        """Where the learning curve of a run is written for TensorBoard, if it is, given where its weights are."""
        shown = self.experiment.network(system).training.tensorboard
        return [f"--tensorboard={PurePosixPath(model).parent}/tensorboard"] if shown else []

    def capacity_options(self, system: str) -> list[str]:
        """The composition that a network is to have as many parameters as, where it names one."""
        like = self.experiment.network(system).like
        return [] if like is None else [f"--like={self.experiment.network(like).composition()}"]

    def name_of_run(self, system: str, run: str) -> str:
        """What messages call a run: the system, and where it has several, which."""
        return system if len(self.experiment.runs(system)) == 1 else f"{system} ({run})"

    def sizes_of_inputs(self, system: str) -> list[list[int]]:
        """Dimensions of each input of each encoder, shares worked out."""
        network = self.experiment.network(system)
        return [encoder.sizes(network.model.embedding) for encoder in network.encoders]

    def inputs(self, system: str, run: str, splits: Collection[str]) -> dict[str, str | list[str]]:
        """What a system's networks read some sets with: of each weights, of each set in turn their sources and syntax.

        Where an ensemble's networks read the same source, it stands there for each.
        """
        networks = {name: self.experiment.network(name) for name in self.experiment.networks(system)}
        return {
            "model": [f"<results>/nmt/{name}/{run}/model.safetensors" for name in networks],
            "config": [f"<results>/nmt/{name}/{run}/config.json" for name in networks],
            "source": [
                self.subword.packed(self.experiment.units_of(name), split, "source")
                for split in splits
                for name in networks
            ],
            "syntax": [
                file
                for split in splits
                for name, network in networks.items()
                for file in self.subword.syntax_of(name, split, network.syntax)
            ],
            "target_vocabulary": self.subword.vocabulary(self.experiment.units_of(system), "target"),
        }

    def translations(self, system: str) -> list[str]:
        """The given translations of all contrastive sets in a system's units: correct, contrastive."""
        pieces = [self.subword.pieces(self.experiment.units_of(system), side) for side in (CORRECT, CONTRASTIVE)]
        return [path.format(split=split) for split in self.experiment.corpora.contrastive for path in pieces]

    def length_model(self, system: str) -> dict[str, str]:
        """The counts of lengths that a system's search looks at, if it does."""
        asked = self.decoding(system).length_model
        return {"length_model": f"<results>/nmt/length_model/{self.experiment.units_of(system)}.tsv"} if asked else {}

    def decoding(self, system: str) -> Decoding:
        """How a system translates."""
        found = self.experiment.systems[system]
        assert isinstance(found, NeuralSystem | Ensemble)
        return found.decoding

    def search(self, system: str) -> str:
        """`decoding` as JSON: of it what decides a system's translations."""
        decoding = self.decoding(system)
        return decoding.model_dump_json(exclude=decoding.without(Effect.MEANS, "nmt.translate"))

    def member_options(self, inputs: Mapping[str, Any]) -> list[str]:
        """Options of what translates for the weights of a system's networks, and for the length model."""
        length_model = inputs.get("length_model")
        return [
            *(f"--{option}={file}" for option in ("model", "config") for file in inputs[option]),
            *([f"--length-model={length_model}"] if length_model else []),
        ]

    def set_options(self, system: str, splits: Collection[str], inputs: Mapping[str, Any]) -> dict[str, list[str]]:
        """Options for what a system's networks read of each set (`each_set`), by set."""
        networks = self.experiment.networks(system)
        kinds = [
            kind if len(networks) == 1 else f"{number}:{kind}"
            for number, network in enumerate(networks, start=1)
            for kind in self.experiment.network(network).syntax
        ]
        sources, syntax = (shared_out(inputs.get(option, []), len(splits)) for option in ("source", "syntax"))
        return {
            split: [f"--set={split}", *(f"--source={file}" for file in of_set), *named_files("syntax", kinds, read)]
            for split, of_set, read in zip(splits, sources, syntax, strict=True)
        }

    def translation_options(self, system: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> list[str]:
        """Options of `translate` for each set: what is read, where translations go and where they are kept."""
        decoding = self.decoding(system)
        read = self.set_options(system, self.experiment.corpora.held_out, inputs)
        files = zip(outputs["pieces"], outputs["alignment"], outputs["counts"], strict=True)
        return [
            option
            for of_set, (pieces, alignment, counts) in zip(read.values(), files, strict=True)
            for option in (
                *of_set,
                f"--cache={cache_of(pieces)}",
                f"--output={pieces}",
                f"--alignment-output={alignment}",
                *([f"--n-best-output={pieces}.n-best"] if decoding.n_best else []),
                *([f"--attention-output={pieces}.attention.arrow"] if decoding.attention else []),
                f"--counts-output={counts}",
            )
        ]

    def scoring_options(self, system: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> list[str]:
        """Options of `force_decode` for each set: what is read and scored, and where scores go."""
        read = self.set_options(system, self.experiment.corpora.contrastive, inputs)
        given = shared_out(inputs["translations"], len(read))
        scores = zip(outputs["correct"], outputs["contrastive"], strict=True)
        return [
            option
            for of_set, translations, made in zip(read.values(), given, scores, strict=True)
            for option in (
                *of_set,
                *(f"--translation={file}" for file in translations),
                *(f"--output={file}" for file in made),
            )
        ]

    def modules(self, system: str) -> list[str]:
        """Modules of the parts of a system's networks, and of what these are to have as many parameters as."""
        networks = [self.experiment.network(name) for name in self.experiment.networks(system)]
        networks += [self.experiment.network(network.like) for network in networks if network.like is not None]
        return sorted({module for network in networks for module in network.modules})
