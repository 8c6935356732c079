"""Tests of cleaning: comparison with a naive implementation, and guarantees for held-out text."""

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline_py.corpus.clean import clean
from pipeline_py.run.errors import InputError

WORDS = [b"a", b"b", b"ccc", "日本".encode(), "\u00a0".encode(), b"\t", b"\x00", b"\xff", "e\u0301".encode(), b"\r"]
LINE = st.lists(st.sampled_from(WORDS), max_size=6).map(b" ".join)
PAIRS = st.lists(st.tuples(LINE, LINE), min_size=1, max_size=12)


def naive_clean(
    pairs: list[tuple[bytes, bytes]], held_out: list[str], shortest: int, longest: int, ratio: float, keep: bool
) -> tuple[list[tuple[str, str, str]], dict[str, int], int]:
    """Apply the documented rules to lists, and return kept pairs with line numbers, reasons, and changed sentences."""

    def replace_controls(text: str) -> str:
        return "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)

    def count_words(text: str) -> int:
        spaced = "".join(f" {c} " if unicodedata.name(c, "").startswith("CJK UNIFIED") else c for c in text)
        return len(spaced.split())

    kept_pairs: list[tuple[str, str, str]] = []
    drop_counts: Counter[str] = Counter()
    changed_count = 0
    for number, raw in enumerate(pairs, start=1):
        try:
            texts = raw[0].decode(), raw[1].decode()
        except UnicodeDecodeError:
            drop_counts["invalid UTF-8"] += 1
            continue
        source, target = map(replace_controls, texts)
        changed_count += (source, target) != texts
        reason = None
        short, long = sorted([count_words(source), count_words(target)])
        if short == 0:
            reason = "empty"
        elif short < shortest:
            reason = "too short"
        elif long > longest:
            reason = "too long"
        elif long / short > ratio:
            reason = "ratio"
        elif source.split() in [line.split() for line in held_out]:
            reason = "occurs in held-out"
        elif not keep and (source.split(), target.split()) in [(s.split(), t.split()) for _, s, t in kept_pairs]:
            reason = "duplicate pair"
        if reason:
            drop_counts[reason] += 1
        else:
            kept_pairs.append((str(number), source, target))
    return kept_pairs, drop_counts, changed_count


def write(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def run(tmp_path: Path, source: Path, target: Path | list[Path], **options: Any) -> tuple[list[str], ...]:
    targets = target if isinstance(target, list) else [target]
    outputs = [tmp_path / "out" / f"{k}" for k in range(len(targets) + 2)]
    clean(
        source_input=source,
        target_input=targets,
        lines_output=outputs[0],
        source_output=outputs[1],
        target_output=outputs[2:],
        counts_output=tmp_path / "out" / "counts.json",
        **options,
    )
    return tuple(path.read_bytes().decode().split("\n")[:-1] for path in outputs)


def read_counts(tmp_path: Path) -> dict[str, Any]:
    return json.loads((tmp_path / "out" / "counts.json").read_text())


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    PAIRS,
    st.lists(LINE, max_size=2),
    st.integers(1, 2),
    st.integers(2, 6),
    st.sampled_from([1.0, 1.5, 9.0]),
    st.booleans(),
)
def test_training_text_is_cleaned_by_the_naive_rules(
    tmp_path: Path,
    pairs: list[tuple[bytes, bytes]],
    held_out: list[bytes],
    shortest: int,
    longest: int,
    ratio: float,
    keep: bool,
) -> None:
    # A \r before the line end is part of the line end.
    pairs = [(source.removesuffix(b"\r"), target.removesuffix(b"\r")) for source, target in pairs]
    held_out = [line for line in held_out if b"\xff" not in line]
    tests = [line.decode().replace("\t", " ").replace("\x00", " ").replace("\r", " ") for line in held_out]
    kept_pairs, drop_counts, changed_count = naive_clean(pairs, tests, shortest, longest, ratio, keep)
    options: dict[str, Any] = {
        "held_out": [write(tmp_path / "held_out", held_out)],
        "min_length": shortest,
        "max_length": longest,
        "max_ratio": ratio,
        "keep_duplicates": keep,
    }
    source = write(tmp_path / "source", [pair[0] for pair in pairs])
    target = write(tmp_path / "target", [pair[1] for pair in pairs])
    if not kept_pairs:
        with pytest.raises(InputError, match="no sentence is left"):
            run(tmp_path, source, target, **options)
        return
    assert run(tmp_path, source, target, **options) == tuple(map(list, zip(*kept_pairs, strict=True)))
    counts = read_counts(tmp_path)
    assert counts["dropped"] == drop_counts
    assert counts["noted"].get("control characters replaced by spaces", 0) == changed_count
    assert counts["in"] == len(pairs) == counts["kept"] + sum(counts["dropped"].values())


def test_pairs_with_other_spaces_are_duplicates(tmp_path: Path) -> None:
    source = write(tmp_path / "s", [b"a  b", b"a b", b"a c"])
    target = write(tmp_path / "t", [b"x", b" x ", b"x"])
    assert run(tmp_path, source, target)[0] == ["1", "3"]


def test_line_numbers_are_those_of_the_raw_text(tmp_path: Path) -> None:
    source = write(tmp_path / "s", [b"a", b"b", b"a", b"", b"long " * 9, b"c", b"test", b"d"])
    target = write(tmp_path / "t", [b"x", b"y", b"x", b"x", b"z", b"\xff", b"z", b"x"])
    held_out = [write(tmp_path / "h", [b"test"])]
    assert run(tmp_path, source, target, held_out=held_out, max_length=8)[0] == ["1", "2", "8"]
    assert read_counts(tmp_path)["dropped"] == {
        "duplicate pair": 1,
        "empty": 1,
        "invalid UTF-8": 1,
        "occurs in held-out": 1,
        "too long": 1,
    }


def test_text_is_not_normalized(tmp_path: Path) -> None:
    line = "  e\u0301  \ufb01 \u00a0 ｆｕｌｌ  ".encode()
    _, source, _ = run(tmp_path, write(tmp_path / "s", [line]), write(tmp_path / "t", [b"x y z"]))
    assert source == [line.decode()]


def test_a_pair_with_invalid_utf8_has_no_duplicates(tmp_path: Path) -> None:
    source = write(tmp_path / "s", [b"caf\xe9", "caf\ufffd".encode(), b"caf\xe8"])
    lines, sources, _ = run(tmp_path, source, write(tmp_path / "t", [b"x"] * 3))
    assert (lines, sources) == (["2"], ["caf\ufffd"])
    assert read_counts(tmp_path)["dropped"] == {"invalid UTF-8": 2}


def test_tokenized_chinese_is_counted_in_words(tmp_path: Path) -> None:
    source = write(tmp_path / "s", ["我 喜欢 语言学".encode()])
    target = write(tmp_path / "t", [b"I like it"])
    assert run(tmp_path, source, target, max_length=3, source_tokenized=True)[1] == ["我 喜欢 语言学"]
    with pytest.raises(InputError, match="too long 1"):
        run(tmp_path, source, target, max_length=3)


ESCAPED = ["It &apos;s &quot; fine &quot; .", "a &lt; b &amp; c", "&#91; 1 &#93; &#124;", "&amp;apos;"]
UNESCAPED = ['It \'s " fine " .', "a < b & c", "[ 1 ] |", "&apos;"]


@pytest.mark.parametrize("mode", ["train", "held-out"])
def test_escapes_of_moses_are_undone_in_tokenized_sides(tmp_path: Path, mode: str) -> None:
    lines = [line.encode() for line in ESCAPED]
    source, target = write(tmp_path / "s", lines), write(tmp_path / "t", lines)
    assert run(tmp_path, source, target, mode=mode)[1:] == (ESCAPED, ESCAPED)
    options = {"source_tokenized": True, "target_tokenized": True}
    assert run(tmp_path, source, target, mode=mode, **options)[1:] == (UNESCAPED, UNESCAPED)
    assert read_counts(tmp_path)["noted"] == {"escapes of Moses undone": 4}
    assert run(tmp_path, source, target, mode=mode, target_tokenized=True)[1:] == (ESCAPED, UNESCAPED)


def test_an_unescaped_reference_is_unchanged(tmp_path: Path) -> None:
    plain = ['"Write &amp; for &"', "it's [here]"]
    files = [
        write(tmp_path / name, [line.encode() for line in lines])
        for name, lines in (("s", ESCAPED[:2]), ("t", ESCAPED[:2]), ("u", plain))
    ]
    options = {"mode": "held-out", "source_tokenized": True, "target_tokenized": True}
    assert run(tmp_path, files[0], files[1:], **options)[1:] == (UNESCAPED[:2], UNESCAPED[:2], plain)


def test_escaped_and_unescaped_held_out_sources_are_equal(tmp_path: Path) -> None:
    escaped = write(tmp_path / "s", [b"It &apos;s me", b"It &apos;s you"])
    for name, line in (("escaped", b"It &apos;s me"), ("plain", b"It 's me")):
        held_out = [write(tmp_path / name, [line])]
        outputs = run(tmp_path, escaped, escaped, held_out=held_out, source_tokenized=True, target_tokenized=True)
        assert outputs[1:] == (["It 's you"], ["It 's you"])


def test_zero_is_no_length_limit(tmp_path: Path) -> None:
    source = write(tmp_path / "s", [b"a " * 500])
    target = write(tmp_path / "t", [b"b " * 500])
    assert len(run(tmp_path, source, target, max_length=0)[0]) == 1


@pytest.mark.parametrize(
    ("options", "removed"),
    [
        ({}, {"soft hyphen", "spaces", "joiner"}),
        ({"ignore_case": True}, {"soft hyphen", "spaces", "joiner", "case", "sigma"}),
        ({"punctuation_language": "de"}, {"soft hyphen", "spaces", "joiner", "quotes"}),
        ({"source_tokenized": True}, set()),
        ({"source_tokenized": True, "ignore_case": True}, {"case", "sigma"}),
    ],
)
def test_held_out_sources_are_compared_after_preprocessing(
    tmp_path: Path, options: dict[str, Any], removed: set[str]
) -> None:
    pairs = {
        "soft hyphen": ("Die Schiff\u00adfahrt", "Die\u200bSchifffahrt\ufeff"),
        "spaces": ("Hallo , Welt !", "Hallo, Welt!"),
        "joiner": ("nach ❤\ufe0f", "nach ❤"),
        "case": ("DIE MASSE STEIGT", "Die Masse steigt"),
        "sharp s": ("DIE MASSE SINKT", "Die Maße sinkt"),
        "sigma": ("ΟΔΟΣ Α", "οδος α"),
        "quotes": ("Er sagt „ja“ – nein", 'Er sagt "ja" - nein'),
        "accent": ("cafe\u0301", "café"),
        "word": ("Die Stadt", "Die Städte"),
    }
    source = write(tmp_path / "s", [pair[0].encode() for pair in pairs.values()])
    held_out = [write(tmp_path / "h", [pair[1].encode() for pair in pairs.values()])]
    lines, *_ = run(tmp_path, source, write(tmp_path / "t", [b"x y"] * len(pairs)), held_out=held_out, **options)
    assert pairs.keys() - {[*pairs][int(line) - 1] for line in lines} == removed


def test_a_mostly_unusable_training_text_is_rejected(tmp_path: Path) -> None:
    words = [f"word{number}".encode() for number in range(200)]
    source, target = write(tmp_path / "s", words), write(tmp_path / "t", [b"x " * 90] * 191 + [b"x"] * 9)
    with pytest.raises(InputError, match=r"s: 191 of 200 pairs cannot be used \(too long 191\); check that line N of"):
        run(tmp_path, source, target)
    write(tmp_path / "t", [b"x " * 90] * 190 + [b"x"] * 10)
    assert len(run(tmp_path, source, target)[0]) == 10
    write(tmp_path / "s", [b"same"] * 200), write(tmp_path / "t", [b"same"] * 200)
    assert len(run(tmp_path, source, target)[0]) == 1, "duplicates are usable"


def test_a_byte_order_mark_is_removed(tmp_path: Path) -> None:
    source = write(tmp_path / "s", ["\ufeffone".encode(), b"two"])
    assert run(tmp_path, source, write(tmp_path / "t", [b"x", b"y"]), mode="held-out")[1] == ["one", "two"]


def test_held_out_text_keeps_every_line(tmp_path: Path) -> None:
    lines = [b"one", b"", b"one", b"a\tb\x07", b"long " * 300, "x\u2028y\x85z\rw".encode()]
    references = [write(tmp_path / f"r{k}", [b"ref"] * 6) for k in range(4)]
    numbers, *sides = run(tmp_path, write(tmp_path / "s", lines), references, mode="held-out")
    assert numbers == ["1", "2", "3", "4", "5", "6"]
    assert len(sides) == 5
    assert sides[0] == ["one", "", "one", "a b ", "long " * 300, "x y z w"]
    assert read_counts(tmp_path) == {
        "in": 6,
        "kept": 6,
        "dropped": {},
        "noted": {"control characters replaced by spaces": 2, "empty source": 1},
    }


def test_an_empty_reference_is_rejected(tmp_path: Path) -> None:
    source = write(tmp_path / "s", [b"one", b"two"])
    references = [write(tmp_path / "r0", [b"eins", b"zwei"]), write(tmp_path / "r1", [b"eins", b"\xc2\xa0"])]
    with pytest.raises(InputError, match=r"r1, line 2: the reference is empty"):
        run(tmp_path, source, references, mode="held-out")


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ([b"eins", b""], "mine/dev.en, line 2: the reference is empty"),
        ([b"eins", b"\xff"], "mine/dev.en, line 2: "),
        ([b"eins"], r"mine/dev.de has 2 lines and mine/dev.en has 1; "),
    ],
    ids=["empty", "no UTF-8", "short"],
)
def test_messages_name_the_original_files(tmp_path: Path, second: list[bytes], message: str) -> None:
    source = write(tmp_path / "dev.source", [b"one", b"two"])
    originals = ["mine/dev.de", "mine/dev.fr", "mine/dev.en"]
    references = [write(tmp_path / "dev.target", [b"eins", b"zwei"]), write(tmp_path / "dev.target1", second)]
    with pytest.raises(InputError, match="^" + re.escape(message)):
        run(tmp_path, source, references, mode="held-out", originals=originals)


def test_held_out_text_must_be_utf8(tmp_path: Path) -> None:
    source = write(tmp_path / "s", [b"fine", b"caf\xe9"])
    with pytest.raises(InputError, match=r"s, line 2: byte 3 is not UTF-8 .*; the file looks like Latin-1"):
        run(tmp_path, source, write(tmp_path / "t", [b"x", b"y"]), mode="held-out")
    assert not list((tmp_path / "out").glob("*"))


@pytest.mark.parametrize("mode", ["train", "held-out"])
@pytest.mark.parametrize("lengths", [(2, 3), (3, 2), (0, 1)])
def test_unequal_line_counts_name_both_files_and_write_nothing(
    tmp_path: Path, mode: str, lengths: tuple[int, int]
) -> None:
    source = write(tmp_path / "source", [b"x"] * lengths[0])
    target = write(tmp_path / "target", [b"y"] * lengths[1])
    with pytest.raises(InputError, match=rf"source has {lengths[0]} lines and .*target has {lengths[1]};"):
        run(tmp_path, source, target, mode=mode)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mode", ["train", "held-out"])
def test_empty_files_are_rejected(tmp_path: Path, mode: str) -> None:
    with pytest.raises(InputError, match="no sentence is left"):
        run(tmp_path, write(tmp_path / "s", []), write(tmp_path / "t", []), mode=mode)


@pytest.mark.parametrize(
    "options",
    [{"min_length": 5, "max_length": 4}, {"min_length": 0}],
)
def test_impossible_limits_are_rejected(tmp_path: Path, options: dict[str, int]) -> None:
    with pytest.raises(InputError, match="min_length must"):
        run(tmp_path, write(tmp_path / "s", [b"x"]), write(tmp_path / "t", [b"x"]), **options)


@pytest.mark.parametrize(
    "sentence",
    ["วันนี้เราไปตลาดเพื่อซื้อผลไม้และผักสำหรับอาหารเย็น", "ມື້ນີ້ພວກເຮົາໄປຕະຫຼາດເພື່ອຊື້ໝາກໄມ້", "ယနေ့ကျွန်ုပ်တို့စျေးသို့သွားပြီးသစ်သီးများဝယ်ယူသည်"],
    ids=["Thai", "Lao", "Burmese"],
)
def test_text_without_spaces_between_words_is_kept(sentence: str, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("source", "target", "clean.source", "clean.target", "lines", "counts")}
    files["source"].write_text("today we go to the market to buy some fruit\n", encoding="utf-8")
    files["target"].write_text(sentence + "\n", encoding="utf-8")
    clean(
        source_input=files["source"],
        target_input=[files["target"]],
        source_output=files["clean.source"],
        target_output=[files["clean.target"]],
        lines_output=files["lines"],
        counts_output=files["counts"],
    )
    assert json.loads(files["counts"].read_text())["kept"] == 1
