"""Tests of the figure of BLEU by source length."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from pipeline_py.report.draw_bleu_by_length import draw_bleu_by_length
from pipeline_py.report.figures.line_figure import LABEL_SIZE, compute_label_width
from pipeline_py.report.figures.typesetting import wrap_text
from tests.job_process import run_figure_job
from tests.report.svg_figures import skip_pdf

SVG = "{http://www.w3.org/2000/svg}"
HEADER = "by\tbucket\tlow\thigh\tsentences\tsystem\tbleu\tsd\tbleu_low\tbleu_high"
GROUPS = {"10": 1612, "20": 843, ">20": 7}
SCORES = {"GlobalAtt": [30.0, 33.0, 27.0], "SDAtt": [31.0, 35.0, 29.0], "_Chen": [30.5, 34.0, 28.5]}
LABELS = {"GlobalAtt": "GlobalAtt", "SDAtt": "+SDAtt $n=2$ <句法>", "_Chen": "Chen et al. (2017)"}


def write_scores(folder: Path, groups: int = 3) -> Path:
    lines = [
        f"length\t{group}\t\t\t{number}\t{system}\t{values[place]}\t\t{values[place] - 1}\t{values[place] + 3}"
        for place, (group, number) in enumerate(list(GROUPS.items())[:groups])
        for system, values in SCORES.items()
    ]
    path = folder / "buckets.tsv"
    path.write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")
    return path


def draw(
    svg: Path, buckets: Path, title: str = "Lengths", labels: dict[str, str] = LABELS, smallest_group: int = 1
) -> None:
    options = {"title": title, "labels": labels, "smallest_group": smallest_group}
    with skip_pdf():
        draw_bleu_by_length(buckets=buckets, svg_output=svg, pdf_output=svg.with_suffix(".pdf"), **options)


def texts(svg: Path) -> list[str]:
    return ["".join(element.itertext()).strip() for element in ElementTree.parse(svg).iter(f"{SVG}text")]


def find_curve(svg: Path, number: int) -> list[tuple[float, float]]:
    """Return the corners of the n-th line in SVG coordinates (y grows downwards)."""
    (group,) = (g for g in ElementTree.parse(svg).iter(f"{SVG}g") if g.get("id") == f"system-{number}")
    (path,) = group.findall(f"{SVG}path")
    corners = re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", path.get("d") or "")
    return [(float(x), float(y)) for x, y in corners]


def find_bars(svg: Path) -> list[list[list[float]]]:
    """Return x and both ends of each bar by system, in SVG coordinates."""
    collections = [g for g in ElementTree.parse(svg).iter(f"{SVG}g") if (g.get("id") or "").startswith("LineC")]
    paths_by_collection = [
        [path.get("d") or "" for path in collection.iter(f"{SVG}path")] for collection in collections
    ]
    bar = re.compile(r"M ([-\d.]+) ([-\d.]+)\s+L [-\d.]+ ([-\d.]+)\s*")
    return [
        [[float(number) for number in bar.fullmatch(path).groups()] for path in paths] for paths in paths_by_collection
    ]  # type: ignore[union-attr]


def test_lines_pass_through_scores(tmp_path: Path) -> None:
    svg = tmp_path / "figure.svg"
    draw(svg, write_scores(tmp_path))
    curves = [find_curve(svg, number) for number in (1, 2, 3)]
    assert svg.read_text(encoding="utf-8").count('id="system-') == 3
    # The scale of scores is linear, and groups are equidistant.
    (_, low), (_, high) = curves[0][2], curves[1][1]
    for points, values in zip(curves, SCORES.values(), strict=True):
        for (_, y), value in zip(points, values, strict=True):
            assert y == pytest.approx(low + (value - 27.0) / (35.0 - 27.0) * (high - low), abs=1e-3)
        assert points[1][0] - points[0][0] == pytest.approx(points[2][0] - points[1][0]) and points[0][0] < points[1][0]
    assert high < low


def test_svg_contains_text_elements(tmp_path: Path) -> None:
    svg = tmp_path / "figure.svg"
    draw(svg, write_scores(tmp_path), "BLEU by length, 中文")
    figure_texts = texts(svg)
    for text in (
        "GlobalAtt",
        "Chen et al. (2017)",
        "+SDAtt $n=2$ <句法>",
        "BLEU by length, 中文",
        "BLEU",
        "(below: sentences)",
    ):
        assert figure_texts.count(text) == 1
    for text in ("10", "20", ">20", "1,612", "843", "7"):
        assert text in figure_texts
    assert "_Chen" not in figure_texts


def test_label_may_begin_with_underscore(tmp_path: Path) -> None:
    draw(tmp_path / "figure.svg", write_scores(tmp_path), labels={system: system for system in SCORES})
    assert {"GlobalAtt", "SDAtt", "_Chen"} <= set(texts(tmp_path / "figure.svg"))


@pytest.mark.parametrize("word", ["SDRNMT-2", "random_dependency_trees_of_the_source_sentence"])
def test_legend_breaks_labels_only_at_spaces(tmp_path: Path, word: str) -> None:
    label = f"Seq2Seq-bidirectional with {word}, {word}"
    width = compute_label_width([label, "A"])
    lines = wrap_text(label, LABEL_SIZE, width)
    assert len(lines) > 1 and " ".join(lines) == label
    svg, plain_svg = tmp_path / "figure.svg", tmp_path / "plain.svg"
    draw(svg, write_scores(tmp_path), labels={**LABELS, "SDAtt": label})
    draw(plain_svg, write_scores(tmp_path))
    assert {*lines} <= {*texts(svg)}
    lengths = [points[-1][0] - points[0][0] for points in (find_curve(svg, 1), find_curve(plain_svg, 1))]
    assert lengths[0] > 0.85 * lengths[1], "a long label does not take the place of the lines"


def test_bars_match_intervals(tmp_path: Path) -> None:
    svg = tmp_path / "figure.svg"
    draw(svg, write_scores(tmp_path))
    (_, low), (_, high) = find_curve(svg, 1)[2], find_curve(svg, 2)[1]
    points_of_one = (low - high) / (35.0 - 27.0)
    bars = find_bars(svg)
    assert len(bars) == len(SCORES)
    for number, system_bars in enumerate(bars, start=1):
        for (x, y), (bar_x, lower, upper) in zip(find_curve(svg, number), system_bars, strict=True):
            assert bar_x == pytest.approx(x)
            assert (lower - y, y - upper) == pytest.approx((points_of_one, 3 * points_of_one), abs=1e-3)
    assert len({find_curve(svg, number)[0][0] for number in (1, 2, 3)}) == 3, "bars are side by side"
    assert any("Bars: 95 % intervals over the sentences of these runs." in text for text in texts(svg))


@pytest.mark.parametrize(
    ("smallest", "groups", "sentence"),
    [
        (7, ["10", "20", ">20"], None),
        (8, ["10", "20"], "7 sentences in a group smaller than 8 are not shown."),
        (1000, ["10"], "850 sentences in groups smaller than 1,000 are not shown."),
        (2000, [], "2,462 sentences in groups smaller than 2,000 are not shown."),
    ],
)
def test_small_groups_are_omitted_and_counted(
    tmp_path: Path, smallest: int, groups: list[str], sentence: str | None
) -> None:
    svg = tmp_path / "figure.svg"
    draw(svg, write_scores(tmp_path), smallest_group=smallest)
    figure_texts = texts(svg)
    assert [group for group in GROUPS if group in figure_texts] == groups
    if groups:
        assert all(len(find_curve(svg, number)) == len(groups) for number in (1, 2, 3))
    notes = [text for text in figure_texts if "not shown" in text]
    assert notes == ([] if sentence is None else [f"Bars: 95 % intervals over the sentences of these runs. {sentence}"])


def test_single_group_is_drawn(tmp_path: Path) -> None:
    svg = tmp_path / "figure.svg"
    draw(svg, write_scores(tmp_path, groups=1))
    assert len(find_curve(svg, 1)) == 1
    assert "10" in texts(svg) and "20" not in texts(svg)


def test_figure_is_deterministic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"buckets": write_scores(tmp_path), "title": "Lengths", "labels": LABELS}
    draw_bleu_by_length(svg_output=tmp_path / "a.svg", pdf_output=tmp_path / "a.pdf", **options)
    # Another process at another time, with a user's matplotlibrc.
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\nsvg.hashsalt: other\nfont.size: 20\n")
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    run_figure_job("report.draw_bleu_by_length", tmp_path, options, "b")
    for kind in ("svg", "pdf"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_matplotlib_settings_are_restored(tmp_path: Path) -> None:
    import matplotlib

    with matplotlib.rc_context({"font.size": 13.0}):
        draw(tmp_path / "figure.svg", write_scores(tmp_path))
        assert matplotlib.rcParams["font.size"] == 13.0
