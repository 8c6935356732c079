"""How many different words the training text has before and after generalisation and BPE (hierarchical Table 2)."""

from pathlib import Path

from pipeline_py import stage
from pipeline_py.evaluation.named_files import named_files
from pipeline_py.progress import progress
from pipeline_py.report import sheet
from pipeline_py.report.sheet import Cell, Sheet
from pipeline_py.text import read_lines, tokens_of


def vocabulary_sizes(
    *,
    title: str,
    original: list[str],
    generalised: list[str],
    pieces: list[str],
    output: Path,
    markdown_output: Path | None = None,
    latex_output: Path | None = None,
) -> None:
    """Count word types of the training text of each language in its three forms.

    Args:
        title: headline of the table.
        original: LANGUAGE=FILE, words; give the option once for each language, in order.
        generalised: LANGUAGE=FILE, words with placeholders for rare times, dates and numbers.
        pieces: LANGUAGE=FILE, these words cut by BPE.
        output: the table as TSV.
        markdown_output: the table as Markdown.
        latex_output: the table as LaTeX.

    Raises:
        InputError: if the languages of the three differ.
    """
    forms = {
        "Original": named_files(original, "--original"),
        "Generalization": named_files(generalised, "--generalised"),
        "BPE": named_files(pieces, "--pieces"),
    }
    languages = [*forms["Original"]]
    for files in forms.values():
        if [*files] != languages:
            raise stage.InputError(
                f"--original, --generalised and --pieces need the same languages: {', '.join(languages)}"
            )
    counts = {language: [_types(files[language]) for files in forms.values()] for language in languages}
    drawn = Sheet(
        title,
        ["", *forms],
        [[Cell(f"|V| in {language}"), *(Cell(f"{number:,}") for number in of)] for language, of in counts.items()],
    )
    values = [[language, *map(str, of)] for language, of in counts.items()]
    sheet.write(drawn, (["language", "original", "generalised", "bpe"], values), output, markdown_output, latex_output)


def _types(path: Path) -> int:
    return len({token for line in progress(read_lines(path), f"count {path.name}") for token in tokens_of(line)})


if __name__ == "__main__":
    stage.run(vocabulary_sizes)
