"""Jobs of the rules of `nmt`: training networks, and translating and scoring with them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline_py.config.base import ConfigSection, SettingEffect
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.systems.system_types import EnsembleConfig, NeuralSystemConfig
from pipeline_py.config.systems.training import DecodingConfig
from pipeline_py.plan.corpus import CONTRASTIVE_SIDE, CORRECT_SIDE
from pipeline_py.plan.paths import build_system_pattern, get_beam_choice_path, get_run_folder
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job, NestedPaths
from pipeline_py.run.provenance import PACKAGE_NAME, find_module_file

SIDES = ("source", "target")
TRAINING_SPLITS = ("train", "dev")

TAGS_PER_SOURCE = 2
"""Number of tags in each source sentence of a system with an auxiliary task."""


@dataclass(frozen=True)
class NmtPlan:
    """Jobs of networks.

    Raises:
        InputError: a part of a network has no module.
    """

    experiment: ExperimentConfig
    subword: SubwordPlan

    def __post_init__(self) -> None:
        """Check that the module of every part exists, before any job runs."""
        for name, system in self.experiment.systems.items():
            for module in system.module_names if isinstance(system, NeuralSystemConfig) else ():
                if find_module_file(f"{PACKAGE_NAME}.{module}") is None:
                    path = f"{PACKAGE_NAME}/{module.replace('.', '/')}.py"
                    raise InputError(f"systems.{name}: unknown part; there is no module {path}")

    @property
    def network_pattern(self) -> str:
        """A regular expression for the folder names of trained networks."""
        return build_system_pattern(
            name for name in self.experiment.systems if self.experiment.get_networks(name) == [name]
        )

    @property
    def system_pattern(self) -> str:
        """A regular expression for the folder names of networks and ensembles."""
        return build_system_pattern(filter(self.experiment.is_neural, self.experiment.systems))

    # Jobs of the rules, each called like its rule.

    def build_pretrain_job(self, system: str, run: str) -> Job:
        """Build the job that trains the parsing encoder of a network before the network itself."""
        network = self.experiment.get_network(system)
        files = self._get_training_files(
            system, ("source",), sorted({*network.training_syntax_names, *network.pretraining_syntax_names})
        )
        return self._build_training_job("nmt.pretrain", system, run, files, ["torch", "numpy", "safetensors"])

    def build_train_job(self, system: str, run: str) -> Job:
        """Build the job that trains a network, from pretrained weights if its encoder is trained to parse first."""
        network = self.experiment.get_network(system)
        files = self._get_training_files(system, SIDES, network.training_syntax_names)
        if network.pretraining_syntax_names:
            files["initial"] = f"{get_run_folder('nmt', system, run)}/pretrained.safetensors"
        job = self._build_training_job("nmt.train", system, run, files, ["torch", "numpy", "safetensors", "sacrebleu"])
        like = None if network.like is None else self.experiment.get_network(network.like).dump_composition()
        tensorboard = {"tensorboard": "tensorboard"} if network.training.tensorboard else {}
        return replace(
            job,
            settings={**job.settings, "like": like},
            work_folders={"checkpoints": "checkpoints", **tensorboard},
        )

    def build_length_model_job(self, units: str) -> Job:
        """Build the job that counts source and target lengths in the training data."""
        return self.build_length_model_of_text_job(units, "train")

    def build_length_model_of_text_job(self, units: str, split: str) -> Job:
        """Build the job that counts source and target lengths in a text."""
        translated = self.subword.get_base_subword_name(units)
        return Job(
            "nmt.length_model",
            files={side: self.subword.get_packed_path(translated, split, side) for side in SIDES},
            settings={"added": TAGS_PER_SOURCE if units in self.experiment.parsing_tasks else 0},
            software=["pyarrow"],
        )

    def build_choose_beam_job(self, system: str, run: str) -> Job:
        """Build the job that translates the development set with each beam width and chooses the best."""
        units = self.experiment.get_subword_name(system)
        references = [
            self.subword.get_piece_path_pattern(units, side).format(split="dev")
            for side in self.subword.corpus.reference_sides["dev"]
        ]
        job = self._build_search_job("nmt.choose_beam", system, run)
        return replace(
            job,
            files={**job.files, **self._get_sentence_files(system, "dev"), "references": references},
            software=[*job.software, "sacrebleu"],
        )

    def build_translate_job(self, system: str, run: str) -> Job:
        """Build the job that translates all held-out sets."""
        decoding = self._get_decoding_config(system)
        side_outputs = {"n_best": "{pieces}.n-best"} if decoding.n_best else {}
        if decoding.attention:
            side_outputs["attention"] = "{pieces}.attention.arrow"
        job = self._build_search_job("nmt.translate", system, run)
        choice = {"beam_choice": get_beam_choice_path(system, run)} if decoding.is_beam_chosen else {}
        return replace(
            job,
            files={**job.files, **choice},
            files_by_set={
                split: self._get_sentence_files(system, split) for split in self.experiment.corpora.held_out_sets
            },
            side_outputs=side_outputs,
        )

    def build_force_decode_job(self, system: str, run: str) -> Job:
        """Build the job that scores both translations of all contrastive sets."""
        units = self.experiment.get_subword_name(system)
        return Job(
            "nmt.force_decode",
            files=self._get_network_files(system, run),
            settings=self._device_settings,
            files_by_set={
                split: {
                    **self._get_sentence_files(system, split),
                    "translation": [
                        self.subword.get_piece_path_pattern(units, side).format(split=split)
                        for side in (CORRECT_SIDE, CONTRASTIVE_SIDE)
                    ],
                }
                for split in self.experiment.corpora.contrastive_sets
            },
            software=["torch", "numpy"],
            modules=self._get_part_modules(system),
        )

    def build_attend_job(self, system: str, run: str, split: str) -> Job:
        """Build the job that computes the attention of a network while it produces its translations of a set."""
        files = {**self._get_network_files(system, run), **self._get_sentence_files(system, split)}
        return Job(
            "nmt.attend",
            files={
                **files,
                **{name: files[name][0] for name in ("model", "config", "source", "syntax")},
                "translation": f"{get_run_folder('nmt', system, run)}/{split}.pieces",
            },
            settings=self._device_settings,
            software=["torch", "numpy"],
            modules=self._get_part_modules(system),
        )

    def _build_search_job(self, stage: str, system: str, run: str) -> Job:
        """Build a job that searches for translations, without the sentences that it reads."""
        decoding = self._get_decoding_config(system)
        counts = f"<results>/nmt/length_model/{self.experiment.get_subword_name(system)}"
        text = "" if decoding.length_text == "train" else f".{decoding.length_text}"
        return Job(
            stage,
            files={
                **self._get_network_files(system, run),
                **({"length_model": f"{counts}{text}.tsv"} if decoding.length_text else {}),
            },
            settings={
                "decoding": _dump_section(decoding, SettingEffect.EXECUTION, stage),
                **self._device_settings,
            },
            execution_settings={"decoding": decoding.model_dump(mode="json")},
            rounding_settings={
                "decoding": _dump_rounding_settings(decoding),
                "threads": self.experiment.training.threads,
            },
            software=["torch", "numpy"],
            modules=self._get_part_modules(system),
            is_cached=True,
        )

    def _build_training_job(
        self, stage: str, system: str, run: str, files: dict[str, NestedPaths], software: list[str]
    ) -> Job:
        network = self.experiment.get_network(system)
        composition = network.dump_composition()
        # Code of the configuration, which is not hashed, computes these sizes from shares of the embedding.
        sizes = [encoder.compute_input_sizes(network.model.embedding) for encoder in network.encoders]
        return Job(
            stage,
            files=files,
            settings={
                "system": {"composition": composition, "input_sizes": sizes},
                "training": _dump_section(network.training, SettingEffect.EXECUTION, stage),
                "seed": int(run.removeprefix("seed")),
            },
            execution_settings={
                "name": self._format_run_name(system, run),
                "system": composition,
                "training": network.training.model_dump(mode="json"),
            },
            rounding_settings={"training": _dump_rounding_settings(network.training)},
            software=software,
            modules=self._get_part_modules(system),
            is_cached=True,
        )

    def _get_training_files(
        self, system: str, sides: Sequence[str], syntax_names: Sequence[str]
    ) -> dict[str, NestedPaths]:
        """Return the sentences, syntax and vocabularies for the training of a network."""
        units = self.experiment.get_subword_name(system)
        return {
            **{
                f"{split}_{side}": self.subword.get_packed_path(units, split, side)
                for split in TRAINING_SPLITS
                for side in sides
            },
            **{f"{side}_vocabulary": self.subword.get_vocabulary_path(units, side) for side in sides},
            **{f"{split}_syntax": self._get_syntax_files(system, split, syntax_names) for split in TRAINING_SPLITS},
            "syntax_vocabularies": self.subword.get_syntax_vocabulary_paths(system),
        }

    def _get_network_files(self, system: str, run: str) -> dict[str, Any]:
        """Return the files of a system's networks and their target vocabulary."""
        folders = [get_run_folder("nmt", network, run) for network in self.experiment.get_networks(system)]
        return {
            "model": [f"{folder}/model.safetensors" for folder in folders],
            "config": [f"{folder}/config.json" for folder in folders],
            "target_vocabulary": self.subword.get_vocabulary_path(self.experiment.get_subword_name(system), "target"),
        }

    def _get_sentence_files(self, system: str, split: str) -> dict[str, Any]:
        """Return the sentences and syntax of a set for each network of a system."""
        networks = self.experiment.get_networks(system)
        return {
            "source": [
                self.subword.get_packed_path(self.experiment.get_subword_name(name), split, "source")
                for name in networks
            ],
            "syntax": [
                self._get_syntax_files(name, split, self.experiment.get_network(name).required_syntax_names)
                for name in networks
            ],
        }

    def _get_syntax_files(self, network: str, split: str, syntax_names: Sequence[str]) -> dict[str, str]:
        return dict(zip(syntax_names, self.subword.get_network_syntax_paths(network, split, syntax_names), strict=True))

    def _get_decoding_config(self, system: str) -> DecodingConfig:
        options = self.experiment.systems[system]
        assert isinstance(options, NeuralSystemConfig | EnsembleConfig)
        return options.decoding

    @property
    def _device_settings(self) -> dict[str, str]:
        return {"device": self.experiment.training.device}

    def _format_run_name(self, system: str, run: str) -> str:
        """Return the name of a run in messages: the system, and the run if there are several."""
        return system if len(self.experiment.get_runs(system)) == 1 else f"{system} ({run})"

    def _get_part_modules(self, system: str) -> list[str]:
        """Return the modules of the parts of a system's networks and of the networks whose size they match."""
        networks = [self.experiment.get_network(name) for name in self.experiment.get_networks(system)]
        networks += [self.experiment.get_network(network.like) for network in networks if network.like is not None]
        return sorted({module for network in networks for module in network.module_names})


def _dump_section(section: ConfigSection, min_effect: SettingEffect, stage: str) -> dict[str, Any]:
    """Return the values of a section with at least the given effect on the outputs of a stage."""
    return section.model_dump(
        mode="json", exclude=section.collect_ineffective_keys(min_effect, stage) | section.omitted_keys
    )


def _dump_rounding_settings(section: ConfigSection) -> dict[str, Any]:
    """Return the settings of a section that change only rounding."""
    keys = section.collect_ineffective_keys(SettingEffect.EXECUTION) - section.collect_ineffective_keys(
        SettingEffect.ROUNDING
    )
    return section.model_dump(mode="json", include=keys)
