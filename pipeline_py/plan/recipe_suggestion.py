"""Suggest a recipe where settings leave a training too few updates to learn from its text."""

import math
from itertools import islice
from pathlib import Path

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.load import list_recipes
from pipeline_py.config.systems.any_system import NeuralSystem
from pipeline_py.files.text import read_bytes

FEWEST_UPDATES = 1000
"""Updates below which a training on text from files seldom learns to translate: 1,360 are enough for Multi30k."""


def suggest_recipe(experiment: Experiment) -> str | None:
    """Return a sentence that names the recipe for the amount of training text; None if the settings may fit.

    Only as many lines are read as decide it.

    Raises:
        InputError: if a training text is a broken gzip file.
    """
    training = experiment.training
    sources = [experiment.path(text.source) for text in experiment.corpora.train if text.source is not None]
    if not sources or training.updates or not training.epochs:
        return None
    if training.batch_unit != "sentences" or not any(
        isinstance(experiment.systems[name], NeuralSystem) for name in experiment.networks_asked
    ):
        return None
    enough = math.ceil(FEWEST_UPDATES * training.batch_size / training.epochs)
    pairs = 0
    for source in filter(Path.is_file, map(Path, sources)):
        pairs += sum(1 for _ in islice(read_bytes(source), enough - pairs))
    if not 0 < pairs < enough:
        return None
    name = min(list_recipes(), key=lambda name: abs(math.log(int(name.rpartition("_")[2]) / pairs)))
    if name == experiment.recipe:
        return None
    updates = math.ceil(pairs * training.epochs / training.batch_size)
    return (
        f"{pairs:,} training pairs make {updates:,} updates with these settings, too few to learn to translate; "
        f"write `recipe: {name}` (workflow/recipes/{name}.yaml) and leave out `model`, `training` and `subword`."
    )
