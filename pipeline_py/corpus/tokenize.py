"""Split sentences into tokens: with Moses, with jieba or Stanza for Chinese, or not at all if text is tokenized."""

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pipeline_py.corpus.characters import has_spaces, is_latin, is_visible, without_invisible
from pipeline_py.corpus.moses import moses_tokenizer
from pipeline_py.files.artifacts import writing
from pipeline_py.files.languages import UNSPACED, base_language
from pipeline_py.files.text import read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.run.runner import Loaded

Segment = Callable[[Iterable[str]], Iterator[list[str]]]
"""Sentences, each with single spaces and perhaps empty, to the tokens of each, in order."""

SENTENCES_AT_ONCE = 500
"""What Stanza sees in one call."""


def tokenize(
    *,
    input: Path,
    output: Path,
    language: str,
    tokenizer: Literal["moses", "jieba", "stanza", "none"] = "moses",
    lowercase: bool = False,
    stanza_directory: Path | None = None,
    stanza_models: list[Path] | None = None,
    segmenter: Path | None = None,
    stanza_package: str | None = None,
    segment: Annotated[Segment | None, Loaded()] = None,
) -> None:
    """Write one line of tokens, separated by single spaces, for each line of text.

    No token contains whitespace of any kind (U+00A0 and U+3000 separate tokens), so that splitting a line at single
    spaces gives its tokens. Before tokenization, invisible characters are removed, and a zero-width space becomes a
    space; a ZWJ, ZWNJ or variation selector that the tokenizer splits off is dropped. `none` only merges whitespace,
    and keeps all other characters. Moses does not escape XML characters here, and hyphenated words stay whole. With a
    segmenter of a language without spaces, adjacent ASCII letters and digits stay one word, whatever the treebank does.
    Lower-casing comes last.

    Args:
        input: One sentence a line, plain or compressed.
        output: Tokens.
        language: ISO 639 code, which selects Moses' abbreviations and Stanza's model.
        tokenizer: `moses`, `jieba` (Chinese), `stanza`, or `none`.
        lowercase: Lower-case the tokens.
        stanza_directory: For `stanza`: a folder with Stanza's models.
        stanza_models: Files of this folder that decide the tokens.
        segmenter: For `stanza`, instead of a folder: the model that `learn_segmenter` has trained.
        stanza_package: For `stanza`, instead of either: a package whose tokenizer is downloaded (`default`).
        segment: What `load` has returned for these arguments; by default it is called here.

    Raises:
        InputError: the input is not UTF-8; the tokenizer is not made for the language; Stanza's model is missing.
    """
    segment = segment or load(tokenizer, language, stanza_directory, segmenter, stanza_package)
    with writing(output) as file:
        for tokens in segment(progress(map(_squeezed, read_lines(input)), f"tokenize {input.name}")):
            line = " ".join(tokens)
            file.write((line.lower() if lowercase else line) + "\n")


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def load(
    tokenizer: str,
    language: str,
    stanza_directory: Path | None = None,
    segmenter: Path | None = None,
    stanza_package: str | None = None,
) -> Segment:
    """Load a tokenizer; arguments as of `tokenize`."""
    spoken = base_language(language)
    if tokenizer == "none":
        return lambda sentences: (sentence.split() for sentence in sentences)
    if tokenizer == "moses":
        if spoken in UNSPACED:
            remedy = "jieba, stanza or none" if spoken == "zh" else "stanza or none"
            raise InputError(f"moses does not separate the words of {language}; use {remedy}")
        return _visible(_moses(spoken))
    if tokenizer == "jieba":
        if spoken != "zh":
            raise InputError(f"jieba separates the words of Chinese (zh), not of {language}; use stanza or none")
        return _visible(_jieba())
    if segmenter is not None:
        return _visible(_with(load_segmenter(segmenter, language), _texts if has_spaces(language) else _unbroken))
    return _visible(_with(_stanza(language, stanza_directory, stanza_package), _texts))


def _visible(segment: Segment) -> Segment:
    """Hide invisible characters from `segment`, and whitespace and invisible tokens from whoever calls it."""

    def visible(sentences: Iterable[str]) -> Iterator[list[str]]:
        for tokens in segment(_squeezed(without_invisible(sentence)) for sentence in sentences):
            yield [part for token in tokens for part in token.split() if is_visible(part)]

    return visible


def _moses(language: str) -> Segment:
    split = moses_tokenizer(language)
    return lambda sentences: map(split, sentences)


def _jieba() -> Segment:
    import jieba

    words = jieba.Tokenizer()
    # As its `initialize` does, but never from a cache: that lies where everybody may write.
    words.FREQ, words.total = words.gen_pfdict(words.get_dict_file())
    words.initialized = True
    return lambda sentences: (words.lcut(sentence) for sentence in sentences)


def _stanza(language: str, directory: Path | None, package: str | None) -> Any:
    if directory is None and package is None:
        raise InputError(
            f"no model for Stanza's tokenizer of {language}; give `stanza_directory` or, to download one, "
            "`stanza_package: default`"
        )
    options = {"package": package} if directory is None else {"dir": str(directory), "download_method": None}
    try:
        return _pipeline(language, **options)
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        if directory is None:
            raise InputError(
                f"Stanza cannot download its tokenizer of {language} (package {package}); correct `stanza_package`, "
                "name a `stanza_directory` that stanza.download filled, or use another tokenizer"
            ) from None
        reason = str(error).strip().split("\n")[0]
        raise InputError(
            f"Stanza has no tokenizer of {language} here ({reason}); "
            "name a directory that stanza.download filled, or use another tokenizer",
            directory,
        ) from None


def load_segmenter(model: Path, language: str) -> Any:
    """Load a model of `learn_segmenter` as a Stanza pipeline, without a network.

    Raises:
        InputError: the file is not such a model.
    """
    if not model.is_file():
        raise InputError("no such model; make it with learn_segmenter", model)
    with tempfile.TemporaryDirectory() as nothing_to_download:
        (Path(nothing_to_download) / "resources.json").write_text("{}", encoding="utf-8")
        options = {"dir": nothing_to_download, "download_method": None, "allow_unknown_language": True}
        try:
            return _pipeline(language, tokenize_model_path=str(model), **options)
        except (OSError, KeyError, ValueError, RuntimeError, pickle.UnpicklingError):
            raise InputError("not a model of learn_segmenter; make it again", model) from None


def _pipeline(language: str, **options: Any) -> Any:
    import stanza

    return stanza.Pipeline(
        language,
        processors="tokenize",
        tokenize_no_ssplit=True,
        use_gpu=False,
        verbose=False,
        **options,
    )


def _with(pipeline: Any, words: Callable[[list[Any]], list[str]]) -> Segment:
    """Segment with Stanza; `words` makes words of the tokens of a sentence."""

    def segment(sentences: Iterable[str]) -> Iterator[list[str]]:
        remaining = iter(sentences)
        while batch := list(islice(remaining, SENTENCES_AT_ONCE)):
            documents = iter(pipeline.bulk_process([sentence for sentence in batch if sentence]))
            for sentence in batch:
                parts = next(documents).sentences if sentence else []
                yield words([token for part in parts for token in part.tokens])

    return segment


def _texts(tokens: list[Any]) -> list[str]:
    return [token.text for token in tokens]


def _unbroken(tokens: list[Any]) -> list[str]:
    """The texts of tokens, with letters and digits that touch in one: `max` and `_size` are `max_size`."""
    words: list[str] = []
    end = None
    for token in tokens:
        if token.start_char == end and is_latin(words[-1][-1]) and is_latin(token.text[0]):
            words[-1] += token.text
        else:
            words.append(token.text)
        end = token.end_char
    return words
