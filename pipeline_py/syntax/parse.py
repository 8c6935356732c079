"""Parse tokenized text, or a shard of it, with Stanza: its tokens, or the words that the parser knows."""

import hashlib
import re
import time
from collections.abc import Iterable, Iterator
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import NonNegativeInt, PositiveInt

from pipeline_py.files.artifacts import Counts, writing
from pipeline_py.files.text import in_order, read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import hash_json
from pipeline_py.run.progress import progress
from pipeline_py.run.record import hash_content
from pipeline_py.run.runner import Loaded
from pipeline_py.syntax.stanza.model_source import LoadedModels, ModelSource
from pipeline_py.syntax.trees.formats import NO_DEVICE, Annotation, TreeFacts, checksums, fallbacks
from pipeline_py.syntax.words.english_words import english_words
from pipeline_py.syntax.words.parser_words import AMBIGUOUS, Divide, Sentence, Word, in_tokens, read_in_words
from pipeline_py.syntax.words.token_alignment import read_sentences
from pipeline_py.syntax.words.word_table import WordTable

if TYPE_CHECKING:
    from pipeline_py.syntax.stanza.pipeline import Pipeline

LIBRARIES = "stanza", "torch"


def load(
    *,
    annotation: Annotation,
    language: str = "en",
    tagger: Path | None = None,
    depparse: Path | None = None,
    constituency: Path | None = None,
    pretrain: Path | None = None,
    directory: Path | None = None,
    package: str | None = None,
    segmenter: Path | None = None,
    device: str = "auto",
    batch_size: int = 64,
) -> LoadedModels:
    """Return the models of a parser, which are loaded when they are used; arguments as of `parse`.

    Raises:
        InputError: the arguments name no parser of the annotation, or several.
    """
    source = ModelSource(annotation, language, tagger, depparse, constituency, pretrain, directory, package, segmenter)
    return LoadedModels(source, device, batch_size)


def hash_inputs(
    *,
    tokens: Path,
    text: Path | None = None,
    first: int = 0,
    sentences: int | None = None,
    directory: Path | None = None,
    directory_files: list[Path] | None = None,
) -> dict[Path, str]:
    """Hash the part of each text that a shard consists of, and the models of a directory with their names.

    The trees of a shard depend on no other part of a text. The names of models say which package they belong to.
    """
    hashes = {}
    for model in directory_files or ():
        name = str(model if directory is None else model.relative_to(directory))
        hashes[model] = hash_json([name, hash_content(model)])
    for path in (tokens, text):
        if path is not None:
            digest = hashlib.sha256()
            for line in _part(read_lines(path), first, sentences):
                digest.update(line.encode() + b"\n")
            hashes[path] = digest.hexdigest()
    return hashes


def parse(
    *,
    models: Annotated[LoadedModels | None, Loaded()] = None,
    annotation: Annotation,
    tokens: Path,
    output: Path,
    counts_output: Path,
    facts_output: Path,
    tagger: Path | None = None,
    depparse: Path | None = None,
    constituency: Path | None = None,
    pretrain: Path | None = None,
    directory: Path | None = None,
    directory_files: list[Path] | None = None,
    package: str | None = None,
    text: Path | None = None,
    words: Literal["english", "stanza"] = "english",
    segmenter: Path | None = None,
    word_table: Path | None = None,
    over_words: bool = False,
    language: str = "en",
    first: NonNegativeInt = 0,
    sentences: PositiveInt | None = None,
    batch_size: PositiveInt = 64,
    max_words: PositiveInt = 150,
    device: str = "auto",
    threads: PositiveInt = 1,
) -> bool:
    """Parse every line of a tokenized text or of a shard of it; tree k belongs to line k.

    The parser comes from model files (`tagger` with `depparse` or `constituency`), from a folder with Stanza's models,
    or from a Stanza package, which is downloaded. It reads the tokens; or, with `text`, the words of the untokenized
    text, or, with `word_table`, the words of its treebank. Its trees are transferred to the tokens. An
    empty line gives an empty tree. If a sentence is too long, or Stanza fails on it, the output has a marked fallback
    tree, which is counted. A shard after the end of the text gives empty outputs, without loading a model.

    Args:
        models: What `load` returns for these arguments; by default it is called here.
        annotation: `dependency` (tagger and dependency parser) or `constituency` (tagger and constituency parser).
        tokens: Tokenized text, one sentence a line.
        output: CoNLL-U, or brackets with one tree a line.
        counts_output: JSON counts of sentences and of fallback trees by reason.
        facts_output: Seconds, device, versions and checksums of the models, as JSON.
        tagger: Model file of the tagger.
        depparse: Model file of the dependency parser.
        constituency: Model file of the constituency parser.
        pretrain: Word vectors that the models were trained with.
        directory: Folder with Stanza's models and resources.json.
        directory_files: Files of this folder that decide the trees.
        package: Stanza package, e.g. default.
        text: The lines of `tokens` before tokenization; without it the parser reads the tokens.
        words: The words that the parser reads of `text`: those of English treebanks (hyphenated compounds stay whole if
            the tagger has no tag for hyphens), or those of the tokenizer in the folder or package, or of `segmenter`.
        segmenter: The tokenizer that `learn_segmenter` has trained with `words` on the treebank of the model files.
        word_table: The table of `learn_words` that turns tokens into words of the treebank. With `text`, it only
            expands multi-word tokens that the tokenizer leaves whole, since their words do not spell them.
        over_words: Write dependency trees over the words that the parser reads, not over the tokens.
        language: Stanza's code of the language.
        first: Number of lines before the shard.
        sentences: Number of lines of the shard; by default all to the end.
        batch_size: Sentences of a batch.
        max_words: Longer sentences get the fallback tree.
        device: auto, cpu or cuda.
        threads: CPU threads.

    Returns:
        False if memory did not suffice for a sentence, so that another run may give other trees.

    Raises:
        InputError: a file is not what it should be, or texts have different numbers of lines.
    """
    models = models or load(
        annotation=annotation,
        language=language,
        tagger=tagger,
        depparse=depparse,
        constituency=constituency,
        pretrain=pretrain,
        directory=directory,
        package=package,
        segmenter=segmenter,
        device=device,
        batch_size=batch_size,
    )
    total = sum(1 for _ in read_sentences(tokens, first, sentences))  # what is wrong with one shows now
    if text is not None:
        lines = sum(1 for _ in _part(read_lines(text), first, sentences))
        if lines != total:
            raise InputError(f"{lines} lines where {tokens} has {total}; tokenize the text again", text)
    table = None if word_table is None else WordTable.read(word_table)
    versions = {name: metadata.version(name) for name in LIBRARIES}
    counts = Counts()
    if total == 0:
        with writing(output):
            pass
        counts.write(counts_output)
        TreeFacts(0, 0.0, NO_DEVICE, versions).write(facts_output)
        return True

    # Stanza and torch take seconds to import: not before the arguments are known to be good.
    import torch

    from pipeline_py.syntax.stanza.pipeline import model_files, models_left_alone
    from pipeline_py.syntax.stanza.text_parser import text_parser

    torch.set_num_threads(threads)
    pipeline = models.pipeline
    parser = text_parser(pipeline, annotation, batch_size, max_words, counts, models.source.word_space, over_words)
    to_parse: Iterator[Sentence]
    if table is not None:
        counts.note(AMBIGUOUS, 0)  # zero is worth knowing
    if table is not None and text is None:
        to_parse = read_in_words(tokens, tokens, first, sentences, table.divide, counts)
    elif text is None:
        to_parse = map(in_tokens, read_sentences(tokens, first, sentences))
    else:
        divide = models.tokenizer if words == "stanza" else _english(pipeline)
        if table is not None:
            divide = table.expand_after(divide)
        to_parse = read_in_words(tokens, text, first, sentences, divide, counts)
    start = time.perf_counter()
    with writing(output) as file, models_left_alone():
        parsed = parser.parsed(to_parse)
        file.writelines(in_order(progress(parsed, "parse", total)))
    seconds = time.perf_counter() - start
    counts.write(counts_output)
    TreeFacts(total, seconds, str(pipeline.device), versions, checksums(model_files(pipeline))).write(facts_output)
    return not any(map(_lacked_memory, fallbacks(counts.noted)))


def _part(lines: Iterable[str], first: int, sentences: int | None) -> Iterator[str]:
    return islice(lines, first, None if sentences is None else first + sentences)


def _english(pipeline: "Pipeline") -> Divide:
    from pipeline_py.syntax.stanza.pipeline import splits_compounds

    hyphens = splits_compounds(pipeline)
    return lambda texts: ([Word(*span) for span in english_words(text, hyphens)] for text in texts)


def _lacked_memory(reason: str) -> bool:
    """Whether a sentence failed where another run may parse it: the device was full, perhaps of others' tensors."""
    return re.search("memory|alloc", reason, flags=re.IGNORECASE) is not None
