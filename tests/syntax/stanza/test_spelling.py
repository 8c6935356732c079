"""Tests of the spelling of words in Stanza's input and output."""

from types import SimpleNamespace

import pytest

from pipeline_py.syntax.stanza.pipeline import InvalidParseError, parse_dependency_trees, parse_phrase_trees

DECOMPOSED, COMPOSED = "e\u0301te\u0301", "\u00e9t\u00e9"


class Leaf(SimpleNamespace):
    """A node of Stanza's trees."""

    def is_preterminal(self) -> bool:
        return bool(self.children) and not self.children[0].children


class Recorder:
    """A fake pipeline that makes all words depend on the first and records its input."""

    def __init__(self, suffix: str = "") -> None:
        self.words: list[list[str]] = []
        self.suffix = suffix

    def __call__(self, sentences: list[list[str]]) -> SimpleNamespace:
        self.words += sentences
        return SimpleNamespace(sentences=[self.analyse(words) for words in sentences])

    def analyse(self, words: list[str]) -> SimpleNamespace:
        rows = [
            SimpleNamespace(text=word + self.suffix, head=int(place > 0), deprel="dep", upos="X")
            for place, word in enumerate(words)
        ]
        tags = [Leaf(label="X", children=[Leaf(label=row.text, children=[])]) for row in rows]
        return SimpleNamespace(words=rows, constituency=Leaf(label="S", children=tags))


@pytest.mark.parametrize("parse", [parse_dependency_trees, parse_phrase_trees])
def test_parser_reads_composed_letters_and_trees_have_the_words_of_the_text(parse) -> None:
    pipeline = Recorder()
    sentences = [(DECOMPOSED, "b"), (COMPOSED,)]
    assert [tree.words for tree in parse(pipeline, sentences)] == sentences
    assert pipeline.words == [[COMPOSED, "b"], [COMPOSED]]
    with pytest.raises(InvalidParseError, match="other words"):
        parse(Recorder("x"), sentences)
