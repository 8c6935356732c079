"""Jobs of the rules of `smt`: training and translation of phrase-based systems."""

from dataclasses import dataclass

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.nmt import SIDES, TRAINING_SPLITS
from pipeline_py.plan.paths import build_system_pattern, get_run_folder
from pipeline_py.run.job import Job

SMT_SOFTWARE = ("sil-machine", "sil-thot")


@dataclass(frozen=True)
class SmtPlan:
    """Jobs of phrase-based systems."""

    experiment: ExperimentConfig
    corpus: CorpusPlan

    @property
    def system_pattern(self) -> str:
        """A regular expression for the folder names of phrase-based systems."""
        return build_system_pattern(filter(self.experiment.is_phrase_based, self.experiment.systems))

    def build_train_job(self, system: str, run: str) -> Job:
        """Build the job that trains a phrase-based system, whose only run is `single`."""
        return Job(
            "smt.train",
            files={
                f"{split}_{side}": self.corpus.get_token_path_pattern(side).format(split=split)
                for split in TRAINING_SPLITS
                for side in SIDES
            },
            settings={"system": self.experiment.systems[system].model_dump(mode="json")},
            execution_settings={"name": system},
            software=[*SMT_SOFTWARE, "sacrebleu"],
        )

    def build_translate_job(self, system: str, run: str, split: str) -> Job:
        """Build the job that translates a set."""
        return Job(
            "smt.translate",
            files={
                "model": f"{get_run_folder('smt', system, run)}/model",
                "source": self.corpus.get_token_path_pattern("source").format(split=split),
            },
            software=SMT_SOFTWARE,
        )
