"""The jobs of the rules of `nmt`: training networks, and translating and scoring with them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline_py.config.base import Effect, Section
from pipeline_py.config.experiment import Experiment
from pipeline_py.config.systems.any_system import Ensemble, NeuralSystem
from pipeline_py.config.systems.training import Decoding
from pipeline_py.plan.corpus import CONTRASTIVE, CORRECT
from pipeline_py.plan.paths import one_of
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Files, Job
from pipeline_py.run.provenance import PACKAGE, file_of

SIDES = ("source", "target")
SPLITS = ("train", "dev")
"""Of training."""

TAGS = 2
"""Tags in each source sentence of a system with an auxiliary task."""


@dataclass(frozen=True)
class NmtPlan:
    """Jobs of networks.

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

    # Jobs of the rules, each called like its rule.

    def pretrain(self, system: str, run: str) -> Job:
        """Train the parsing encoder of a network, before the network is trained to translate."""
        network = self.experiment.network(system)
        files = self._training_files(system, ("source",), sorted({*network.trained_on, *network.pretrained_on}))
        return self._training_job("nmt.pretrain", system, run, files, ["torch", "numpy", "safetensors"])

    def train(self, system: str, run: str) -> Job:
        """Train a network to translate, starting from pretrained weights if its encoder learns to parse first."""
        network = self.experiment.network(system)
        files = self._training_files(system, SIDES, network.trained_on)
        if network.pretrained_on:
            files["initial"] = f"<results>/nmt/{system}/{run}/pretrained.safetensors"
        job = self._training_job("nmt.train", system, run, files, ["torch", "numpy", "safetensors", "sacrebleu"])
        like = None if network.like is None else self.experiment.network(network.like).composition()
        tensorboard = {"tensorboard": "tensorboard"} if network.training.tensorboard else {}
        return replace(
            job,
            settings={**job.settings, "like": like},
            folders={"checkpoints": "checkpoints", **tensorboard},
        )

    def length_model(self, units: str) -> Job:
        """Count the lengths of source and target in the training data."""
        translated = self.subword.of_translation(units)
        return Job(
            "nmt.length_model",
            files={side: self.subword.packed(translated, "train", side) for side in SIDES},
            settings={"added": TAGS if units in self.experiment.tasks else 0},
            software=["pyarrow"],
        )

    def translate(self, system: str, run: str) -> Job:
        """Translate all held-out sets."""
        decoding = self._decoding(system)
        side_outputs = {"n_best": "{pieces}.n-best"} if decoding.n_best else {}
        if decoding.attention:
            side_outputs["attention"] = "{pieces}.attention.arrow"
        counts = f"<results>/nmt/length_model/{self.experiment.units_of(system)}.tsv"
        return Job(
            "nmt.translate",
            files={**self._networks(system, run), **({"length_model": counts} if decoding.length_model else {})},
            settings={"decoding": _dump(decoding, Effect.MEANS, "nmt.translate"), **self._device},
            execution={"decoding": decoding.model_dump(mode="json")},
            rounding={"decoding": _rounding(decoding), "threads": self.experiment.training.threads},
            sets={split: self._sentences(system, split) for split in self.experiment.corpora.held_out},
            side_outputs=side_outputs,
            software=["torch", "numpy"],
            modules=self._modules(system),
            is_cached=True,
        )

    def force_decode(self, system: str, run: str) -> Job:
        """Score both translations of all contrastive sets."""
        units = self.experiment.units_of(system)
        return Job(
            "nmt.force_decode",
            files=self._networks(system, run),
            settings=self._device,
            sets={
                split: {
                    **self._sentences(system, split),
                    "translation": [
                        self.subword.pieces(units, side).format(split=split) for side in (CORRECT, CONTRASTIVE)
                    ],
                }
                for split in self.experiment.corpora.contrastive
            },
            software=["torch", "numpy"],
            modules=self._modules(system),
        )

    def attend(self, system: str, run: str, split: str) -> Job:
        """Compute the attention of a network while it produces its translations of a set."""
        files = {**self._networks(system, run), **self._sentences(system, split)}
        return Job(
            "nmt.attend",
            files={
                **files,
                **{name: files[name][0] for name in ("model", "config", "source", "syntax")},
                "translation": f"<results>/nmt/{system}/{run}/{split}.pieces",
            },
            settings=self._device,
            software=["torch", "numpy"],
            modules=self._modules(system),
        )

    def _training_job(self, stage: str, system: str, run: str, files: dict[str, Files], software: list[str]) -> Job:
        network = self.experiment.network(system)
        composition = network.composition()
        # Sizes that a share of the embedding stands for; code of the configuration, which is not hashed, computes them.
        sizes = [encoder.sizes(network.model.embedding) for encoder in network.encoders]
        return Job(
            stage,
            files=files,
            settings={
                "system": {"composition": composition, "input_sizes": sizes},
                "training": _dump(network.training, Effect.MEANS, stage),
                "seed": int(run.removeprefix("seed")),
            },
            execution={
                "name": self._name_of_run(system, run),
                "system": composition,
                "training": network.training.model_dump(mode="json"),
            },
            rounding={"training": _rounding(network.training)},
            software=software,
            modules=self._modules(system),
            is_cached=True,
        )

    def _training_files(self, system: str, sides: Sequence[str], kinds: Sequence[str]) -> dict[str, Files]:
        """Return sentences, syntax and vocabularies that a network is trained with."""
        units = self.experiment.units_of(system)
        return {
            **{f"{split}_{side}": self.subword.packed(units, split, side) for split in SPLITS for side in sides},
            **{f"{side}_vocabulary": self.subword.vocabulary(units, side) for side in sides},
            **{f"{split}_syntax": self._syntax(system, split, kinds) for split in SPLITS},
            "syntax_vocabularies": self.subword.vocabularies_of_syntax(system),
        }

    def _networks(self, system: str, run: str) -> dict[str, Any]:
        """Return the files of the networks of a system and their target vocabulary."""
        folders = [f"<results>/nmt/{network}/{run}" for network in self.experiment.networks(system)]
        return {
            "model": [f"{folder}/model.safetensors" for folder in folders],
            "config": [f"{folder}/config.json" for folder in folders],
            "target_vocabulary": self.subword.vocabulary(self.experiment.units_of(system), "target"),
        }

    def _sentences(self, system: str, split: str) -> dict[str, Any]:
        """Return the sentences of a set and their syntax, as each network of a system reads them."""
        networks = self.experiment.networks(system)
        return {
            "source": [self.subword.packed(self.experiment.units_of(name), split, "source") for name in networks],
            "syntax": [self._syntax(name, split, self.experiment.network(name).syntax) for name in networks],
        }

    def _syntax(self, network: str, split: str, kinds: Sequence[str]) -> dict[str, str]:
        return dict(zip(kinds, self.subword.syntax_of(network, split, kinds), strict=True))

    def _decoding(self, system: str) -> Decoding:
        options = self.experiment.systems[system]
        assert isinstance(options, NeuralSystem | Ensemble)
        return options.decoding

    @property
    def _device(self) -> dict[str, str]:
        return {"device": self.experiment.training.device}

    def _name_of_run(self, system: str, run: str) -> str:
        """Return the name of a run in messages: the system, and the run if there are several."""
        return system if len(self.experiment.runs(system)) == 1 else f"{system} ({run})"

    def _modules(self, system: str) -> list[str]:
        """Return the modules of the parts of a system's networks, and of networks whose size they match."""
        networks = [self.experiment.network(name) for name in self.experiment.networks(system)]
        networks += [self.experiment.network(network.like) for network in networks if network.like is not None]
        return sorted({module for network in networks for module in network.modules})


def _dump(section: Section, effect: Effect, stage: str) -> dict[str, Any]:
    """Return the values of a section that have at least an effect on what a stage makes."""
    return section.model_dump(mode="json", exclude=section.without(effect, stage))


def _rounding(section: Section) -> dict[str, Any]:
    """Return the values of a section that change nothing but the last digits."""
    keys = section.without(Effect.MEANS) - section.without(Effect.ROUNDING)
    return section.model_dump(mode="json", include=keys)
