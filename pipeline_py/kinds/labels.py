"""Labels of words in the dependency tree (Sennrich and Haddow 2016); EOS has one of its own."""

from pipeline_py.kinds.kind import Identifiers, Kind

KIND = Kind("labels", "conllu", Identifiers(1, vocabulary="vocabulary.labels.{parser}"), of_words="labels")
