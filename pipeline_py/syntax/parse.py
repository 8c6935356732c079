"""Parse tokenized text, or a shard of it, with Stanza."""

import hashlib
import re
import time
from collections.abc import Iterable, Iterator
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import NonNegativeInt, PositiveInt

from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.files.text_files import read_lines, restore_input_order
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import hash_json
from pipeline_py.run.job_record import hash_content
from pipeline_py.run.job_runner import LoadedParameter
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.stanza.model_source import LazyParserModels, ModelSource
from pipeline_py.syntax.trees.tree_formats import (
    NO_DEVICE,
    TreeKind,
    TreeMetadata,
    compute_checksums,
    select_fallback_counts,
)
from pipeline_py.syntax.words.english_words import find_english_words
from pipeline_py.syntax.words.parser_words import (
    AMBIGUOUS_TOKENS_NOTE,
    ParserSentence,
    WordDivider,
    WordSpan,
    build_parser_sentence_of_tokens,
    read_parser_sentences,
)
from pipeline_py.syntax.words.token_alignment import read_sentences
from pipeline_py.syntax.words.word_table import WordTable

if TYPE_CHECKING:
    from pipeline_py.syntax.stanza.pipeline import StanzaPipeline

RECORDED_LIBRARIES = "stanza", "torch"


def load(
    *,
    annotation: TreeKind,
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
) -> LazyParserModels:
    """Return the models of a parser, which are loaded on first use; for arguments see `parse`.

    Raises:
        InputError: The arguments name no parser for the annotation, or several.
    """
    source = ModelSource(annotation, language, tagger, depparse, constituency, pretrain, directory, package, segmenter)
    return LazyParserModels(source, device, batch_size)


def hash_inputs(
    *,
    tokens: Path,
    text: Path | None = None,
    first: int = 0,
    sentences: int | None = None,
    directory: Path | None = None,
    directory_files: list[Path] | None = None,
) -> dict[Path, str]:
    """Hash the lines of the shard in each text, and the models of a directory together with their names.

    The name of a model tells its package.
    """
    hashes = {}
    for model in directory_files or ():
        name = str(model if directory is None else model.relative_to(directory))
        hashes[model] = hash_json([name, hash_content(model)])
    for path in (tokens, text):
        if path is not None:
            digest = hashlib.sha256()
            for line in _slice_lines(read_lines(path), first, sentences):
                digest.update(line.encode() + b"\n")
            hashes[path] = digest.hexdigest()
    return hashes


def parse(
    *,
    models: Annotated[LazyParserModels | None, LoadedParameter()] = None,
    annotation: TreeKind,
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
    text; or, with `word_table`, the words of its treebank. Its trees are transferred to the tokens. An empty line gives
    an empty tree. If a sentence is too long, or Stanza fails on it, its tree is marked as failed, and the sentence is
    counted. A shard after the end of the text gives empty outputs, without loading a model.

    Args:
        models: What `load` returns for these arguments; by default it is called here.
        annotation: `dependency` (tagger and dependency parser) or `constituency` (tagger and constituency parser).
        tokens: Tokenized text, one sentence a line.
        output: CoNLL-U, or brackets with one tree a line.
        counts_output: JSON counts of sentences and of failures by reason.
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
        word_table: The table of `learn_word_table` that turns tokens into words of the treebank. With `text`, it only
            expands multi-word tokens that the tokenizer leaves whole, since their words do not spell them.
        over_words: Write dependency trees over the words that the parser reads, not over the tokens.
        language: Stanza's code of the language.
        first: Number of lines before the shard.
        sentences: Number of lines of the shard; by default all to the end.
        batch_size: Sentences of a batch.
        max_words: Longer sentences count as failed.
        device: auto, cpu or cuda.
        threads: CPU threads.

    Returns:
        False if memory was insufficient for a sentence, so that another run may give other trees.

    Raises:
        InputError: A file is invalid, or texts have different numbers of lines.
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
    total = sum(1 for _ in read_sentences(tokens, first, sentences))  # reports errors before models are loaded
    if text is not None:
        lines = sum(1 for _ in _slice_lines(read_lines(text), first, sentences))
        if lines != total:
            raise InputError(f"{lines} lines where {tokens} has {total}; tokenize the text again", text)
    table = None if word_table is None else WordTable.read(word_table)
    versions = {name: metadata.version(name) for name in RECORDED_LIBRARIES}
    counts = SentenceCounts()
    if total == 0:
        with open_atomic_text_file(output):
            pass
        counts.write_json_file(counts_output)
        TreeMetadata(0, 0.0, NO_DEVICE, versions).write(facts_output)
        return True

    # Stanza and torch take seconds to import, so that arguments are checked first.
    import torch

    from pipeline_py.syntax.stanza.pipeline import list_loaded_model_files, without_garbage_collection
    from pipeline_py.syntax.stanza.text_parser import build_text_parser

    torch.set_num_threads(threads)
    pipeline = models.pipeline
    parser = build_text_parser(
        pipeline, annotation, batch_size, max_words, counts, models.source.word_space, over_words
    )
    sentences_to_parse: Iterator[ParserSentence]
    if table is not None:
        counts.add_noted(AMBIGUOUS_TOKENS_NOTE, 0)  # report zeros, too
    if table is not None and text is None:
        sentences_to_parse = read_parser_sentences(tokens, tokens, first, sentences, table.divide_sentences, counts)
    elif text is None:
        sentences_to_parse = map(build_parser_sentence_of_tokens, read_sentences(tokens, first, sentences))
    else:
        divide = models.tokenizer if words == "stanza" else _build_english_divider(pipeline)
        if table is not None:
            divide = table.build_expanding_divider(divide)
        sentences_to_parse = read_parser_sentences(tokens, text, first, sentences, divide, counts)
    start = time.perf_counter()
    with open_atomic_text_file(output) as file, without_garbage_collection():
        trees = parser.parse_sentences(sentences_to_parse)
        file.writelines(restore_input_order(show_progress(trees, "parse", total)))
    seconds = time.perf_counter() - start
    counts.write_json_file(counts_output)
    checksums = compute_checksums(list_loaded_model_files(pipeline))
    TreeMetadata(total, seconds, str(pipeline.device), versions, checksums).write(facts_output)
    return not any(map(_is_memory_failure, select_fallback_counts(counts.noted_by_reason)))


def _slice_lines(lines: Iterable[str], start: int, line_count: int | None) -> Iterator[str]:
    return islice(lines, start, None if line_count is None else start + line_count)


def _build_english_divider(pipeline: "StanzaPipeline") -> WordDivider:
    from pipeline_py.syntax.stanza.pipeline import has_split_compounds

    hyphens = has_split_compounds(pipeline)
    return lambda texts: ([WordSpan(*span) for span in find_english_words(text, hyphens)] for text in texts)


def _is_memory_failure(reason: str) -> bool:
    """Return true if a sentence failed because of insufficient memory, so that another run may parse it."""
    return re.search("memory|alloc", reason, flags=re.IGNORECASE) is not None
