"""Sentences that two systems translate with the most different success: examples to be looked at."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from sacrebleu.metrics.chrf import CHRF

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.evaluation import bleu
from pipeline_py.evaluation.named_files import named_files
from pipeline_py.options import Option
from pipeline_py.progress import progress
from pipeline_py.stage import InputError

COLUMNS = (
    "system",
    "other",
    "sentence",
    "source",
    "reference",
    "translation_system",
    "translation_other",
    "score_system",
    "score_other",
)


class Sentence(NamedTuple):
    """A sentence of the set, counted from 1; translations and their scores are in the order of systems."""

    number: int
    source: str
    reference: str
    translations: Sequence[str]
    scores: Sequence[float]


def examples(
    *,
    system: list[str],
    reference: list[Path],
    source: Path,
    output: Path,
    most: Annotated[int, Option(min=1)] = 5,
    lowercase: Annotated[bool, Option("--lowercase/--cased")] = True,
) -> None:
    """Choose the sentences that each system translates much better, or much worse, than the first one does.

    What is compared is sacrebleu's chrF of the sentence, in percent: BLEU says little of a single sentence, which often
    has no sequence of four words in common with its reference. The output has, for each system beside the first, up to
    `most` sentences that it is better at, the greatest difference first, and then up to `most` that it is worse at,
    the smallest difference first, so that differences fall from top to bottom. Of equal differences the earlier
    sentence comes first. Cells are not quoted; a tab within a sentence is written as a space.

    Args:
        system: NAME=FILE, detokenized output; give the option once for each system. `other` is the first one.
        reference: a reference translation; give the option once for each. All are compared with, the first is shown.
        source: the source as people read it.
        output: the sentences as TSV, by system.
        most: how many sentences in either direction.
        lowercase: whether case is ignored.

    Raises:
        InputError: if there is no system, files differ in length, or a reference line is empty.
    """
    outputs = named_files(system, "--system")
    if not outputs:
        raise InputError("no system to look at; give --system NAME=FILE")
    sentences = _read(source, list(outputs.values()), reference, CHRF(lowercase=lowercase))
    other, *systems = outputs
    with writing(output) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
        table.writerow(COLUMNS)
        for place, name in enumerate(systems, start=1):
            for chosen in most_different(sentences, place, most):
                texts = chosen.source, chosen.reference, chosen.translations[place], chosen.translations[0]
                cells = (text.replace("\t", " ").replace("\r", " ") for text in texts)
                table.writerow((name, other, chosen.number, *cells, chosen.scores[place], chosen.scores[0]))


def most_different(sentences: Sequence[Sentence], place: int, most: int) -> list[Sentence]:
    """Choose the sentences whose scores of the system at `place` and of the first one differ most.

    Returns:
        Up to `most` sentences of either sign, the system's greatest advantage first.
    """

    def advantage(sentence: Sentence) -> float:
        return sentence.scores[place] - sentence.scores[0]

    # Sorting is stable: of equal ones the earlier stays first.
    better = sorted((one for one in sentences if advantage(one) > 0), key=advantage, reverse=True)
    worse = sorted((one for one in sentences if advantage(one) < 0), key=advantage)
    return [*better[:most], *sorted(worse[:most], key=advantage, reverse=True)]


def _read(source: Path, outputs: Sequence[Path], references: Sequence[Path], chrf: CHRF) -> list[Sentence]:
    aligned = bleu.read_sentences([source, *outputs], references)
    sentences = []
    for number, lines in enumerate(progress(aligned, "examples"), start=1):
        text, translations, of_references = lines[0], lines[1 : 1 + len(outputs)], lines[1 + len(outputs) :]
        scores = [chrf.sentence_score(translation, of_references).score for translation in translations]
        sentences.append(Sentence(number, text, of_references[0], translations, scores))
    return sentences


if __name__ == "__main__":
    stage.run(examples)
