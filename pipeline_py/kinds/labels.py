"""Dependency labels of words (Sennrich and Haddow 2016); EOS has a separate label."""

from pipeline_py.kinds.syntax_kind import SyntaxKind, VocabularyIds

SYNTAX_KIND = SyntaxKind(
    "labels", "conllu", VocabularyIds(1, vocabulary_file="vocabulary.labels.{parser}"), word_file_suffix="labels"
)
