"""The stages between text and training, with the arguments that the rules of the workflow give them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_py.run.job import is_output, list_files


class Step(NamedTuple):
    """A call of a stage.

    Attributes:
        name: what tables call it.
        stage: "subword.pack".
        arguments: by parameter of the stage; files are paths, and everything else JSON values.
    """

    name: str
    stage: str
    arguments: Mapping[str, Any]

    @property
    def files(self) -> set[Path]:
        """Files that it reads or writes."""
        return {*list_files(dict(self.arguments))}

    @property
    def outputs(self) -> list[Path]:
        """Files that it writes."""
        return [*list_files({name: value for name, value in self.arguments.items() if is_output(name)})]

    def job(self, folder: Path) -> dict[str, Any]:
        """Return the job for `python -m pipeline_py.run`, which writes its results to a folder."""
        return {
            "stage": self.stage,
            "arguments": self.arguments,
            "calls": [{}],
            "results": folder,
            "process": "",
        }


def steps(folder: Path, merges: int, seed: int) -> list[Step]:
    """Return the stages in an order in which they can run.

    Args:
        folder: where files lie, among them `raw.source` and `raw.target`.
        merges: byte pairs to merge.
        seed: of the trees.
    """
    return [*_corpus(folder), *_syntax(folder, seed), *_subword(folder, merges)]


def _step(name: str, folder: Path, settings: Mapping[str, Any] | None = None, /, **files: str | list[str]) -> Step:
    """Make a step of `package.stage`; `tokens="x"` becomes the argument `tokens`, the file x in the folder."""
    paths = {
        parameter: folder / file if isinstance(file, str) else [folder / path for path in file]
        for parameter, file in files.items()
    }
    return Step(name.partition(".")[2], name.split()[0], {**(settings or {}), **paths})


def _corpus(folder: Path) -> list[Step]:
    limits = {"min_length": 1, "max_length": 80, "max_ratio": 9.0}
    cleaned = {"source_output": "clean.source", "lines_output": "clean.lines", "counts_output": "clean.json"}
    moses, apart = {"language": "en", "tokenizer": "moses"}, {"language": "de", "tokenizer": "none"}
    truecaser, truecased = "truecaser.source", "truecased.source"
    return [
        _step(
            "corpus.clean", folder, {"mode": "train", **limits},
            source_input="raw.source", target_input=["raw.target"], target_output=["clean.target"], **cleaned,
        ),
        _step("corpus.tokenize (moses)", folder, moses, input="clean.source", output="tokenized.source"),
        _step("corpus.tokenize (none)", folder, apart, input="clean.target", output="tokenized.target"),
        _step("corpus.learn_truecaser", folder, input="tokenized.source", output=truecaser),
        _step("corpus.truecase", folder, input="tokenized.source", model=truecaser, output=truecased),
        _step(
            "corpus.generalise", folder, {"min_count": 3},
            input=truecased, train=truecased, output="generalised.source", counts_output="generalised.json",
        ),
    ]  # fmt: skip


def _syntax(folder: Path, seed: int) -> list[Step]:
    tokens = {"tokens": "truecased.source"}
    made = [
        _step(
            f"syntax.control_trees ({annotation})", folder,
            {"annotation": annotation, "shape": "random", "seed": seed}, **tokens,
            output=f"trees.{kind}", counts_output=f"trees.{kind}.json", facts_output=f"trees.{kind}.facts.json",
        )
        for annotation, kind in (("dependency", "conllu"), ("constituency", "ptb"))
    ]  # fmt: skip
    dependencies = {"trees": "trees.conllu", **tokens}
    return [
        *made,
        _step(
            "syntax.binarize", folder, {"branching": "right"}, trees="trees.ptb", **tokens,
            output="binary.ptb", counts_output="binary.json",
        ),
        _step(
            "syntax.distances", folder, **dependencies, output="distances.arrow", counts_output="distances.json"
        ),
        _step("syntax.units", folder, **dependencies, output="units.arrow", counts_output="units.json"),
        _step("syntax.labels", folder, **dependencies, output="labels", counts_output="labels.json"),
    ]  # fmt: skip


def _subword(folder: Path, merges: int) -> list[Step]:
    pieces, tokens = {"pieces": "pieces.source"}, {"tokens": "truecased.source"}
    inherited = {"distances": "distances.arrow", "trees": "binary.ptb", "labels": "labels", "units": "units.arrow"}
    counted = {"source": "pieces.source", "target": "pieces.target", "units": "truecased.source", "labels": "labels"}
    texts = {"generalised.source": "source", "tokenized.target": "target"}
    packed = {"source": "pieces.source", "target": "pieces.target", "labels": "inherited.labels"}

    def written(what: str) -> dict[str, str]:
        return {"output": f"packed.{what}.arrow", "counts_output": f"packed.{what}.json"}

    return [
        _step("subword.learn_bpe", folder, {"merges": merges, "min_frequency": 2}, input=[*texts], output="codes"),
        *(
            _step(f"subword.apply_bpe ({side})", folder, input=text, codes="codes", output=f"pieces.{side}")
            for text, side in texts.items()
        ),
        *(
            _step(f"subword.vocabulary ({what})", folder, {"max_size": 0, "min_count": 1},
                  input=[file], output=f"vocabulary.{what}")
            for what, file in counted.items()
        ),
        *(
            _step(f"subword.inherit ({kind})", folder, {"kind": kind}, input=file, **pieces, output=f"inherited.{file}")
            for kind, file in inherited.items()
        ),
        *(
            _step(f"subword.pack ({what})", folder, input=file, vocabulary=f"vocabulary.{what}", **written(what))
            for what, file in packed.items()
        ),
        _step("subword.pack_units", folder, units="inherited.units.arrow", **tokens, vocabulary="vocabulary.units",
              **written("units")),
        _step("subword.pack_trees", folder, trees="inherited.binary.ptb", **pieces, **written("trees")),
        _step("subword.pack_trees (lexical)", folder, **pieces, **written("lexical_trees")),
        _step("subword.pack_heads", folder, trees="trees.conllu", **tokens, **pieces, **written("heads")),
    ]  # fmt: skip
