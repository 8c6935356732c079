"""The jobs of the rules of `smt`: training and translation of phrase-based systems."""

from dataclasses import dataclass

from pipeline_py.config.experiment import Experiment
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.nmt import SIDES, SPLITS
from pipeline_py.plan.paths import one_of
from pipeline_py.run.job import Job

LIBRARIES = ("sil-machine", "sil-thot")


@dataclass(frozen=True)
class SmtPlan:
    """Jobs of phrase-based systems."""

    experiment: Experiment
    corpus: CorpusPlan

    @property
    def systems(self) -> str:
        """A pattern for the phrase-based systems."""
        return one_of(filter(self.experiment.is_phrase_based, self.experiment.systems))

    def train(self, system: str, run: str) -> Job:
        """Train a phrase-based system; its only run is `single`."""
        return Job(
            "smt.train",
            files={
                f"{split}_{side}": self.corpus.tokens(side).format(split=split) for split in SPLITS for side in SIDES
            },
            settings={"system": self.experiment.systems[system].model_dump(mode="json")},
            execution={"name": system},
            software=[*LIBRARIES, "sacrebleu"],
        )

    def translate(self, system: str, run: str, split: str) -> Job:
        """Translate a set."""
        return Job(
            "smt.translate",
            files={
                "model": f"<results>/smt/{system}/{run}/model",
                "source": self.corpus.tokens("source").format(split=split),
            },
            software=LIBRARIES,
        )
