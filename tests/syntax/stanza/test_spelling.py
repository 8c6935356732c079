"""Words reach Stanza composed, and trees have the words of the text."""

from types import SimpleNamespace

import pytest

from pipeline_py.syntax.stanza.pipeline import InvalidParseError, parse_dependency_trees, parse_phrase_trees

DECOMPOSED, COMPOSED = "e\u0301te\u0301", "\u00e9t\u00e9"


class Leaf(SimpleNamespace):
    """A node of Stanza's trees."""

    def is_preterminal(self) -> bool:
        return bool(self.children) and not self.children[0].children


class Recorder:
    """A pipeline that hangs every word on the first, and remembers what it has read."""

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
def test_a_parser_reads_composed_letters_and_its_trees_have_those_of_the_text(parse) -> None:
    pipeline = Recorder()
    sentences = [(DECOMPOSED, "b"), (COMPOSED,)]
    assert [tree.words for tree in parse(pipeline, sentences)] == sentences
    assert pipeline.words == [[COMPOSED, "b"], [COMPOSED]]
    with pytest.raises(InvalidParseError, match="other words"):
        parse(Recorder("x"), sentences)
