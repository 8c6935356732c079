"""The figure shows every side of every shape with its number, and marks of multiply-adds."""

import re
from pathlib import Path

from benchmarks import figure
from benchmarks.spread import Spread


def test_all_rows_are_drawn(tmp_path: Path) -> None:
    shapes = ["256/512", "128/256"]
    training = [
        {
            "shape": shape,
            "side": side,
            "toolkit": toolkit,
            "precision": "float32",
            "words_per_second": Spread(rate, 900, 4444),
        }
        for shape in shapes
        for side, toolkit, rate in (("OpenNMT-py", "opennmt", 1234.0), ("GlobalAtt", "ours", 2345.0))
    ]
    translation = [
        {
            "shape": shape,
            "side": "GlobalAtt",
            "toolkit": "ours",
            "precision": "float32",
            "mean_length": 12.3,
            "beam": 12,
        }
        | {"sentences_per_second": Spread(77.7, 70, 80)}
        for shape in shapes
    ]
    syntax = [
        {
            "shape": shape,
            "system": system,
            "beside": "GlobalAtt",
            "times": Spread(1.11, 1, 1.2),
            "of_multiply_adds": 1.05,
        }
        for shape in shapes
        for system in ("GlobalAtt", "SDAtt")
    ]
    figure.draw(training, translation, syntax, tmp_path / "speed.svg")
    drawn = (tmp_path / "speed.svg").read_text(encoding="utf-8")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    for text in ("OpenNMT-py, float32", "GlobalAtt, float32", "1,234", "2,345", "77.7"):
        assert texts.count(text) == len(shapes), text
    assert texts.count("GlobalAtt, float32, length 12.3") == len(shapes)
    assert texts.count("SDAtt to GlobalAtt") == texts.count("1.11") == texts.count("multiply-adds") == len(shapes)
    assert "GlobalAtt to GlobalAtt" not in texts
    for shape in shapes:
        assert {f"Training, {shape}", f"Translation, {shape}", f"Cost of syntax, {shape}"} <= set(texts)
    figure.draw(training, translation, syntax, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == drawn
