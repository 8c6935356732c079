"""Tables read back from Markdown: as they were before they were drawn, whatever stands in them."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.report.markdown_table import read_markdown
from pipeline_py.report.sheet import Cell, Sheet, markdown
from pipeline_py.stage import InputError

LINES = st.text(st.characters(blacklist_categories=["Cc", "Cs"]), min_size=1, max_size=12)
TEXTS = st.one_of(LINES, st.sampled_from(["| a |", "\\", "**x**", "<sup>", "a\\|b", "~$_", "± 0.1", "* †"]))


@st.composite
def sheets(draw) -> Sheet:
    columns = draw(st.lists(TEXTS, min_size=1, max_size=4))
    cells = st.builds(Cell, TEXTS, marks=st.one_of(st.just(""), TEXTS), bold=st.booleans())
    rows = draw(st.lists(st.lists(cells, min_size=len(columns), max_size=len(columns)), min_size=1, max_size=3))
    return Sheet(draw(TEXTS), columns, rows, draw(st.lists(TEXTS.filter(lambda note: note[0] != "|"), max_size=3)))


@given(sheets())
def test_what_was_drawn_is_read(sheet: Sheet) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.md"
        path.write_text(markdown(sheet), encoding="utf-8", newline="\n")
        read = read_markdown(path)
    assert (read.title, read.columns) == (sheet.title, sheet.columns)
    assert [[*row] for row in read.rows] == [[*row] for row in sheet.rows]
    assert read.notes == [*sheet.notes]


def test_what_bold_means_is_a_note(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(markdown(Sheet("T", ["System"], [[Cell("A", bold=True)]], ["note."], bold_means="the best")))
    assert read_markdown(path).notes == ["note.", "Bold: the best."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no table"),
        ("# A heading\n\ntext\n", "line 1: no table"),
        ("**T**\n\n| A | B |\n|---|---:|\n| 1 | 2 |\n| 1 |\n", "line 6: no row"),
        ("**T**\n\n| A |\n|---|\n| a*b |\n", "line 5: no row"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.md"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_markdown(path)
