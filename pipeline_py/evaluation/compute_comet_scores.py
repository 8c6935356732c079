"""Score each sentence of an output with COMET, by unbabel-comet in its own environment."""

import json
import math
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline_py.evaluation.aligned_sentences import read_aligned_sentences
from pipeline_py.files.artifacts import write_json
from pipeline_py.run.errors import InputError


def compute_comet_scores(
    *,
    source: Path,
    hypothesis: Path,
    reference: Path,
    checkpoint: Path,
    signature: str,
    output: Path,
    python: str = "python",
    gpus: int = 0,
) -> None:
    """Score each sentence with COMET, as `comet-score` does.

    The output is JSON: the `signature`, and the `scores` of all sentences as the model gives them, mostly from 0 to 1.
    Nothing is downloaded.

    Args:
        source: The source, one sentence a line.
        hypothesis: The system's output, one sentence a line.
        reference: The reference; COMET reads only one.
        checkpoint: The model's weights; the parent of their folder has hparams.yaml.
        signature: The signature: everything that affects a score.
        output: The scores as JSON.
        python: Python of the environment that has unbabel-comet.
        gpus: Number of GPUs; 0: the CPU.

    Raises:
        InputError: if files differ in length, or COMET fails.
    """
    texts = [*zip(*read_aligned_sentences([hypothesis, source], [reference]), strict=True)]
    with TemporaryDirectory() as folder:
        names = ("hypothesis", "source", "reference", "scores.json")
        hypothesis_file, source_file, reference_file, scores_file = (Path(folder, name) for name in names)
        for path, lines in zip((hypothesis_file, source_file, reference_file), texts, strict=True):
            # COMET reads lines as Python does, which end at a carriage return as well.
            path.write_text("".join(" ".join(line.split()) + "\n" for line in lines), encoding="utf-8")
        command = [
            python,
            "-m",
            "comet.cli.score",
            "--sources",
            str(source_file),
            "--translations",
            str(hypothesis_file),
        ]
        command += [
            "--references",
            str(reference_file),
            "--model",
            str(checkpoint.resolve()),
            f"--gpus={gpus}",
            "--quiet",
        ]
        command += ["--only_system", "--to_json", str(scores_file)]
        process = subprocess.run(command, env=os.environ | {"HF_HUB_OFFLINE": "1"}, capture_output=True, text=True)
        if process.returncode or not scores_file.is_file():
            last_line = (process.stderr.strip().splitlines() or ["no error message"])[-1]
            raise InputError(f"COMET failed: {last_line}; try `{' '.join(command[:3])}` by itself", checkpoint)
        (rows,) = json.loads(scores_file.read_text(encoding="utf-8")).values()
    scores = [float(row["COMET"]) for row in rows]
    if len(scores) != len(texts[0]) or not all(map(math.isfinite, scores)):
        raise InputError("COMET did not give each sentence a score; use another model", checkpoint)
    write_json(output, {"signature": signature, "scores": scores})
