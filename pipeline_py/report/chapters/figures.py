"""The configured figures of attention."""

from collections.abc import Iterator

from pipeline_py.report.figures.figure_files import inline
from pipeline_py.report.figures.typesetting import shown
from pipeline_py.report.page_parts import Chapter, Manifest, Part

PLACE = 10


def chapters(manifest: Manifest) -> Iterator[Chapter]:
    """One for each figure that there is a picture of."""
    for name, options in manifest.experiment.figures.items():
        drawn = [
            inline(
                path.read_text(encoding="utf-8"),
                f"{options.system}, sentence {number} of {options.set}",
                f"{name.replace('/', '-')}-{number}",
                own_colours=True,
            )
            for key, path in manifest.all("figure").items()
            for of_figure, _, number in (key.rpartition(":"),)
            if of_figure == name
        ]
        if drawn:
            text = (
                "Each panel shows the attention (α) of one word of the translation to the words and phrases of the "
                "source tree: a shade for each weight, and numbers for the five highest."
            )
            yield Chapter(f"figure-{name.replace('/', '-')}", shown(options.title), [Part(text=[text], figures=drawn)])
