"""Parse tokenized text, or a shard of it, with Stanza: its tokens, or the words that the parser knows."""

import hashlib
import re
import time
from collections.abc import Iterator
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pipeline_py import stage
from pipeline_py.artifact import Counts, writing
from pipeline_py.input_error import InputError
from pipeline_py.order import in_order
from pipeline_py.output_cache import OutputCache, identity
from pipeline_py.progress import progress
from pipeline_py.syntax.stanza.model_source import ModelSource
from pipeline_py.syntax.trees.formats import Annotation, fallbacks
from pipeline_py.syntax.trees.tree_facts import NO_DEVICE, TreeFacts, checksums
from pipeline_py.syntax.words.english_words import english_words
from pipeline_py.syntax.words.parser_words import AMBIGUOUS, Divide, Sentence, Word, in_tokens, read_in_words
from pipeline_py.syntax.words.tokenized_text import read_sentences
from pipeline_py.syntax.words.word_table import WordTable
from pipeline_py.text import read_lines

if TYPE_CHECKING:
    from pipeline_py.syntax.stanza.pipeline import Pipeline

LIBRARIES = "stanza", "torch"


def parse(
    *,
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
    package: str | None = None,
    text: Path | None = None,
    words: Literal["english", "stanza"] = "english",
    segmenter: Path | None = None,
    word_table: Path | None = None,
    over_words: bool = False,
    language: str = "en",
    first: int = 0,
    sentences: int | None = None,
    batch_size: int = 64,
    max_words: int = 150,
    device: str = "auto",
    threads: int = 1,
    code: str = "",
    cache: Path | None = None,
) -> None:
    """Parse every line of a tokenized text or of a shard of it; tree k belongs to line k.

    The parser comes from model files (`--tagger` with `--depparse` or `--constituency`), from a folder with Stanza's
    models, or from a Stanza package, which is downloaded. It reads the tokens; or, with --text, the words of the
    untokenized text, or, with --word-table, the words of its treebank. Its trees are transferred to the tokens. An
    empty line gives an empty tree. If a sentence is too long, or Stanza fails on it, the output has a marked fallback
    tree, which is counted. A shard after the end of the text gives empty outputs, without loading a model.

    Args:
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
        package: Stanza package, e.g. default.
        text: The lines of --tokens before tokenization; without it the parser reads the tokens.
        words: The words that the parser reads of --text: those of English treebanks (hyphenated compounds stay whole if
            the tagger has no tag for hyphens), or those of the tokenizer in the folder or package, or of --segmenter.
        segmenter: The tokenizer that `learn_segmenter --words` has trained on the treebank of the model files.
        word_table: The table of `learn_words` that turns tokens into words of the treebank. With --text, it only
            expands multi-word tokens that the tokenizer leaves whole, since their words do not spell them.
        over_words: Write dependency trees over the words that the parser reads, not over the tokens.
        language: Stanza's code of the language.
        first: Number of lines before the shard.
        sentences: Number of lines of the shard; by default all to the end.
        batch_size: Sentences of a batch.
        max_words: Longer sentences get the fallback tree.
        device: auto, cpu or cuda.
        threads: CPU threads.
        code: Any text that identifies the version of the code; outputs of another version are not reused.
        cache: Folder for the outputs of the last run, which are reused if models, settings, code and the tokens of the
            shard are the same. Not used with a package, whose files are known only after the download; and nothing is
            cached if memory did not suffice for a sentence.
    """
    if batch_size < 1 or max_words < 1 or threads < 1:
        raise InputError("batch size, max words and threads must be at least 1")
    if first < 0 or (sentences is not None and sentences < 1):
        raise InputError("first must be at least 0, sentences at least 1")
    if segmenter is not None and (text is None or words != "stanza"):
        raise InputError("--segmenter goes with --text and --words=stanza; give them, or leave it out")
    if text is not None and word_table is not None and segmenter is None:
        raise InputError("give either --text or --word-table; both go with --segmenter")
    if over_words and annotation is not Annotation.DEPENDENCY:
        raise InputError("--over-words is for dependency trees")
    source = ModelSource(annotation, language, tagger, depparse, constituency, pretrain, directory, package, segmenter)
    total, content = _content(" ".join(tokens) for tokens in read_sentences(tokens, first, sentences))
    settings = [content, annotation, language, str(batch_size), str(max_words), device, code]
    if text is not None:
        lines, content = _content(islice(read_lines(text), first, None if sentences is None else first + sentences))
        if lines != total:
            raise InputError(f"{lines} lines where {tokens} has {total}; tokenize the text again", text)
        settings += [words, content]
    table = None if word_table is None else WordTable.read(word_table)
    if word_table is not None:
        settings += ["words of a table", _content(read_lines(word_table))[1]]
    if over_words:
        settings.append("over words")
    versions = {name: metadata.version(name) for name in LIBRARIES}
    counts = Counts()
    if total == 0:
        with writing(output):
            pass
        counts.write(counts_output)
        TreeFacts(0, 0.0, NO_DEVICE, versions).write(facts_output)
        return
    with_tokenizer = text is not None and words == "stanza"
    last_run = _last_run(cache, source, [*settings, *versions.values()], with_tokenizer)
    if last_run.restore(output, counts_output, facts_output):
        return

    # Stanza and torch take seconds to import: not before the arguments are known to be good.
    import torch

    from pipeline_py.syntax.stanza.pipeline import model_files, models_left_alone
    from pipeline_py.syntax.stanza.text_parser import text_parser

    torch.set_num_threads(threads)
    pipeline = source.load(device, batch_size)
    parser = text_parser(pipeline, annotation, batch_size, max_words, counts, source.word_space, over_words)
    to_parse: Iterator[Sentence]
    if table is not None:
        counts.note(AMBIGUOUS, 0)  # zero is worth knowing
    if table is not None and text is None:
        to_parse = read_in_words(tokens, tokens, first, sentences, table.divide, counts)
    elif text is None:
        to_parse = map(in_tokens, read_sentences(tokens, first, sentences))
    else:
        divide = source.tokenizer() if words == "stanza" else _english(pipeline)
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
    if not any(map(_lacked_memory, fallbacks(counts.noted))):
        last_run.store(output, counts_output, facts_output)


def _content(lines: Iterator[str]) -> tuple[int, str]:
    """Number and SHA-256 of lines, all of which are read: what is wrong with one shows now, not after hours."""
    digest = hashlib.sha256()
    number = 0
    for line in lines:
        number += 1
        digest.update(line.encode() + b"\n")
    return number, digest.hexdigest()


def _english(pipeline: "Pipeline") -> Divide:
    from pipeline_py.syntax.stanza.pipeline import splits_compounds

    hyphens = splits_compounds(pipeline)
    return lambda texts: ([Word(*span) for span in english_words(text, hyphens)] for text in texts)


def _last_run(cache: Path | None, source: ModelSource, settings: list[str], with_tokenizer: bool) -> OutputCache:
    files = None if cache is None else source.files(with_tokenizer)
    if files is None:
        return OutputCache(None, "")
    # The names of files in a directory say which of its packages they are.
    names = [] if source.directory is None else [str(path.relative_to(source.directory)) for path in files]
    return OutputCache(cache, identity(files, *settings, *names))


def _lacked_memory(reason: str) -> bool:
    """Whether a sentence failed where another run may parse it: the device was full, perhaps of others' tensors."""
    return re.search("memory|alloc", reason, flags=re.IGNORECASE) is not None


if __name__ == "__main__":
    stage.run(parse)
