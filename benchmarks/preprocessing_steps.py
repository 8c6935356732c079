"""The stages between text and training, with the command lines that the rules of the workflow give them."""

from pathlib import Path
from typing import NamedTuple


class Step(NamedTuple):
    """A stage and its command line.

    Attributes:
        name: what tables call it.
        module: what is run.
        arguments: options and their values; files are paths, and everything else strings.
    """

    name: str
    module: str
    arguments: tuple[str | Path, ...]

    @property
    def files(self) -> set[Path]:
        """Files that it reads or writes."""
        return {argument for argument in self.arguments if isinstance(argument, Path)}

    @property
    def outputs(self) -> list[Path]:
        """Files that it writes."""
        pairs = zip(self.arguments, self.arguments[1:], strict=False)
        return [value for option, value in pairs if isinstance(value, Path) and str(option).endswith("output")]


def steps(folder: Path, merges: int, seed: int) -> list[Step]:
    """Return the stages in an order in which they can run.

    Args:
        folder: where files lie, among them `raw.source` and `raw.target`.
        merges: byte pairs to merge.
        seed: of the trees.
    """
    return [*_corpus(folder), *_syntax(folder, seed), *_subword(folder, merges)]


def _step(name: str, folder: Path, *options: str, **files: str) -> Step:
    """Make a step of `package.stage`; `tokens="x"` becomes the option `--tokens` and the file x in the folder."""
    named = [part for option, file in files.items() for part in (f"--{option.replace('_', '-')}", folder / file)]
    return Step(name.partition(".")[2], f"pipeline_py.{name.split()[0]}", (*options, *named))


def _corpus(folder: Path) -> list[Step]:
    limits = ("--min-length", "1", "--max-length", "80", "--max-ratio", "9.0")
    cleaned = {"source_output": "clean.source", "target_output": "clean.target", "lines_output": "clean.lines"}
    moses, apart = ("--language", "en", "--tokenizer", "moses"), ("--language", "de", "--tokenizer", "none")
    truecaser, truecased = "truecaser.source", "truecased.source"
    return [
        _step(
            "corpus.clean", folder, "--mode", "train", *limits,
            source_input="raw.source", target_input="raw.target", **cleaned, counts_output="clean.json",
        ),
        _step("corpus.tokenize (moses)", folder, *moses, input="clean.source", output="tokenized.source"),
        _step("corpus.tokenize (none)", folder, *apart, input="clean.target", output="tokenized.target"),
        _step("corpus.learn_truecaser", folder, input="tokenized.source", output=truecaser),
        _step("corpus.truecase", folder, input="tokenized.source", model=truecaser, output=truecased),
        _step(
            "corpus.generalise", folder, "--min-count", "3",
            input=truecased, train=truecased, output="generalised.source", counts_output="generalised.json",
        ),
    ]  # fmt: skip


def _syntax(folder: Path, seed: int) -> list[Step]:
    tokens = {"tokens": "truecased.source"}
    made = [
        _step(
            f"syntax.control_trees ({annotation})", folder,
            "--annotation", annotation, "--shape", "random", "--seed", str(seed), **tokens,
            output=f"trees.{kind}", counts_output=f"trees.{kind}.json", facts_output=f"trees.{kind}.facts.json",
        )
        for annotation, kind in (("dependency", "conllu"), ("constituency", "ptb"))
    ]  # fmt: skip
    dependencies = {"trees": "trees.conllu", **tokens}
    return [
        *made,
        _step(
            "syntax.binarize", folder, "--branching", "right", trees="trees.ptb", **tokens,
            output="binary.ptb", counts_output="binary.json",
        ),
        _step(
            "syntax.distances", folder, **dependencies, output="distances.arrow", counts_output="distances.json"
        ),
        _step("syntax.units", folder, **dependencies, output="units.arrow", counts_output="units.json"),
        _step("syntax.labels", folder, **dependencies, output="labels", counts_output="labels.json"),
    ]  # fmt: skip


def _subword(folder: Path, merges: int) -> list[Step]:
    learned, pieces = ("--merges", str(merges), "--min-frequency", "2"), {"pieces": "pieces.source"}
    inherited = {"distances": "distances.arrow", "trees": "binary.ptb", "labels": "labels", "units": "units.arrow"}
    counted = {"source": "pieces.source", "target": "pieces.target", "units": "truecased.source", "labels": "labels"}
    texts = {"generalised.source": "source", "tokenized.target": "target"}
    packed = {"source": "pieces.source", "target": "pieces.target", "labels": "inherited.labels"}
    tokens = {"tokens": "truecased.source"}

    def written(what: str) -> dict[str, str]:
        return {"output": f"packed.{what}.arrow", "counts_output": f"packed.{what}.json"}

    return [
        Step(
            "learn_bpe",
            "pipeline_py.subword.learn_bpe",
            (*learned, *(part for text in texts for part in ("--input", folder / text)), "--output", folder / "codes"),
        ),
        *(
            _step(f"subword.apply_bpe ({side})", folder, input=text, codes="codes", output=f"pieces.{side}")
            for text, side in texts.items()
        ),
        *(
            _step(f"subword.vocabulary ({what})", folder, "--max-size", "0", "--min-count", "1",
                  input=file, output=f"vocabulary.{what}")
            for what, file in counted.items()
        ),
        *(
            _step(f"subword.inherit ({kind})", folder, "--kind", kind, input=file, **pieces, output=f"inherited.{file}")
            for kind, file in inherited.items()
        ),
        *(
            _step(f"subword.pack ({what})", folder, input=file, vocabulary=f"vocabulary.{what}", **written(what))
            for what, file in packed.items()
        ),
        _step("subword.pack_units", folder, units="inherited.units.arrow", **tokens, vocabulary="vocabulary.units",
              **written("units")),
        _step("subword.pack_trees", folder, trees="inherited.binary.ptb", **pieces, **written("trees")),
        _step("subword.pack_trees (lexical)", folder, "--lexical", **pieces, **written("lexical_trees")),
        _step("subword.pack_heads", folder, trees="trees.conllu", **tokens, **pieces, **written("heads")),
    ]  # fmt: skip
