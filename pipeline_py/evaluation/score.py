"""BLEU of a system's output on one set, with the signature that says how it was counted."""

import json
from pathlib import Path
from typing import Annotated

from typer import Option

from pipeline_py import stage
from pipeline_py.artifact import write_json
from pipeline_py.evaluation import bleu


def score(
    *,
    hypothesis: Path,
    reference: list[Path],
    output: Path,
    tokenizer: bleu.Tokenizer = "13a",
    lowercase: Annotated[bool, Option("--lowercase/--cased")] = True,
) -> None:
    """Score detokenized text with sacrebleu.

    The output is the JSON object that the `sacrebleu` command prints, with the score in full precision and with
    the counts that it was computed from (`counts`, `totals`, `precisions`, `bp`, `sys_len`, `ref_len`).

    Args:
        hypothesis: the system's output, one sentence a line.
        reference: a reference translation; give the option once for each.
        output: the score as JSON.
        tokenizer: sacrebleu's tokenizer: 13a for de and en, zh for zh, none for tokenized references.
        lowercase: case-insensitive BLEU, as in the papers.

    Raises:
        InputError: if files differ in length, or a reference line is empty.
    """
    metric = bleu.metric(tokenizer, lowercase)
    sentences = list(bleu.read_sentences([hypothesis], reference))
    outputs, *references = map(list, zip(*sentences, strict=True))
    result = metric.corpus_score(outputs, references)
    signature = metric.get_signature().format()
    write_json(
        output,
        {
            **json.loads(result.format(signature=signature, is_json=True)),
            "score": result.score,
            "counts": result.counts,
            "totals": result.totals,
            "precisions": result.precisions,
            "bp": result.bp,
            "sys_len": result.sys_len,
            "ref_len": result.ref_len,
        },
    )


if __name__ == "__main__":
    stage.run(score)
