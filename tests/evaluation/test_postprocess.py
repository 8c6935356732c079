"""Pieces become text: worked examples, and every sentence accounted for."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from pipeline_py.corpus.generalise import generalise
from pipeline_py.evaluation.postprocess import join_chinese_words, postprocess
from pipeline_py.evaluation.source_copying import join_to_nonempty_words
from pipeline_py.files.text_files import split_tokens
from pipeline_py.run.errors import InputError
from pipeline_py.subword.apply_bpe import apply_bpe


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def run(tmp_path: Path, *lines: str, **options: object) -> list[str]:
    output = tmp_path / "out.txt"
    postprocess(pieces=write(tmp_path / "pieces", *lines), output=output, **options)  # type: ignore[arg-type]
    return output.read_text(encoding="utf-8").split("\n")[:-1]


def test_german_sentence_is_joined_recased_and_detokenized(tmp_path: Path) -> None:
    lines = ["ein Mann fäh@@ rt ( lang@@ sam ) , &amp; singt : „ ja ! “", ""]
    counts = tmp_path / "counts.json"
    text = run(tmp_path, *lines, language="de", truecased=True, counts_output=counts)
    assert text[0].startswith("Ein Mann fährt (langsam), &amp; singt:")
    assert text[1] == ""
    assert json.loads(counts.read_text()) == {
        "in": 2,
        "kept": 2,
        "dropped": {},
        "noted": {"empty output": 1, "words": 14},
    }


@pytest.mark.parametrize("sentence", ["The dog isn't here, is it?", "In 1995 (or so) we paid 5 dollars.", "A & B"])
def test_moses_detokenizer_undoes_moses_tokenizer(tmp_path: Path, sentence: str) -> None:
    tokens = MosesTokenizer("en").tokenize(sentence, return_str=True, escape=False)
    assert run(tmp_path, tokens, language="en", joiner="none") == [sentence]


def test_joiner_none_keeps_marks(tmp_path: Path) -> None:
    assert run(tmp_path, "a@@ b c@@", joiner="none", detokenizer="none") == ["a@@ b c@@"]


def test_chinese_keeps_only_the_space_that_separates_words_of_other_scripts() -> None:
    words = ["我", "在", "New", "York", "买", "了", "3", "本", "Python", "3.5", "书", "，", "ok", "。"]
    assert join_chinese_words(words) == "我在New York买了3本Python 3.5书，ok。"
    assert join_chinese_words([]) == ""
    assert join_chinese_words(["เขา", "อ่าน", "หนังสือ", "Python", "3"]) == "เขาอ่านหนังสือPython 3"


@given(st.lists(st.text(alphabet="ab@", min_size=1, max_size=4), max_size=6))
def test_joining_is_what_subword_nmt_documents(pieces: list[str]) -> None:
    line = " ".join(pieces)
    documented = re.sub(r"(@@ )|(@@ ?$)", "", line)
    if "@@@" not in line:  # there the documented expression eats the text's own @
        assert "".join(join_to_nonempty_words(split_tokens(line), "bpe")) == documented.replace(" ", "")
        assert join_to_nonempty_words(split_tokens(line), "bpe") == documented.split()


def test_unknown_words_take_the_joined_source_word_they_attended_to(tmp_path: Path) -> None:
    source = write(tmp_path / "source", "the mar@@ mo@@ t sleeps", "a b")
    alignment = write(tmp_path / "alignment", "0 2 4 4", "2 1")
    counts = tmp_path / "counts.json"
    text = run(
        tmp_path,
        "das <unk> <unk> !",
        "un@@ <unk>",
        detokenizer="none",
        replace_unknown=True,
        alignment=alignment,
        source_pieces=source,
        counts_output=counts,
    )
    assert text == ["das marmot sleeps !", "unb"]
    assert json.loads(counts.read_text())["noted"] == {"unknown word replaced": 3, "words": 5}


def test_unknown_word_that_attended_to_the_end_is_dropped(tmp_path: Path) -> None:
    options = {"alignment": write(tmp_path / "a", "0 2", "0"), "source_pieces": write(tmp_path / "s", "x y", "")}
    counts = tmp_path / "counts.json"
    text = run(tmp_path, "u <unk>", "<unk>", detokenizer="none", replace_unknown=True, counts_output=counts, **options)
    assert text == ["u", ""]
    noted = json.loads(counts.read_text())["noted"]
    assert noted.pop("words") == 1
    assert noted == {"empty output": 1, "unknown word dropped: it attended to the end of the source": 2}


def test_tags_around_a_source_are_no_words(tmp_path: Path) -> None:
    options = {
        "alignment": write(tmp_path / "a", "0 3 4 5 1"),
        "source_pieces": write(tmp_path / "s", "<t> x y@@ z <t>"),
    }
    text = run(
        tmp_path, "<unk> <unk> <unk> <unk> <unk>", detokenizer="none", replace_unknown=True, tagged=True, **options
    )
    assert text == ["yz x"]


def test_unknown_words_stay_without_the_switch(tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    assert run(tmp_path, "<unk> b <unk>", detokenizer="none", counts_output=counts) == ["<unk> b <unk>"]
    assert json.loads(counts.read_text())["noted"] == {"unknown word left": 2, "words": 3}


def restore_sentence(
    tmp_path: Path, line: str, positions: str, source: str, tokens: str, **options: object
) -> tuple[str, dict]:
    files = {
        "alignment": write(tmp_path / "alignment", positions),
        "source_pieces": write(tmp_path / "source", source),
        "source_tokens": write(tmp_path / "tokens", tokens),
    }
    counts = tmp_path / "counts.json"
    options = {"detokenizer": "none", "restore_placeholders": True, "counts_output": counts} | files | options
    (text,) = run(tmp_path, line, **options)
    noted = json.loads(counts.read_text())["noted"]
    del noted["words"]
    return text, noted


LIKE = "placeholder put back: it attended to its like"
NEAREST = "placeholder put back: the nearest of its like"
OTHER = "placeholder put back: one of another kind"
DROPPED = "placeholder dropped: the source has none left"


@pytest.mark.parametrize(
    ("line", "positions", "text", "noted"),
    [
        # The source: 17 big box@@ es at 14:30 , 5 on 2004-05-12 (pieces 0 to 9; EOS is 10)
        ("am $date um $time $number", "8 9 4 5 0", "am 2004-05-12 um 14:30 17", {LIKE: 3}),
        ("$number $number", "7 0", "5 17", {LIKE: 2}),
        ("$number $number", "7 7", "5 5", {LIKE: 2}),
        # Positions are of pieces, the box has two; 17 is two words from "boxes", 5 is four.
        ("$number", "3", "17", {NEAREST: 1}),
        ("$number", "6", "5", {NEAREST: 1}),
        ("$number", "10", "5", {NEAREST: 1}),
        # The second attended to what the first would have taken.
        ("$number $number", "1 0", "5 17", {LIKE: 1, NEAREST: 1}),
        ("$number $number", "10 10", "5 17", {NEAREST: 2}),
        # No second date: another kind, the nearest; but the numbers have the first choice of numbers.
        ("$date $date", "9 8", "2004-05-12 5", {LIKE: 1, OTHER: 1}),
        ("$date $date $number $number", "9 0 2 2", "2004-05-12 14:30 17 5", {LIKE: 1, NEAREST: 2, OTHER: 1}),
        ("$time $time $time $time x $time", "5 1 1 1 1 1", "14:30 17 5 2004-05-12 x", {LIKE: 1, OTHER: 3, DROPPED: 1}),
        ("un@@ $number", "0 0", "un17", {LIKE: 1}),
        ("$numbers $ number", "0 0 0", "$numbers $ number", {}),
    ],
)
def test_placeholders_become_their_source_words(
    tmp_path: Path, line: str, positions: str, text: str, noted: dict[str, int]
) -> None:
    source = "$number big box@@ es at $time , $number on $date"
    tokens = "17 big boxes at 14:30 , 5 on 2004-05-12"
    assert restore_sentence(tmp_path, line, positions, source, tokens) == (text, noted)


def test_placeholders_of_a_tagged_source_are_put_back(tmp_path: Path) -> None:
    text, _ = restore_sentence(tmp_path, "$number $number", "2 0", "<t> $number $number <t>", "17 5", tagged=True)
    assert text == "5 17"


def test_of_two_as_near_the_first_is_put_back(tmp_path: Path) -> None:
    assert restore_sentence(tmp_path, "$number", "1", "$number and $number", "1 and 2")[0] == "1"


def test_a_placeholder_without_a_source_is_left_out(tmp_path: Path) -> None:
    assert restore_sentence(tmp_path, "a $date b", "0 1 1", "x", "x") == ("a b", {DROPPED: 1})
    assert restore_sentence(tmp_path, "$date", "0", "", "") == ("", {DROPPED: 1, "empty output": 1})


def test_a_placeholder_of_the_text_itself_comes_back(tmp_path: Path) -> None:
    text, noted = restore_sentence(tmp_path, "$number und $number", "2 1 0", "$number and $number", "$number and 17")
    assert (text, noted) == ("17 und $number", {LIKE: 2})


def test_unknown_words_and_placeholders_together(tmp_path: Path) -> None:
    """An unknown word that attended to a placeholder is its original, which is in the output then."""
    arguments = ("<unk> $number <unk>", "1 3 2", "the $number mar@@ mo@@ ts and $number", "the 17 marmots and 5")
    text, noted = restore_sentence(tmp_path, *arguments, replace_unknown=True)
    assert (text, noted) == ("17 5 marmots", {"unknown word replaced": 2, NEAREST: 1})
    assert restore_sentence(tmp_path, *arguments) == ("<unk> 17 <unk>", {"unknown word left": 2, NEAREST: 1})
    text, noted = restore_sentence(tmp_path, *arguments, replace_unknown=True, restore_placeholders=False)
    assert (text, noted) == ("17 $number marmots", {"unknown word replaced": 2})


def test_words_without_joiners(tmp_path: Path) -> None:
    text, _ = restore_sentence(tmp_path, "a@@ $time", "0 2", "x@@ b $time", "x@@ b 9@@", joiner="none")
    assert text == "a@@ 9@@"


def test_word_that_ends_like_a_piece_is_restored(tmp_path: Path) -> None:
    assert restore_sentence(tmp_path, "$time b", "0 1", "$time b", "9@@ b")[0] == "9@@ b"


def test_text_comes_back_through_generalisation_and_pieces(tmp_path: Path) -> None:
    """A system that copies its source and attends to what it copies gives back the text, whatever is in it."""
    text = ["17 boxes of $number $5 at 14:30 , x@@ 三百 １２％", "", "$number $date 2004-05-12 <unk> low@@", "17"]
    words = write(tmp_path / "words", *text)
    generalised = tmp_path / "generalised"
    generalise(input=words, train=words, min_count=2, output=generalised, counts_output=tmp_path / "l")
    (tmp_path / "codes").write_text("#version: 0.2\nl o\nlo w\n$ n\n1 7</w>\n")
    apply_bpe(input=generalised, codes=tmp_path / "codes", output=tmp_path / "copied")
    copied = (tmp_path / "copied").read_text(encoding="utf-8").split("\n")[:-1]
    assert "$number" in copied[0].split() and "$date" in copied[2].split() and "@@ " in copied[0]
    positions = [" ".join(str(place) for place, _ in enumerate(split_tokens(line))) for line in copied]
    assert text == run(
        tmp_path,
        *copied,
        detokenizer="none",
        restore_placeholders=True,
        alignment=write(tmp_path / "alignment", *positions),
        source_pieces=tmp_path / "copied",
        source_tokens=words,
    )


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["b c"], "tokens: the file has 1 lines and .* has more"),
        (["b c", "5 b"], "tokens, line 2: 2 words, but the source pieces make up 3; give the words that were gen"),
        (["b c", "5 b d"], "tokens, line 2: `d` is `c` in the source pieces; give the words that were generalised"),
    ],
)
def test_source_words_must_fit_the_pieces(tmp_path: Path, tokens: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(
            tmp_path,
            "a $number",
            "$number",
            restore_placeholders=True,
            alignment=write(tmp_path / "alignment", "0 0", "0"),
            source_pieces=write(tmp_path / "source", "b c", "$number b c"),
            source_tokens=write(tmp_path / "tokens", *tokens),
        )
    assert not (tmp_path / "out.txt").exists()


def test_alignment_must_fit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the file has 1 lines and .* has more"):
        run(
            tmp_path,
            "a <unk>",
            "b c",
            replace_unknown=True,
            alignment=write(tmp_path / "alignment", "0 0"),
            source_pieces=write(tmp_path / "source", "x", "y"),
        )
    assert not (tmp_path / "out.txt").exists()


def test_files_that_are_needed_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="replace_unknown needs alignment and source_pieces; give both or leave it"):
        run(tmp_path, "a", "b", replace_unknown=True)
    files = dict.fromkeys(("alignment", "source_pieces"), write(tmp_path / "alignment", "0"))
    needed = "restore_placeholders needs alignment, source_pieces and source_tokens; give all three or leave it out"
    with pytest.raises(InputError, match=needed):
        run(tmp_path, "a", "b", replace_unknown=True, restore_placeholders=True, **files)
