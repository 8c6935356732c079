"""Suggestion of a recipe if the settings do not fit the amount of training text."""

import math
from itertools import islice
from pathlib import Path

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import list_recipes
from pipeline_py.config.systems.system_types import NeuralSystemConfig
from pipeline_py.files.text_files import read_byte_lines

MIN_UPDATES = 1000
"""Number of updates below which a network seldom learns to translate; 1,360 are enough for Multi30k."""


def suggest_recipe(experiment: ExperimentConfig) -> str | None:
    """Suggest the recipe for the amount of training text; None if the settings may fit.

    Raises:
        InputError: a training text is a broken gzip file.
    """
    training = experiment.training
    if not any(isinstance(experiment.systems[name], NeuralSystemConfig) for name in experiment.requested_networks):
        return None
    counts_updates = training.batch_unit == "sentences" and not training.updates
    epochs = training.epochs if counts_updates and training.epochs else 0
    min_pairs = math.ceil(MIN_UPDATES * training.batch_size / epochs) if epochs else 0
    max_pairs = _compute_larger_recipe_minimum(experiment.recipe)
    pairs = _count_training_pairs(experiment, max(min_pairs, max_pairs))
    if not pairs:
        return None
    name = min(_get_recipe_sizes(), key=lambda name: abs(math.log(_get_recipe_sizes()[name] / pairs)))
    advice = f"write `recipe: {name}` (workflow/recipes/{name}.yaml) and leave out `model`, `training` and `subword`."
    if pairs < min_pairs:
        if name == experiment.recipe:
            advice = "raise `training.epochs`, or add training text."
        updates = math.ceil(pairs * epochs / training.batch_size)
        return (
            f"{pairs:,} training pairs make {updates:,} updates with these settings, too few to learn to translate; "
            f"{advice}"
        )
    if max_pairs and pairs >= max_pairs:
        return f"there are at least {max_pairs:,} training pairs, too many for `recipe: {experiment.recipe}`; {advice}"
    return None


def _get_recipe_sizes() -> dict[str, int]:
    """Return the number of training pairs of each recipe."""
    return {name: int(name.rpartition("_")[2]) for name in list_recipes()}


def _compute_larger_recipe_minimum(recipe: str | None) -> int:
    """Return the number of pairs at which the next larger recipe fits better; 0 if there is none."""
    sizes = _get_recipe_sizes()
    size = sizes.get(recipe or "", math.inf)
    larger_sizes = [other_size for other_size in sizes.values() if other_size > size]
    return math.ceil(math.sqrt(size * min(larger_sizes))) if larger_sizes else 0


def _count_training_pairs(experiment: ExperimentConfig, max_pairs: int) -> int:
    """Count the lines of existing training texts, up to `max_pairs`."""
    sources = [
        Path(experiment.resolve_path(text.source)) for text in experiment.corpora.train if text.source is not None
    ]
    pairs = 0
    for source in filter(Path.is_file, sources):
        pairs += sum(1 for _ in islice(read_byte_lines(source), max_pairs - pairs))
    return pairs
