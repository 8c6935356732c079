"""Translate new text with a system that the workflow has trained."""

import sys
from pathlib import Path
from typing import Annotated

from pipeline_py.application.system import System, Translation, load_from_cli_options
from pipeline_py.files.encoding_faults import describe_faults
from pipeline_py.files.text_files import split_lines
from pipeline_py.run.command_line import OptionLimits, run_command
from pipeline_py.run.errors import InputError


def translate(
    *,
    system: str,
    run: str | None = None,
    configfile: list[str] | None = None,
    config: list[str] | None = None,
    nbest: Annotated[int | None, OptionLimits(minimum=1)] = None,
    scores: bool = False,
    attention: Path | None = None,
) -> None:
    """Translate lines from stdin to stdout, in the same order.

    Each line goes through all steps of the workflow, from cleaning to detokenization, in one process. A line of more
    than 2,000 characters is translated in parts.

    Args:
        system: The folder of a run, e.g. results/nmt/SDAtt/seed2, here or moved; or a system of the experiment.
        run: A run of the system, e.g. seed2; by default the first.
        configfile: Configuration file, like Snakemake's option of the same name.
        config: KEY=VALUE, like Snakemake's option of the same name.
        nbest: Write this many translations of each line, best first, in Moses' format: `0 ||| text ||| score`, with
            lines counted from 0. At most `decoding.beam`; a short line may have fewer.
        scores: Write the score of each translation and a tab before it.
        attention: Folder for figures of the attention, one per line: 1.svg, 2.svg ...

    Raises:
        InputError: the system is not trained, or does not support an option.
    """
    trained_system = load_from_cli_options(system, run, configfile or [], config or [])
    if nbest is not None and scores:
        raise InputError("--nbest has scores already; leave out --scores")
    if attention is not None:
        trained_system.check_attends()
    raw = [*split_lines(sys.stdin.buffer)]
    if fault := describe_faults(raw):
        print(f"warning: standard input: {fault}", file=sys.stderr)
    lines = [line.decode("utf-8", errors="replace") for line in raw]
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    if nbest is None and not scores:
        sys.stdout.writelines(f"{text}\n" for text in trained_system.translate(lines))
    else:
        for number, translations in enumerate(trained_system.n_best(lines, nbest or 1)):
            sys.stdout.writelines(
                _format_translation(number, translation, nbest is not None) for translation in translations
            )
    if attention is not None:
        _draw_attention_figures(trained_system, lines, attention)


def _format_translation(line_number: int, translation: Translation, has_line_number: bool) -> str:
    text, score = translation
    return f"{line_number} ||| {text} ||| {score:.6f}\n" if has_line_number else f"{score:.6f}\t{text}\n"


def _draw_attention_figures(system: System, lines: list[str], folder: Path) -> None:
    for number, attention in enumerate(system.attentions(lines), start=1):
        if attention is not None:
            attention.save(folder / f"{number}.svg", title=system.name)


if __name__ == "__main__":
    run_command(translate)
