"""BLEU and RIBES of a system's output on one set, with signatures that say how they were counted."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from sacrebleu.metrics.base import Metric, Score

from pipeline_py import stage
from pipeline_py.artifact import write_json
from pipeline_py.evaluation import bleu
from pipeline_py.options import Option


def score(
    *,
    hypothesis: Path,
    reference: list[Path],
    output: Path,
    metric: Literal["bleu", "ribes"] = "bleu",
    trees: Path | None = None,
    tokenizer: bleu.Tokenizer = "13a",
    lowercase: Annotated[bool, Option("--lowercase/--cased")] = True,
) -> None:
    """Score detokenized text by BLEU with sacrebleu, or by RIBES.

    The output is the JSON object that the `sacrebleu` command prints, with the score in full precision and the number
    of `sentences` scored; of BLEU also the counts that it was computed from (`counts`, `totals`, `precisions`, `bp`,
    `sys_len`, `ref_len`), so that `sys_len` / `sentences` is the output's mean length.

    Args:
        hypothesis: the system's output, one sentence a line.
        reference: a reference translation; give the option once for each.
        output: the score as JSON, in percent.
        metric: bleu or ribes.
        trees: a parser's phrase trees of the source (PTB brackets, one a line): only sentences that were parsed are
            scored. By default all are.
        tokenizer: sacrebleu's tokenizer: 13a for de and en, zh for zh, none for tokenized references.
        lowercase: case-insensitive scores, as in the papers.

    Raises:
        InputError: if files differ in length, a reference line is empty, or no sentence is to be scored.
    """
    lines = list(bleu.read_sentences([hypothesis], reference, trees))
    outputs, *references = map(list, zip(*lines, strict=True))
    counted: dict[str, Any] = {}
    counting: Metric
    if metric == "bleu":
        counting = bleu.metric(tokenizer, lowercase)
        result = counting.corpus_score(outputs, references)
        fields = ("counts", "totals", "precisions", "bp", "sys_len", "ref_len")
        counted = {field: getattr(result, field) for field in fields}
    else:
        from pipeline_py.evaluation.ribes import RIBES

        counting = RIBES(tokenizer, lowercase)
        result = counting.corpus_score(outputs, references)
    write_json(output, {**_as_sacrebleu(counting, result), **counted, "sentences": len(lines)})


def _as_sacrebleu(metric: Metric, result: Score) -> dict[str, Any]:
    """What the `sacrebleu` command prints, with the score in full precision."""
    printed = result.format(signature=metric.get_signature().format(), is_json=True)
    return {**json.loads(printed), "score": result.score}


if __name__ == "__main__":
    stage.run(score)
