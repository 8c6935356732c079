"""How far a training run has come."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class TrainState:
    """How far a run has come; with the tensors of a checkpoint, all that its future depends on.

    Attributes:
        epoch: passes over the training data that are complete.
        batch: batches of the present epoch that are done.
        update: batches that were done in all, skipped ones included.
        skipped: of these, how many changed nothing, since their loss or gradient was not finite.
        best_score: best score on the development set (higher is better; a loss counts negatively).
        best_update: when it was reached.
        validations_since_best: looks at the development set since then.
        loss: summed over the target tokens since the last look, in nats.
        norm: summed gradient norm of the updates since the last look.
        tokens: target tokens since the last look, EOS included.
        updates: updates since the last look that were not skipped.
        words: target words in all, EOS not included.
        training_seconds: time spent on updates.
        seconds: time spent in all.
        training_cpu_seconds: time that processors worked on updates, of all threads and processes; None: not known.
        cpu_seconds: the same, in all.
        waited_seconds: time that threads could have worked and had no core, in all.
        load_seconds: time spent in all, each second times the machine's load.
        joules: energy spent in that time by each part of the machine that was measured all of the time.
        curve: one row a look.
    """

    epoch: int = 0
    batch: int = 0
    update: int = 0
    skipped: int = 0
    best_score: float | None = None
    best_update: int = 0
    validations_since_best: int = 0
    loss: float = 0.0
    norm: float = 0.0
    tokens: int = 0
    updates: int = 0
    words: int = 0
    training_seconds: float = 0.0
    seconds: float = 0.0
    training_cpu_seconds: float | None = 0.0
    cpu_seconds: float | None = 0.0
    waited_seconds: float | None = 0.0
    load_seconds: float = 0.0
    joules: dict[str, float] = field(default_factory=dict)
    curve: list[dict[str, Any]] = field(default_factory=list)

    @property
    def words_per_second(self) -> float:
        """Target words (EOS not included) per second of training."""
        return self.words / self.training_seconds if self.training_seconds else 0.0

    @property
    def words_per_cpu_second(self) -> float | None:
        """The same per second of a processor; None where that is not known."""
        return self.words / self.training_cpu_seconds if self.training_cpu_seconds else None

    @property
    def best_validation(self) -> dict[str, Any]:
        """The look at the development set whose weights are kept, the best."""
        return next(row for row in reversed(self.curve) if row["best"])

    @property
    def validated(self) -> bool:
        """Whether the development set was looked at since the last update."""
        return bool(self.curve) and self.curve[-1]["update"] == self.update
