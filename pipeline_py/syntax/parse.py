"""Parse tokenized text with Stanza."""

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline_py import stage
from pipeline_py.artifact import Ledger, writing
from pipeline_py.progress import progress
from pipeline_py.stage import InputError
from pipeline_py.syntax.annotation import Annotation
from pipeline_py.syntax.batches import BatchParser
from pipeline_py.syntax.constituency import PhraseTree, unparsed_phrase, write_trees
from pipeline_py.syntax.dependency import DependencyTree, unparsed, write_dependencies
from pipeline_py.text import read_lines, tokens_of

if TYPE_CHECKING:
    from pipeline_py.syntax.stanza_pipeline import Pipeline


def parse(
    *,
    annotation: Annotation,
    tokens: Path,
    output: Path,
    ledger_output: Path,
    tagger: Path | None = None,
    depparse: Path | None = None,
    constituency: Path | None = None,
    pretrain: Path | None = None,
    directory: Path | None = None,
    package: str | None = None,
    language: str = "en",
    batch_size: int = 100,
    max_words: int = 250,
    device: str = "auto",
    threads: int = 1,
) -> None:
    """Parse every line of a tokenized text; line k of the text is tree k of the output.

    The parser comes from model files (`--tagger` with `--depparse` or `--constituency`), from a local Stanza
    directory, or from a Stanza package, which is downloaded. Tokens are never split or joined. An empty line gives
    an empty tree. A sentence that is too long, or that Stanza fails on, gives a marked fallback and is counted.

    Args:
        annotation: dependency (tagger and dependency parser) or constituency (tagger and constituency parser).
        tokens: one sentence a line, tokens separated by a space.
        output: CoNLL-U or one tree in brackets a line.
        ledger_output: counts of sentences and of fallbacks by reason.
        tagger: model file.
        depparse: model file, for the annotation dependency.
        constituency: model file, for the annotation constituency.
        pretrain: word vectors that the model files were trained with.
        directory: local Stanza directory (resources.json and models).
        package: Stanza package, e.g. default.
        language: Stanza's code of the language.
        batch_size: sentences parsed together.
        max_words: longer sentences get the fallback.
        device: auto, cpu or cuda.
        threads: CPU threads.
    """
    if batch_size < 1 or max_words < 1 or threads < 1:
        raise InputError("batch size, max words and threads must be at least 1")
    total = _checked_lines(tokens)

    # Stanza and torch take seconds to import: not before the arguments are known to be good.
    import torch

    from pipeline_py.syntax import stanza_pipeline

    torch.set_num_threads(threads)
    pipeline = _load(
        annotation, tagger, depparse, constituency, pretrain, directory, package, language, device, batch_size
    )
    sentences = (tuple(tokens_of(line)) for line in read_lines(tokens))
    ledger = Ledger()
    with writing(output) as file:
        if annotation is Annotation.DEPENDENCY:
            parser = BatchParser(
                lambda batch: stanza_pipeline.dependency_trees(pipeline, batch),
                unparsed,
                DependencyTree((), (), (), ()),
                batch_size,
                max_words,
                ledger,
            )
            write_dependencies(file, progress(parser.trees(sentences), "parse", total))
        else:
            phrase_parser = BatchParser(
                lambda batch: stanza_pipeline.phrase_trees(pipeline, batch),
                lambda words, _: unparsed_phrase(words),
                PhraseTree(None),
                batch_size,
                max_words,
                ledger,
            )
            write_trees(file, progress(phrase_parser.trees(sentences), "parse", total))
    ledger.write(ledger_output)


def _checked_lines(tokens: Path) -> int:
    """The number of lines, all of which can be parsed and written: what is wrong shows now and not after hours."""
    number = 0
    for number, line in enumerate(read_lines(tokens), start=1):
        if "\t" in line or "\r" in line:
            raise InputError("a tab or a carriage return within the line; clean the text first", tokens, number)
    return number


def _load(
    annotation: Annotation,
    tagger: Path | None,
    depparse: Path | None,
    constituency: Path | None,
    pretrain: Path | None,
    directory: Path | None,
    package: str | None,
    language: str,
    device: str,
    batch_size: int,
) -> "Pipeline":
    from pipeline_py.syntax.stanza_pipeline import ModelFiles, from_directory, from_files, from_package

    if sum(source is not None for source in (tagger, directory, package)) != 1:
        raise InputError("give one source of models: --tagger (with a parser), --directory or --package")
    if directory is not None:
        return from_directory(directory, annotation, language, device, batch_size)
    if package is not None:
        return from_package(package, annotation, language, device, batch_size)
    wanted = depparse if annotation is Annotation.DEPENDENCY else constituency
    if tagger is None or wanted is None:
        option = "--depparse" if annotation is Annotation.DEPENDENCY else "--constituency"
        raise InputError(f"the annotation {annotation} needs a parser beside the tagger; give {option}")
    if annotation is Annotation.DEPENDENCY:
        models = ModelFiles(tagger, depparse=wanted, pretrain=pretrain)
    else:
        models = ModelFiles(tagger, constituency=wanted, pretrain=pretrain)
    return from_files(models, language, device, batch_size)


if __name__ == "__main__":
    stage.run(parse)
