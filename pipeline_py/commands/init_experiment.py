"""Write a commented experiment into a new folder."""

import shlex
import sys
import textwrap
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path

import yaml

from pipeline_py.config.language_codes import resolve_language_code
from pipeline_py.config.load_experiment import RECIPES_FOLDER
from pipeline_py.files.artifacts import write_atomically
from pipeline_py.files.language_properties import UNSPACED_LANGUAGES, get_base_language
from pipeline_py.run.errors import InputError
from pipeline_py.run.workflow_files import DEFAULT_CONFIG_NAME, EXPERIMENT_NAME, SNAKEFILE_NAME, find_workflow_folder


class ParserChoice(StrEnum):
    """Origin of the parser."""

    treebank = "treebank"
    stanza = "stanza"


DEFAULT_RECIPE = "pairs_30000"
LINE_LENGTH = 110

EMBEDDED_EXPERIMENT = """\
# An experiment on the embedded English-German corpus, without any files of yours.
#
#   arbitree check                 # validate it, and show jobs and times
#   arbitree run                   # make the targets and the page
#   arbitree report --open         # make the page only, and open it
#
# Keys that are not here have the values of the default configuration.

targets: [table1]     # five networks and a phrase-based system

training:
  seeds: [1]          # more seeds give smaller confidence intervals: [1, 2, 3]
{examples}"""

TEXT_EXPERIMENT = """\
# {source} to {target}.
#
#   arbitree check                 # validate it, and show jobs and times
#   arbitree run                   # make the targets and the page
#   arbitree report --open         # make the page only, and open it
#
# Keys that are not here have the values of the recipe and of the default configuration.

targets: [table1]     # five networks and a phrase-based system
data: data            # paths below are relative to this folder
recipe: {recipe}   # settings for an amount of data: {recipes}

corpora:              # UTF-8, plain or .gz, one sentence a line, not tokenized; line k of both sides belongs together
  source: {{language: {source}, tokenizer: {source_tokenizer}, case: keep}}
  target: {{language: {target}, tokenizer: {target_tokenizer}, case: keep}}
  train:
    - {{source: train.{source}, target: train.{target}}}
  dev: {{name: dev, source: dev.{source}, references: [dev.{target}]}}
  tests:
    - {{name: test, source: test.{source}, references: [test.{target}]}}

parsers:              # of the source language
{parser}
parser: main

training:
  seeds: [1]          # more seeds give smaller confidence intervals: [1, 2, 3]
{examples}"""

EXAMPLES = """\
#  epochs: 8          # for example; the default depends on the amount of data
# decoding: {{beam: 5}}

# A table of your own, made by `targets: [syntax]`; `random` repeats its rows with random trees.
# tables:
#   syntax:
#     title: Does syntax help?
#     systems: [GlobalAtt, SDAtt]
#     baseline: GlobalAtt
#     proposed: [SDAtt]
#     parsers: [default, random]

# Systems:
{systems}

# Tables and folders of tables for `targets`:
{tables}
"""

PARSERS = {
    ParserChoice.treebank: """\
  main:               # trained on a treebank, for example one of universaldependencies.org
    type: trained
    treebank: {train: treebank/train.conllu, dev: treebank/dev.conllu, test: treebank/test.conllu}
""",
    ParserChoice.stanza: """\
  main:               # models of Stanza, in data/stanza
    type: stanza
    directory: stanza
""",
}


def init_experiment(
    *,
    directory: Path,
    source: str | None = None,
    target: str | None = None,
    parser: ParserChoice | None = None,
    recipe: str | None = None,
) -> None:
    """Write experiment.yaml, a commented experiment, into a folder.

    Without languages, it is an experiment on the embedded corpus; on a terminal, missing languages are asked for.

    Args:
        directory: The folder, which may exist.
        source: Code of the source language, for example fr.
        target: Code of the target language.
        parser: `treebank` (a parser is trained; the default) or `stanza` (a folder of its models).
        recipe: Settings for an amount of data: pairs_2000, pairs_30000 (the default) or pairs_100000.

    Raises:
        InputError: the experiment exists already, the folder has a Snakefile, a language or the recipe is unknown, or
            the options do not fit each other.
    """
    path = directory / EXPERIMENT_NAME
    if path.exists():
        raise InputError("the experiment exists already; edit it, or choose another folder", path)
    if (directory / SNAKEFILE_NAME).exists():
        raise InputError(f"with a {SNAKEFILE_NAME} here, {path.name} is not read; choose another folder", directory)
    if source is None and target is None and sys.stdin.isatty():
        source = _ask("Source language (empty: the embedded English-German corpus): ")
        target = _ask("Target language: ") if source else None
    if (source is None) != (target is None):
        raise InputError("only one language is given; give --source and --target, or neither")
    if source is None and (parser or recipe):
        raise InputError("--parser and --recipe are for texts of yours; give --source and --target, too")
    parser = parser or ParserChoice.treebank
    if source is None or target is None:
        content = EMBEDDED_EXPERIMENT.format(examples=_render_examples())
    else:
        content = render_text_experiment(source, target, parser, recipe or DEFAULT_RECIPE)
    directory.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary_path:
        temporary_path.write_text(content, encoding="utf-8")
    files = list_needed_files(source, target, parser) if source and target else []
    print(f"Written: {path}")
    if files:
        print(f"Now copy these files into {directory / 'data'}, or change the names: {', '.join(files)}")
    print(f"Next: cd {shlex.quote(str(directory))} && arbitree check")


def render_text_experiment(source: str, target: str, parser: ParserChoice, recipe: str) -> str:
    """Return the experiment of a language pair.

    Raises:
        InputError: a language or the recipe is unknown, or both languages are the same.
    """
    if source == target:
        raise InputError(f"source and target are both `{source}`; give two languages")
    recipes = sorted(file.stem for file in RECIPES_FOLDER.glob("*.yaml"))
    if recipe not in recipes:
        raise InputError(f"there is no recipe `{recipe}`; choose {', '.join(recipes)}")
    return TEXT_EXPERIMENT.format(
        source=source,
        target=target,
        source_tokenizer=_choose_tokenizer(source, _SOURCE_SEGMENTERS[parser]),
        target_tokenizer=_choose_tokenizer(target, "stanza, stanza_package: default"),
        recipe=recipe,
        recipes=", ".join(recipes),
        parser=PARSERS[parser],
        examples=_render_examples(),
    )


def _render_examples() -> str:
    config = yaml.safe_load((find_workflow_folder() / DEFAULT_CONFIG_NAME).read_text(encoding="utf-8"))
    return EXAMPLES.format(systems=_wrap_names(config["systems"]), tables=_wrap_names(config["tables"]))


def _wrap_names(names: Iterable[str]) -> str:
    return textwrap.fill(
        ", ".join(names),
        LINE_LENGTH,
        initial_indent="#   ",
        subsequent_indent="#   ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def list_needed_files(source: str, target: str, parser: ParserChoice) -> Sequence[str]:
    """Return the files that the experiment of a language pair needs, relative to `data`."""
    texts = [f"{split}.{language}" for split in ("train", "dev", "test") for language in (source, target)]
    trees = (
        ["stanza/"]
        if parser is ParserChoice.stanza
        else [f"treebank/{part}.conllu" for part in ("train", "dev", "test")]
    )
    return [*texts, *trees]


_SOURCE_SEGMENTERS = {ParserChoice.treebank: "stanza", ParserChoice.stanza: "stanza, stanza_directory: stanza"}
"""Settings of the tokenizer of a source language without spaces: trained on the treebank, or of Stanza's models."""


def _choose_tokenizer(language: str, segmenter: str) -> str:
    try:
        base = get_base_language(resolve_language_code(language))
    except ValueError as error:
        raise InputError(f"{language}: {error}") from None
    if base == "zh":
        return "jieba"
    return segmenter if base in UNSPACED_LANGUAGES else "moses"


def _ask(question: str) -> str | None:
    print(question, end="", flush=True)
    return sys.stdin.readline().strip() or None
